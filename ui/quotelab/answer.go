// Package quotelab compares the quotes of one order under several variants (funding assets, slippages, accounts,
// chains of arrival), without a screen: the screen Lab and the command `coffer lab` show what it finds.
//
// Promise: nothing is signed here, nothing is sent for execution, and nothing is written to the journal. A swap or a
// transfer is quoted without a signature. A call is only prepared, because its quote needs the first signature
// (protocol §1); what it costs is estimated by quotes of the tokens that it lacks, sent to the own account, and marked
// as an estimate. Every answer passes the checks of wallet/verify; a refused one has its reason and no figure. Requests
// go out one after the other, within a Budget.
//
// Units: base units with their decimals, micro USD, basis points; durations are those of the local clock. A figure that
// is not known is nil, -1 or "?", never zero.
package quotelab

import (
	"errors"
	"fmt"
	"math/big"
	"strings"
	"time"

	"coffer/api"
	"coffer/api/amount"
	"coffer/ui/present"
	"coffer/wallet/verify"
)

// Money is an amount of an asset. Symbol is "" and Decimals -1 for an unknown one; Micro is nil without a price.
type Money struct {
	Asset    string // CAIP-19
	Symbol   string
	Chain    string // its name
	Decimals int
	Amount   *big.Int
	Micro    *big.Int
}

// Leg is one payment: what leaves a chain for an escrow there. New: the payment also opens the account on that chain.
type Leg struct {
	Pays   Money
	Escrow string // checksum form or base58
	New    bool
}

// Answer is what the service answered to one variant. Prepared says that a call was prepared and not quoted; Estimate
// that its figures are those of quotes for Missing, what it needs and the target chain lacks. An unknown figure is nil,
// CostBps then -1, Lifetime 0. The counts are those of the report of wallet/verify; with Refused above zero there are
// no figures and Reason is the first refusal.
type Answer struct {
	At        time.Time
	Latency   time.Duration
	Prepared  bool
	Estimate  bool
	Pays      []Money
	Legs      []Leg
	Missing   []Money
	Arriving  []Money // what the quotes deliver; of a call what is missing, less the cost
	Delivered *Money  // of a call: the first token that it needs
	Minimum   *Money
	PayMicro  *big.Int
	FeesMicro *big.Int
	CostMicro *big.Int
	CostBps   int
	Lifetime  time.Duration // until the quote expires, or the window of a prepared call ends
	CallType  string
	Words     string
	Recipient string
	Signs     int // operations to sign for it
	Passed    int
	Warned    int
	Gated     int
	Refused   int
	Unknown   int
	Reason    string
	Said      string   // what the service refused for, in two or three words; "" when it did not
	Problem   string   // why there are no figures, in plain words; "" with an answer
	Why       string   // why nothing is estimated; ""
	Documents []string // the answers as they arrived, in the order of the requests
}

// Outcome is an answer in a few words: what was wrong with it, or how many checks it passed.
func (a Answer) Outcome() (present.Tone, string) {
	switch {
	case a.Said != "":
		return present.ToneWarn, a.Said
	case a.Problem != "":
		return present.ToneDanger, "No answer"
	case a.Refused > 0:
		return present.ToneDanger, fmt.Sprintf("%d blocked", a.Refused)
	case a.Gated > 0:
		return present.ToneWarn, present.Plural(a.Gated, "gate", "gates")
	case a.Warned > 0:
		return present.ToneWarn, present.Plural(a.Warned, "warning", "warnings")
	}
	return present.ToneGood, fmt.Sprintf("%d passed", a.Passed)
}

// Figures reports whether the answer has any.
func (a Answer) Figures() bool { return a.Problem == "" && a.Refused == 0 }

// Failed is the answer to a request that failed at a time: what the service refused for is an answer, too.
func Failed(at time.Time, err error) Answer {
	a := Answer{At: at, CostBps: -1, Problem: present.ErrorText(err)}
	var no *api.Error
	if errors.As(err, &no) && no.Name != api.ErrInternal && no.Name != api.ErrUnavailable {
		a.Said = spaced(present.Clean(no.Name, 40))
		if m := present.Clean(no.Message, 300); m != "" {
			a.Problem = m
		}
	}
	return a
}

// spaced writes the name of an error in words: InsufficientBalance is "Insufficient balance".
func spaced(name string) string {
	name = strings.TrimSuffix(name, "Exception")
	var b strings.Builder
	for i, r := range name {
		if i > 0 && r >= 'A' && r <= 'Z' && b.String()[b.Len()-1] >= 'a' {
			b.WriteByte(' ')
			r += 'a' - 'A'
		}
		b.WriteRune(r)
	}
	return b.String()
}

// Share is the cost as a share of what is paid, rounded up; where prices moved in the person's favour it is below zero.
func (a Answer) Share() string {
	if a.CostMicro == nil || a.PayMicro == nil || a.PayMicro.Sign() <= 0 {
		return Bps(a.CostBps)
	}
	bps, rest := new(big.Int).QuoRem(new(big.Int).Mul(a.CostMicro, big.NewInt(10_000)), a.PayMicro, new(big.Int))
	if rest.Sign() > 0 {
		bps.Add(bps, big.NewInt(1))
	}
	return amount.Format(bps, 2) + " %"
}

// Basis says where the figures of a prepared call are from, or why there are none.
func (a Answer) Basis() string {
	if a.Estimate {
		return "An estimate: a quote, now, for what is missing, sent to your own account. The call's own quote needs " +
			"your first signature; nothing is signed here."
	}
	const after = "What the call costs is known after your first signature; nothing is signed here."
	if a.Why == "" {
		return after
	}
	return after + " " + strings.ToUpper(a.Why[:1]) + present.Clean(a.Why[1:], 300) + "."
}

// Bps writes basis points in percent: 50 is "0.50 %"; negative ones are unknown.
func Bps(bps int) string {
	if bps < 0 {
		return present.UnknownText
	}
	return present.Percent(bps)
}

// Figure writes an amount with all its decimals; an unknown asset in base units.
func (m Money) Figure() string {
	if m.Decimals < 0 {
		return amount.Group(m.Amount.String())
	}
	return amount.Human(m.Amount, m.Decimals)
}

// Unit is the symbol of an amount and its chain, or that it is in base units.
func (m Money) Unit() string {
	if m.Decimals < 0 || m.Symbol == "" {
		return present.Clean("base units of "+m.Asset, 120)
	}
	s := present.Clean(m.Symbol, 120)
	if m.Chain != "" {
		s += " on " + present.Clean(m.Chain, 40)
	}
	return s
}

// Text writes an amount in full with its unit; nil is unknown.
func (m *Money) Text() string {
	if m == nil || m.Amount == nil {
		return present.UnknownText
	}
	return m.Figure() + " " + m.Unit()
}

func money(a verify.AmountView) Money {
	return Money{Asset: a.Asset.String(), Symbol: a.Symbol, Chain: a.ChainName, Decimals: a.Decimals, Amount: a.Amount,
		Micro: a.Micro}
}

// count copies the outcome of the checks.
func (a *Answer) count(report verify.Report) {
	a.Passed, a.Warned, a.Unknown = len(report.Passed), report.Count(verify.Warn), report.Count(verify.Unknown)
	for _, x := range report.Reasons {
		refuses := x.Level == verify.Refuse || x.Level == verify.Gate && !x.Open
		switch {
		case refuses:
			a.Refused++
		case x.Level == verify.Gate:
			a.Gated++
		}
		if refuses && a.Reason == "" {
			a.Reason = x.Title
		}
	}
}

// quoted copies the figures of a quote; now is the service's clock.
func (a *Answer) quoted(v verify.QuoteView, now time.Time) {
	a.pays(v)
	delivered, minimum := money(v.Delivered), money(v.Minimum)
	a.Delivered, a.Minimum, a.Recipient = &delivered, &minimum, v.Recipient
	a.PayMicro, a.FeesMicro, a.CostMicro, a.CostBps = v.PayMicro, v.FeesMicro, v.CostMicro, v.CostBps
	a.Lifetime, a.CallType, a.Words, a.Signs = max(0, v.Expires.Sub(now)), v.CallType, v.CallTypeWords, len(v.Legs)
}

// pays adds the payments of a quote.
func (a *Answer) pays(v verify.QuoteView) {
	for _, p := range v.Pay {
		a.Pays = append(a.Pays, money(p))
	}
	a.Arriving = append(a.Arriving, money(v.Delivered))
	for _, l := range v.Legs {
		a.Legs = append(a.Legs, Leg{money(l.Pays), l.Escrow, l.Deploys})
	}
}

// estimated adds the figures of a quote for a token that a prepared call lacks. A sum with an unknown part is unknown.
func (a *Answer) estimated(v verify.QuoteView) {
	a.pays(v)
	if !a.Estimate {
		a.Estimate, a.PayMicro, a.FeesMicro, a.CostMicro = true, new(big.Int), new(big.Int), new(big.Int)
	}
	a.PayMicro, a.FeesMicro = sum(a.PayMicro, v.PayMicro), sum(a.FeesMicro, v.FeesMicro)
	a.CostMicro = sum(a.CostMicro, v.CostMicro)
}

func sum(a, b *big.Int) *big.Int {
	if a == nil || b == nil {
		return nil
	}
	return new(big.Int).Add(a, b)
}

// prepared copies the figures of a prepared call; its cost is not known before its first signature.
func (a *Answer) prepared(v verify.PreparedView, now time.Time) {
	if len(v.Requires) > 0 {
		m := money(v.Requires[0])
		a.Delivered = &m
	}
	if !v.Window.Until.IsZero() {
		a.Lifetime = max(0, v.Window.Until.Sub(now))
	}
	a.CallType, a.Words, a.Signs, a.Recipient = v.CallType, v.CallTypeWords, v.Signatures, v.Sender
}
