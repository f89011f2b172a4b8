package store

import (
	"context"
	"sync/atomic"
)

type readingKey struct{}

// Reading is the context of one piece of work that may hold several snapshots at once, such as a request: where there
// can only be so many, its further ones do not wait for those whose work waits too.
func Reading(ctx context.Context) context.Context {
	return context.WithValue(ctx, readingKey{}, new(atomic.Int32))
}

// Held counts the snapshots that the work of a context holds; nil where Reading did not make it.
func Held(ctx context.Context) *atomic.Int32 {
	n, _ := ctx.Value(readingKey{}).(*atomic.Int32)
	return n
}
