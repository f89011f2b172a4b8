package settle

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/op/escrow"
	"coffer/api/service/chain"
	"coffer/api/service/quote/entrypoint"
	"coffer/api/service/quotestore"
)

// The records of an operator may turn out to be older than the chains (quotestore.Epoch). Then what a record says is
// read from the chains first: whether the quote was delivered, and what became of its deposits. Deposits that have no
// record get one. That nothing of a delivery was signed is not believed of any of them.

// older reports whether the record of a quote is of an earlier epoch, and has nothing under way: what was sent ends
// first, as the lanes say.
func (s *Settler) older(ctx context.Context, q *quotestore.Quote) (bool, error) {
	if !s.operated() || q.Sent != "" {
		return false, nil
	}
	e, err := s.Book.Epoch(ctx)
	return q.Epoch < e.Number, err
}

// reread brings a record up to what the chains say for good. It needs all chains of the quote.
func (s *Settler) reread(ctx context.Context, q *quotestore.Quote, err error) (string, *quotestore.Quote, error) {
	const name = "read again"
	e := quotestore.Epoch{}
	if err == nil {
		e, err = s.Book.Epoch(ctx)
	}
	if err == nil {
		err = s.allExplained(ctx, q)
	}
	if err != nil {
		return name, nil, err
	}
	next := q.Clone()
	next.Epoch, next.Signed = e.Number, true
	back := q.Voided
	for i, l := range q.Legs {
		if l.ChainID == 0 || l.State == quotestore.LegReleased || l.State == quotestore.LegRefunded || l.Sent {
			continue
		}
		gone, err := s.rereadLeg(ctx, next, i)
		if err != nil {
			return name, nil, fmt.Errorf("read quote %s again: %w", q.ID, err)
		}
		back = back || gone
	}
	if q.ChainID != 0 && q.Status != api.StatusExecuted && !api.Terminal(q.Status) && !q.Voided {
		switch isUsed, _, err := s.isUsed(ctx, q); {
		case err != nil:
			return name, nil, err
		case isUsed:
			found, err := s.used(ctx, q, next)
			if err == nil && found == nil {
				err = fmt.Errorf("%w: the id of quote %s was used on %s", errNotFinal, q.ID, q.Target())
			}
			return name, found, err
		}
	}
	delivered := q.Status == api.StatusExecuted || q.Status == api.StatusCompleted
	if back && !delivered && next.FailReason == "" {
		next.FailReason = reasonExpired
	}
	switch {
	case next.FailReason != "":
		next.Status = settling{state: quotestore.LegRefunded}.status(next)
	case delivered && held(next) < 0:
		next.Status = api.StatusCompleted
	case next.Status == api.StatusPending && held(next) >= 0:
		next.Status = api.StatusInProgress
	}
	return name, next, s.Book.Advance(ctx, q, next)
}

// allExplained demands that what was sent on the chains of a quote is in the records. All are asked, so that their
// lanes look for explanations at the same time.
func (s *Settler) allExplained(ctx context.Context, q *quotestore.Quote) error {
	on := []uint64{q.ChainID}
	for _, l := range q.Legs {
		on = append(on, l.ChainID)
	}
	var err error
	for _, id := range on {
		if id != 0 {
			err = errors.Join(err, s.explained(ctx, id))
		}
	}
	return err
}

// rereadLeg brings one leg up to what its chain says, and reports whether its deposit went back.
func (s *Settler) rereadLeg(ctx context.Context, q *quotestore.Quote, i int) (back bool, err error) {
	l := &q.Legs[i]
	state, err := s.forGood(ctx, q, l.ChainID)
	if err != nil {
		return false, err
	}
	switch state {
	case entrypoint.DepositNone:
		l.State = quotestore.LegWaiting
	case entrypoint.DepositReleased:
		l.State = quotestore.LegReleased
	case entrypoint.DepositRefunded:
		l.State = quotestore.LegRefunded
		return true, nil
	case entrypoint.DepositHeld:
		if l.State == quotestore.LegDeposited {
			return false, nil
		}
		r, err := s.depositLog(ctx, q, l.ChainID, state)
		if err != nil {
			return false, err
		}
		landed, _ := s.Codec.Deposits(r.Logs) // what cannot be read has not paid
		if back = !s.contains(landed, &order{Quote: q}, *l); back {
			l.State = quotestore.LegDeposited // the owner's own, which goes back
			return true, nil
		}
		s.landed(q, i, s.ref(l.ChainID, r.TxHash))
	}
	return false, nil
}

// Deposits without a record.

// searchEvery is how often they are looked for while an epoch is young.
const searchEvery = 5 * time.Second

// lostFor is for how long after an epoch began a deposit can come that its records lack: no operation has a longer
// window, and its nonce is used then.
const lostFor = 15 * time.Minute

// search looks for deposits without a record until none can come any more, in every epoch.
func (s *Settler) search(ctx context.Context) {
	tick := time.NewTicker(searchEvery)
	defer tick.Stop()
	told := ""
	for {
		e, err := s.Book.Epoch(ctx)
		if err == nil && e.Number > 0 && !e.Searched && s.Book.Leads("search") {
			err = s.searchOnce(ctx, e)
		}
		if err != nil && ctx.Err() == nil && err.Error() != told {
			told = err.Error()
			s.Log.Warn("deposits without a record cannot be looked for everywhere yet", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// searchOnce asks every chain. One that does not answer keeps back only what lies there.
func (s *Settler) searchOnce(ctx context.Context, e quotestore.Epoch) error {
	over := true
	var silent []error
	for _, id := range s.Network.ChainIDs {
		h, able := s.Network.Chains[id].(chain.Historian)
		if !able {
			continue
		}
		since := uint64(e.Since.Add(-time.Hour).Unix())
		events, until, err := h.Events(ctx, since, s.Network.Pins.Escrow, escrow.DepositedTopic())
		if err == nil {
			err = s.adopt(ctx, id, events)
		}
		if err != nil {
			silent = append(silent, fmt.Errorf("%s: %w", caip.EVM(id), err))
		}
		over = over && err == nil && until >= uint64(e.Began.Add(lostFor).Unix())
	}
	if over {
		return s.Book.Searched(ctx, e.Number)
	}
	return errors.Join(silent...)
}

// adopt gives the deposits of a chain that lie in escrow without a record one, and settles them.
func (s *Settler) adopt(ctx context.Context, chainID uint64, events []chain.Event) error {
	for _, e := range events {
		deposits, err := s.Codec.Deposits([]chain.Log{e.Log})
		if err != nil || len(deposits) != 1 || e.To != s.Network.Pins.Solver {
			continue // a deposit that somebody made himself is his own to take back
		}
		q, err := s.found(chainID, e, deposits[0])
		if err != nil {
			s.Log.Error("a deposit without a record cannot be understood: its depositor takes it back after its "+
				"deadline with coffer refund", "quote", deposits[0].QuoteID, "chain", chainID, "tx", e.Tx, "error", err)
			continue
		}
		if known, err := s.Book.Quote(ctx, q.ID); err == nil && known.Status != "" &&
			slices.ContainsFunc(known.Legs, func(l quotestore.Leg) bool { return l.ChainID == chainID }) {
			continue
		}
		state, err := s.inEscrow(ctx, q, chainID)
		if err != nil {
			return err
		}
		if state != entrypoint.DepositHeld {
			continue
		}
		adopted, err := s.Book.Adopt(ctx, q)
		if err != nil {
			return err
		}
		if adopted {
			s.Log.Warn("a deposit in escrow had no record: it is settled as the chains say", "quote", q.ID, "chain",
				chainID, "tx", e.Tx)
			s.start(&quotestore.Quote{ID: q.ID})
		}
	}
	return nil
}

// found is the record of a deposit as its chain tells it. The terms are in the call data of the transaction, and are
// those that the escrow keeps the hash of.
func (s *Settler) found(chainID uint64, e chain.Event, d entrypoint.Deposit) (*quotestore.Quote, error) {
	_, terms, ok := escrow.FindDeposit(e.Input, func(call escrow.Deposit, t escrow.Terms) bool {
		return t.Hash(s.Network.Pins.Paymaster, d.QuoteID, d.Depositor) == d.Terms && call.QuoteID == d.QuoteID
	})
	if !ok {
		return nil, errors.New("its terms are not in its transaction")
	}
	asset := func(on uint64, token [32]byte) quotestore.Amount {
		if token == [32]byte{} {
			return quotestore.Amount{Asset: caip.Native(on).String()}
		}
		return quotestore.Amount{Asset: caip.ERC20(on, common.BytesToAddress(token[:])).String()}
	}
	pays := asset(chainID, common.BytesToHash(d.Token[:]))
	pays.Value = d.Amount
	q := &quotestore.Quote{ID: d.QuoteID.Hex(), Owner: d.Depositor, ChainID: terms.TargetChain,
		ValidUntil: terms.FillDeadline, AcceptedAt: time.Unix(int64(e.Time), 0).UTC(), FailReason: reasonExpired,
		Type: api.RecordSwap, Accounts: []api.Account{{AccountAddress: d.Depositor.Hex()}},
		Legs:   []quotestore.Leg{{ChainID: chainID, Pays: pays, State: quotestore.LegDeposited, Deposit: e.Tx}},
		Origin: []quotestore.Ref{s.ref(chainID, e.Tx)}}
	if s.Network.Chains[q.ChainID] == nil {
		return nil, fmt.Errorf("it is for %s, which is no chain of this network", q.Target())
	}
	if len(terms.Operations) > 0 {
		q.OpHash, q.Type = terms.Operations[0], api.RecordCall
	}
	for _, m := range terms.Minimums {
		to := caip.EVMAccount(q.ChainID, common.BytesToAddress(m.To[:])).String()
		if q.Recipient != "" && q.Recipient != to {
			return nil, errors.New("it is delivered to several")
		}
		f := quotestore.Fill{Delivers: asset(q.ChainID, m.Token)}
		f.Delivers.Value = m.Amount
		q.Recipient, q.Fills = to, append(q.Fills, f)
	}
	if got := q.Terms(); got.Hash(s.Network.Pins.Paymaster, d.QuoteID, d.Depositor) != d.Terms {
		return nil, errors.New("its terms are none that this service makes")
	}
	return q, nil
}
