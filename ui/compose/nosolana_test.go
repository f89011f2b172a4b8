package compose

import (
	"testing"

	"coffer/api/caip"
	"coffer/api/catalog"
)

// Where the network has no Solana, whatever names it is told why, and everything else what it was told before.
func TestSolanaOnANetworkWithoutItIsToldWhy(t *testing.T) {
	shipped, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	const wallet = "7EcDhSYGxXyscszYEp35KHN8vvw3svAuLKTzXwCFLtV"
	without := shipped.Only(func(a caip.Asset) bool { return !a.Chain.IsSolana() })
	for want, w := range map[string]*World{
		NoSolana: {Catalog: without}, NoOwnSolana: {Catalog: without, OwnNodes: true}, "": {Catalog: shipped},
	} {
		for _, text := range []string{"solana", "Solana", caip.SolanaMainnet().String()} {
			if _, got := w.Chain(text); got != want {
				t.Errorf("chain %s: %q, expected %q", text, got, want)
			}
		}
		for _, text := range []string{"sol", "ob:sol", "usdc@solana", caip.SolanaMainnet().String() + "/slip44:501"} {
			if _, got := w.Asset(text); got != want {
				t.Errorf("asset %s: %q, expected %q", text, got, want)
			}
		}
		if _, got := w.Recipient(caip.Chain{}, wallet); got != want {
			t.Errorf("recipient: %q, expected %q", got, want)
		}
		if _, got := w.Chain("nowhere"); got != `there is no chain "nowhere"` {
			t.Error(got)
		}
		if _, got := w.Asset("nothing"); got != `there is no asset "nothing"` {
			t.Error(got)
		}
	}
}
