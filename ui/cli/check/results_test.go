package check_test

import (
	"bytes"
	"encoding/json"
	"math/big"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/charmbracelet/x/exp/golden"
	"github.com/go-json-experiment/json/jsontext"

	"coffer/api/caip"
	"coffer/ui/cli/act/plan"
	"coffer/ui/cli/check"
	"coffer/ui/present"
	"coffer/wallet/consent"
	"coffer/wallet/intent"
	"coffer/wallet/verify"
)

// TestAPlanAndAPrintedResultAreJudgedLikeTheDocumentsInThem: the report is that of the documents, whose bytes are
// unchanged.
func TestAPlanAndAPrintedResultAreJudgedLikeTheDocumentsInThem(t *testing.T) {
	for _, name := range []string{"v3-kernel-funded", "v3-swap-evm"} {
		b := open(t, name)
		d, err := intent.ParseDraft(b.Intent)
		if err != nil {
			t.Fatal(err)
		}
		p := plan.Plan{Intent: d, Salt: "ab01ab01ab01ab01"}
		asTOML, errTOML := p.EncodeTOML(plan.Explain{Amount: func(string, string) string { return "" },
			Call: func(int) []string { return nil }})
		asJSON, errJSON := p.EncodeJSON()
		if errTOML != nil || errJSON != nil {
			t.Fatal(errTOML, errJSON)
		}
		result :=
			`{"operation":"00112233445566aa","intent":{"id":"x"},"plan":{"hash":"0x","salt":"ab01"},"state":"review 2"`
		docs := map[string][]byte{"empty": []byte(result + "}"), "intent": b.Intent, "network": b.Network,
			"quote": []byte(b.Quote), "toml": asTOML, "json": asJSON}
		plain := []string{"intent", "network", "quote"}
		if b.Prepared != "" {
			docs["prepared"], plain = []byte(b.Prepared), append(plain, "prepared")
			result += `,"prepared":` + b.Prepared
		}
		docs["result"] = []byte(result + `,"quote":` + b.Quote + "}\n")
		docs["bad"] = bytes.Replace(asTOML, []byte("ab01ab01"), []byte("ab01ab02"), 1)
		files := save(t, docs)
		report := func(code int, names ...string) string {
			args := []string{"verify", "--json", "--now", strconv.FormatInt(b.Now, 10)}
			for _, n := range names {
				args = append(args, files[n])
			}
			out, got, err := run(t, args...)
			if got != code {
				t.Fatalf("%s %v: exit %d, %v\n%s", name, names, got, err, out)
			}
			return out
		}
		want := report(0, plain...)
		for _, names := range [][]string{{"toml", "network", "result"}, {"json", "network", "result"},
			{"intent", "result", "network"}} {
			if got := report(0, names...); got != want {
				t.Errorf("%s %v:\n%s\nwant\n%s", name, names, got, want)
			}
		}
		report(4, "bad", "network", "result")
		report(2, "toml", "network", "empty")
		report(2, "toml", "intent", "network", "result")
	}
}

// TestConversionsPrintJSON pins the output of `coffer intent` and the schema, which is JSON with and without --json.
func TestConversionsPrintJSON(t *testing.T) {
	for name, args := range map[string][]string{
		"to-safe":   {"intent", "to-safe", "testdata/intent.json"},
		"from-safe": {"intent", "from-safe", "testdata/batch.json"}, "schema": {"verify", "--schema"},
	} {
		t.Run(name, func(t *testing.T) {
			plain, code, err := run(t, args...)
			if code != 0 {
				t.Fatal(err)
			}
			if out, _, _ := run(t, append(args, "--json")...); out != plain || !jsontext.Value(out).IsValid() {
				t.Errorf("with --json: %s", out)
			}
			if name == "schema" && !bytes.Equal(bytes.TrimSpace([]byte(plain)), bytes.TrimSpace(intent.Schema())) {
				t.Error("the schema is another one")
			}
			golden.RequireEqual(t, []byte(plain))
		})
	}
	raw, err := os.ReadFile("testdata/TestConversionsPrintJSON/to-safe.golden")
	var batch map[string]any
	if err != nil || json.Unmarshal(raw, &batch) != nil || !strings.Contains(string(raw), "checksum") {
		t.Errorf("%v", err)
	}
}

// What own nodes saw and simulated is in the JSON of a review.
func TestTheJSONOfAReviewHasWhatOwnNodesSaw(t *testing.T) {
	usdc := []verify.AmountView{{Asset: caip.Native(8453), Symbol: "ETH", Decimals: 18, Amount: big.NewInt(5)}}
	base := verify.ChainLabel{CAIP: "eip155:8453"}
	seen := []verify.SeenView{{Chain: base, Block: 7, Has: usdc, As: true}}
	ran := []verify.SimulationView{{Chain: base, Block: 8, Out: usdc, In: usdc}}
	for _, r := range []consent.Review{{Call: &verify.PreparedView{Seen: seen, Simulated: ran}},
		{Quote: &verify.QuoteView{Seen: seen, Simulated: ran}}} {
		got, err := json.Marshal(check.Of("the call", present.Review{Review: r}).Nodes)
		const eth = `[{"asset":"eip155:8453/slip44:60","symbol":"ETH","amount":"5","human":"0.000000000000000005"}]`
		want := `[{"chain":"eip155:8453","block":7,"simulated":false,"has":` + eth + `,"asStated":true},` +
			`{"chain":"eip155:8453","block":8,"simulated":true,"leaves":` + eth + `,"arrives":` +
			eth + `,"asStated":false}]`
		if err != nil || string(got) != want {
			t.Errorf("%v\n%s\n%s", err, got, want)
		}
	}
}
