package settletest

import (
	"crypto/ecdsa"

	"coffer/api"
)

// SignOperation splices signatures of the given key into the operation at pointer, as the world's user would with that
// key.
func (w *World) SignOperation(doc *api.Document, pointer string, key *ecdsa.PrivateKey) *api.Document {
	w.TB.Helper()
	u := *w.User
	u.Key = key
	return w.SignOperationAs(&u, doc, pointer)
}

// SignOperationAs signs the operation at pointer with the user's keys, whatever it is.
func (w *World) SignOperationAs(u *User, doc *api.Document, pointer string) *api.Document {
	w.TB.Helper()
	return w.made(u.Sign(w.Installation.Pins, doc, pointer))
}

// SignQuote signs every operation of a quote with the user's keys.
func (w *World) SignQuote(doc *api.Document) *api.Document {
	w.TB.Helper()
	return w.made(w.User.SignQuote(w.Installation.Pins, doc))
}

// made ends the test where a document could not be made.
func (w *World) made(doc *api.Document, err error) *api.Document {
	w.TB.Helper()
	Must(w.TB, err)
	return doc
}
