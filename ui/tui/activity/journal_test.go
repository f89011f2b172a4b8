package activity

import (
	"math/big"
	"testing"

	"coffer/api/catalog"
	"coffer/wallet/journal"
)

// TestTheJournalsSignaturesAreReadWithTheCatalogue: a known asset gets its symbol and decimals, an unknown one keeps
// its base units, and nothing is invented.
func TestTheJournalsSignaturesAreReadWithTheCatalogue(t *testing.T) {
	cat, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	got := FromJournal(cat, []journal.Outstanding{
		{Op: "a", Signature: journal.Signature{ValidUntil: begin().Unix(),
			Spend: []journal.Spend{{Asset: "eip155:8453/erc20:" + usdc, Amount: "7"}}}},
		{Op: "b", Signature: journal.Signature{Spend: []journal.Spend{{Asset: "eip155:4242/slip44:60", Amount: "9"}}}},
	}, 0)
	if len(got) != 2 || got[0].Operation != "a" || !got[0].Until.Equal(begin()) || !got[1].Until.IsZero() {
		t.Fatalf("%+v", got)
	}
	known, unknown := got[0].Summary.Spend[0], got[1].Summary.Spend[0]
	if known.Symbol != "USDC" || known.Decimals != 6 || known.ChainName != "Base" ||
		known.Amount.Cmp(big.NewInt(7)) != 0 {
		t.Errorf("%+v", known)
	}
	if unknown.Symbol != "" || unknown.Decimals != -1 || unknown.ChainName != "" ||
		unknown.Amount.Cmp(big.NewInt(9)) != 0 {
		t.Errorf("%+v", unknown)
	}
}
