package review

import (
	"errors"
	"math/big"
	"strconv"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"coffer/api"
	"coffer/ui/present"
	"coffer/ui/tui/activity"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/screen"
	"coffer/wallet/flow"
	"coffer/wallet/verify"
)

// sameChain makes a quote of the signed operation alone, without payments.
func sameChain(q *verify.QuoteView) {
	q.SameChainOnly, q.Legs, q.Promise, q.Pay, q.Fees, q.FeeUSD, q.CallType = true, nil, nil, nil, nil, "0.00",
		api.CallSameChainExcludeSolver
	q.Worst = []verify.AmountView{usdcOf(250_500_000, 250_449_900, "Base")}
	q.PayMicro, q.DeliverMicro, q.FeesMicro, q.CostMicro, q.UnexplainedMicro = new(big.Int), new(big.Int), new(big.Int),
		new(big.Int), new(big.Int)
}

// cheap lowers the value of what leaves below the threshold for typing.
func (f *fakeOp) cheap() {
	a := usdcOf(25_000_000, 24_995_000, "Base")
	f.view1.Outflow, f.view1.Lines[0].Amount, f.view1.Lines[0].Args[1].Value = []verify.AmountView{a}, &a, "25000000"
	f.next.Needs, f.next.Worst, f.next.PayMicro = nil, nil, new(big.Int)
	if len(f.next.Legs) > 0 {
		f.next.Legs, f.next.PayMicro = f.next.Legs[:1], big.NewInt(999_800)
		f.next.Legs[0].Pays = usdcOf(1_000_000, 999_800, "Optimism")
	}
}

// One key gives a signature to a service that announces payments at first; its quote of that operation alone is then
// the whole consent.
func TestAQuoteOfTheSignedOperationAloneIsTheWholeConsentAndGetsTheFullConfirmation(t *testing.T) {
	r := newRig(t)
	sameChain(r.op.next)
	r.h = 60
	r.toReview2().press("y", "enter").count(1, 0)
	if v := r.flat(); !strings.Contains(v, "250.50 USDC leaves your account") {
		t.Errorf("what leaves the account is not on the screen: %s", v)
	}
	r.settle().typeText("250.5").press("enter").count(1, 1)

	r = newRig(t)
	sameChain(r.op.next)
	r.op.view1.WholeConsent = true // agreed to in full at the first review
	r.open().settle().read().typeText("250.5").press("enter").settle().read()
	r.count(1, 0)
	r.press("y").count(1, 1)
}

func TestACallThatTakesMoreThanItsPaymentsIsConfirmedByAllThatLeaves(t *testing.T) {
	r := newRig(t)
	r.op.next.Legs, r.op.next.CostBps, r.h = r.op.next.Legs[:1], 0, 60
	r.op.next.Legs[0].Pays = usdcOf(1_000_000, 999_800, "Optimism")
	r.op.next.Needs[0].Have, r.op.next.Needs[0].Short = big.NewInt(249_500_000), big.NewInt(1_000_000)
	r.toReview2().press("y", "enter").count(1, 0)
	if v := r.flat(); !strings.Contains(v, "250.50 USDC leaves your account") {
		t.Errorf("what leaves the account is not on the screen: %s", v)
	}
	r.settle().typeText("1").press("enter").count(1, 0)
	r.s.typed.Set("")
	r.typeText("250").press("enter").count(1, 1)
}

func TestACallThatCannotBeReadIsNeverTheWholeConsentOfOneKey(t *testing.T) {
	r := newRig(t)
	v := r.op.view1
	v.WholeConsent, v.Outflow = true, nil
	l := &v.Lines[0]
	l.Decoded, l.Function, l.Args, l.Amount, l.Recipient, l.FirstTime = false, "", nil, nil, "", false
	r.open().settle().read().press("y").count(0, 0)
	r.press("enter").typeText("zzzz").press("enter").count(0, 0)
	r.s.typed.Set("")
	r.typeText(letters(r.s.atStake())).press("enter").count(1, 0)
}

// What was sent for an earlier quote lives on, whatever quote comes next.
func TestWhatWasSentAndRefusedIsNotForgottenByANewQuoteNorByComingBack(t *testing.T) {
	r := newRig(t)
	r.op.outcome = flow.StateReview2 // the service did not accept it
	r.openSwap().settle().read().press("y").count(0, 1)
	r.op.snap.BodyHash, r.op.snap.SignaturesDone = strings.Repeat("ab", 32), 0 // as a new quote leaves it
	r.press("r").settle().press("esc")
	r.do(r.s.Update(screen.OpenedMsg{Arg: activity.ReopenArg{Op: r.op}}))
	if r.s.phase != phaseReview2 || !strings.Contains(r.s.KeepOpen(), "signed before") {
		t.Errorf("phase %d, %q", r.s.phase, r.s.KeepOpen())
	}
	if k, ok := kit.FindKey(r.s.Keys(), "esc"); !ok || strings.Contains(k.Label, "nothing signed") {
		t.Errorf("%+v", k)
	}
	r.sent = nil
	r.settle().press("esc")
	if r.op.abandoned != 0 || r.told("Nothing was signed") {
		t.Errorf("abandoned %d", r.op.abandoned)
	}
}

func TestPaymentsThatWereSentForAnEarlierQuoteAreNotDenied(t *testing.T) {
	r := newRig(t)
	r.op.outcome = flow.StateReview2
	r.op.cheap()
	r.toReview2().press("y").count(1, 1)
	r.op.snap.BodyHash, r.op.snap.SignaturesDone = strings.Repeat("ab", 32), 1 // as a new quote leaves it
	r.press("r").settle()
	if words := r.s.KeepOpen(); strings.Contains(words, "no payment is signed") {
		t.Error(words)
	}
	r.op.report2 = report(blind(false))
	r.press("r").settle().read()
	if v := r.flat(); strings.Contains(v, "No payment was signed") {
		t.Error(r.view())
	}
	r.press("esc")
	if !r.told("payments") {
		t.Error("leaving does not speak of the payments")
	}
}

func TestTheQuestionForCharactersOfAnAddressIsNotCutAt60(t *testing.T) {
	r := newRig(t)
	r.op.endless()
	r.w, r.h = 60, 15
	r.toReview2()
	lines := strings.Split(strings.TrimRight(r.view(), "\n"), "\n")
	foot := lines[len(lines)-1]
	if strings.Contains(foot, "…") || present.Width(strings.TrimRight(foot, " ")) > 60 ||
		!strings.Contains(foot, "characters "+strconv.Itoa(r.s.atStake().Place)+" to ") {
		t.Errorf("%q", foot)
	}
}

func TestAQuoteThatEndedWhileItWasSignedIsNotSaidToBeUnsigned(t *testing.T) {
	r := newRig(t)
	r.op.cheap()
	r.toReview2()
	r.op.snap.SignaturesDone, r.op.snap.Problem = 3,
		"This review has expired. Nothing was sent; ask for a new one."
	r.op.locked = flow.ErrExpired // how the flow ends when the signatures took too long
	r.press("y").count(1, 1)
	if v := r.flat(); strings.Contains(v, "Nothing was signed") || !strings.Contains(v, "Nothing was sent.") ||
		!strings.Contains(v, "The payments were signed") {
		t.Error(r.view())
	}
}

// confirmLater presses a key and returns its command: the answer comes later.
func (r *rig) confirmLater(key string) tea.Cmd {
	r.t.Helper()
	cmd := r.s.Update(keyOf(key))
	r.clock.add(300 * time.Millisecond)
	return cmd
}

// After leaving a running operation the person is elsewhere when its answer comes: it closes and opens no screen under
// the keys pressed there.
func TestAnAnswerToWhatWasLeftMovesNoScreen(t *testing.T) {
	r := newRig(t)
	r.op.cheap()
	r.toReview2()
	later := r.confirmLater("y")
	if r.press("esc"); r.lastOpen(screen.Activity) == nil || r.s.KeepOpen() != "payments are being signed and sent" {
		t.Fatalf("%q", r.s.KeepOpen())
	}
	r.sent = nil
	r.do(later)
	r.count(1, 1)
	for _, m := range r.sent {
		if _, tracked := m.(activity.TrackMsg); !tracked {
			t.Errorf("%#v", m)
		}
	}
	if r.s.KeepOpen() != "" {
		t.Errorf("%q", r.s.KeepOpen())
	}

	r = newRig(t)
	r.op.cheap()
	r.toReview2()
	later = r.confirmLater("y")
	r.press("esc")
	r.op.locked, r.op.snap.Problem = errors.New("the keys are locked"), "The keys are locked."
	r.do(later)
	if !r.told("what you left did not finish") || !r.told("The keys are locked.") {
		t.Errorf("%v", r.sent)
	}
}

// A step that was left may take a minute. Activity is told when a payment is signed and when it is sent, not only when
// it ends.
func TestActivityIsToldHowFarAPaymentIsThatWasLeft(t *testing.T) {
	r := newRig(t)
	r.op.cheap()
	r.toReview2()
	later := r.confirmLater("y")
	r.press("esc")
	told := func() (n int) {
		t.Helper()
		due := r.due
		r.due, r.sent = nil, nil
		for _, m := range due {
			r.do(r.s.Update(m))
		}
		for _, m := range r.sent {
			if x, ok := m.(activity.TrackMsg); ok && x.Op.ID() == r.op.ID() {
				n++
			}
		}
		return n
	}
	for _, x := range []struct {
		state      flow.State
		signatures int
	}{{flow.StateSigning, 2}, {flow.StateSigning, 3}, {flow.StateExecuting, 3}} {
		r.op.snap.State, r.op.snap.SignaturesDone = x.state, x.signatures
		if n := told(); n != 1 {
			t.Errorf("%v: told %d times", x, n)
		}
		if n := told(); n != 0 {
			t.Errorf("%v: told again, %d times", x, n)
		}
	}
	r.do(later)
	if told(); len(r.due) != 0 {
		t.Errorf("it looks for ever: %v", r.due)
	}
}

// With the whole consent the call is signed and runs: leaving does not stop it, and no message claims that it does.
func TestAWholeConsentThatWasGivenIsSaidToRunAndGoesOn(t *testing.T) {
	r := newRig(t)
	r.op.cheap()
	r.op.view1.WholeConsent = true
	r.open().settle().read()
	later := r.confirmLater("y")
	if v := r.flat(); !strings.Contains(v, "Signing and running it") || strings.Contains(v, "no payment is signed") {
		t.Error(v)
	}
	if words := r.s.KeepOpen(); words != "the call is being signed and run" {
		t.Error(words)
	}
	if r.press("esc"); r.lastOpen(screen.Activity) == nil || r.told("stays live") {
		t.Error("leaving does not lead to where it goes on")
	}
	r.do(later)
	r.count(1, 0)
}
