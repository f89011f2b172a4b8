//go:build unix

package act

import (
	"context"
	"errors"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"coffer/api"
	"coffer/api/client"
	"coffer/ui/cli"
	"coffer/wallet/flow"
	"coffer/wallet/journal"
	"coffer/wallet/verify"
)

// atTerminal makes the rig a terminal with a user who gives these answers.
func atTerminal(t testing.TB, answers ...string) *rig {
	r := newRig(t)
	r.c.Terminal, r.answers = true, answers
	return r
}

// TestBothReviewsAreConfirmedOnATerminal: each review is printed before its question, and each signature follows its
// own answer.
func TestBothReviewsAreConfirmedOnATerminal(t *testing.T) {
	r := atTerminal(t, "yes", "YES")
	r.done(0, callFlags()...)
	if r.op.signs != 1 || r.op.executes != 1 || len(r.asked) != 2 {
		t.Errorf("%d and %d signings after %q", r.op.signs, r.op.executes, r.asked)
	}
	r.says("REVIEW 1 OF 2", "REVIEW 2 OF 2", payee, "aaaa 0001", "bbbb 0002", "COMPLETED")
	if strings.Contains(r.out.String(), "REVIEW") {
		t.Error("the review is in the data")
	}
}

// TestNothingIsSignedWithoutItsAnswer: a wrong word, no word and the end of the input confirm nothing; an unsigned
// operation is abandoned.
func TestNothingIsSignedWithoutItsAnswer(t *testing.T) {
	for _, answers := range [][]string{{"no"}, {""}, nil, {"y"}} {
		r := atTerminal(t, answers...)
		r.done(5, callFlags()...)
		if r.op.signs != 0 || r.op.executes != 0 || r.op.gones != 1 {
			t.Errorf("%q: %d, %d signings, %d abandoned", answers, r.op.signs, r.op.executes, r.op.gones)
		}
	}
	r := atTerminal(t, "yes", "no")
	r.done(5, callFlags()...)
	if r.op.signs != 1 || r.op.executes != 0 || r.op.gones != 0 {
		t.Errorf("after the first answer: %d, %d signings, %d abandoned", r.op.signs, r.op.executes, r.op.gones)
	}
	r.says("can still be used")
}

// TestAnEarlyAnswerIsDropped: an answer before a person can have read the question is asked for again, and input that
// is always immediate confirms nothing.
func TestAnEarlyAnswerIsDropped(t *testing.T) {
	r := atTerminal(t, "yes", "yes", "yes")
	early := true
	r.c.Prompt = fast{r, &early}
	r.done(0, callFlags()...)
	if len(r.asked) != 3 {
		t.Errorf("asked %q", r.asked)
	}
	r.says("was dropped")

	r = atTerminal(t, strings.Fields(strings.Repeat("yes ", 100))...)
	r.pause = 0
	r.done(5, callFlags()...)
	if r.op.signs != 0 {
		t.Error("a program confirmed")
	}
}

// fast answers the first question at once.
type fast struct {
	*rig
	early *bool
}

func (f fast) Line(ctx context.Context, q string) (string, error) {
	if *f.early {
		*f.early = false
		f.pause = 10 * time.Millisecond
		defer func() { f.pause = time.Second }()
	}
	return f.rig.Line(ctx, q)
}

// TestTheAmountIsTypedFrom100Dollars: the one word is not enough for more, nor for an asset without a price.
func TestTheAmountIsTypedFrom100Dollars(t *testing.T) {
	for spend, want := range map[int64]string{49_999_999: "type yes",
		50_000_000:  "type the amount 50, because up to $100.00 can leave",
		100_000_000: "type the amount 100, because it is worth $100.00 or more",
		250_500_000: "type the amount 250, because"} {
		r := atTerminal(t, "yes", "yes")
		r.op.spend = spend
		code := 5
		if spend < 50_000_000 { // twice as much can leave
			code = 0
		}
		r.done(code, callFlags()...)
		if !strings.Contains(r.asked[1], want) {
			t.Errorf("%d: %q", spend, r.asked)
		}
	}
	r := atTerminal(t, "yes", "250.50")
	r.op.spend = 250_500_000
	r.done(0, callFlags()...)
	r = atTerminal(t, "yes", "250.6")
	r.op.spend = 250_500_000
	r.done(5, callFlags()...)
}

// TestTheWholeConsentIsWeighedAtTheFirstReview: where one signature lets the calls run, the user types its amount.
func TestTheWholeConsentIsWeighedAtTheFirstReview(t *testing.T) {
	r := atTerminal(t, "25")
	r.op.consent, r.op.spend = true, 100_000_000
	r.done(0, callFlags()...)
	if len(r.asked) != 1 || !strings.Contains(r.asked[0], "type the amount 25,") || r.op.executes != 0 {
		t.Errorf("%q", r.asked)
	}
}

// TestAnOpenGateIsTypedOnATerminal: the sentence comes before the rest, and a wrong one ends it.
func TestAnOpenGateIsTypedOnATerminal(t *testing.T) {
	r := atTerminal(t, gate, "yes")
	r.op.phrase1 = gate
	r.done(0, callFlags()...)
	r = atTerminal(t, gate+".", "yes")
	r.op.phrase1 = gate
	r.done(5, callFlags()...)
	if r.op.signs != 0 {
		t.Error("signed behind the gate")
	}
}

// TestAnExpiredReviewIsAskedForAnewOnATerminal: an answer to the old figures signs nothing new.
func TestAnExpiredReviewIsAskedForAnewOnATerminal(t *testing.T) {
	r := atTerminal(t, "yes", "yes", "yes", "yes")
	r.op.errSign, r.op.errExec = flow.ErrExpired, flow.ErrExpired
	r.done(0, callFlags()...)
	if r.op.prepares != 2 || r.op.quotes != 2 || len(r.asked) != 4 {
		t.Errorf("%d prepared, %d quoted, asked %q", r.op.prepares, r.op.quotes, r.asked)
	}
	r.says("does not count")
	said := r.err.String()
	if strings.Count(said, "WHAT IS NOT AS BEFORE") != 2 || strings.Count(said, "Leaves Optimism") != 1 {
		t.Errorf("what did not change is printed again:\n%s", said)
	}
}

// TestL3_AReviewInPlaceOfAnotherPrintsWhatIsNotAsBefore: each line that differs, and nothing else.
func TestL3_AReviewInPlaceOfAnotherPrintsWhatIsNotAsBefore(t *testing.T) {
	before := "REVIEW 2 OF 2\n  expires 12:01\n  Leaves Base 25\n  Leaves Optimism 125\n"
	got := unlike("REVIEW 2 OF 2\n  expires 12:02\n  Leaves Base 25\n  Leaves Optimism 126\n", before)
	if want := "REVIEW 2 OF 2, WHAT IS NOT AS BEFORE\n  expires 12:02\n  Leaves Optimism 126\n"; got != want {
		t.Errorf("%q", got)
	}
	if unlike(before, "") != before {
		t.Error("the first review is not whole")
	}
}

// TestAnotherOperationThanAskedForIsNotSigned: the comparison of this package holds beside that of the verifier.
func TestAnotherOperationThanAskedForIsNotSigned(t *testing.T) {
	r := newRig(t)
	r.s.Work = func(Tighten) (*Work, error) {
		w, err := r.work(nil)
		start := w.Start
		w.Start = func(ctx context.Context, in intentOf) (Operation, error) {
			op, err := start(ctx, in)
			return liar{op.(*fakeOp)}, err
		}
		return w, err
	}
	r.done(4, callFlags("--yes")...)
	if r.op.signs != 0 {
		t.Error("signed")
	}
	r.says("not what you asked")
}

// liar shows another recipient than requested and claims that it is the requested one.
type liar struct{ *fakeOp }

func (l liar) Prepare(ctx context.Context) (flow.Snapshot, error) {
	s, err := l.fakeOp.Prepare(ctx)
	if s.Review1 != nil {
		s.Review1.Lines[0].Data = strings.Replace(s.Review1.Lines[0].Data, "93dbd2", "93dbd3", 1)
	}
	return s, err
}

// TestADryRunSignsNothing: it prints the review as data and leaves nothing under way.
func TestADryRunSignsNothing(t *testing.T) {
	for _, args := range [][]string{callFlags("--dry-run"),
		{"swap", "--asset", "usdc", "--amount", "1", "--for", "eth@base", "--dry-run"}} {
		r := newRig(t)
		r.locked = true
		r.done(0, args...)
		if r.op.signs+r.op.executes != 0 || r.op.gones != 1 || !strings.Contains(r.out.String(), "REVIEW") {
			t.Errorf("%q: %d, %d signings, %d abandoned:\n%s", args[0], r.op.signs, r.op.executes, r.op.gones,
				r.out.String())
		}
	}
}

// TestNothingIsAskedWithoutATerminal: with --yes no question appears, whatever the review says.
func TestNothingIsAskedWithoutATerminal(t *testing.T) {
	r := newRig(t)
	r.op.spend = 1_000_000_000
	r.done(0, callFlags("--yes")...)
	if len(r.asked) != 0 {
		t.Errorf("%q", r.asked)
	}
}

// TestEverythingIsClosedAgain: the profile and the journal, also when something fails.
func TestEverythingIsClosedAgain(t *testing.T) {
	for _, fail := range []bool{false, true} {
		r := newRig(t)
		if fail {
			r.op.errPrepare = errors.New("no")
		}
		r.run(callFlags("--yes")...)
		if r.closed != 2 {
			t.Errorf("failing %v: %d closed", fail, r.closed)
		}
	}
}

// TestAnInterruptIsSafe: an interrupt before anything was sent leaves nothing signed; the end of the context during
// the wait for the answer is an unknown outcome.
func TestAnInterruptIsSafe(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	stop()
	r := newRig(t)
	in, err := r.c.frozen(r.s, mustDraft(t))
	if err != nil {
		t.Fatal(err)
	}
	err = r.c.operate(ctx, r.s, runOptions{yes: true}, job{in: in})
	if r.op.signs != 0 || r.op.gones != 1 || codeOf(err) != 5 {
		t.Errorf("%v, %d signings, %d abandoned", err, r.op.signs, r.op.gones)
	}
}

// passphrasePipe offers a text on an inherited descriptor, and returns its number.
func passphrasePipe(t *testing.T, text string) string {
	t.Helper()
	return itoa(inheritable(t, text))
}

// TestThePassphraseComesFromADescriptor: one line, once, and for no other question.
func TestThePassphraseComesFromADescriptor(t *testing.T) {
	for given, want := range map[string]string{"correct horse\n": "correct horse", "no end": "no end",
		"dos\r\nmore": "dos"} {
		r := newRig(t)
		r.locked = true
		r.done(0, callFlags("--yes", "--passphrase-fd", passphrasePipe(t, given))...)
		if len(r.unlocked) != 1 || r.unlocked[0] != want {
			t.Errorf("%q: %q", given, r.unlocked)
		}
		if strings.Contains(r.out.String()+r.err.String(), want) {
			t.Errorf("the passphrase is printed")
		}
	}
	for _, bad := range []string{"", "\n", strings.Repeat("x", 2000)} {
		r := newRig(t)
		r.locked = true
		r.done(2, callFlags("--yes", "--passphrase-fd", passphrasePipe(t, bad))...)
	}
	p := cli.GivenPassphrase(secretOf("word"))
	if _, mine, err := p.Take("API key for profile x (not shown): "); mine || err != nil {
		t.Errorf("another question got %v", err)
	}
	if s, mine, err := p.Take("Passphrase of profile x (not shown): "); err != nil || !mine ||
		string(s.Reveal()) != "word" {
		t.Errorf("%v", err)
	}
	if _, _, err := p.Take("Passphrase of profile x (not shown): "); codeOf(err) != 3 {
		t.Errorf("a second time: %v", err)
	}
}

// TestADescriptorThatWasNotInheritedIsRefused: the command does not read the program's own files as a passphrase.
func TestADescriptorThatWasNotInheritedIsRefused(t *testing.T) {
	own, err := os.Open(file(t, "own", "passphrase\n"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = own.Close() }()
	for _, n := range []string{itoa(int(own.Fd())), "1", "2", "-1", "900"} {
		r := newRig(t)
		r.done(2, callFlags("--yes", "--passphrase-fd", n)...)
	}
	r := atTerminal(t)
	r.done(2, callFlags("--passphrase-fd", "0")...)
	r = newRig(t)
	r.done(2, "call", "-", "--yes", "--passphrase-fd", passphrasePipe(t, "x\n"), "--interface", "v9")
}

// TestTheFileNamedDashIsStandardInput: the command reads an intent from there.
func TestTheFileNamedDashIsStandardInput(t *testing.T) {
	r := newRig(t)
	r.c.In = strings.NewReader(transferOf25)
	r.done(0, "call", "-", "--yes")
	if len(r.started) != 1 || r.started[0].Draft().Calls[0].Data[:10] != "0xa9059cbb" {
		t.Errorf("%+v", r.started)
	}
}

// TestJ3AnOutcomeIsAskedForBeforeSomethingNewIsBegun: what an interrupted command left open blocks nothing once it has
// ended; an answer that cannot be recorded ends the command before anything is signed.
func TestJ3AnOutcomeIsAskedForBeforeSomethingNewIsBegun(t *testing.T) {
	r := newRig(t)
	r.finds = func() error {
		if len(r.started) > 0 || r.op.prepares > 0 {
			t.Error("asked for after something was begun")
		}
		return nil
	}
	r.done(0, callFlags("--yes")...)
	if r.asks != 1 || len(r.started) != 1 {
		t.Errorf("asked %d times, %d started", r.asks, len(r.started))
	}
	r = newRig(t)
	r.finds = func() error { return errors.New("the journal cannot be written") }
	r.done(1, callFlags("--yes")...)
	if len(r.started) != 0 || r.op.signs != 0 {
		t.Error("went on without a journal")
	}
	r.says("the journal cannot be written")
}

// anotherOp is an operation with another id.
type anotherOp struct {
	*fakeOp
	id string
}

func (o anotherOp) ID() string { return o.id }

// TestU3WhatIsInTheWayIsNamed: with the command that asks for its end.
func TestU3WhatIsInTheWayIsNamed(t *testing.T) {
	r := newRig(t)
	const open = "ffeeddccbbaa9988"
	r.book = []journal.Operation{{ID: open, State: journal.Acked, Started: r.now.Add(-time.Minute),
		QuoteID: quoteID(7)}}
	r.unfinished = []Operation{anotherOp{newOp(r), open}}
	r.op.report1.Reasons = append(r.op.report1.Reasons,
		verify.Reason{Code: "U3", Level: verify.Refuse,
			Title: "an earlier signature that is still open cannot run beside this one"})
	r.done(4, callFlags("--yes")...)
	r.says("Operation "+open+" of "+cli.Clock(r.now.Add(-time.Minute)), "coffer status "+open+" --watch")
}

// TestJ3StatusWritesDownWhatItHears: also without --watch.
func TestJ3StatusWritesDownWhatItHears(t *testing.T) {
	r := newRig(t)
	r.book = []journal.Operation{{ID: opID, State: journal.Acked, QuoteID: quoteID(5), Started: r.now}}
	r.finds = func() error { r.book[0].State = journal.Done; return nil }
	_ = r.run("status", opID)
	if r.asks != 1 || r.book[0].State != journal.Done {
		t.Errorf("asked %d times, %s", r.asks, r.book[0].State)
	}
}

// TestAnInterruptBetweenTheSignaturesLeavesWhatWasSigned: it ends with code 5, nothing is sent, and the user reads
// that a signature is live.
func TestAnInterruptBetweenTheSignaturesLeavesWhatWasSigned(t *testing.T) {
	r := newRig(t)
	r.op.errQuote = &client.Error{Op: "quote", Kind: client.KindCancelled, Sent: true, Err: context.Canceled}
	r.done(5, callFlags("--yes")...)
	if r.op.signs != 1 || r.op.executes != 0 || r.op.gones != 0 {
		t.Errorf("%d and %d signings, %d abandoned", r.op.signs, r.op.executes, r.op.gones)
	}
	r.says("nothing was sent", "can still be used")

	r = atTerminal(t)
	r.c.Prompt = interruptedPrompt{r}
	r.done(5, callFlags()...)
	if r.op.signs != 0 || r.op.gones != 1 {
		t.Errorf("%d signings, %d abandoned", r.op.signs, r.op.gones)
	}
}

type interruptedPrompt struct{ *rig }

func (interruptedPrompt) Line(context.Context, string) (string, error) { return "", context.Canceled }

// TestEveryFailureOfTheServiceIsSaid: a validation error lists all of its failures.
func TestEveryFailureOfTheServiceIsSaid(t *testing.T) {
	r := newRig(t)
	r.op.errPrepare = &api.Error{Name: api.ErrValidation, Message: "two", StatusCode: 400, Details: []api.Failure{
		{Path: "calls[0].to", Expected: "an address", Got: "x\x1b[2J"},
		{Path: "targetChain", Expected: "a chain", Got: "y"},
	}}
	r.done(1, callFlags("--yes")...)
	r.says("calls[0].to", "targetChain")
	if strings.Contains(r.err.String(), "\x1b") {
		t.Error("an escape sequence got through")
	}
}

// TestK5_YesStopsAtEveryWarningThatIsNotNamed: in both reviews, also at an unknown cost, and names the flag to add.
func TestK5_YesStopsAtEveryWarningThatIsNotNamed(t *testing.T) {
	warn := func(code string) verify.Reason {
		return verify.Reason{Code: code, Level: verify.Warn, Title: "Something is odd."}
	}
	for name, c := range map[string]struct {
		first, second []verify.Reason
		accept        string
		code          int
		missing       string
	}{
		"no warning":                {nil, nil, "", 0, ""},
		"one of review 1":           {[]verify.Reason{warn("V4")}, nil, "", 4, "--accept V4"},
		"one of review 1, accepted": {[]verify.Reason{warn("V4")}, nil, "V4", 0, ""},
		"one of review 2":           {nil, []verify.Reason{warn("Q11")}, "", 4, "--accept Q11"},
		"two, one accepted": {[]verify.Reason{warn("V4")}, []verify.Reason{warn("Q11"), warn("Q5")}, "V4,Q11",
			4, "--accept Q5"},
		"two, both accepted":   {[]verify.Reason{warn("V4")}, []verify.Reason{warn("Q11")}, "V4,Q11", 0, ""},
		"another one accepted": {[]verify.Reason{warn("V4")}, nil, "V3", 4, "--accept V4"},
		"the cost is unknown": {nil, []verify.Reason{
			{Code: "Q11", Level: verify.Unknown, Title: "What this costs is unknown."}}, "", 4, "--accept Q11"},
		"another thing is unknown": {nil, []verify.Reason{
			{Code: "U3", Level: verify.Unknown, Title: "Not seen before."}}, "", 0, ""},
		"something is only shown": {[]verify.Reason{{Code: "U12", Level: verify.Show, Title: "When this can run."}},
			nil, "", 0, ""},
	} {
		r := newRig(t)
		r.op.report1.Reasons, r.op.report2.Reasons = c.first, c.second
		args := callFlags("--yes")
		if c.accept != "" {
			args = append(args, "--accept", c.accept)
		}
		if code := r.run(args...); code != c.code || (code != 0 && !strings.Contains(r.err.String(), c.missing)) {
			t.Errorf("%s: exit code %d, want %d: %s", name, code, c.code, r.err.String())
		}
		if signed := r.op.signs > 0; c.first != nil && c.code != 0 && c.second == nil && signed {
			t.Errorf("%s: signed", name)
		}
		if c.code != 0 && r.op.executes != 0 {
			t.Errorf("%s: executed", name)
		}
	}
	newRig(t).done(2, callFlags("--accept", "V4")...)
	newRig(t).done(2, callFlags("--yes", "--max-cost-bps", "10001")...)
}

// TestK5_MaxCostWidensOnPurpose: the flag raises the limit of this program and never that of the policy file.
func TestK5_MaxCostWidensOnPurpose(t *testing.T) {
	for own, want := range map[int]verify.Limits{0: {MaxCostBps: 1500, AllowCostBps: 1500},
		300: {MaxCostBps: 300, AllowCostBps: 1500}} {
		r := newRig(t)
		r.limits = verify.Limits{MaxCostBps: own}
		r.done(0, callFlags("--yes", "--max-cost-bps", "1500")...)
		if !reflect.DeepEqual(r.limits, want) {
			t.Errorf("%d: %+v, want %+v", own, r.limits, want)
		}
	}
}

func TestD3_Review2RepeatsThePayee(t *testing.T) {
	r := atTerminal(t, "yes", "yes")
	r.signed()
	r.done(0, callFlags()...)
	_, second, _ := strings.Cut(r.err.String(), "REVIEW 2 OF 2")
	if !strings.Contains(second, "To                   "+payee+", Demo payee") {
		t.Error(second)
	}
}
