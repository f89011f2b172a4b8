package settle

import (
	"context"
	"errors"
	"math/big"
	"slices"

	"coffer/api"
	"coffer/api/service/chain"
	"coffer/api/service/quote"
	"coffer/api/service/quote/entrypoint"
	"coffer/api/service/quotestore"
)

// target sends fill and operations as one transaction of the filler: all of it happens, or nothing (protocol §5.1,
// step d).
func (s *Settler) target(ctx context.Context, o *order) (*quotestore.Quote, error) {
	if s.paysItself(o.Quote) {
		return s.sendSolana(ctx, o)
	}
	if o.Target().IsSolana() {
		return s.targetSolana(ctx, o)
	}
	if s.Network.OnOwnNodes() {
		return s.handle(ctx, o)
	}
	ops := o.targetOps()
	return take(ctx, s, o.Quote, step[chain.Tx, chain.Receipt]{
		name: "target", port: s.Network.Outbox.EVM(o.ChainID), deadline: o.ValidUntil,
		txs: func(next *quotestore.Quote) (txs []chain.Tx, err error) {
			next.Signed = s.Network.Limits != nil
			if next.Fills, err = s.beforeFill(ctx, o); err != nil {
				return nil, err
			}
			return s.bundleNow(ctx, o, o.ChainID, ops, s.onTarget(o, next.Fills))
		},
		check: func(rs []chain.Receipt) error {
			if rs[0].Success && o.Sent != "" {
				return nil // it is delivered, even if the account took its deposit elsewhere
			}
			return s.checkTarget(ctx, o, rs[0], len(ops))
		},
		gate: func() error {
			if err := s.askedToRevert(o); err != nil || len(ops) == 0 {
				return err
			}
			return s.stillServed(ctx, o, o.ChainID)
		},
		done: func(next *quotestore.Quote, rs []chain.Receipt) {
			landed, _ := s.Codec.Deposits(rs[0].Logs) // what cannot be read has not paid
			s.executed(o, next, landed, s.ref(o.ChainID, rs[0].TxHash))
		},
	})
}

func (s *Settler) askedToRevert(o *order) error {
	if fault := s.Faults.Revert; fault != nil && fault(o.ID) {
		return asked(reasonReverted)
	}
	return nil
}

// onTarget is what the filler does on the target chain: it delivers and runs, or only runs.
func (s *Settler) onTarget(o *order, fills []quotestore.Fill) encoder {
	if o.Whole() {
		return s.plainly(o)
	}
	return s.filling(o, fills)
}

// checkTarget accepts a target transaction in which everything succeeded.
func (s *Settler) checkTarget(ctx context.Context, o *order, r chain.Receipt, ops int) error {
	if f := s.Codec.Explain(r.Revert); !r.Success && f.Op < 0 && f.Code == "" && !o.Whole() {
		if o.HasPrepared() || s.short(ctx, o.Quote) {
			return refusal{reasonCapacity, "the solver's transfer failed: " + f.Text}
		}
		return refusal{reasonTransfer, "the recipient did not take the transfer: " + f.Text}
	}
	return s.checkReceipt(o, r, ops, sameChain(o.Quote))
}

// short reports whether the solver has less than a quote delivers.
func (s *Settler) short(ctx context.Context, q *quotestore.Quote) bool {
	for _, f := range q.Fills {
		have, err := s.Network.Stock(ctx, f.Delivers.CAIP(), s.Clock())
		if err == nil && have.Cmp(f.Delivers.Value) < 0 {
			return true
		}
	}
	return false
}

// executed writes what the target transaction has done into the record.
func (s *Settler) executed(o *order, q *quotestore.Quote, landed []entrypoint.Deposit, here quotestore.Ref) {
	q.Destination = append(q.Destination, here)
	if q.Whole() {
		q.Origin = append(q.Origin, here)
	}
	for i := range q.Legs {
		if q.Legs[i].ChainID == q.ChainID && s.contains(landed, o, q.Legs[i]) {
			s.landed(q, i, here)
		}
	}
	if q.Status = api.StatusExecuted; held(q) < 0 {
		q.Status = api.StatusCompleted // nothing waits for a release
	}
}

// beforeFill is the solver's last look: it waits for a slow fill, and refuses when the order has expired, its inventory
// is not to be touched, or the price has moved against it by more than the tolerance. It returns what is delivered now.
func (s *Settler) beforeFill(ctx context.Context, o *order) ([]quotestore.Fill, error) {
	if wait := s.Faults.BeforeFill; wait != nil {
		if err := wait(ctx, o.ID); err != nil {
			return nil, err
		}
	}
	if err := s.Faults.wait(ctx, AtFill, o.ID); err != nil {
		return nil, err
	}
	if s.expired(o.Quote) || s.Faults.expired(o.ID) {
		return nil, outOfTime()
	}
	if err := s.askedAtFill(o); err != nil {
		return nil, err
	}
	out := make([]quotestore.Fill, len(o.Fills))
	for i, f := range o.Fills {
		v, err := s.delivered(o, f)
		if err != nil {
			return nil, err
		}
		f.Delivers.Value = v
		out[i] = f
	}
	return out, nil
}

// askedAtFill is a refusal that was asked for. What only befalls a solver does not befall a call that needs none.
func (s *Settler) askedAtFill(o *order) error {
	err := s.Faults.refused(AtFill, o.ID)
	if len(o.Fills) > 0 {
		if fault := s.Faults.NoCapacity; fault != nil && fault(o.ID) {
			return asked(reasonCapacity)
		}
		return err
	}
	var r refusal
	if errors.As(err, &r) && slices.Contains([]string{reasonCapacity, reasonUnpriced, reasonTransfer}, r.reason) {
		return nil
	}
	return err
}

// delivered is what the solver gives for a fill at the prices of this moment (protocol §3.7). A call gets exactly what
// was quoted or nothing: the price of one delivered unit in the paid asset may rise by the tolerance. A swap or a
// transfer gets what the price gives now, at most what was quoted and at least its minimum. Within one aggregate prices
// do not matter.
func (s *Settler) delivered(o *order, f quotestore.Fill) (*big.Int, error) {
	pay, get := big.NewInt(1), big.NewInt(1)
	wasPay, wasGet := pay, get
	if f.Swapped {
		e, known := s.Network.Catalog.Entity(f.Delivers.CAIP())
		now := s.Clock()
		var okPay, okGet bool
		pay, okPay = s.Prices.Price(o.From, now)
		get, okGet = s.Prices.Price(e.Aggregate, now)
		if !known || !okPay || !okGet {
			unknown := refusal{reasonUnpriced, "a price is unknown"}
			if known && s.operated() { // it is read from a chain, as after a start: what is in escrow can wait for it
				return nil, errors.New(unknown.text)
			}
			return nil, unknown
		}
		wasPay, wasGet = f.PricePay, f.PriceGet
	}
	pay = product(pay, big.NewInt(10_000))
	get = product(get, big.NewInt(10_000+s.Faults.priceJump(o.ID)))
	if o.Minimum != nil {
		v := quote.SwapDelivery(f.Delivers.Value, get, pay, wasGet, wasPay)
		if !f.Swapped && v.Cmp(o.Minimum) >= 0 {
			v = f.Delivers.Value
		}
		if v.Cmp(o.Minimum) < 0 || v.Sign() <= 0 {
			return nil, refusal{reasonSlippage, "the price moved so far that less than the minimum would arrive"}
		}
		return v, nil
	}
	// get/pay > wasGet/wasPay × (1 + tolerance)
	if product(get, wasPay, big.NewInt(10_000)).Cmp(product(wasGet, pay, big.NewInt(10_000+int64(o.SlippageBps)))) > 0 {
		return nil, refusal{reasonSlippage, "the price moved beyond the tolerance"}
	}
	return f.Delivers.Value, nil
}

func product(vs ...*big.Int) *big.Int {
	p := big.NewInt(1)
	for _, v := range vs {
		p.Mul(p, v)
	}
	return p
}
