package op

import (
	"crypto/ecdsa"
	"errors"
	"math/big"
	"strconv"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
)

// SignatureLength is the length of an ECDSA signature: r (32), s (32), v (27 or 28).
const SignatureLength = 65

// EIP191 is the digest of a personal message whose content is the 32 raw bytes of
// hash. Kernel accounts sign EIP191(userOpHash) (protocol §8.2).
func EIP191(hash common.Hash) common.Hash { return EIP191Message(hash[:]) }

// EIP191Message is the digest of a personal message of any length.
func EIP191Message(message []byte) common.Hash {
	prefix := "\x19Ethereum Signed Message:\n" + strconv.Itoa(len(message))
	return crypto.Keccak256Hash([]byte(prefix), message)
}

// Sign signs a digest and returns 65 bytes with v 27 or 28 and a low s. The same key
// and digest always give the same signature (RFC 6979). Which digests may be signed is
// decided elsewhere: in the wallet only wallet/sign calls this.
func Sign(digest common.Hash, key *ecdsa.PrivateKey) ([]byte, error) {
	if key == nil {
		return nil, errors.New("signing: no key")
	}
	sig, err := crypto.Sign(digest[:], key)
	if err != nil {
		return nil, errors.New("signing: the key cannot sign") // the cause may describe the key
	}
	sig[64] += 27
	return sig, nil
}

// Recover returns the address whose key made the signature of digest. It accepts 65
// bytes with v 27 or 28 and a low s (TH-U15): the one form our contracts accept.
func Recover(digest common.Hash, sig []byte) (common.Address, error) {
	const field = "signature"
	if len(sig) != SignatureLength {
		return common.Address{}, refuse("U15", field, "65 bytes", strconv.Itoa(len(sig))+" bytes")
	}
	if sig[64] != 27 && sig[64] != 28 {
		return common.Address{}, refuse("U15", field, "a last byte of 27 or 28", strconv.Itoa(int(sig[64])))
	}
	return recoverParts(digest, [32]byte(sig[:32]), [32]byte(sig[32:64]), sig[64]-27)
}

// recoverParts recovers from r, s and the y parity (0 or 1).
func recoverParts(digest common.Hash, r, s [32]byte, parity byte) (common.Address, error) {
	const field = "signature"
	if !crypto.ValidateSignatureValues(parity, new(big.Int).SetBytes(r[:]), new(big.Int).SetBytes(s[:]), true) {
		return common.Address{}, refuse("U15", field, "r and s inside the curve's order, s in its lower half", "")
	}
	pub, err := crypto.SigToPub(digest[:], concat(r[:], s[:], []byte{parity}))
	if err != nil {
		return common.Address{}, refuse("U15", field, "a signature of some key", "")
	}
	return crypto.PubkeyToAddress(*pub), nil
}
