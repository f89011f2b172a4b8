package flow

import (
	"context"
	"time"

	"coffer/wallet/intent"
	"coffer/wallet/verify"
)

// look asks the user's own nodes about the operation while the service is asked; the function that it returns waits for
// the answers, for as long as the view takes at most. Without a view there are none.
func (o *Operation) look(ctx context.Context) func() []verify.Sight {
	if o.f.d.View == nil {
		return func() []verify.Sight { return nil }
	}
	sights := make(chan []verify.Sight, 1)
	go func() { sights <- o.f.d.View.Look(ctx, o.f.d.Policy.Questions(o.in)) }()
	return func() []verify.Sight { return <-sights }
}

// simulate lets own nodes run what a review is about, while other questions are asked. judged makes the operations out
// of the answer under judgement; it is judged once more when the journal is held. Without a view there are none.
func (o *Operation) simulate(ctx context.Context, judged func() []verify.Simulation) func() []verify.Simulated {
	if o.f.d.View == nil {
		return func() []verify.Simulated { return nil }
	}
	ran := make(chan []verify.Simulated, 1)
	go func() { ran <- o.f.d.View.Simulate(ctx, o.f.d.Clock(), judged()) }()
	return func() []verify.Simulated { return <-ran }
}

// statedNow are the balances that an answer states, and the assets that it leaves out.
func (o *Operation) statedNow(sources []verify.AmountView) (out []verify.Stated) {
	listed, left := o.comparable(sources)
	for _, a := range listed {
		out = append(out, verify.Stated{Asset: a.Asset, Amount: a.Amount})
	}
	for _, a := range left {
		out = append(out, verify.Stated{Asset: a.Asset})
	}
	return out
}

// comparedFor is how old a statement may be to be compared with what a node sees: later too much can have come in.
const comparedFor = 5 * time.Minute

// statedBefore are the balances that the service stated of what a swap or a transfer pays with, as its quote states
// none: those of a moment ago, from which nothing was taken since. Review 1 of a call compared its own.
func (o *Operation) statedBefore() (out []verify.Stated) {
	if o.in.Kind() == intent.KindCall {
		return nil
	}
	now := o.f.d.Clock()
	for _, a := range o.payers() {
		account := holder(o.in.Draft().Accounts, a.Asset)
		v, at, known := o.f.stated.of(account, a.Asset, now)
		if known && now.Sub(at) < comparedFor && o.f.takenSince(account, a.Asset, at).Sign() == 0 {
			out = append(out, verify.Stated{Asset: a.Asset, Amount: v, When: at})
		}
	}
	return out
}
