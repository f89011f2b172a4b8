package verify_test

import (
	"fmt"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/amount"
	"coffer/api/caip"
	"coffer/api/network"
	"coffer/api/op"
	"coffer/api/op/erc20"
	"coffer/api/op/escrow"
	"coffer/wallet/internal/golden"
	"coffer/wallet/verify"
)

func chains(ids ...uint64) []caip.Chain {
	out := []caip.Chain{}
	for _, id := range ids {
		out = append(out, caip.EVM(id))
	}
	return out
}

// judged passes a prepare answer and, when that passes, its cross-chain quote through the policy of the world.
func (w *world) judged(t *testing.T, h verify.History) (verify.Report, verify.Report, *verify.VerifiedQuote) {
	t.Helper()
	w.Freeze()
	p, rp := verify.Prepared(w.Intent(), w.Policy, h, clock(), w.Document(w.PrepareResponse()))
	if (p == nil) != rp.Refused() {
		t.Fatal("a value and a refusal, or neither")
	}
	free := *w // a policy that changes in between does not change what was signed
	free.Policy.Limits = verify.Limits{}
	s := free.signed()
	if p != nil {
		s = signedBy(t, p, w.Key)
	}
	q, rq := verify.Quote(w.Intent(), w.Policy, h, clock(), s, w.Document(w.CrossChain()))
	if (q == nil) != rq.Refused() {
		t.Fatal("a value and a refusal, or neither")
	}
	return rp, rq, q
}

// limitCase is one limit and what it makes of a golden call and its quote.
type limitCase struct {
	set             func(w *world)
	prepared, quote bool // refused
}

// limited demands that limits refuse by their row and nothing else, where they should.
func limited(t *testing.T, code string, cases map[string]limitCase) {
	t.Helper()
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, w *world) {
				c.set(w)
				rp, rq, _ := w.judged(t, verify.NoHistory{})
				for _, x := range []struct {
					where string
					r     verify.Report
					want  bool
				}{{"prepare", rp, c.prepared}, {"quote", rq, c.quote}} {
					if x.r.Refused() != x.want || x.r.Has(code, verify.Refuse) != x.want {
						t.Fatalf("%s refused %v, want %v: %+v", x.where, x.r.Refused(), x.want, x.r.Reasons)
					}
				}
			})
		})
	}
}

func TestY1_OnlyChainsOfThePolicyAreUsed(t *testing.T) {
	set := func(ids ...uint64) func(w *world) {
		return func(w *world) { w.Policy.Limits.Chains = chains(ids...) }
	}
	limited(t, "Y1", map[string]limitCase{
		"all that are used":    {set(8453, 42161, 10), false, false},
		"not the target":       {set(42161, 10), true, true},
		"not the first payer":  {set(8453, 10), false, true},
		"not the second payer": {set(8453, 42161), false, true},
		"none":                 {set(), true, true},
	})
}

func TestY2_OnlyRecipientsOfThePolicyReceive(t *testing.T) {
	set := func(list ...string) func(w *world) {
		return func(w *world) { w.Policy.Limits.Recipients = append([]string{}, list...) }
	}
	call := func(change func(w *world, c *[2]string), list ...string) func(w *world) {
		return func(w *world) {
			set(list...)(w)
			c := [2]string{w.Draft.Calls[1].Value, w.Draft.Calls[1].Data}
			change(w, &c)
			w.Draft.Calls[1].Value, w.Draft.Calls[1].Data = c[0], c[1]
		}
	}
	usdc := golden.TokenOf(baseUSDC).Hex()
	limited(t, "Y2", map[string]limitCase{
		"both":                      {set(payee, vault), false, false},
		"in other letters":          {set(strings.ToLower(payee), "0x"+strings.ToUpper(vault[2:])), false, false},
		"not of the transfer":       {set(vault), true, false},
		"not of the plain transfer": {set(payee), true, false},
		"none":                      {set(), true, false},
		"to the own account": {func(w *world) {
			set(payee)(w)
			w.Draft.Calls[1].To = payee
			w.Draft.Calls[0].Data = golden.HexOf(erc20.Transfer(w.Account, big.NewInt(1)))
		}, false, false},
		"an unreadable call": {call(func(_ *world, c *[2]string) { c[0], c[1] = "0", "0xdeadbeef" }, payee, vault),
			true, false},
		"a deposit, which names no recipient": {call(func(_ *world, c *[2]string) {
			c[0], c[1] = "0", golden.HexOf(escrow.DepositCalldata(escrow.Deposit{Amount: big.NewInt(1)},
				escrow.Terms{}))
		}, payee, vault), true, false},
		"named by its file only": {call(func(w *world, c *[2]string) {
			c[0], c[1] = "0", golden.HexOf(append(selectorOf("give(address)"),
				common.LeftPadBytes(common.HexToAddress(payee).Bytes(), 32)...))
			w.Draft.Calls[1].Function = "give(address to)"
		}, payee, vault), true, false},
		"the coin beside a transfer": {func(w *world) {
			set(payee, vault)(w)
			w.Draft.Calls[0].Value = "1"
		}, true, false},
		"the coin beside, to the list": {func(w *world) {
			set(payee, vault, usdc)(w)
			w.Draft.Calls[0].Value = "1"
		}, false, false},
	})
}

func TestY2_SpendersOfAllowancesAreRecipients(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		withAllowance(w, "1000000", stranger)
		answer := w.PrepareResponse()
		w.withCalls(&answer, append(append([]op.Call{approve(stranger, 1_000_000)}, w.Asked()...),
			approve(stranger, 0))...)
		w.Policy.Limits.Recipients = []string{payee, vault}
		p, r := w.prepared(w.Document(answer))
		refused(t, p != nil, r, "Y2")
		w.Policy.Limits.Recipients = append(w.Policy.Limits.Recipients, stranger)
		if p, r = w.prepared(w.Document(answer)); p == nil {
			t.Fatalf("%+v", r.Reasons)
		}
		withAllowance(w, "0", stranger) // to take a right away needs no permission
		w.Policy.Limits.Recipients = []string{payee, vault}
		answer = w.PrepareResponse()
		w.withCalls(&answer, append(w.Asked(), approve(stranger, 0))...)
		if p, r = w.prepared(w.Document(answer)); p == nil {
			t.Fatalf("%+v", r.Reasons)
		}
	})
}

func TestY2Y3_PartsOfAPaymentBehindTheGateAreJudged(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.Policy.Limits.Gates = allGates()
		s := w.signed()
		doc := w.Document(toStranger(w, transferTo(stranger, 5), approveTo(vault, paid-5),
			callTo(vault, 0, "0xdeadbeef")))
		judge := func(recipients []string, contracts ...common.Address) (bool, verify.Report) {
			w.Policy.Limits.Recipients, w.Policy.Limits.Contracts = recipients, contracts
			q, r := w.quote(s, doc)
			return q != nil, r
		}
		if ok, r := judge(nil); !ok {
			t.Fatalf("%+v", r.Reasons)
		}
		for _, list := range [][]string{{}, {vault}, {stranger}} {
			ok, r := judge(list)
			refused(t, ok, r, "Y2")
		}
		if ok, r := judge([]string{vault, stranger}); !ok {
			t.Fatalf("%+v", r.Reasons)
		}
		ok, r := judge([]string{vault, stranger}, common.HexToAddress(payee))
		refused(t, ok, r, "Y3") // who may take something is a contract
		if ok, r := judge([]string{vault, stranger}, common.HexToAddress(vault)); !ok {
			t.Fatalf("%+v", r.Reasons)
		}
		ok, r = judge(nil, common.HexToAddress(vault))
		refused(t, ok, r, "Y3") // who receives must be on one of the lists
	})
}

func TestY3_OnlyContractsOfThePolicyAreCalled(t *testing.T) {
	usdc, plain := golden.TokenOf(baseUSDC), common.HexToAddress(vault)
	set := func(list ...common.Address) func(w *world) {
		return func(w *world) { w.Policy.Limits.Contracts = append([]common.Address{}, list...) }
	}
	limited(t, "Y3", map[string]limitCase{
		"both":      {set(usdc, plain), false, false},
		"the token": {set(usdc), true, false},
		"the other": {set(plain), true, false},
		"none":      {set(), true, false},
		"the plain transfer to a recipient": {func(w *world) {
			set(usdc)(w)
			w.Policy.Limits.Recipients = []string{payee, vault}
		}, false, false},
		"a recipient is no contract": {func(w *world) {
			set(plain)(w)
			w.Policy.Limits.Recipients = []string{payee, vault, usdc.Hex()}
		}, true, false},
	})
}

// worth sums micro USD.
func (w *world) worth(t *testing.T, list []verify.AmountView) int64 {
	t.Helper()
	total := new(big.Int)
	for _, a := range list {
		if a.Micro == nil {
			t.Fatalf("no price of %s", a.Asset)
		}
		total.Add(total, a.Micro)
	}
	return total.Int64()
}

// TestK1_AnOperationCountsItsCallsAndItsPaymentsInFull finds the cap at which an operation just passes, in prepare and
// quote.
func TestK1_AnOperationCountsItsCallsAndItsPaymentsInFull(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		_, _, q := w.judged(t, verify.NoHistory{})
		p, _ := w.prepared(w.Document(w.PrepareResponse()))
		call := w.worth(t, p.Signing().Summary().Counts)
		if price := w.Catalog.Price(assetOf(baseUSDC)).Int64(); call != 250_500_000*price/1_000_000 ||
			len(p.Signing().Summary().Counts) != 2 {
			t.Fatalf("the call counts %d", call)
		}
		var funding int64
		for _, o := range q.Operations() {
			s := o.Summary()
			if len(s.Counts) != 1 || s.Counts[0].Asset != s.Spend[0].Asset {
				t.Fatalf("%+v", s)
			}
			funding += w.worth(t, s.Counts)
		}
		if pays := q.View().PayMicro.Int64(); funding < pays-2 || funding > pays+2 || pays == 0 {
			t.Fatalf("the payments count %d, they pay %d", funding, pays)
		}
		if worst := w.worth(t, q.View().Worst); worst < call+funding-2 || worst > call+funding+2 {
			t.Fatalf("the worst case is told as %d, the call counts %d and the payments %d", worst, call, funding)
		}
		if w.worth(t, p.View().Worst) != call {
			t.Fatalf("review 1 says %d, the call counts %d", w.worth(t, p.View().Worst), call)
		}
		missing := w.worth(t, []verify.AmountView{{Asset: assetOf(baseUSDC),
			Micro: amount.Value(q.View().Needs[0].Short, 6, w.Catalog.Price(assetOf(baseUSDC)))}})
		for _, c := range []struct {
			cap             int64
			prepared, quote bool
		}{{call + funding, false, false}, {call + funding - 1, false, true}, {call + missing, false, true},
			{call + missing - 1, true, true}, {0, true, true}} {
			w.Policy.Limits.MaxSpend = big.NewInt(c.cap)
			rp, rq, _ := w.judged(t, verify.NoHistory{})
			if rp.Has("Y4", verify.Refuse) != c.prepared || rq.Has("Y4", verify.Refuse) != c.quote ||
				rp.Refused() != c.prepared || rq.Refused() != c.quote {
				t.Fatalf("cap %d: %+v, %+v", c.cap, rp.Reasons, rq.Reasons)
			}
		}
	})
}

// saysCost demands the words for the cost in a refusal of row Y6.
func saysCost(t *testing.T, r verify.Report, want string) {
	t.Helper()
	for _, x := range r.Reasons {
		if x.Code == "Y6" && x.Got != want {
			t.Fatalf("says %q, not %q", x.Got, want)
		}
	}
}

// TestY4Y6_WhereTheCostIsUnknownAllOfThePaymentCounts: a quote without fees and terms that pays less than what is
// missing does not say what it costs.
func TestY4Y6_WhereTheCostIsUnknownAllOfThePaymentCounts(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		answer := w.PrepareResponse()
		answer.SourceAssetBalances[0].Balance = "0"
		p, r := w.prepared(w.Document(answer))
		if p == nil {
			t.Fatalf("%+v", r.Reasons)
		}
		w.Policy.Limits.Gates = []string{verify.GateTarget}
		s := signedBy(t, p, w.Key)
		quote := w.QuoteResponse(fmt.Sprint(paid), nil, golden.Payment{Asset: arbUSDC, Amount: paid, Sequence: 4})
		w.rebuild(&quote, 0, w.elsewhere())
		quote.Fees = nil
		doc := w.Document(quote)
		q, r := w.quote(s, doc)
		if q == nil || q.View().CostBps != -1 || q.View().CostMicro != nil {
			t.Fatalf("%+v", r.Reasons)
		}
		for i, o := range q.Operations() {
			if c := o.Summary().Counts; len(c) != 1 || c[0].Amount.Cmp(q.View().Legs[i].Pays.Amount) != 0 {
				t.Fatalf("%+v", c)
			}
		}
		w.Policy.Limits.MaxCostBps = 10_000
		q, r = w.quote(s, doc)
		refused(t, q != nil, r, "Y6")
		saysCost(t, r, "unknown")
	})
}

// TestY4_WhatIsRequiredCountsWhereCallsCannotBeRead: an allowance of former days may let a contract take what the
// intent requires.
func TestY4_WhatIsRequiredCountsWhereCallsCannotBeRead(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.Draft.Calls = w.Draft.Calls[1:]
		w.Draft.Calls[0].Value, w.Draft.Calls[0].Data = "0", "0xdeadbeef"
		price := w.Catalog.Price(assetOf(baseUSDC)).Int64()
		// of the 250.5 that are required, the service states 25 there: payments of at least that much come on top
		const short = 225_500_000
		w.Policy.Limits.MaxSpend = big.NewInt(250_500_000*price/1_000_000 + short*price/1_000_000 - 1)
		p, r := w.prepared(w.Document(w.PrepareResponse()))
		refused(t, p != nil, r, "Y4")
		w.Policy.Limits.MaxSpend.Add(w.Policy.Limits.MaxSpend, big.NewInt(1))
		if p, r = w.prepared(w.Document(w.PrepareResponse())); p == nil || !r.Has("Y4", verify.Unknown) {
			t.Fatalf("%+v", r.Reasons)
		}
		if c := p.Signing().Summary(); len(c.Counts) != 1 || c.Counts[0].Amount.Int64() != 250_500_000 ||
			len(c.Spend) != 0 {
			t.Fatalf("%+v", c)
		}
		w.Draft.Calls[0].Data = w.Draft.Calls[0].Data[:2]
		w.Draft.TokensRequired[0].Amount = "250500001" // more than the calls show
		w.Policy.Limits.MaxSpend = nil
		p, _ = w.prepared(w.Document(w.PrepareResponse()))
		if c := p.Signing().Summary().Counts; len(c) != 1 || c[0].Amount.Int64() != 250_500_001 {
			t.Fatalf("%+v", c)
		}
	})
}

func TestY4_TheLargerOfOutflowAndRequirementCounts(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.Draft.TokensRequired[0].Amount = "300000000"
		p, r := w.prepared(w.Document(w.PrepareResponse()))
		if p == nil {
			t.Fatalf("%+v", r.Reasons)
		}
		if c := p.Signing().Summary(); c.Counts[0].Amount.Int64() != 300_000_000 ||
			c.Spend[0].Amount.Int64() != 250_500_000 || len(c.Counts) != 2 {
			t.Fatalf("%+v", c)
		}
	})
}

func TestY4Y5_WithACapUnknownSpendingIsRefused(t *testing.T) {
	unlisted := "0x00000000000000000000000000000000000c0ffe"
	for name, change := range map[string]func(w *world){
		"a token without a price": func(w *world) { w.Draft.Calls[0].To = unlisted },
		"a listed token, unreadable": func(w *world) {
			w.Draft.Calls[0].Data = "0x42966c68" + strings.Repeat("00", 32) // burn
		},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, w *world) {
				change(w)
				doc := w.Document(w.PrepareResponse())
				if p, r := w.prepared(doc); p == nil {
					t.Fatalf("without a cap: %+v", r.Reasons)
				}
				huge := new(big.Int).Lsh(big.NewInt(1), 300)
				w.Policy.Limits.MaxSpend = huge
				p, r := w.prepared(doc)
				refused(t, p != nil, r, "Y4")
				w.Policy.Limits.MaxSpend, w.Policy.Limits.MaxSpendPerDay = nil, huge
				p, r = w.prepared(doc)
				code := "Y5"
				if name != "a token without a price" {
					code = "Y4"
				}
				refused(t, p != nil, r, code)
			})
		})
	}
}

func TestY4_NoSumOverflows(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		most := new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 256), big.NewInt(1))
		w.Draft.Calls[0].Data = golden.HexOf(erc20.Transfer(common.HexToAddress(payee), most))
		w.Draft.Calls = append(w.Draft.Calls, w.Draft.Calls[0], w.Draft.Calls[0])
		w.Policy.Limits.MaxSpend = big.NewInt(1_000_000_000)
		p, r := w.prepared(w.Document(w.PrepareResponse()))
		refused(t, p != nil, r, "Y4")
		w.Policy.Limits.MaxSpend, w.Policy.Limits.MaxSpendPerDay = nil, big.NewInt(1_000_000_000)
		p, r = w.prepared(w.Document(w.PrepareResponse()))
		refused(t, p != nil, r, "Y5")
	})
}

// spending is a history of what was spent; it remembers since when it was asked.
type spending struct {
	memory
	asked *time.Time
}

func (s spending) Spent(since time.Time) []verify.Spend {
	*s.asked = since
	return s.spent
}

func TestY5_EverythingSignedWithinADayCounts(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		h := spending{memory{spent: []verify.Spend{{Asset: assetOf(arbUSDC), Amount: big.NewInt(100_000_000)},
			{Asset: assetOf(baseUSDC), Amount: big.NewInt(20_000_000)}}}, new(time.Time)}
		_, _, q := w.judged(t, h)
		p, _ := w.prepared(w.Document(w.PrepareResponse()))
		price := w.Catalog.Price(assetOf(baseUSDC)).Int64()
		before := 120_000_000 * price / 1_000_000
		call := w.worth(t, p.Signing().Summary().Counts)
		var funding int64
		for _, o := range q.Operations() {
			funding += w.worth(t, o.Summary().Counts)
		}
		missing := w.worth(t, []verify.AmountView{{Asset: assetOf(baseUSDC),
			Micro: amount.Value(q.View().Needs[0].Short, 6, w.Catalog.Price(assetOf(baseUSDC)))}})
		// the quote's own history holds the prepared call as well; here it is what it was before
		for _, c := range []struct {
			cap             int64
			prepared, quote bool
		}{
			{before + call + missing, false, false}, {before + call + missing - 1, true, false},
			{before + funding - 1, true, true},
			{before - 1, true, true}, {0, true, true},
		} {
			w.Policy.Limits.MaxSpendPerDay = big.NewInt(c.cap)
			rp, rq, _ := w.judged(t, h)
			if rp.Has("Y5", verify.Refuse) != c.prepared || rq.Has("Y5", verify.Refuse) != c.quote ||
				rp.Refused() != c.prepared || rq.Refused() != c.quote {
				t.Fatalf("cap %d: %+v, %+v", c.cap, rp.Reasons, rq.Reasons)
			}
			if !h.asked.Equal(clock().Add(-24 * time.Hour)) {
				t.Fatalf("asked since %s", h.asked)
			}
		}
	})
}

func TestY5_WhatWasSpentMustHaveAPrice(t *testing.T) {
	unlisted := caip.ERC20(8453, common.Address{1})
	for name, c := range map[string]struct {
		spent verify.Spend
		ok    bool
	}{
		"no price":            {verify.Spend{Asset: unlisted, Amount: big.NewInt(1)}, false},
		"no amount":           {verify.Spend{Asset: assetOf(baseUSDC)}, false},
		"nothing of no price": {verify.Spend{Asset: unlisted, Amount: new(big.Int)}, true},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, w *world) {
				w.Policy.Limits.MaxSpendPerDay = new(big.Int).Lsh(big.NewInt(1), 300)
				rp, rq, _ := w.judged(t, memory{spent: []verify.Spend{c.spent}})
				if rp.Refused() == c.ok || rq.Refused() == c.ok || rp.Has("Y5", verify.Refuse) == c.ok ||
					rq.Has("Y5", verify.Refuse) == c.ok {
					t.Fatalf("%+v, %+v", rp.Reasons, rq.Reasons)
				}
			})
		})
	}
}

func TestY6_TheAllInCostHasACap(t *testing.T) {
	for bps, refuses := range map[int]bool{22: false, 21: true, 1: true, 0: false} { // the golden quote costs 0.22 %
		each(t, func(t *testing.T, w *world) {
			w.Policy.Limits.MaxCostBps = bps
			_, rq, _ := w.judged(t, verify.NoHistory{})
			if rq.Refused() != refuses || rq.Has("Y6", verify.Refuse) != refuses {
				t.Fatalf("%d: %+v", bps, rq.Reasons)
			}
			saysCost(t, rq, "0.22 %")
		})
	}
	each(t, func(t *testing.T, w *world) { // a call that pays for itself costs nothing
		w.CallType, w.Policy.Limits.MaxCostBps = api.CallSameChainExcludeSolver, 1
		w.Policy.Limits.MaxSpend = big.NewInt(251_000_000)
		w.Policy.Limits.MaxSpendPerDay = big.NewInt(251_000_000)
		if q, r := w.quote(w.signed(), w.Document(w.SameChain())); q == nil {
			t.Fatalf("%+v", r.Reasons)
		}
	})
}

func TestY8_TheToleranceHasACap(t *testing.T) {
	limited(t, "Y8", map[string]limitCase{
		"as asked": {func(w *world) { w.Policy.Limits.MaxSlippageBps = 50 }, false, false},
		"less":     {func(w *world) { w.Policy.Limits.MaxSlippageBps = 49 }, true, true},
		"none set": {func(*world) {}, false, false},
	})
	each(t, func(t *testing.T, w *world) { // the user's cap never raises the product's
		w.Policy.Limits.MaxSlippageBps = 10_000
		w.Draft.SlippageBps = w.Policy.MaxSlippageBps + 1
		p, r := w.prepared(w.Document(w.PrepareResponse()))
		refused(t, p != nil, r, "Q11")
	})
}

// TestY_NoLimitHoldsBehindBlindSigning: what a limit compares is decoded from what is shown, and something else may be
// signed.
func TestY_NoLimitHoldsBehindBlindSigning(t *testing.T) {
	huge := new(big.Int).Lsh(big.NewInt(1), 300)
	for name, set := range map[string]func(l *verify.Limits){
		"none":       func(*verify.Limits) {},
		"spend":      func(l *verify.Limits) { l.MaxSpend = huge },
		"day":        func(l *verify.Limits) { l.MaxSpendPerDay = huge },
		"recipients": func(l *verify.Limits) { l.Recipients = []string{payee, vault} },
		"contracts": func(l *verify.Limits) {
			l.Contracts = []common.Address{golden.TokenOf(baseUSDC), common.HexToAddress(vault)}
		},
		"chains": func(l *verify.Limits) { l.Chains = chains(8453, 42161, 10) },
	} {
		t.Run(name, func(t *testing.T) {
			roleBased(t, func(t *testing.T, w *world) {
				w.onNetwork(func(n *network.Descriptor) { n.Formulas = nil })
				w.Policy.Limits.Gates = []string{verify.GateBlindSigning}
				s := w.signed()
				set(&w.Policy.Limits)
				p, r := w.prepared(w.Document(w.PrepareResponse()))
				q, rq := w.quote(s, w.Document(w.CrossChain()))
				if name == "none" {
					if p == nil || q == nil {
						t.Fatalf("%+v, %+v", r.Reasons, rq.Reasons)
					}
					return
				}
				refused(t, p != nil, r, "Y4")
				refused(t, q != nil, rq, "Y4")
			})
		})
	}
}

// TestY_SwapsAndTransfersObeyTheLimits applies each limit to answers of the real service.
func TestY_SwapsAndTransfersObeyTheLimits(t *testing.T) {
	for _, name := range answerNames(t, isExchange) {
		t.Run(name, func(t *testing.T) {
			a := answer(t, name)
			v := a.passes()
			var all []caip.Chain
			paid := new(big.Int)
			for _, l := range v.Legs {
				all = append(all, l.Pays.Asset.Chain)
				paid.Add(paid, l.Pays.Micro)
			}
			to := v.Delivered.Asset.Chain
			same := true
			for _, c := range all {
				same = same && c == to
			}
			cases := map[string]struct {
				code string
				set  func(l *verify.Limits)
				ok   bool
			}{
				"all chains": {"Y1", func(l *verify.Limits) { l.Chains = append([]caip.Chain{to}, all...) },
					true},
				"not the paying":    {"Y1", func(l *verify.Limits) { l.Chains = []caip.Chain{to} }, same},
				"not the receiving": {"Y1", func(l *verify.Limits) { l.Chains = all }, same},
				"no recipient":      {"Y2", func(l *verify.Limits) { l.Recipients = []string{} }, v.RecipientOwn},
				"the recipient":     {"Y2", func(l *verify.Limits) { l.Recipients = []string{v.Recipient} }, true},
				"no contracts":      {"Y3", func(l *verify.Limits) { l.Contracts = []common.Address{} }, true},
				"spend":             {"Y4", func(l *verify.Limits) { l.MaxSpend = paid }, true},
				"spend less": {"Y4", func(l *verify.Limits) {
					l.MaxSpend = new(big.Int).Sub(paid,
						big.NewInt(1))
				}, false},
				"spend of a day": {"Y5", func(l *verify.Limits) { l.MaxSpendPerDay = paid }, true},
				"less of a day": {"Y5", func(l *verify.Limits) {
					l.MaxSpendPerDay = new(big.Int).Sub(paid,
						big.NewInt(1))
				}, false},
				"cost": {"Y6", func(l *verify.Limits) { l.MaxCostBps = max(v.MinimumCostBps, 1) },
					v.MinimumCostBps >= 0},
				"costs less": {"Y6", func(l *verify.Limits) { l.MaxCostBps = max(v.MinimumCostBps-1, 1) },
					v.MinimumCostBps >= 0 && v.MinimumCostBps <= 1},
				"tolerance":     {"Y8", func(l *verify.Limits) { l.MaxSlippageBps = v.SlippageBps }, true},
				"a smaller one": {"Y8", func(l *verify.Limits) { l.MaxSlippageBps = v.SlippageBps - 1 }, false},
				"one of its letters": {"Y2", func(l *verify.Limits) { l.Recipients = []string{flip(v.Recipient)} },
					v.RecipientOwn},
			}
			for what, c := range cases {
				a.policy.Limits = verify.Limits{}
				c.set(&a.policy.Limits)
				q, r := a.judge(a.document())
				if (q != nil) != c.ok || r.Has(c.code, verify.Refuse) == c.ok || r.Refused() == c.ok {
					t.Errorf("%s: accepted %v, want %v: %+v", what, q != nil, c.ok, r.Reasons)
				}
			}
			a.policy.Limits = verify.Limits{}
			q, _ := a.judge(a.doc)
			for i, o := range q.Operations() {
				if s := o.Summary(); len(s.Counts) != 1 || s.Counts[0].Amount.Cmp(v.Legs[i].Pays.Amount) != 0 ||
					len(s.Spend) != 1 || s.Spend[0].Amount.Cmp(v.Legs[i].Pays.Amount) != 0 {
					t.Errorf("operation %d counts %+v", i, s.Counts)
				}
			}
		})
	}
}

// flip changes the last character of an address.
func flip(a string) string {
	if strings.HasSuffix(a, "1") {
		return a[:len(a)-1] + "2"
	}
	return a[:len(a)-1] + "1"
}
