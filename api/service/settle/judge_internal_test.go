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
	for want, t1 := range map[bool]escrow.Terms{true: terms, false: other} {
		landed := []entrypoint.Deposit{{QuoteID: id, Depositor: owner, Amount: pays.Value,
			Terms: t1.Hash(filler, id, owner)}}
		if s.contains(landed, o, leg) != want {
			t.Errorf("%+v is not %t", t1, want)
		}
	}
}
