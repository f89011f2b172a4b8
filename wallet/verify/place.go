package verify

import (
	"math/big"

	"github.com/ethereum/go-ethereum/common"
)

// Place is where an account's nonces of one key are kept (op.Nonce.Key192).
type Place struct {
	Chain               uint64
	Account, EntryPoint common.Address
	Key                 *big.Int
}

// Same reports whether it is the same place.
func (p Place) Same(q Place) bool {
	return p.Chain == q.Chain && p.Account == q.Account && p.EntryPoint == q.EntryPoint && p.Key.Cmp(q.Key) == 0
}

// Reached is the next full nonce of a place in a final block; nil where the nodes did not say, for Trouble.
type Reached struct {
	Place
	Block   uint64
	Next    *big.Int
	Trouble string
}
