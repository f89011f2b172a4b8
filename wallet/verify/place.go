package verify

import (
	"math/big"

	"github.com/ethereum/go-ethereum/common"
)

// Place is where an account's nonces of one key are kept (op.Nonce.Key192). Without an EntryPoint and a Key it is the
// account's own nonce, which its transactions and EIP-7702 authorizations use.
type Place struct {
	Chain               uint64
	Account, EntryPoint common.Address
	Key                 *big.Int
}

// Own reports whether the place is the account's own nonce.
func (p Place) Own() bool { return p.EntryPoint == common.Address{} }

// Same reports whether it is the same place.
func (p Place) Same(q Place) bool {
	return p.Chain == q.Chain && p.Account == q.Account && p.EntryPoint == q.EntryPoint &&
		(p.Own() || p.Key.Cmp(q.Key) == 0)
}

// Reached is the next full nonce of a place in a final block; nil where the nodes did not say, for Trouble.
type Reached struct {
	Place
	Block   uint64
	Next    *big.Int
	Trouble string
}
