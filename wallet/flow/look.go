package flow

import (
	"context"
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api/amount"
	"coffer/api/caip"
	"coffer/api/op"
	"coffer/wallet/intent"
	"coffer/wallet/journal"
	"coffer/wallet/verify"
)

// look asks the user's own nodes about the operation while the service is asked; the function that it returns waits for
// the answers, for as long as the view takes at most. Without a view there are none.
func (o *Operation) look(ctx context.Context) func() []verify.Sight {
	if o.f.d.View == nil {
		return func() []verify.Sight { return nil }
	}
	questions := o.f.d.Policy.Questions(o.in)
	for i, q := range questions {
		for _, p := range o.f.pledges() {
			if n, err := op.ParseNonce(p.Nonce); err == nil && p.Asset.Chain == caip.EVM(q.Chain) &&
				p.Account == q.Account && !slices.ContainsFunc(questions[i].Keys, func(k *big.Int) bool {
				return k.Cmp(n.Key192()) == 0
			}) {
				questions[i].Keys = append(questions[i].Keys, n.Key192())
			}
		}
	}
	sights := make(chan []verify.Sight, 1)
	go func() { sights <- o.f.d.View.Look(ctx, questions) }()
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

// pledges are what quotes under way can still take, or have just taken: of every operation that was sent and that the
// service has not said is over, what was signed for its last quote and whose time is not over. That an operation is
// over is the service's word, which can only make this less.
func (f *Flow) pledges() (out []verify.Pledge) {
	open := f.d.Journal.Outstanding(f.latest())
	for _, rec := range f.d.Journal.Operations() {
		if rec.State != journal.Executing && rec.State != journal.Acked {
			continue
		}
		for _, x := range open {
			call := x.Role == verify.RolePrepared
			if x.Op != rec.ID || !x.Sent || x.Past || x.Role == journal.RoleDelegation || x.ChainID == 0 ||
				!call && !strings.EqualFold(x.QuoteID, rec.QuoteID) {
				continue
			}
			if call {
				out = append(out, pledged(x, x.Counts, rec.Quote)...)
			} else {
				out = append(out, pledged(x, x.Spend, nil)...)
			}
		}
	}
	return out
}

// pledged is what a signature takes of what is there, less what the quote's deposits promise to deliver before.
func pledged(x journal.Outstanding, takes []journal.Spend, quote []byte) (out []verify.Pledge) {
	account := common.HexToAddress(x.Sender)
	nonce, _ := new(big.Int).SetString(x.Nonce, 10) // checked when the record was taken in
	for _, s := range takes {
		a, err := caip.ParseAsset(s.Asset)
		v, errAmount := amount.ParseBase(s.Amount)
		if err != nil || errAmount != nil || a.Chain != caip.EVM(x.ChainID) {
			continue
		}
		if quote != nil {
			v = new(big.Int).Sub(v, verify.Promised(quote, account, a))
		}
		if v.Sign() > 0 {
			out = append(out, verify.Pledge{Account: account, Asset: a, Amount: v, Nonce: nonce, Signed: x.Made})
		}
	}
	return out
}
