package op

import (
	_ "embed"

	"github.com/decred/dcrd/dcrec/secp256k1/v4"
)

// basePoints has d·16^w·G of secp256k1 for w from 0 to 63 and d from 1 to 15: x and y, 32 bytes each. A test makes it.
//
//go:embed basepoints.bin
var basePoints []byte

const pointSize = 64

// PublicOf is private.PubKey without the library's table for many multiplications: unpacking it takes milliseconds, and
// the few public keys of a start need none of it.
func PublicOf(private *secp256k1.PrivateKey) *secp256k1.PublicKey {
	var digits [32]byte // a result would leave a copy of it
	private.Key.PutBytes(&digits)
	defer clear(digits[:])
	var sum, at secp256k1.JacobianPoint
	at.Z.SetInt(1)
	for i, both := range &digits { // of the array itself, no copy
		for j, digit := range [2]byte{both >> 4, both & 15} {
			if digit == 0 {
				continue
			}
			window := 63 - 2*i - j
			point := basePoints[(window*15+int(digit)-1)*pointSize:]
			at.X.SetByteSlice(point[:32])
			at.Y.SetByteSlice(point[32:pointSize])
			secp256k1.AddNonConst(&sum, &at, &sum)
		}
	}
	sum.ToAffine()
	return secp256k1.NewPublicKey(&sum.X, &sum.Y)
}
