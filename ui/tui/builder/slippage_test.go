package builder

import (
	"os"
	"strings"
	"testing"

	"coffer/wallet/intent"
)

// TestL1_AFileWithoutSlippageIsOneRequest opens the files that the commands and the line mode read as well: the request
// is what package intent makes of them.
func TestL1_AFileWithoutSlippageIsOneRequest(t *testing.T) {
	for _, name := range []string{"call", "transfer", "swap"} {
		raw, err := os.ReadFile("../../../wallet/intent/testdata/no-slippage/" + name + ".json")
		if err != nil {
			t.Fatal(err)
		}
		r := keepRig(t, &memory{})
		d, err := intent.ParseDraft(raw)
		if err != nil {
			t.Fatal(err)
		}
		want, err := intent.Freeze(d.Fill(r.s.Network, r.s.Accounts), r.s.Rules())
		if err != nil {
			t.Fatal(err)
		}
		r.press("o", "enter").paste(string(raw)).press("enter")
		body := func(i intent.Intent) string { return string(i.PrepareBody()) + string(i.QuoteBody()) }
		if got := body(r.frozen()); got != body(want) || !strings.Contains(got, `"slippageTolerance":50`) {
			t.Errorf("%s:\n%s\n%s", name, got, body(want))
		}
	}
}
