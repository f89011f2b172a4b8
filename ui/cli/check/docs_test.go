package check_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"coffer/ui/cli"
	"coffer/ui/cli/check"
	"coffer/wallet/policy"
	"coffer/wallet/verify"
)

// blocks are the fenced blocks of a document with this word after the fence.
func blocks(t *testing.T, path, word string) []string {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, m := range regexp.MustCompile("(?ms)^```([a-z]*)\n(.*?)^```$").FindAllStringSubmatch(string(raw), -1) {
		if m[1] == word {
			out = append(out, m[2])
		}
	}
	return out
}

func TestTheExampleRunOfTheDocumentIsARealOne(t *testing.T) {
	shown := blocks(t, "../../../docs/verify.md", "")
	if len(shown) != 1 {
		t.Fatalf("%d blocks", len(shown))
	}
	const command = "coffer verify ui/cli/check/testdata/v3-swap-role-based.json --now saved\n"
	if !slices.Contains(blocks(t, "../../../docs/verify.md", "sh"), command) {
		t.Error("the document names another command")
	}
	out, code, err := run(t, "verify", "testdata/v3-swap-role-based.json", "--now", "saved")
	if code != 0 {
		t.Fatal(err)
	}
	if got := rePassed.ReplaceAllString(out, ""); got != shown[0] {
		t.Errorf("the document shows\n%s\nthe program prints\n%s", shown[0], got)
	}
}

func TestTheDocumentNamesEveryFlag(t *testing.T) {
	raw, err := os.ReadFile("../../../docs/verify.md")
	if err != nil {
		t.Fatal(err)
	}
	cmd := check.Commands{}.Verify(nil)
	for _, f := range []string{"intent", "network", "prepared", "request", "quote", "policy", "now", "first-session",
		"json", "schema"} {
		if cmd.Flags().Lookup(f) == nil || !strings.Contains(string(raw), "--"+f) {
			t.Errorf("--%s", f)
		}
	}
	for _, c := range []func(*cli.Global) *cobra.Command{check.Commands{}.Verify, check.Commands{}.Intent} {
		if !strings.Contains(string(raw), "coffer "+c(nil).Name()) {
			t.Error(c(nil).Name())
		}
	}
}

func TestTheExampleOfAPolicyIsOne(t *testing.T) {
	example := blocks(t, "../../../docs/policy.md", "toml")
	if len(example) != 1 {
		t.Fatalf("%d blocks", len(example))
	}
	f, err := policy.Parse("docs/policy.md", []byte(example[0]))
	if err != nil {
		t.Fatal(err)
	}
	l := f.Limits("0x2e6e7adf99a44c4bf2d50450af3503dcdf78e4606772affef602cfa5de1234b0")
	if l.Chains == nil || l.Recipients == nil || l.Contracts == nil || l.MaxSpend == nil || l.MaxSpendPerDay == nil ||
		l.MaxCostBps == 0 || l.MaxSlippageBps == 0 ||
		!l.NeverDelegate || l.Gates == nil || l.Paymasters == nil || l.Programs == nil {
		t.Errorf("the example leaves something out: %+v", l)
	}
	raw, err := os.ReadFile("../../../docs/policy.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, gate := range []string{verify.GateBlindSigning, verify.GatePaymaster, verify.GateDelegationNonce,
		verify.GateTarget} {
		if !strings.Contains(string(raw), "| `"+gate+"` |") {
			t.Errorf("gate %s", gate)
		}
	}
}
