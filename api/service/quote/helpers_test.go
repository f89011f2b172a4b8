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
