package quote_test

import (
	"context"
	"errors"

	"coffer/api"
	"coffer/api/service/quotestore"
	. "coffer/api/service/settle/settletest"
)

func asError(err error) *api.Error {
	var e *api.Error
	errors.As(err, &e)
	return e
}

// contextOf is what prepare knew about the operation of a call quote.
func contextOf(w *World, id string) quotestore.Context {
	w.TB.Helper()
	_, c, err := w.Book.Prepared(context.Background(), id)
	Must(w.TB, err)
	return c
}

// record is the record of a quote.
func record(w *World, id string) *quotestore.Quote {
	w.TB.Helper()
	q, err := w.Book.Quote(context.Background(), id)
	Must(w.TB, err)
	return q
}

// acceptOffer makes an offer an executing quote in the book, with its pledges, as settlement does.
func acceptOffer(w *World, id string) {
	w.TB.Helper()
	ctx := context.Background()
	q, prepared, err := w.Book.Prepared(ctx, id)
	Must(w.TB, err)
	seen, err := w.Book.Latest(ctx, q.Owner.Hex(), q.SolanaOwner)
	Must(w.TB, err)
	Must(w.TB, w.Book.Accept(ctx, q, prepared, seen))
}
