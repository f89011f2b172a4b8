package verify

import (
	"testing"

	"coffer/api/op"
	"coffer/wallet/internal/golden"
)

// TestU2_EveryOtherModeAndTypeOfTheNonceIsRefused asks the one check that decides about a nonce for all 65 536 pairs of
// mode and type.
func TestU2_EveryOtherModeAndTypeOfTheNonceIsRefused(t *testing.T) {
	w := golden.New(t)
	p := DefaultPolicy(w.Network, w.Catalog)
	accepted := 0
	for i := range 1 << 16 {
		n := op.Nonce{Mode: byte(i >> 8), Type: byte(i), Validator: p.Network.Pins.ECDSAValidator}
		j := &judge{Policy: p, h: NoHistory{}, now: golden.Clock()}
		o := operation{role: role{path: "/chainOperation", chainID: 8453, lane: op.LanePrepared},
			userOp: op.UserOp{Nonce: n.Big()}}
		j.nonce(account{address: w.Account, validator: p.Network.Pins.ECDSAValidator}, &o)
		if j.report.Has("U2", Refuse) == (i == 0) {
			t.Fatalf("mode %02x type %02x: refused %v", n.Mode, n.Type, i == 0)
		}
		if !j.refused() {
			accepted++
		}
	}
	if accepted != 1 {
		t.Errorf("%d pairs accepted", accepted)
	}
}
