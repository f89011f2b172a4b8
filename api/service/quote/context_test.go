package quote_test

import (
	"context"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/service/chain"
	. "coffer/api/service/settle/settletest"
	"coffer/api/service/signers"
)

// ours marks the context of a request.
type ours struct{}

// seen is a chain and a signer that are only asked within the context of the request.
type seen struct {
	chain.Chain
	signers.EVM
	signers.Digest
	t     *testing.T
	asked *int
}

func (s seen) ask(ctx context.Context) {
	s.t.Helper()
	if *s.asked++; ctx.Value(ours{}) == nil {
		s.t.Error("asked outside the context of the request")
	}
}

func (s seen) State(ctx context.Context, at uint64) (chain.State, error) {
	s.ask(ctx)
	return s.Chain.State(ctx, at)
}

func (s seen) Address() common.Address { return s.EVM.Address() }

func (s seen) SignMessage(ctx context.Context, m common.Hash) ([]byte, error) {
	s.ask(ctx)
	return s.EVM.SignMessage(ctx, m)
}

func (s seen) SignDigest(ctx context.Context, d common.Hash) ([]byte, error) {
	s.ask(ctx)
	return s.Digest.SignDigest(ctx, d)
}

// A chain or a signer in another process is given up when the request that needs it is.
func TestChainsAndSignersAreAskedWithinTheRequest(t *testing.T) {
	w := as(New(t, Options{}), api.AccountRoleBased+WithSolana, 8, map[uint64]int64{Arbitrum: 100, Base: 100})
	views, signed := 0, 0
	for id, c := range w.Installation.Chains {
		w.Installation.Chains[id] = seen{Chain: c, t: t, asked: &views}
	}
	q := w.Quoter
	q.Operator, q.CoSigner = seen{EVM: q.Operator, t: t, asked: &signed}, seen{EVM: q.CoSigner, t: t, asked: &signed}
	q.TamperProof = seen{Digest: q.TamperProof, t: t, asked: &signed}
	ctx := context.WithValue(t.Context(), ours{}, true)
	usdc := w.Asset("usdc", Base)
	prepared, err := q.Prepare(ctx, w.Encode(w.Request(usdc, 150e6, Transfer(usdc, payee(), 150e6))))
	Must(t, err)
	_, err = q.CallQuote(ctx, w.CallQuoteBody(prepared, "", w.User.Key))
	Must(t, err)
	_, err = q.Quote(ctx, w.SwapBody(Exchange{From: "ob:usdc", Amount: plain(150), Get: "ob:eth"}))
	Must(t, err)
	if views == 0 || signed < 7 {
		t.Errorf("%d views and %d signatures", views, signed)
	}
}
