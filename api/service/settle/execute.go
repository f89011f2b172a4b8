package settle

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"strconv"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/op"
	"coffer/api/service/book"
	"coffer/api/service/quote"
	"coffer/api/service/quote/account"
	"coffer/api/service/quote/integrity"
	"coffer/api/service/store"
)

// order is a quote that somebody wants to execute, with everything that settles it.
type order struct {
	*book.Quote
	now      time.Time
	body     api.Quote
	context  book.Context
	account  account.Account
	prepared op.UserOp   // signed
	deposits []op.UserOp // signed, in the order of Legs
}

// Execute answers POST /v3/quote/execute-quote.
func (s *Settler) Execute(ctx context.Context, doc *api.Document) (*api.Document, error) {
	if err := errors.Join(ctx.Err(), s.fault); err != nil {
		return nil, err
	}
	if s.isClosed() {
		return nil, ErrClosed
	}
	o, err := s.read(doc)
	if err != nil {
		return nil, err
	}
	for _, check := range []func(*order) error{s.sign, s.unchanged, s.affordable, s.rehearse} {
		if err := check(o); err != nil {
			return nil, s.orExecuted(o, err)
		}
	}
	if err := s.accept(o); err != nil {
		return nil, err
	}
	s.step("accepted")
	s.start(o.Quote)
	return accepted()
}

func (s *Settler) step(name string) {
	if s.AfterStep != nil {
		s.AfterStep(name)
	}
}

// read checks the integrity of the document, finds its quote, and checks that it may be executed now.
func (s *Settler) read(doc *api.Document) (*order, error) {
	o := &order{now: s.Clock()}
	failures := api.Rules{Catalog: s.Installation.Catalog, Now: o.now}.Execute(doc)
	digest, err := integrity.Quote(doc)
	if err := integrity.Verify(doc, digest, err, s.Installation.Network.Pins.TamperProof); err != nil && !integrity.Incomplete(failures) {
		return nil, err
	}
	if err := api.NewValidationError(failures); err != nil {
		return nil, err
	}
	if err := doc.Decode(&o.body); err != nil {
		return nil, api.NewDecodeError(err)
	}
	if err := s.find(o, digest); err != nil {
		return nil, err
	}
	if uint64(o.now.Unix()) < o.ValidAfter {
		return nil, api.NewValidationError([]api.Failure{{
			Path: "validAfter", Expected: "a time that has come", Got: strconv.FormatUint(o.ValidAfter, 10),
		}})
	}
	return o, nil
}

// find reads the stored quote and its context. What was signed by us and has expired may have been swept away: that is an expired quote too.
func (s *Settler) find(o *order, digest common.Hash) error {
	found := false
	err := s.Book.View(func(tx store.Tx) (err error) {
		if o.Quote, err = s.Book.Quote(tx, o.body.ID); err != nil {
			return err
		}
		o.context, found, err = s.Book.Context(tx, o.OpHash)
		return err
	})
	expires, errTime := strconv.ParseInt(o.body.ExpirationTimestamp, 10, 64)
	expired := errTime != nil || o.now.After(time.Unix(expires, 0))
	switch {
	case errors.Is(err, book.ErrUnknownQuote) && expired:
		return expiredAt(o.body.ExpirationTimestamp)
	case errors.Is(err, book.ErrUnknownQuote):
		return api.NewError(api.ErrNotFound, "No quote has the id %s", o.body.ID)
	case err != nil:
		return err
	case o.Canonical != digest:
		return integrity.Refusal()
	case o.Status != "":
		return executedBefore(o.ID)
	case expired:
		return expiredAt(o.body.ExpirationTimestamp)
	case !found || o.context.UsedBy != "":
		return quote.PrepareAgain("the prepared operation of this quote was executed with another quote or its time is over")
	}
	return nil
}

func expiredAt(when any) error {
	return api.NewError(api.ErrQuoteExpired, "The quote expired at %v", when)
}

func executedBefore(id string) error {
	return api.NewError(api.ErrAlreadyExecuted, "Quote %s was already executed", id)
}

// sign takes the signatures out of the body and checks every one of them.
func (s *Settler) sign(o *order) (err error) {
	if o.account, err = openOwner(s.Installation.Network.Pins, o.Accounts); err != nil {
		return err
	}
	if o.Whole() {
		o.context.Signature = o.body.OriginChainsOperations[0].UserOp.Signature
	}
	if o.prepared, err = signedOp(o.context.Op, o.context.Signature); err != nil {
		return invalidSignature("the prepared operation", err.Error())
	}
	if !o.account.Signed(o.prepared, o.ChainID) {
		return invalidSignature("the prepared operation", "it is not the account signer's")
	}
	for i := range o.Legs {
		l := &o.Legs[i]
		where := fmt.Sprintf("originChainsOperations[%d]", i)
		l.Signature = o.body.OriginChainsOperations[i].UserOp.Signature
		signed, err := signedOp(l.Op, l.Signature)
		if err != nil {
			return invalidSignature(where, err.Error())
		}
		if !o.account.Signed(signed, l.ChainID) {
			return invalidSignature(where, "it is not the account signer's over this operation")
		}
		o.deposits = append(o.deposits, signed)
	}
	return nil
}

func invalidSignature(what, why string) error {
	return api.NewError(api.ErrInvalidSignature, "Invalid signature of %s: %s", what, why)
}

func signedOp(w api.UserOp, signature string) (op.UserOp, error) {
	w.Signature = signature
	return op.FromWire(w)
}

// unchanged checks that nonces and deployments are as they were signed (protocol §2.6).
func (s *Settler) unchanged(o *order) error {
	check := func(chainID uint64, u op.UserOp, lane uint16, deployed bool) error {
		nonce, err := s.Installation.AccountNonce(chainID, o.Owner, o.account.Key192(lane))
		if err != nil {
			return err
		}
		is, err := s.Installation.Deployed(chainID, o.Owner)
		if err != nil {
			return err
		}
		if nonce.Cmp(u.Nonce) != 0 || is != deployed {
			return quote.PrepareAgain("the account on eip155:%d has changed since the operation was signed", chainID)
		}
		return nil
	}
	if err := check(o.ChainID, o.prepared, op.LanePrepared, o.context.Deployed); err != nil {
		return err
	}
	for i, l := range o.Legs {
		deployed := !l.Deploys
		if l.ChainID == o.ChainID {
			deployed = o.context.Deployed
		}
		if err := check(l.ChainID, o.deposits[i], op.LaneFunding, deployed); err != nil {
			return err
		}
	}
	return nil
}

// affordable checks that what the quote takes is there and not pledged to another one. Pledges are read before balances: a deposit that lands in
// between is then counted twice, never forgotten.
func (s *Settler) affordable(o *order) error {
	pending := o.Clone()
	pending.Status = api.StatusPending
	wants := map[string]*big.Int{}
	var assets []book.Amount
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
		balance, err := s.Installation.Balance(o.Owner, a.CAIP())
		if err != nil {
			return err
		}
		free := new(big.Int).Sub(balance, pledged[a.Asset])
		if free.Cmp(wants[a.Asset]) < 0 {
			return api.NewError(api.ErrInsufficientBalance, "Insufficient balance of %s: needed %s, available %s (%s is pledged to quotes in execution)",
				a.CAIP().Display(), wants[a.Asset], positive(free), pledged[a.Asset])
		}
	}
	return nil
}

func positive(v *big.Int) *big.Int {
	if v.Sign() < 0 {
		return new(big.Int)
	}
	return v
}

// accept commits PENDING. Balances, pledges and the clock are looked at once more: other quotes of the account may have been accepted since, and
// what is not committed by its expiry never will be (protocol §4.3).
func (s *Settler) accept(o *order) error {
	s.accepting.Lock()
	defer s.accepting.Unlock()
	if err := s.affordable(o); err != nil {
		return s.orExecuted(o, err)
	}
	err := s.Book.Update(func(tx store.Tx) error {
		if s.Clock().After(time.Unix(int64(o.Expires), 0)) { // the checks took time
			return expiredAt(o.Expires)
		}
		c, found, err := s.Book.Context(tx, o.OpHash)
		if err != nil {
			return err
		}
		if found && c.UsedBy == "" {
			c.Signature = o.context.Signature
			if err := s.Book.PutContext(tx, c); err != nil {
				return err
			}
		}
		return s.Book.Accept(tx, o.Quote)
	})
	switch {
	case errors.Is(err, book.ErrAlreadyAccepted):
		return executedBefore(o.ID)
	case errors.Is(err, book.ErrContextGone):
		return quote.PrepareAgain("the prepared operation was executed with another quote")
	case errors.Is(err, book.ErrClaimed):
		return quote.PrepareAgain("another quote of this account is being executed on one of these chains")
	}
	var refused *api.Error
	if err != nil && !errors.As(err, &refused) {
		s.startIfAccepted(o.ID)
	}
	return err
}

// startIfAccepted follows a commit that was reported as failed: if it happened all the same, the saga must run. The caller is told of the fault
// and finds the outcome by quote id.
func (s *Settler) startIfAccepted(id string) {
	if q, err := s.reload(id); err == nil && q.Status != "" && !api.Terminal(q.Status) {
		s.start(q)
	}
}

// orExecuted prefers to say that the quote itself was executed meanwhile: its own deposits and nonces are then what a check stumbled over.
func (s *Settler) orExecuted(o *order, err error) error {
	var q *book.Quote
	errRead := s.Book.View(func(tx store.Tx) (err error) {
		q, err = s.Book.Quote(tx, o.ID)
		return err
	})
	if errRead == nil && q.Status != "" {
		return executedBefore(o.ID)
	}
	return err
}
