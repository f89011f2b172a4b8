package verify_test

import (
	"crypto/ecdsa"

	"github.com/ethereum/go-ethereum/crypto"
)

// keyOf derives a worthless test key from a label.
func keyOf(label string) *ecdsa.PrivateKey {
	k, err := crypto.ToECDSA(crypto.Keccak256([]byte(label)))
	if err != nil {
		panic(err)
	}
	return k
}
