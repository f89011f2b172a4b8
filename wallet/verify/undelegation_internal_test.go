package verify

import (
	"math/big"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api/op"
)

// The zero address is signed as the end of a delegation and nowhere else, a contract nowhere as an end.
func TestTH_D7_OnlyAnEndHasTheZeroAddress(t *testing.T) {
	for name, c := range map[string]struct {
		chain int64
		to    common.Address
		ends  bool
		ok    bool
	}{
		"an end":                      {8453, common.Address{}, true, true},
		"a delegation":                {8453, common.Address{1}, false, true},
		"a delegation to nothing":     {8453, common.Address{}, false, false},
		"an end that names contracts": {8453, common.Address{1}, true, false},
		"an end on every chain":       {0, common.Address{}, true, false},
	} {
		v := VerifiedDelegation{ends: c.ends,
			authorization: op.Authorization{ChainID: big.NewInt(c.chain), Address: c.to, Nonce: 1}}
		if err := v.Check(); (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}
