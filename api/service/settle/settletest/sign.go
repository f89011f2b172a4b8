package settletest

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"encoding/hex"
	"fmt"
	"math/big"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/op"
	"coffer/api/op/solmsg"
)

// SignOperation splices signatures of the given key into the operation at pointer, as the world's user would with that
// key: over the typed data for a role-based account, else EIP-191 over the operation hash; and the authorization, when
// the operation asks for one.
func (w *World) SignOperation(doc *api.Document, pointer string, key *ecdsa.PrivateKey) *api.Document {
	w.TB.Helper()
	u := *w.User
	u.Key = key
	return w.SignOperationAs(&u, doc, pointer)
}

// SignOperationAs signs the operation at pointer with the user's keys, whatever it is.
func (w *World) SignOperationAs(u *User, doc *api.Document, pointer string) *api.Document {
	w.TB.Helper()
	raw, ok := doc.At(pointer)
	if !ok {
		w.TB.Fatalf("no operation at %s", pointer)
	}
	part, err := api.ParseDocument(raw, api.DefaultLimits())
	Must(w.TB, err)
	var o api.ChainOperation
	Must(w.TB, part.Decode(&o))
	var edits []api.Edit
	add := func(at, text string) {
		edit, err := api.StringEdit(pointer+at, text)
		Must(w.TB, err)
		edits = append(edits, edit)
	}
	if o.IsSolana() {
		m, err := solmsg.ParseBase64(o.DataToSign)
		Must(w.TB, err)
		add("/signature", caip.FormatSolanaSignature([64]byte(ed25519.Sign(u.Solana, m.Bytes()))))
	} else {
		add("/userOp/signature", "0x"+hex.EncodeToString(w.signature(u, o)))
		if o.Delegation != nil {
			edits = append(edits, api.Edit{Pointer: pointer + "/delegation/signature", Value: w.authorize(u, o)})
		}
	}
	out, err := doc.Splice(edits...)
	Must(w.TB, err)
	return out
}

// signature is the user's over one EVM operation.
func (w *World) signature(u *User, o api.ChainOperation) []byte {
	w.TB.Helper()
	o.UserOp.Signature = "0x"
	user, err := op.FromWire(*o.UserOp)
	Must(w.TB, err)
	hash, err := user.Hash(w.Installation.Network.Pins.EntryPoint,
		new(big.Int).SetUint64(o.TypedDataToSign.Domain.ChainID))
	Must(w.TB, err)
	digest := op.EIP191(hash)
	if u.Admin != nil {
		domain, approved, err := op.CheckTypedData(*o.TypedDataToSign)
		Must(w.TB, err)
		digest = domain.ApproveDigest(approved)
	}
	sig, err := op.Sign(digest, u.Key)
	Must(w.TB, err)
	return sig
}

// authorize is the signed authorization of an operation, as JSON.
func (w *World) authorize(u *User, o api.ChainOperation) []byte {
	w.TB.Helper()
	at, err := caip.ParseAddress(o.Delegation.ContractAddress)
	Must(w.TB, err)
	signed, err := op.Authorization{
		ChainID: new(big.Int).SetUint64(o.TypedDataToSign.Domain.ChainID), Address: at, Nonce: o.Delegation.Nonce,
	}.Sign(u.Key)
	Must(w.TB, err)
	return w.Encode(signed.Wire()).Raw()
}

// SignQuote signs every operation of a quote with the user's keys.
func (w *World) SignQuote(doc *api.Document) *api.Document {
	w.TB.Helper()
	for i := range w.Decode(doc).OriginChainsOperations {
		doc = w.SignOperationAs(w.User, doc, fmt.Sprintf("/originChainsOperations/%d", i))
	}
	return doc
}
