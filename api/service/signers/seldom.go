package signers

import (
	"context"
	"math/big"

	"github.com/decred/dcrd/dcrec/secp256k1/v4"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"

	"coffer/api/op"
)

// seldom is a Key that signs a few transactions at a first start, byte for byte as Key does. It does without the
// library's table for many signatures: unpacking that takes as long as all the rest of making a chain.
type seldom struct{ *Key }

// SignTx implements EVM.
func (s seldom) SignTx(_ context.Context, tx *types.Transaction, chainID *big.Int) (*types.Transaction, error) {
	signer := types.LatestSignerForChainID(chainID)
	return tx.WithSignature(signer, s.sign(signer.Hash(tx)))
}

// sign makes 65 bytes with v 0 or 1 and a low s (RFC 6979).
func (s seldom) sign(digest common.Hash) []byte {
	var key secp256k1.ModNScalar
	key.SetByteSlice(crypto.FromECDSA(s.key))
	defer key.Zero()
	secret := key.Bytes()
	defer clear(secret[:])
	for try := uint32(0); ; try++ {
		if sig := signWith(secp256k1.NonceRFC6979(secret[:], digest[:], nil, nil, try), &key, digest); sig != nil {
			return sig
		}
	}
}

// signWith makes a signature with a nonce k, nil when that gives none: r is where k times the base point lies, and s is
// (digest + r·key) / k. Of s and -s the lower one counts, which is the signature of the point mirrored.
func signWith(k, key *secp256k1.ModNScalar, digest common.Hash) []byte {
	nonce := secp256k1.NewPrivateKey(k)
	defer nonce.Zero()
	k.Zero()
	at := op.PublicOf(nonce).SerializeUncompressed()
	var r, e secp256k1.ModNScalar
	over := r.SetByteSlice(at[1:33])
	e.SetByteSlice(digest[:])
	s := new(secp256k1.ModNScalar).Mul2(&r, key).Add(&e)
	inverse := new(secp256k1.ModNScalar).InverseValNonConst(&nonce.Key)
	defer inverse.Zero()
	if s.Mul(inverse); r.IsZero() || s.IsZero() {
		return nil
	}
	parity := at[64] & 1
	if over {
		parity |= 2
	}
	if s.IsOverHalfOrder() {
		s.Negate()
		parity ^= 1
	}
	sig := make([]byte, op.SignatureLength)
	r.PutBytesUnchecked(sig[:32])
	s.PutBytesUnchecked(sig[32:64])
	sig[64] = parity
	return sig
}
