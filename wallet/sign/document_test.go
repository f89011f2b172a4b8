package sign

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"coffer/api"
	"coffer/wallet/intent"
	"coffer/wallet/internal/golden"
)

var update = flag.Bool("update", false, "write the examples of docs/signer.md")

// examples are the requests that docs/signer.md shows, by kind.
func examples(t *testing.T) map[string][]byte {
	t.Helper()
	cases := map[string]signed{}
	for kind, account := range map[string]string{"userOp": api.AccountKernelV31, "approve": api.AccountRoleBased,
		"delegation": api.AccountKernelV33} {
		w := golden.NewOf(t, account, false)
		w.Deploy, w.CallType = true, api.CallSameChainExcludeSolver
		w.Draft.Calls, w.Draft.TokensRequired = []intent.Call{{To: golden.Vault, Value: "7", Data: "0x"}}, nil
		for _, c := range ofSigning(account, w.Network.ID, judged(t, w).Signing()) {
			if strings.HasSuffix(c.name, ": "+kind) {
				cases[kind] = c
			}
		}
	}
	every := everything(t)
	cases["solana"] = every[len(every)-1]
	return given(t, cases)
}

// TestK14_TheExamplesOfTheDocumentAreWhatACommandGets: to the byte, and their digests are those of their contents.
func TestK14_TheExamplesOfTheDocumentAreWhatACommandGets(t *testing.T) {
	page := filepath.Join("..", "..", "docs", "signer.md")
	raw, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	text := string(raw)
	made := examples(t)
	if len(made) != 4 {
		t.Fatalf("%d examples", len(made))
	}
	for kind, line := range made {
		if err := noticed(line); err != nil {
			t.Errorf("%s: %v", kind, err)
		}
		var b bytes.Buffer
		if err := json.Indent(&b, line, "", "  "); err != nil {
			t.Fatal(err)
		}
		want := "<!-- " + kind + " -->\n\n```json\n" + b.String() + "\n```\n"
		if *update {
			place := regexp.MustCompile("<!-- " + kind + " -->\n(\n```json\n[^`]*\n```\n)?")
			text = place.ReplaceAllLiteralString(text, want)
		}
		if strings.Count(text, want) != 1 {
			t.Errorf("%s: the example is another request (-update writes it)", kind)
		}
	}
	if *update {
		if err := os.WriteFile(page, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
