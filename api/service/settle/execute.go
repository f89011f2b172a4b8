package settle

import (
	"context"
	"errors"
	"math/big"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/op/solmsg"
	"coffer/api/service/chain"
	"coffer/api/service/chain/solana"
	"coffer/api/service/quote"
	"coffer/api/service/quotestore"
)

// Execute answers POST /v3/quote/execute-quote.
func (s *Settler) Execute(ctx context.Context, doc *api.Document) (*api.Document, error) {
	return s.execute(ctx, doc, false)
}

// ExecuteV1 answers POST /quotes/execute-quote: quotes that were answered in the v1 form.
func (s *Settler) ExecuteV1(ctx context.Context, doc *api.Document) (*api.Document, error) {
	return s.execute(ctx, doc, true)
}

func (s *Settler) execute(ctx context.Context, doc *api.Document, v1 bool) (*api.Document, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if s.isClosed() {
		return nil, ErrClosed
	}
	o, err := s.read(ctx, doc, v1)
	if err != nil {
		return nil, err
	}
	if err := s.sign(ctx, o); err != nil {
		return nil, s.orExecuted(ctx, o, err)
	}
	for tries := 1; ; tries++ {
		if err := s.check(ctx, o); err != nil {
			return nil, s.orExecuted(ctx, o, err)
		}
		err := s.accept(ctx, o)
		if err == nil {
			break
		}
		if !errors.Is(err, quotestore.ErrMoved) {
			return nil, err
		}
		if tries == mostTries {
			return nil, quote.PrepareAgain("other quotes of this account are being executed at this moment")
		}
	}
	s.step("accepted")
	s.start(o.Quote)
	return api.Encode(api.ExecuteResponse{Success: true})
}

// mostTries bounds how often the checks are made again because other quotes of the account took steps meanwhile.
const mostTries = 20

// check looks at everything that must hold when PENDING is committed.
func (s *Settler) check(ctx context.Context, o *order) (err error) {
	if o.seen, err = s.Book.Latest(ctx, o.Owner.Hex(), o.SolanaOwner); err != nil {
		return err
	}
	return chain.Question(ctx, func(ctx context.Context) (err error) {
		for _, check := range []func(context.Context, *order) error{s.prime, s.unchanged, s.affordable, s.simulate} {
			if err == nil {
				err = check(ctx, o)
			}
		}
		return err
	})
}

func (s *Settler) step(name string) {
	if s.AfterStep != nil {
		s.AfterStep(name)
	}
}

// affordable checks that what the quote takes is there and not pledged to another one. Pledges are read before
// balances: a deposit that lands in between is then counted twice, never forgotten.
func (s *Settler) affordable(ctx context.Context, o *order) error {
	pending := o.Clone()
	pending.Status = api.StatusPending
	wants := map[string]*big.Int{}
	var assets []quotestore.Amount
	for _, a := range pending.Pledges() {
		if wants[a.Asset] == nil {
			wants[a.Asset] = new(big.Int)
			assets = append(assets, a)
		}
		wants[a.Asset].Add(wants[a.Asset], a.Value)
	}
	all, err := s.Book.Pledged(ctx, o.Owner.Hex(), o.SolanaOwner)
	if err != nil {
		return err
	}
	balances, err := s.spendable(ctx, o, assets)
	if err != nil {
		return err
	}
	for _, a := range assets {
		pledged, balance := all.Of(a.Asset), balances[a.Asset]
		stays := rentBeside(a.CAIP(), pledged)
		free := new(big.Int).Sub(balance, pledged)
		if free.Sub(free, stays).Cmp(wants[a.Asset]) >= 0 {
			continue
		}
		if free.Sign() < 0 {
			free.SetInt64(0)
		}
		rent := ""
		if stays.Sign() > 0 {
			rent = ", " + stays.String() + " stays for rent until they end"
		}
		return api.NewError(api.ErrInsufficientBalance,
			"Insufficient balance of %s: needed %s, available %s (%s is pledged to quotes in execution%s)",
			a.CAIP().Display(), wants[a.Asset], free, pledged, rent)
	}
	return nil
}

// rentBeside is what must stay of an asset while something of it is pledged. An account on Solana keeps its rent
// minimum or nothing, and in which order deposits land is not known: the last of them may not find less than the
// minimum behind another.
func rentBeside(a caip.Asset, pledged *big.Int) *big.Int {
	if !a.Chain.IsSolana() || !a.IsNative() || pledged.Sign() == 0 {
		return new(big.Int)
	}
	return new(big.Int).SetUint64(solana.RentMinimum(0))
}

// spendable is what the quote's account holds of assets and may give away. Each chain is asked once.
func (s *Settler) spendable(ctx context.Context, o *order, of []quotestore.Amount) (map[string]*big.Int, error) {
	out := map[string]*big.Int{}
	on := map[caip.Chain][]caip.Asset{}
	for _, a := range of {
		asset := a.CAIP()
		if !asset.Chain.IsSolana() {
			on[asset.Chain] = append(on[asset.Chain], asset)
			continue
		}
		owner, err := solmsg.ParseKey(o.SolanaOwner)
		if err == nil {
			out[a.Asset], err = s.Network.SolanaSpendable(ctx, owner, asset)
		}
		if err != nil {
			return nil, err
		}
	}
	for _, assets := range on {
		have, err := s.Network.Balances(ctx, o.Owner, assets)
		if err != nil {
			return nil, err
		}
		for i, a := range assets {
			out[a.String()] = have[i]
		}
	}
	return out, nil
}

// accept commits PENDING. Balances are looked at once more, pledges and the clock in the commit: other quotes of the
// account may have been accepted since, and what is not committed by its expiry never will be (protocol §4.3). The
// error is ErrMoved when the checks must be made again: a quote that was accepted and ended since has used nonces that
// were still free.
func (s *Settler) accept(ctx context.Context, o *order) error {
	err := chain.Question(ctx, func(ctx context.Context) error { return s.affordable(ctx, o) })
	if err != nil {
		return s.orExecuted(ctx, o, err)
	}
	if s.Network.OnOwnNodes() {
		if err := quote.Sendable(s.Network, o.ChainID); err != nil {
			return s.orExecuted(ctx, o, err)
		}
	}
	accepted := o.Clone()
	switch err = s.acceptWithin(ctx, o, accepted); {
	case err == nil:
		o.Quote = accepted
		return nil
	case errors.Is(err, quotestore.ErrMoved):
		return err
	case errors.Is(err, quotestore.ErrExpired):
		return expiredAt(o.Expires)
	case errors.Is(err, quotestore.ErrAlreadyAccepted):
		return executedBefore(o.ID)
	case errors.Is(err, quotestore.ErrContextGone):
		return quote.PrepareAgain("the prepared operation was executed with another quote")
	case errors.Is(err, quotestore.ErrClaimed):
		return quote.PrepareAgain("another quote of this account is being executed on one of these chains")
	}
	s.startIfAccepted(o.ID)
	return err
}

// acceptWithin commits an acceptance with the room that the network's limits leave: what is promised counts as taken
// from the commit on.
func (s *Settler) acceptWithin(ctx context.Context, o *order, accepted *quotestore.Quote) error {
	if s.Network.Limits == nil {
		return s.Book.Accept(ctx, accepted, o.context, o.seen)
	}
	s.accepting.Lock()
	defer s.accepting.Unlock()
	for {
		if err := s.acceptOnce(ctx, o, accepted); !errors.Is(err, quotestore.ErrTakenRoom) {
			return err
		}
	}
}

// acceptOnce is acceptWithin, unless another process accepts something meanwhile (quotestore.ErrTakenRoom).
func (s *Settler) acceptOnce(ctx context.Context, o *order, accepted *quotestore.Quote) error {
	seen, done, err := s.Book.Room(ctx, o.seen)
	if err != nil {
		return err
	}
	defer done()
	if err = quote.Room(ctx, s.Network, s.Book, s.Prices, s.Clock(), o.ChainID, o.Fills, o.Legs); err != nil {
		return s.orExecuted(ctx, o, err)
	}
	return s.Book.Accept(ctx, accepted, o.context, seen)
}

// startIfAccepted follows a commit that was reported as failed: if it happened all the same, the saga must run. A
// record that cannot be read now is left to the saga, which reads it first. The caller is told of the fault and finds
// the outcome by quote id.
func (s *Settler) startIfAccepted(id string) {
	q, err := s.Book.Quote(s.ctx, id)
	if err != nil {
		q = &quotestore.Quote{ID: id}
	}
	if err != nil || q.Status != "" && !q.Done() {
		s.start(q)
	}
}

// orExecuted prefers to say that the quote itself was executed meanwhile: its own deposits and nonces are then what a
// check stumbled over.
func (s *Settler) orExecuted(ctx context.Context, o *order, err error) error {
	if q, errRead := s.Book.Quote(ctx, o.ID); errRead == nil && q.Status != "" {
		return executedBefore(o.ID)
	}
	return err
}
