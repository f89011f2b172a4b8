package linear

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"coffer/api"
	"coffer/ui/present"
	"coffer/wallet/flow"
	"coffer/wallet/intent"
	"coffer/wallet/verify"
)

// said is the output of a session with a snapshot.
func said(t *testing.T, x flow.Snapshot, say func(c *reviewSession)) string {
	t.Helper()
	r := newRig(t)
	r.opts.Deps.TypeFrom = number(100_000_000)
	c := &reviewSession{session: &session{World: worldOf(r.opts), ctx: r.opts.Context, deps: r.opts.Deps,
		out: newPrinter(r.paper, 0)}, snap: x}
	say(c)
	return r.paper.take()
}

func preparedCourse(now time.Time) flow.Snapshot {
	v := prepared(now)
	d := intent.Draft{TargetChain: "eip155:8453", Calls: []intent.Call{
		{To: v.Lines[0].To, Data: v.Lines[0].Data, Function: v.Lines[0].Function}}}
	return flow.Snapshot{Intent: d, Review1: v, Report1: report(notes()...)}
}

func TestAPlainPaymentIsSaidInItsCoinAndByTheNameOfItsRecipient(t *testing.T) {
	x := preparedCourse(utc())
	l := &x.Review1.Lines[0]
	l.To, l.ToName, l.Recipient, l.Data, l.Function, l.Args, l.Amount, l.Value = payee, "", payee, "0x", "", nil, nil,
		number(1_000_000_000_000_000)
	x.Intent.Calls = []intent.Call{{To: payee, Value: l.Value.String()}}
	text := flat(said(t, x, func(c *reviewSession) { c.readAll(stageReview1) }))
	for _, want := range []string{"1 plain transfer of the chain's own coin, same.",
		"to: " + present.Address(payee) + ", alice", "value: 0.001 ETH", "To: " + present.Address(payee) + ", alice"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not said:\n%s", want, text)
		}
	}
	if strings.Contains(text, "unknown contract") || strings.Contains(text, "base units") ||
		strings.Contains(text, "contract: ") {
		t.Error(text)
	}
	x.Review1.Chain.ID = 1 << 40 // the catalogue knows no coin of this chain
	if text = said(t, x, func(c *reviewSession) { c.readAll(stageReview1) }); !strings.Contains(text,
		"1,000,000,000,000,000 base units") {
		t.Error(text)
	}
}

func TestAnAssumedStateIsSaidWithItsAddresses(t *testing.T) {
	x := preparedCourse(utc())
	x.Intent.Overrides = []api.StateOverride{{Address: escrow, Balance: "0x1"}, {Address: payee, Code: "0x00"}}
	text := flat(said(t, x, func(c *reviewSession) { c.readAll(stageReview1) }))
	for _, want := range []string{"Warning: tried on an assumed state (2 addresses)",
		present.Address(escrow), present.Address(payee) + ", alice",
		"Warning: No other calls, but tried on an assumed state: the real state decides when it runs."} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not said:\n%s", want, text)
		}
	}
}

func TestNestedArgumentsStandInByTheirDepth(t *testing.T) {
	x := preparedCourse(utc())
	l, before := &x.Review1.Lines[0], 0
	l.Args, l.Amount = nil, nil
	for depth := range 14 {
		l.Args = append(l.Args, verify.ArgView{Name: strings.Repeat("  ", depth) + "level" + itoa(depth),
			Type: "address", Value: payee})
	}
	text := said(t, x, func(c *reviewSession) { c.readAll(stageReview1) })
	for depth := range 14 {
		head, _, found := strings.Cut(text, "level"+itoa(depth)+":")
		in := len(head) - strings.LastIndex(head, "\n") - 1
		if !found || in < before || depth == 3 && in != 8 {
			t.Fatalf("depth %d stands in %d cells after %d:\n%s", depth, in, before, text)
		}
		before = in
	}
}

func TestAReviewSaysNoCodesOfChecksAndTheListDoes(t *testing.T) {
	x := preparedCourse(utc())
	if text := said(t, x, func(c *reviewSession) { c.readAll(stageReview1) }); strings.Contains(text, "V4") ||
		strings.Contains(text, "P6") {
		t.Error(text)
	}
	if text := said(t, x, func(c *reviewSession) { c.checks() }); !strings.Contains(text, ", V4.") ||
		!strings.Contains(text, ", P6.") {
		t.Error(text)
	}
}

func TestABalanceThatNobodyKnowsIsNotSaidToBeThere(t *testing.T) {
	x := preparedCourse(utc())
	x.Review2 = quote(utc(), time.Minute)
	x.Review2.Needs[0].Have, x.Review2.Needs[0].Short = nil, nil
	text := flat(said(t, x, func(c *reviewSession) { c.readAll(stageReview2); c.explain(stageReview2) }))
	if !strings.Contains(text, "Base: needs 250.5 USDC. You pay") ||
		!strings.Contains(text, "Unknown: 3 figures are unknown: what is there of USDC,") {
		t.Error(text)
	}
	if !strings.Contains(text, "First to: "+present.Address(account)+", yours") {
		t.Error(text)
	}
}

func TestFeesThatNobodyNamesExplainNothing(t *testing.T) {
	x := preparedCourse(utc())
	x.Review2 = quote(utc(), time.Minute)
	x.Review2.Explained = false
	told := func() string { return flat(said(t, x, func(c *reviewSession) { c.readAll(stageReview2) })) }
	if text := told(); !strings.Contains(text, "explained by fees: unknown.") {
		t.Error(text)
	}
	x.Review2.UnexplainedMicro = number(359_928)
	if text := told(); !strings.Contains(text, "Warning: only 25 % explained.") {
		t.Error(text)
	}
}

// The terms are explained at every question, at one that confirms too, and that answers nothing.
func TestTheTermsAreExplainedAtAnyQuestion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t).begins()
		r.wants(r.types("?"), "Type ? terms for what the words mean.", "Type a number from 1 to")
		said := strings.Join(strings.Fields(r.types("? terms")), " ")
		for _, term := range present.Terms() {
			if !strings.Contains(said, term.Name+": "+term.Text) {
				t.Errorf("%s is not explained: %s", term.Name, said)
			}
		}
		r.wants(r.types(callScript()[:yesAt]...), "yes")
		if r.wants(r.types("?terms"), "escrow: The contract"); r.op.signs != 0 {
			t.Error("an explanation signs")
		}
		if err := r.ends(); err != nil {
			t.Error(err)
		}
	})
}
