package settle

import (
	"context"
	"errors"
	"math/big"
	"time"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/op/solmsg"
	"coffer/api/service/chain/solana"
	"coffer/api/service/quote"
	"coffer/api/service/quotestore"
	"coffer/api/service/store"
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
		return nil, s.orExecuted(o, err)
	}
	for tries := 1; ; tries++ {
		if err := s.check(ctx, o); err != nil {
			return nil, s.orExecuted(o, err)
		}
		err := s.accept(ctx, o)
		if err == nil {
			break
		}
		if !errors.Is(err, errMoved) {
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

// errMoved says that another quote of the account took a step while a quote was checked: what the checks have seen may
// no longer be so.
var errMoved = errors.New("another quote of the account took a step")

// check looks at everything that must hold when PENDING is committed.
func (s *Settler) check(ctx context.Context, o *order) error {
	err := s.Book.View(func(tx store.Tx) error {
		o.seen = s.latest(tx, o)
		return nil
	})
	for _, check := range []func(context.Context, *order) error{s.unchanged, s.affordable, s.rehearse} {
		if err == nil {
			err = check(ctx, o)
		}
	}
	return err
}

// latest are the last steps of quotes of the order's accounts.
func (s *Settler) latest(tx store.Tx, o *order) (out [2]uint64) {
	return [2]uint64{s.Book.Latest(tx, o.Owner.Hex()), s.Book.Latest(tx, o.SolanaOwner)}
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
	pledged := map[string]*big.Int{}
	err := s.Book.View(func(tx store.Tx) error {
		for _, a := range assets {
			pledged[a.Asset] = s.Book.Pledged(tx, o.OwnerOn(a.CAIP().Chain), a.Asset)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, a := range assets {
		balance, err := s.spendable(ctx, o, a)
		if err != nil {
			return err
		}
		stays := rentBeside(a.CAIP(), pledged[a.Asset])
		free := new(big.Int).Sub(balance, pledged[a.Asset])
		if free.Sub(free, stays).Cmp(wants[a.Asset]) >= 0 {
			continue
		}
		rent := ""
		if stays.Sign() > 0 {
			rent = ", " + stays.String() + " stays for rent until they end"
		}
		return api.NewError(api.ErrInsufficientBalance,
			"Insufficient balance of %s: needed %s, available %s (%s is pledged to quotes in execution%s)",
			a.CAIP().Display(), wants[a.Asset], positive(free), pledged[a.Asset], rent)
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

// spendable is what the quote's account holds of an asset and may give away.
func (s *Settler) spendable(ctx context.Context, o *order, a quotestore.Amount) (*big.Int, error) {
	asset := a.CAIP()
	if !asset.Chain.IsSolana() {
		return s.Network.Balance(ctx, o.Owner, asset)
	}
	owner, err := solmsg.ParseKey(o.SolanaOwner)
	if err != nil {
		return nil, err
	}
	return s.Network.SolanaSpendable(ctx, owner, asset)
}

func positive(v *big.Int) *big.Int {
	if v.Sign() < 0 {
		return new(big.Int)
	}
	return v
}

// accept commits PENDING. Balances, pledges and the clock are looked at once more: other quotes of the account may have
// been accepted since, and what is not committed by its expiry never will be (protocol §4.3). The error is errMoved
// when the checks must be made again: a quote that was accepted and ended since has used nonces that were still free.
func (s *Settler) accept(ctx context.Context, o *order) error {
	s.accepting.Lock()
	defer s.accepting.Unlock()
	if err := s.affordable(ctx, o); err != nil {
		return s.orExecuted(o, err)
	}
	accepted := o.Clone()
	err := s.Book.Update(func(tx store.Tx) error {
		if s.Clock().After(time.Unix(int64(o.Expires), 0)) { // the checks took time
			return expiredAt(o.Expires)
		}
		if err := s.keepSignature(tx, o); err != nil {
			return err
		}
		now := s.latest(tx, o)
		if err := s.Book.Accept(tx, accepted); err != nil {
			return err
		}
		if now != o.seen {
			return errMoved
		}
		return nil
	})
	switch {
	case err == nil:
		o.Quote = accepted
		return nil
	case errors.Is(err, errMoved):
		return err
	case errors.Is(err, quotestore.ErrAlreadyAccepted):
		return executedBefore(o.ID)
	case errors.Is(err, quotestore.ErrContextGone):
		return quote.PrepareAgain("the prepared operation was executed with another quote")
	case errors.Is(err, quotestore.ErrClaimed):
		return quote.PrepareAgain("another quote of this account is being executed on one of these chains")
	}
	var refused *api.Error
	if !errors.As(err, &refused) {
		s.startIfAccepted(o.ID)
	}
	return err
}

// keepSignature writes what was signed with a call that pays for itself into the context of its operation.
func (s *Settler) keepSignature(tx store.Tx, o *order) error {
	if !o.HasPrepared() {
		return nil
	}
	c, found, err := s.Book.Context(tx, o.OpHash)
	if err != nil || !found || c.UsedBy != "" {
		return err
	}
	c.Signature, c.Delegation = o.context.Signature, o.context.Delegation
	return s.Book.PutContext(tx, c)
}

// startIfAccepted follows a commit that was reported as failed: if it happened all the same, the saga must run. A
// record that cannot be read now is left to the saga, which reads it first. The caller is told of the fault and finds
// the outcome by quote id.
func (s *Settler) startIfAccepted(id string) {
	q, err := s.reload(id)
	if err != nil {
		q = &quotestore.Quote{ID: id}
	}
	if err != nil || q.Status != "" && !q.Done() {
		s.start(q)
	}
}

// orExecuted prefers to say that the quote itself was executed meanwhile: its own deposits and nonces are then what a
// check stumbled over.
func (s *Settler) orExecuted(o *order, err error) error {
	if q, errRead := s.reload(o.ID); errRead == nil && q.Status != "" {
		return executedBefore(o.ID)
	}
	return err
}
