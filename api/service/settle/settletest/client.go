package settletest

import (
	"context"
	"crypto/ecdsa"
	"math/big"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/service/foreign"
)

// Transfer is a call that moves a token.
func Transfer(a caip.Asset, to common.Address, v int64) api.Call {
	return foreign.Transfer(a, to, big.NewInt(v))
}

// Request is a prepare request of the user for calls that need an amount of one asset.
func (w *World) Request(a caip.Asset, needs int64, calls ...api.Call) api.PrepareRequest {
	return w.User.Request(a, big.NewInt(needs), calls...)
}

// Prepare posts a prepare request.
func (w *World) Prepare(r api.PrepareRequest) (*api.Document, error) {
	w.TB.Helper()
	return w.Quoter.Prepare(context.Background(), w.Encode(r))
}

// Encode makes a request body.
func (w *World) Encode(v any) *api.Document {
	w.TB.Helper()
	return w.made(api.Encode(v))
}

// CallQuote signs a prepared operation and asks for a quote; from is "" or the paying asset.
func (w *World) CallQuote(prepared *api.Document, from string) (*api.Document, error) {
	w.TB.Helper()
	return w.Quoter.CallQuote(context.Background(), w.CallQuoteBody(prepared, from, w.User.Key))
}

// CallQuoteBody is the body of call-quote, signed by key.
func (w *World) CallQuoteBody(prepared *api.Document, from string, key *ecdsa.PrivateKey) *api.Document {
	w.TB.Helper()
	return w.made(foreign.CallQuote(w.SignOperation(prepared, "/chainOperation", key), from))
}

// Decode reads a quote.
func (w *World) Decode(doc *api.Document) api.Quote {
	w.TB.Helper()
	var q api.Quote
	Must(w.TB, doc.Decode(&q))
	return q
}

// Quote prepares, signs and quotes a request; from is "" or the paying asset.
func (w *World) Quote(r api.PrepareRequest, from string) *api.Document {
	w.TB.Helper()
	if r.FromAssetID == "" {
		r.FromAssetID = from
	}
	return w.made(w.CallQuote(w.made(w.Prepare(r)), from))
}

// Execute posts a signed quote.
func (w *World) Execute(doc *api.Document) error {
	_, err := w.Settler.Execute(context.Background(), doc)
	return err
}

// Settle executes a signed quote and waits for its end.
func (w *World) Settle(signed *api.Document) api.ExecutionStatus {
	w.TB.Helper()
	Must(w.TB, w.Execute(signed))
	Must(w.TB, w.Settler.Idle(context.Background()))
	return w.Status(w.Decode(signed).ID)
}

// Status reads the status of a quote.
func (w *World) Status(id string) api.ExecutionStatus {
	w.TB.Helper()
	s, _, err := w.Book.Status(context.Background(), id)
	Must(w.TB, err)
	return s
}
