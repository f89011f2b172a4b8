package verify

import (
	"math/big"
	"testing"

	"coffer/api"
	"coffer/api/catalog"
	"coffer/wallet/intent"
	"coffer/wallet/internal/golden"
)

// TestAnIntentThatTheCatalogueDoesNotKnowIsRefused: an intent is frozen under one catalogue and judged under another
// that knows nothing of it.
func TestAnIntentThatTheCatalogueDoesNotKnowIsRefused(t *testing.T) {
	w := golden.New(t)
	j := &judge{Policy: DefaultPolicy(w.Network, w.Catalog)}
	if _, ok := j.payer(); ok || !j.report.Has("U1", Refuse) {
		t.Error("nobody pays")
	}
	for name, change := range map[string]func(*intent.Draft){
		"aggregates":   func(*intent.Draft) {},
		"exact assets": func(d *intent.Draft) { d.Pay.Asset, d.Receive.Asset = golden.ArbETH, golden.BaseUSDC },
		"a recipient":  func(d *intent.Draft) { d.Receive.Account = "eip155:10:" + golden.Payee },
	} {
		d := intent.Draft{
			Version: 1, Kind: intent.KindSwap, Network: w.Network.ID, Accounts: w.Draft.Accounts,
			Pay:     &intent.Pay{Asset: "ob:eth", Amount: "1"},
			Receive: &intent.Receive{Asset: "ob:usdc"},
		}
		change(&d)
		in, err := intent.Freeze(d, api.Rules{Catalog: w.Catalog, Now: w.Now})
		if err != nil {
			t.Fatal(err)
		}
		p := DefaultPolicy(w.Network, &catalog.Catalog{})
		j := &judge{Policy: p, in: in}
		if j.chosen(big.NewInt(1), 6) || !j.report.Has("Q5", Refuse) {
			t.Errorf("%s: what is paid was compared with nothing: %+v", name, j.report.Reasons)
		}
		j = &judge{Policy: p, in: in, h: NoHistory{}}
		if j.received(account{}, nil, api.DestinationToken{}, &VerifiedQuote{}) ||
			!j.report.Has("Q7", Refuse) {
			t.Errorf("%s: what is delivered was compared with nothing: %+v", name, j.report.Reasons)
		}
	}
}
