// Package lab is the quote lab: it asks for the builder's draft under several variants side by side (funding assets,
// slippages, sets of accounts), again and again, so that a developer sees what a choice costs and how quotes drift.
//
// Promise: nothing is signed here, nothing is sent for execution, and nothing is written to the journal. A swap or a
// transfer is quoted without a signature. A call is only prepared, because its quote needs the first signature
// (protocol §1): its figures are those of the prepared operation, its cost is unknown and shown as such. Every answer
// passes the checks of wallet/verify; a refused one shows its reason and no figure. Only the review signs a variant,
// and it asks anew.
//
// A round sends one request after the other. Watching repeats rounds with a pause that stays well below the client's
// five requests a second. It stops by itself after MaxRounds, when the service asks for fewer requests, and when the
// person leaves the screen.
//
// Units: base units with their decimals, micro USD, basis points; durations are those of the local clock. A missing
// figure is "?". The last MaxKept results are saved between starts in "lab.json".
package lab

import (
	"context"
	"math/big"
	"time"

	"coffer/api"
	"coffer/api/client"
	"coffer/wallet/intent"
	"coffer/wallet/verify"
)

// The bounds of the lab.
const (
	MaxVariants = 24
	MaxRounds   = 20
	MaxKept     = 200
)

// Deps are the dependencies of the screen. Draft is the builder's present draft, called on the event loop; false: no
// draft. Quote asks for an intent and judges the answer, Balances reads the accounts' balances; both are called from
// commands. Balances nil: the lab tries only the draft's own funding.
type Deps struct {
	Draft    func() (intent.Draft, bool)
	Quote    func(ctx context.Context, in intent.Intent) (Result, error)
	Balances func(ctx context.Context) (api.AggregatedBalance, error)
}

// Money is an amount of an asset. Symbol is "" and Decimals -1 for an unknown one; Micro is nil without a price.
type Money struct {
	Asset    string // CAIP-19
	Symbol   string
	Chain    string // its name
	Decimals int
	Amount   *big.Int
	Micro    *big.Int
}

// Result is the outcome of one request. Prepared says that a call was prepared and not quoted. An unknown figure is
// nil, CostBps then -1, Lifetime 0. The counts are those of the report of wallet/verify; with Refused above zero there
// are no figures and Reason is the first refusal.
type Result struct {
	At        time.Time
	Latency   time.Duration
	Prepared  bool
	Pays      []Money
	Delivered *Money
	Minimum   *Money
	PayMicro  *big.Int
	FeesMicro *big.Int
	CostMicro *big.Int
	CostBps   int
	Lifetime  time.Duration // until the quote expires, or the window of a prepared call ends
	CallType  string
	Words     string
	Legs      int // operations to sign for it
	Passed    int
	Warned    int
	Gated     int
	Refused   int
	Unknown   int
	Reason    string
	Problem   string // why there is no answer, in plain words; "" with an answer
}

// Client is what an Asker needs of the service; *client.Client is one.
type Client interface {
	PrepareCallQuote(ctx context.Context, body []byte) (client.Answer, error)
	PrepareCallQuoteV1(ctx context.Context, body []byte) (client.Answer, error)
	Quote(ctx context.Context, body []byte) (client.Answer, error)
	QuoteV1(ctx context.Context, body []byte) (client.Answer, error)
}

// Asker asks the service and judges its answers as wallet/flow does, but keeps no record and cannot sign. History is
// the journal, for reading.
type Asker struct {
	Client  Client
	Policy  verify.Policy
	History verify.History
	Clock   func() time.Time
}

// Quote asks for a swap or a transfer, or prepares a call. The error is the client's.
func (a Asker) Quote(ctx context.Context, in intent.Intent) (Result, error) {
	call := in.Kind() == intent.KindCall
	ask, body := a.Client.Quote, in.QuoteBody()
	switch {
	case call && in.V1():
		ask, body = a.Client.PrepareCallQuoteV1, in.PrepareBody()
	case call:
		ask, body = a.Client.PrepareCallQuote, in.PrepareBody()
	case in.V1():
		ask = a.Client.QuoteV1
	}
	started := a.Clock()
	answer, err := ask(ctx, body)
	if err != nil {
		return Result{At: started, Latency: a.Clock().Sub(started), CostBps: -1, Prepared: call}, err
	}
	now := a.Clock()
	out := Result{At: now, Latency: now.Sub(started), CostBps: -1, Prepared: call}
	if call {
		p, report := verify.Prepared(in, a.Policy, a.History, now, answer.Document)
		out.count(report)
		if p != nil {
			out.prepared(p.View(), now.Add(answer.Skew))
		}
		return out, nil
	}
	q, report := verify.Exchange(in, a.Policy, a.History, now, answer.Document)
	out.count(report)
	if q != nil {
		out.quoted(q.View(), now.Add(answer.Skew))
	}
	return out, nil
}

// count copies the outcome of the checks.
func (r *Result) count(report verify.Report) {
	r.Passed, r.Warned, r.Unknown = len(report.Passed), report.Count(verify.Warn), report.Count(verify.Unknown)
	for _, x := range report.Reasons {
		refuses := x.Level == verify.Refuse || x.Level == verify.Gate && !x.Open
		switch {
		case refuses:
			r.Refused++
		case x.Level == verify.Gate:
			r.Gated++
		}
		if refuses && r.Reason == "" {
			r.Reason = x.Title
		}
	}
}

// quoted copies the figures of a quote; now is the service's clock.
func (r *Result) quoted(v verify.QuoteView, now time.Time) {
	for _, p := range v.Pay {
		r.Pays = append(r.Pays, money(p))
	}
	delivered, minimum := money(v.Delivered), money(v.Minimum)
	r.Delivered, r.Minimum = &delivered, &minimum
	r.PayMicro, r.FeesMicro, r.CostMicro, r.CostBps = v.PayMicro, v.FeesMicro, v.CostMicro, v.CostBps
	r.Lifetime, r.CallType, r.Words, r.Legs = max(0, v.Expires.Sub(now)), v.CallType, v.CallTypeWords, len(v.Legs)
}

// prepared copies the figures of a prepared call; its cost is unknown before its first signature.
func (r *Result) prepared(v verify.PreparedView, now time.Time) {
	if len(v.Requires) > 0 {
		m := money(v.Requires[0])
		r.Delivered = &m
	}
	if !v.Window.Until.IsZero() {
		r.Lifetime = max(0, v.Window.Until.Sub(now))
	}
	r.CallType, r.Words, r.Legs = v.CallType, v.CallTypeWords, v.Signatures
}

func money(a verify.AmountView) Money {
	return Money{Asset: a.Asset.String(), Symbol: a.Symbol, Chain: a.ChainName, Decimals: a.Decimals, Amount: a.Amount,
		Micro: a.Micro}
}
