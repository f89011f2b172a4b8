package check_test

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode"

	"coffer/api/catalog"
	"coffer/ui/cli"
	"coffer/ui/cli/check"
	"coffer/wallet/intent"
)

func TestAnIntentBecomesASafeBatchAndBack(t *testing.T) {
	f := save(t, map[string][]byte{"intent": open(t, "v3-kernel-funded").Intent})
	out, code, err := run(t, "intent", "to-safe", f["intent"])
	if code != 0 || !strings.Contains(out, `"checksum"`) || !strings.Contains(out, `"createdAt": 1800000000000`) {
		t.Fatalf("%v\n%s", err, out)
	}
	batch := save(t, map[string][]byte{"batch": []byte(out)})["batch"]
	out, code, err = run(t, "intent", "from-safe", batch)
	if code != 0 {
		t.Fatal(err)
	}
	got, err := intent.ParseDraft([]byte(out))
	if err != nil {
		t.Fatal(err)
	}
	want, err := intent.ParseDraft(open(t, "v3-kernel-funded").Intent)
	if err != nil {
		t.Fatal(err)
	}
	if got.TargetChain != want.TargetChain || len(got.Calls) != 1 || got.Calls[0].To != want.Calls[0].To ||
		got.Calls[0].Data != want.Calls[0].Data {
		t.Fatalf("%+v", got)
	}
	if got.Network != "" || got.Accounts != nil || !reflect.DeepEqual(got.Fill(want.Network, want.Accounts).Accounts,
		want.Accounts) {
		t.Fatalf("%+v", got)
	}
}

func TestConversionsThatLoseSomethingAreRefused(t *testing.T) {
	call := open(t, "v3-kernel-funded").Intent
	f := save(t, map[string][]byte{
		"swap": open(t, "v3-swap-evm").Intent, "broken": []byte(`{`),
		"batch": []byte(
			`{"version":"1.0","chainId":"8453","transactions":[{"to":"0x12","value":"0","data":"0x"},` +
				`{"to":"0x93DBD23b6b71b82E3A19aD8d51DdEBbB13aF7BC0","value":"0","data":"0x","operation":1}]}`),
		"allowance": bytes.Replace(call, []byte(`"version": 1`), []byte(`"validUntil": "1760000100", "version": 1`), 1),
		"escape":    []byte(`{"version":1,"\u001b[31m":1}`),
	})
	for name, c := range map[string]struct {
		args []string
		code int
		says string
	}{
		"swap":              {[]string{"to-safe", f["swap"]}, 4, "refused"},
		"validity":          {[]string{"to-safe", f["allowance"]}, 4, "validUntil"},
		"no JSON":           {[]string{"to-safe", f["broken"]}, 4, "malformed"},
		"no batch":          {[]string{"from-safe", f["broken"]}, 4, "malformed"},
		"every broken rule": {[]string{"from-safe", f["batch"]}, 4, "transactions[1]"},
		"escape":            {[]string{"to-safe", f["escape"]}, 4, "refused"},
		"no file":           {[]string{"to-safe"}, 2, "takes one file"},
		"two files":         {[]string{"from-safe", f["swap"], f["swap"]}, 2, "takes one file"},
		"nothing":           {nil, 2, "from-safe or to-safe"},
		"another word":      {[]string{"to-ledger"}, 2, "no command"},
		"not there":         {[]string{"from-safe", "/nowhere.json"}, 2, "no such file"},
		"not there either":  {[]string{"to-safe", "/nowhere.json"}, 2, "no such file"},
	} {
		out, code, err := run(t, append([]string{"intent"}, c.args...)...)
		if code != c.code || !strings.Contains(err.Error(), c.says) || out != "" ||
			strings.ContainsRune(err.Error(), '\x1b') {
			t.Errorf("%s: exit %d, %v\n%s", name, code, err, out)
		}
	}
}

// FuzzVerify gives the command arbitrary files: it never panics, accepts only golden documents and prints only what a
// terminal may get.
func FuzzVerify(f *testing.F) {
	for _, name := range []string{"v3-eip7702-solana-funded", "v3-swap-role-based", "v1-role-based-same-chain"} {
		b, err := os.ReadFile("testdata/" + name + ".json")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Add([]byte(`{"intent":{"version":1},"network":{},"quote":"{}"}`))
	f.Add([]byte(`{"originChainsOperations":[]}`))
	c, err := catalog.Load()
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		path := filepath.Join(t.TempDir(), "f.json")
		if err := os.WriteFile(path, raw, 0o600); err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		cmd := check.Commands{Out: &out, Catalog: func() (*catalog.Catalog, error) { return c, nil },
			Clock: func() time.Time { return time.Unix(1_760_000_000, 0) }}.Verify(nil)
		cmd.SetArgs([]string{path})
		cmd.SilenceErrors, cmd.SilenceUsage = true, true
		err := cmd.Execute()
		if code := cli.Code(err); code != cli.ExitDone && code != cli.ExitUsage && code != cli.ExitRefused {
			t.Fatalf("exit %d: %v", code, err)
		}
		for _, r := range out.String() {
			if r != '\n' && !unicode.IsPrint(r) {
				t.Fatalf("%U is printed", r)
			}
		}
	})
}
