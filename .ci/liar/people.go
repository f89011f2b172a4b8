package liar

import (
	"crypto/ecdsa"
	"fmt"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"coffer/api/caip"
)

// friend is somebody whom the person pays. The attacker has all their keys.
type friend struct {
	key     *ecdsa.PrivateKey
	address common.Address
	solana  string
}

// friends are the same in every session, so that the person has paid some of them before.
func friends() []friend {
	out := make([]friend, 5)
	for i := range out {
		seed := crypto.Keccak256(fmt.Appendf(nil, "coffer liar friend %d", i))
		key, err := crypto.ToECDSA(seed)
		if err != nil {
			panic(err) // a hash outside the curve's order: never for these numbers
		}
		out[i] = friend{key, crypto.PubkeyToAddress(key.PublicKey), caip.FormatSolanaKey([32]byte(seed))}
	}
	return out
}

// thief is where the attacker takes things.
func thief() common.Address {
	return common.BytesToAddress(crypto.Keccak256([]byte("coffer liar thief")))
}
