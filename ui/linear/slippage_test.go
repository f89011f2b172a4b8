package linear

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"coffer/api"
	"coffer/wallet/intent"
)

// TestL1_AFileWithoutSlippageIsOneRequest loads the files that the commands and the dashboard load as well: the request
// is what package intent makes of them.
func TestL1_AFileWithoutSlippageIsOneRequest(t *testing.T) {
	for _, name := range []string{"call", "transfer", "swap"} {
		path := filepath.Join("../../wallet/intent/testdata/no-slippage", name+".json")
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t).begins()
			d, err := intent.ParseDraft(raw)
			if err != nil {
				t.Fatal(err)
			}
			x := r.opts.Context
			want, err := intent.Freeze(d.Fill(x.Network.ID, x.Accounts), api.Rules{Catalog: x.Catalog, Now: utc()})
			if err != nil {
				t.Fatal(err)
			}
			r.types("6", path)
			said := r.types("1", "3")
			if err := r.ends(); err != nil || len(r.started) != 1 {
				t.Fatalf("%d begun, %v\n%s", len(r.started), err, said)
			}
			body := func(i intent.Intent) string { return string(i.PrepareBody()) + string(i.QuoteBody()) }
			if got := body(r.started[0]); got != body(want) || !strings.Contains(got, `"slippageTolerance":50`) {
				t.Errorf("%s:\n%s\n%s", name, got, body(want))
			}
			if name == "call" && !strings.Contains(said, "Slippage: the price may move by at most 0.50 %.") {
				t.Errorf("review 1 does not name the slippage:\n%s", said)
			}
		})
	}
}
