package settle

import (
	"math/big"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api/caip"
	"coffer/api/network"
	"coffer/api/op/escrow"
	"coffer/api/service/deployment"
	"coffer/api/service/quote/entrypoint"
	"coffer/api/service/quotestore"
)

// TestADepositUnderOtherTermsIsNone: nobody could attest its fill, and its owner could take it back after the delivery.
// So he could with an earlier refund deadline, before the release.
func TestADepositUnderOtherTermsIsNone(t *testing.T) {
	filler, id, owner := common.Address{1}, common.Hash{2}, common.Address{3}
	d := network.Descriptor{Pins: network.Pins{Paymaster: filler}}
	s := &Settler{Deps: Deps{Network: &deployment.Network{Descriptor: d}}}
	pays := quotestore.Amount{Asset: caip.Native(10).String(), Value: big.NewInt(5)}
	leg := quotestore.Leg{ChainID: 10, Pays: pays}
	o := &order{Quote: &quotestore.Quote{ID: id.Hex(), ChainID: 8453, Owner: owner, OpHash: common.Hash{4},
		ValidUntil: 9, Legs: []quotestore.Leg{leg}}}
	terms := escrow.Terms{TargetChain: 8453, FillDeadline: 9, Operations: [][32]byte{{4}}}
	other := terms
	other.Operations = [][32]byte{{5}}
	for _, x := range []struct {
		terms    escrow.Terms
		deadline uint64
		want     bool
	}{{terms, 9 + 7200, true}, {other, 9 + 7200, false}, {terms, 10, false}, {terms, 9 + 7199, false}} {
		landed := []entrypoint.Deposit{{QuoteID: id, Depositor: owner, Amount: pays.Value,
			RefundDeadline: x.deadline, Terms: x.terms.Hash(filler, id, owner)}}
		if s.contains(landed, o, leg) != x.want {
			t.Errorf("%+v is not %t", x, x.want)
		}
	}
}
