package linear

import (
	"context"
	"errors"
	"math/big"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"coffer/api/amount"
	"coffer/ui/present"
	"coffer/wallet/consent"
	"coffer/wallet/flow"
	"coffer/wallet/intent"
	"coffer/wallet/verify"
)

// reviewed is the review that a person has to agree to: a review 1, and its quote; nil: review 1 is judged.
type reviewed struct {
	name  string
	first func(*verify.PreparedView)
	quote func(*verify.QuoteView)
	why   bool   // one word is not enough
	typed string // the amount to type
	tail  string // or the end of this address
}

func stakes() []reviewed {
	huge, _ := new(big.Int).SetString("123456789012345678901234567890", 10)
	whole := func(v *verify.PreparedView) { v.WholeConsent = true }
	cheap := func(v *verify.PreparedView) { v.Outflow = []verify.AmountView{usdcOf(99_000_000, 98_980_200, "Base")} }
	opaque := func(v *verify.PreparedView) { cheap(v); v.Lines[0].Decoded = false }
	alone := func(q *verify.QuoteView) {
		q.SameChainOnly, q.Legs, q.Promise, q.Pay, q.PayMicro = true, nil, nil, nil, new(big.Int)
	}
	pays := func(units, micro int64, bps int) func(*verify.QuoteView) {
		return func(q *verify.QuoteView) {
			q.Pay, q.PayMicro, q.CostBps = []verify.AmountView{usdcOf(units, micro, "")}, number(micro), bps
			q.Worst = q.Pay
		}
	}
	together := func(micro int64) func(*verify.QuoteView) {
		return func(q *verify.QuoteView) {
			pays(50_000_000, 49_990_000, 0)(q)
			q.Worst = []verify.AmountView{usdcOf(micro, micro, "")}
		}
	}
	return []reviewed{
		{name: "a call that is only prepared"},
		{name: "whole consent", first: whole, why: true, typed: "250.5"},
		{name: "cheap whole consent", first: func(v *verify.PreparedView) { whole(v); cheap(v) }},
		{name: "whole consent of nothing", first: func(v *verify.PreparedView) { whole(v); v.Outflow = nil }},
		{name: "whole consent of unknown value",
			first: func(v *verify.PreparedView) { whole(v); v.Outflow[0].Micro = nil }, why: true, typed: "250.5"},
		{name: "whole consent that cannot be read", first: func(v *verify.PreparedView) { whole(v); opaque(v) },
			why: true, tail: usdc},
		{name: "whole consent too long to type",
			first: func(v *verify.PreparedView) { whole(v); v.Outflow[0].Amount, v.Outflow[0].Micro = huge, nil },
			why:   true, tail: payee},
		{name: "payments", quote: func(*verify.QuoteView) {}, why: true, typed: "225.98"},
		{name: "cheap payments", first: cheap, quote: pays(99_000_000, 99_999_999, 0)},
		{name: "cheap payments and a cheap call that together are not", first: cheap, quote: together(100_000_000),
			why: true, typed: "50"},
		{name: "cheap payments and a cheap call", first: cheap, quote: together(99_999_999)},
		{name: "at the limit", first: cheap, quote: pays(100_000_000, 100_000_000, 0), why: true, typed: "100"},
		{name: "costly payments", first: cheap, quote: pays(5_000_000, 4_999_000, 1000), why: true, typed: "5"},
		{name: "payments of unknown value", first: cheap, quote: func(q *verify.QuoteView) { q.PayMicro = nil },
			why: true, typed: "225.98"},
		{name: "payments too long to type", first: cheap,
			quote: func(q *verify.QuoteView) { q.Pay[0].Amount, q.PayMicro = huge, nil }, why: true, tail: account},
		{name: "calls that take more than the payments", quote: pays(1_000_000, 999_800, 0), why: true, typed: "250.5"},
		{name: "payments for what cannot be read", first: opaque, quote: pays(1_000_000, 999_800, 0), why: true,
			tail: usdc},
		{name: "no payments although some were announced", quote: alone, why: true, typed: "250.5"},
		{name: "no payments, as agreed to in full", first: whole, quote: alone},
	}
}

// Every front end asks for what package consent says.
func TestWhatIsAtStakeDecidesWhatIsTyped(t *testing.T) {
	from := number(100_000_000)
	for _, x := range stakes() {
		r := newRig(t)
		now := time.Now()
		first := prepared(now)
		if x.first != nil {
			x.first(first)
		}
		c := &reviewSession{session: &session{World: worldOf(r.opts), ctx: r.opts.Context, deps: Deps{TypeFrom: from}},
			snap: flow.Snapshot{Review1: first}}
		st := stageReview1
		if x.quote != nil {
			q := quote(now, time.Minute)
			x.quote(q)
			c.snap.Review2, st = q, stageReview2
		}
		k := c.atStake(st)
		typed := ""
		if k.Cause != consent.None && !k.TypesTail() {
			typed = k.AmountText()
		}
		if (k.Cause != consent.None) != x.why || (present.Because(k) != "") != x.why || typed != x.typed ||
			!strings.EqualFold(k.Tail, x.tail) {
			t.Errorf("%s: %+v, typed %q", x.name, k, typed)
		}
	}
}

func TestACostlyPaymentIsTypedWhateverItIsWorth(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.op.view1 = prepared(utc())
		r.op.view1.Outflow = []verify.AmountView{usdcOf(5_000_000, 4_999_000, "Base")}
		r.op.next = quote(utc(), time.Minute)
		a := usdcOf(5_000_000, 4_999_000, "")
		r.op.next.Pay, r.op.next.PayMicro, r.op.next.CostBps = []verify.AmountView{a}, number(4_999_000), 1200
		r.begins()
		r.types(callScript()[:amountAt]...)
		r.types("yes")
		if r.op.executes != 0 {
			t.Fatal("a payment of which an eighth is lost was confirmed by one word")
		}
		r.types("1", "5")
		if err := r.ends(); err != nil || r.op.executes != 1 {
			t.Errorf("%d executed, %v", r.op.executes, err)
		}
	})
}

func TestAQuoteOfTheSignedOperationAloneIsConfirmedByWhatItTakes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		q := quote(utc(), time.Minute)
		q.SameChainOnly, q.Legs, q.Promise, q.Pay, q.PayMicro = true, nil, nil, nil, new(big.Int)
		r.op.next = q
		r.begins()
		said := r.types(callScript()[:yesAt+1]...)
		r.wants(said, "Leaves your account on Base: 250.5 USDC")
		r.types("1", "yes")
		if r.op.executes != 0 {
			t.Fatal("what takes 250 USD was confirmed by one word")
		}
		r.types("1", "250.5")
		if err := r.ends(); err != nil || r.op.executes != 1 {
			t.Errorf("%d executed, %v", r.op.executes, err)
		}
	})
}

func TestAnAmountThatNobodyTypesIsConfirmedByTheEndOfTheAddress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.op.next = quote(utc(), time.Minute)
		r.op.next.Pay[0].Amount, r.op.next.PayMicro = amount.MaxUint256(), nil
		r.begins()
		said := r.types(callScript()[:amountAt]...)
		r.wants(said, "type the last 4 characters of the address above", "0x21f6")
		r.types(account[len(account)-5:])
		if r.op.executes != 0 {
			t.Fatal("confirmed by something else")
		}
		r.types("1", strings.ToUpper(account[len(account)-4:]))
		if err := r.ends(); err != nil || r.op.executes != 1 {
			t.Errorf("%d executed, %v", r.op.executes, err)
		}
	})
}

func TestAQuoteThatWasSubmittedBeforeIsNotAskedForAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t).begins()
		r.types(callScript()[:amountAt]...)
		r.op.err = flow.ErrSubmitted
		said := flat(r.types(callScript()[amountAt]))
		if strings.Contains(said, "Try again") || strings.Contains(said, "Change what you ask for") ||
			!strings.Contains(said, "Activity follows it") {
			t.Error(said)
		}
		if err := r.ends(); err != nil {
			t.Error(err)
		}
	})
}

// sentOp is a swap whose first quote was sent and not accepted: a new quote counts its signatures anew.
type sentOp struct{ *fakeOp }

func (o sentOp) Execute(ctx context.Context, c consent.Consent, progress func(flow.Event)) (flow.Snapshot, error) {
	if _, err := o.fakeOp.Execute(ctx, c, progress); err != nil {
		return o.snap, err
	}
	o.snap.State, o.snap.BodyHash = flow.StateReview2, strings.Repeat("ab", 32)
	return o.snap, errors.New("the service did not accept it")
}

func (o sentOp) Quote(context.Context) (flow.Snapshot, error) {
	o.snap.SignaturesDone = 0
	return o.quoted()
}

func TestWhatWasSentAndNotAcceptedIsNotForgottenByANewQuote(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.op.snap.Intent = intent.Draft{Kind: intent.KindSwap}
		op := sentOp{r.op}
		r.unfinished = []Operation{op}
		r.op.snap.State = flow.StateQuoting
		r.begins()
		r.types("7", "1", "1", "1", "yes") // activity, the first, continue, confirm
		said := r.types("1")               // try again
		if r.op.executes != 1 || !strings.Contains(flat(said), "Leave") ||
			strings.Contains(flat(said), "nothing is signed") {
			t.Errorf("%d executed:\n%s", r.op.executes, said)
		}
		r.types("") // leave
		if r.op.gones != 0 {
			t.Error("abandoned although something was sent")
		}
		said = r.types("1") // the operation again
		if strings.Contains(flat(said), "Nothing is signed. ") {
			t.Error(said)
		}
		r.types("1")
		said = r.types("")
		if r.op.gones != 0 || strings.Contains(flat(said), "Nothing was signed") {
			t.Errorf("%d gone: %s", r.op.gones, said)
		}
		if err := r.ends(); err != nil {
			t.Error(err)
		}
	})
}
