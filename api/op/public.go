package op

import "github.com/decred/dcrd/dcrec/secp256k1/v4"

// PublicOf is private.PubKey without the library's table for many multiplications: unpacking it takes milliseconds, and
// the few public keys of a start need none of it.
func PublicOf(private *secp256k1.PrivateKey) *secp256k1.PublicKey {
	var g, at secp256k1.JacobianPoint
	curve := secp256k1.Params()
	g.X.SetByteSlice(curve.Gx.Bytes())
	g.Y.SetByteSlice(curve.Gy.Bytes())
	g.Z.SetInt(1)
	secp256k1.ScalarMultNonConst(&private.Key, &g, &at)
	at.ToAffine()
	return secp256k1.NewPublicKey(&at.X, &at.Y)
}
