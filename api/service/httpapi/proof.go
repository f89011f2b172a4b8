package httpapi

import "context"

type proofKey struct{}

// WithProof returns a context for the requests of one connection; proved is called for each that carries a good
// key, whatever its answer.
func WithProof(ctx context.Context, proved func()) context.Context {
	return context.WithValue(ctx, proofKey{}, proved)
}

// Proved says that the request of ctx carries a good key, for a handler of its own.
func Proved(ctx context.Context) { proved(ctx) }

// proved says that the request of ctx carries a good key.
func proved(ctx context.Context) {
	if tell, ok := ctx.Value(proofKey{}).(func()); ok {
		tell()
	}
}
