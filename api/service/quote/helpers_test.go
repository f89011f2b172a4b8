package quote_test

import (
	"errors"

	"coffer/api"
	"coffer/api/service/quotestore"
	. "coffer/api/service/settle/settletest"
	"coffer/api/service/store"
)

func asError(err error) *api.Error {
	var e *api.Error
	errors.As(err, &e)
	return e
}

// acceptOffer makes an offer an executing quote in the book, with its pledges, as settlement does.
func acceptOffer(w *World, id string) {
	w.TB.Helper()
	Must(w.TB, w.Book.Update(func(tx store.Tx) error {
		q, err := w.Book.Quote(tx, id)
		if err != nil {
			return err
		}
		return w.Book.Accept(tx, q)
	}))
}

// stored is a quote's record.
func stored(w *World, id string) (q *quotestore.Quote) {
	w.TB.Helper()
	Must(w.TB, w.Book.View(func(tx store.Tx) (err error) {
		q, err = w.Book.Quote(tx, id)
		return err
	}))
	return q
}

// contextOf is what prepare knew about the operation of a call quote.
func contextOf(w *World, id string) (c quotestore.Context) {
	w.TB.Helper()
	Must(w.TB, w.Book.View(func(tx store.Tx) (err error) {
		q, err := w.Book.Quote(tx, id)
		if err != nil {
			return err
		}
		c, _, err = w.Book.Context(tx, q.OpHash)
		return err
	}))
	return c
}
