package review

import (
	"errors"
	"math/big"
	"strings"
	"testing"
	"time"

	"coffer/api"
	"coffer/api/client"
	"coffer/ui/present"
	"coffer/ui/tui/activity"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/screen"
	"coffer/wallet/flow"
	"coffer/wallet/intent"
	"coffer/wallet/verify"
)

// audited shows the cost of a quote on a screen that holds all of it.
func audited(t *testing.T, change func(q *verify.QuoteView)) string {
	t.Helper()
	r := newRig(t)
	r.w, r.h = 120, 60
	change(r.op.next)
	r.open().settle().press("y").settle().unfold()
	return r.flat()
}

func TestTheCostIsCalculatedInTheOpen(t *testing.T) {
	for name, x := range map[string]struct {
		change func(q *verify.QuoteView)
		want   []string
	}{
		"all known": {func(*verify.QuoteView) {}, []string{
			"paid $225.934804 - arrives $225.454900 = cost $0.479904",
			"cost $0.479904 - fees $0.479904 = unexplained $0.000000",
			"(expected - minimum) / expected = 0.00 %, you allowed 0.50 % ✓",
		}},
		"rounded": {func(q *verify.QuoteView) { q.PayMicro = big.NewInt(225_934_806) },
			[]string{"= cost $0.479904 (rounded)"}},
		"a gain": {func(q *verify.QuoteView) {
			q.DeliverMicro, q.CostMicro = big.NewInt(300_000_000), new(big.Int)
		}, []string{"= cost $0.000000 (below zero: counts as none)"}},
		"a lie": {func(q *verify.QuoteView) { q.CostMicro = big.NewInt(1_000) },
			[]string{"= cost $0.001000 does not add up ✗"}},
		"unexplained": {func(q *verify.QuoteView) {
			q.FeesMicro, q.UnexplainedMicro, q.Explained = big.NewInt(100_000), big.NewInt(379_904), false
		}, []string{"cost $0.479904 - fees $0.100000 = unexplained $0.379904", "only 20 % explained !"}},
		"no prices": {func(q *verify.QuoteView) {
			q.PayMicro, q.DeliverMicro, q.CostMicro, q.UnexplainedMicro, q.CostBps = nil, nil, nil, nil, -1
			q.Pay[0].Micro, q.Legs[0].Pays.Micro, q.Needs[0].Have = nil, nil, nil
		}, []string{
			"paid unknown - arrives unknown = cost unknown",
			"? 6 figures are unknown: the value of what you pay, the value of what is delivered, the cost",
			"what of the cost is unexplained, what is there of USDC, the value of the payment on Optimism",
		}},
		"no times": {func(q *verify.QuoteView) { q.Legs[0].RefundAfter, q.Legs[1].Until = time.Time{}, time.Time{} },
			[]string{
				"? 2 figures are unknown: when the payment on Optimism can be reclaimed, when the payment on " +
					"Arbitrum stops being valid",
			}},
		"no minimum": {func(q *verify.QuoteView) { q.Minimum.Amount = nil }, []string{
			"(expected - minimum) / expected = unknown, you allowed 0.50 %",
			"? 1 figure is unknown: the least that is delivered",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			v := audited(t, x.change)
			for _, want := range x.want {
				if !strings.Contains(v, want) {
					t.Errorf("%q is not shown: %s", want, v)
				}
			}
		})
	}
}

func TestAMinimumBelowTheToleranceIsMarked(t *testing.T) {
	r := newRig(t)
	r.openSwap()
	r.w, r.h = 120, 60
	r.op.next.Minimum.Amount = big.NewInt(28_000_000_000_000_000)
	r.s.drawn = ""
	if v := r.flat(); !strings.Contains(v,
		"(expected - minimum) / expected = 4.31 %, more than the 0.50 % that you allowed !") {
		t.Error(r.view())
	}
}

func TestTheWayOfPayingIsSaidInWordsWithItsConsequence(t *testing.T) {
	for callType, want := range map[string]string{
		api.CallSameChainExcludeSolver: "No one advances anything",
		api.CallSameChainWithSolver:    "only once your calls ran.",
		api.CallCrossChain:             "credit the solver", "new": "",
	} {
		v := audited(t, func(q *verify.QuoteView) { q.CallType, q.CallTypeWords = callType, "In words: "+callType+"." })
		if !strings.Contains(v, "In words: "+callType+".") || !strings.Contains(v, want) {
			t.Errorf("%s: %s", callType, v)
		}
	}
	one := audited(t, func(q *verify.QuoteView) { q.Legs = q.Legs[:1] })
	if strings.Contains(one, "credit the solver") || !strings.Contains(one, "The solver lends what is missing") {
		t.Errorf("one chain pays: %s", one)
	}
}

func TestEveryErrorOfAStepSaysWhatToDo(t *testing.T) {
	for err, want := range map[error]string{
		&client.Error{Op: "call-quote", Kind: client.KindNetwork,
			Err: errors.New("no route to host")}: "when the network is back",
		&client.Error{Op: "call-quote", Kind: client.KindTimeout,
			Err: errors.New("deadline")}: "when the network is back",
		&client.Error{Op: "call-quote", Kind: client.KindBadAnswer, Err: errors.New("x")}: "r tries again.",
		errors.New("the disk is full"):                    "r tries again.",
		api.NewError(api.ErrInsufficientBalance, "short"): "e changes the amount",
		api.NewError(api.ErrNoRoute, "none"):              "e changes the funding asset",
		api.NewError(api.ErrSimulationFailed, "reverted"): "The contract would refuse this call",
		api.NewError(api.ErrValidation, "no"):             "e goes to the fields",
		api.NewError(api.ErrPrepareAgain, "old"):          "You have to ask for it again: r.",
		api.NewError(api.ErrUnauthorized, "key"):          "coffer keys api-key set",
		api.NewError(api.ErrTooManyRequests, "slow"):      "Wait a moment, then r.",
		api.NewError(api.ErrTamperProof, "seal"):          "Do not retry this one",
		api.NewError("SomethingNew", "x"):                 "r tries again.",
	} {
		r := newRig(t)
		r.op.err = err
		r.open()
		if v := r.flat(); !strings.Contains(v, want) || !strings.Contains(v, "Nothing was signed.") {
			t.Errorf("%v: %q is missing:\n%s", err, want, r.view())
		}
	}
}

func TestAQuoteThatFailsAfterTheFirstSignatureSaysWhatLives(t *testing.T) {
	r := newRig(t)
	r.op.view1 = delegated(r.op.view1)
	r.open().settle().read()
	r.op.err = &client.Error{Op: "call-quote", Kind: client.KindNetwork, Err: errors.New("gone")}
	r.press("y")
	if v := r.flat(); !strings.Contains(v, "The quote not done") ||
		!strings.Contains(v, "the delegation never expires") {
		t.Fatal(r.view())
	}
	if r.s.KeepOpen() != "the first signature is given; the call is not finished" {
		t.Error(r.s.KeepOpen())
	}
	r.op.err = nil
	r.press("r").settle()
	if r.op.requote != 1 || r.s.phase != phaseReview2 || r.op.sign != 1 {
		t.Fatalf("%d new quotes in phase %d, signed %d times", r.op.requote, r.s.phase, r.op.sign)
	}
}

func TestWhatIsLeftBehindByQuittingIsSaid(t *testing.T) {
	r := newRig(t)
	if r.s.KeepOpen() != "" || r.s.Title() == "" || r.s.Init() != nil {
		t.Error("an empty review keeps the program open")
	}
	r.open()
	if !strings.Contains(r.s.KeepOpen(), "nothing is signed") {
		t.Error(r.s.KeepOpen())
	}
	r.settle().read().press("y")
	if !strings.Contains(r.s.KeepOpen(), "no payment is signed") {
		t.Error(r.s.KeepOpen())
	}
	r.s.enter(phaseExecute)
	if !strings.Contains(r.s.KeepOpen(), "signed and sent") {
		t.Error(r.s.KeepOpen())
	}
	r.s.Close()
	if r.s.life.Err() == nil {
		t.Error("closing does not cancel what is under way")
	}
}

func TestTheScreenWakesForItsCountdownAndItsGraceOnly(t *testing.T) {
	r := newRig(t)
	if r.s.Wake(r.clock.now) != 0 {
		t.Error("an empty screen wakes")
	}
	r.open()
	if got := r.s.Wake(r.clock.now); got != kit.GuardQuiet {
		t.Error(got)
	}
	r.clock.add(time.Second + 200*time.Millisecond)
	if got := r.s.Wake(r.clock.now); got != 800*time.Millisecond {
		t.Error(got)
	}
	r.s.enter(phaseExecute)
	if r.s.Wake(r.clock.now) <= 0 {
		t.Error("the age of what is waited for stands still")
	}
}

// When the flow gives no deadline, the document's own end counts; without any, nothing can be confirmed.
func TestTheCountdownIsTheDocumentsOwn(t *testing.T) {
	r := newRig(t)
	r.open().settle()
	r.s.snap.Deadline = time.Time{}
	if got := r.s.deadline(); !got.Equal(r.op.view1.Window.Until) {
		t.Error(got)
	}
	r.op.view1.Window.Until = time.Time{}
	r.read().press("y").count(0, 0)
	r = newRig(t)
	r.toReview2()
	r.s.snap.Deadline = time.Time{}
	if got := r.s.deadline(); !got.Equal(r.op.next.Expires) {
		t.Error(got)
	}
}

func TestAnOperationOfTheJournalIsReviewedFromItsBeginning(t *testing.T) {
	reopen := func(r *rig) { r.do(r.s.Update(screen.OpenedMsg{Arg: activity.ReopenArg{Op: r.op}})) }
	r := newRig(t)
	r.op.snap.State, r.op.snap.SignaturesDone, r.op.snap.Review1 = flow.StateQuoting, 1, r.op.view1
	reopen(r)
	if r.op.requote != 1 || r.s.phase != phaseReview2 {
		t.Fatalf("%d new quotes in phase %d", r.op.requote, r.s.phase)
	}
	r.settle().press("space")
	reopen(r) // it is on the screen already: only the grace period restarts
	r.do(r.s.Update(keyOf("y")))
	if r.op.requote != 1 || r.s.text[pageMain].Top() == 0 && r.s.text[pageMain].Below() > 0 {
		t.Error("what was read was forgotten")
	}
	swap := newRig(t)
	swap.op.next, swap.op.snap.State = swapQuote(swap.clock.now), flow.StateQuoting
	swap.op.snap.Intent = aSwap(t, swap.clock.now).Draft()
	reopen(swap)
	if swap.op.quotes != 1 || swap.op.requote != 0 {
		t.Fatalf("%d quotes, %d new ones", swap.op.quotes, swap.op.requote)
	}
	busy := newRig(t)
	busy.s.busy["op1"] = wordsExecute
	reopen(busy)
	if !busy.told("still awaited") || busy.s.op != nil {
		t.Error("an operation with a step under way was opened")
	}
	watched := newRig(t)
	watched.do(watched.s.Update(screen.OpenedMsg{Arg: activity.ReopenArg{Op: onlyWatched{watched.op}}}))
	if !watched.told("can only be watched") {
		t.Error("an operation without the steps of a review was opened")
	}
}

// onlyWatched has none of the steps of a review.
type onlyWatched struct{ activity.Operation }

func TestAStartThatFailsCanBeTriedAgain(t *testing.T) {
	r := newRig(t)
	start := r.s.deps.Start
	r.s.deps.Start = nil
	r.do(r.s.Update(startedMsg{gen: r.s.gen, err: errors.New("the journal cannot be written")}))
	if !strings.Contains(r.view(), "the journal cannot be written") {
		t.Fatal(r.view())
	}
	r.s.deps.Start, r.s.start = start, anIntent(t, r.clock.now)
	r.press("r")
	if r.s.phase != phaseReview1 {
		t.Fatal(r.s.phase)
	}
}

func TestATransferIsReviewedWithItsRecipientInFull(t *testing.T) {
	r := newRig(t).openTransfer()
	r.h = 60
	if v := r.flat(); !strings.Contains(v, "! First payment to this address") ||
		!strings.Contains(v, "To "+present.Address(payee)+" not in your contacts") ||
		!strings.Contains(v, "+ 99.520000 USDC $99.50 at least; expected the same") {
		t.Error(r.view())
	}
}

// openTransfer opens a transfer of 100 USDC to a recipient who was never paid before.
func (r *rig) openTransfer() *rig {
	q := swapQuote(r.clock.now)
	q.Kind, q.CallTypeWords = intent.KindTransfer,
		"The payments below are signed now; the same asset, less the fees, is sent to the recipient."
	q.Delivered, q.Minimum = usdcOf(99_520_000, 99_500_000, "Base"), usdcOf(99_520_000, 99_500_000, "Base")
	q.Recipient, q.RecipientOwn, q.RecipientFirstTime = payee, false, true
	r.op.next = q
	d := aSwap(r.t, r.clock.now).Draft()
	d.Kind, d.Receive = intent.KindTransfer, &intent.Receive{Asset: "ob:usdc", Account: "eip155:8453:" + payee}
	in, err := intent.Freeze(d, api.Rules{Catalog: cat(r.t), Now: r.clock.now})
	if err != nil {
		r.t.Fatal(err)
	}
	r.do(r.s.Update(screen.OpenedMsg{Arg: StartArg{Intent: in}}))
	return r
}

func TestD3_Review2RepeatsThePayee(t *testing.T) {
	r := newRig(t)
	r.w, r.h = 120, 60
	r.open().settle().press("y").settle()
	if text := r.flat(); !strings.Contains(text,
		"To 0x93DB D23b 6b71 b82E 3A19 aD8d 51Dd EBbB 13aF 7BC0") || !strings.Contains(text, "! First payment") {
		t.Error(text)
	}
}
