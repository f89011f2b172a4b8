package review

import (
	"math/big"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"coffer/api"
	"coffer/api/amount"
	"coffer/api/caip"
	"coffer/ui/tui/activity"
	"coffer/ui/tui/internal/tuitest"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/screen"
	"coffer/wallet/flow"
	"coffer/wallet/verify"
)

func signedEvent(i int, at time.Time) flow.Event {
	return flow.Event{Kind: flow.EventSigned, Index: i, At: at}
}

func closedFeed() chan flow.Event { c := make(chan flow.Event); close(c); return c }

func (r *rig) count(sign, execute int) {
	r.t.Helper()
	if r.op.sign != sign || r.op.execute != execute {
		r.t.Fatalf("signed %d times and executed %d times, want %d and %d", r.op.sign, r.op.execute, sign, execute)
	}
}

// toReview2 walks to the second review and reads it.
func (r *rig) toReview2() *rig { return r.open().settle().read().press("y").settle().read() }

func TestNothingIsSignedBeforeTheFirstConfirmationNorExecutedBeforeTheSecond(t *testing.T) {
	r := newRig(t)
	r.open()
	r.count(0, 0)
	r.settle().read()
	r.count(0, 0)
	r.press("y")
	r.count(1, 0)
	r.settle().read().typeText("250.98")
	r.count(1, 0)
	r.press("enter")
	r.count(1, 1)
	opened, tracked := false, false
	for i, m := range r.sent {
		if _, closed := m.(screen.BackMsg); closed { // D15: what comes next empties the form
			_, tracked = r.sent[i+1].(activity.TrackMsg)
		}
		if o, ok := m.(screen.OpenMsg); ok && o.Screen == screen.Activity {
			_, opened = o.Arg.(activity.ShowArg)
		}
	}
	if !opened {
		t.Fatal("the operation was not handed to the activity screen")
	}
	if !tracked {
		t.Error("the form that the operation came from does not learn that it was sent")
	}
}

func TestConfirmIsDeadInTheFirstHalfSecond(t *testing.T) {
	r := newRig(t)
	r.h = 40
	r.open()
	r.view()
	r.do(r.s.Update(keyOf("y")))
	r.count(0, 0)
	r.clock.add(499 * time.Millisecond) // the refused key prolonged the wait
	r.do(r.s.Update(keyOf("y")))
	r.count(0, 0)
	r.clock.add(time.Second)
	r.do(r.s.Update(keyOf("y")))
	r.count(1, 0)
}

func TestAHeldKeyNeverConfirms(t *testing.T) {
	r := newRig(t)
	r.h = 40
	r.open().settle()
	k := keyOf("y")
	k.IsRepeat = true
	for range 20 {
		r.do(r.s.Update(k))
		r.clock.add(33 * time.Millisecond)
	}
	r.count(0, 0)
	// On a terminal that does not mark repeats, their pace reveals them, also across the change of screens.
	r.clock.add(time.Second)
	r.do(r.s.Update(keyOf("y")))
	r.count(1, 0)
	for range 100 {
		r.view()
		r.clock.add(33 * time.Millisecond)
		r.do(r.s.Update(keyOf("y")))
	}
	r.count(1, 0)
}

func TestPasteNeverConfirms(t *testing.T) {
	r := newRig(t)
	r.h = 40
	r.open().settle()
	for _, text := range []string{"y", "y\n", "\r\n"} {
		r.do(r.s.Update(tea.PasteMsg{Content: text}))
	}
	r.count(0, 0)
	r.press("y").settle()
	r.do(r.s.Update(tea.PasteMsg{Content: "250.98\n"}))
	if r.s.typed.Value() != "" {
		t.Fatalf("a paste filled the field: %q", r.s.typed.Value())
	}
	r.press("enter")
	r.count(1, 0)
}

func TestConfirmIsOffUntilEveryLineWasOnTheScreen(t *testing.T) {
	r := newRig(t)
	r.h = 8
	r.open().settle()
	r.press("y")
	r.count(0, 0)
	if k, ok := kit.FindKey(r.s.Keys(), "y"); !ok || k.Off == "" {
		t.Fatal("the key is not shown as off")
	}
	r.press("G") // the end alone is not enough: lines in between were never shown
	r.view()
	r.clock.add(time.Second)
	r.press("y")
	r.count(0, 0)
	r.press("g")
	r.read().press("y")
	r.count(1, 0)
}

func TestExpiryDuringReview2DisablesConfirmAndANewQuoteNeedsAFreshOne(t *testing.T) {
	r := newRig(t)
	r.h = 60
	r.toReview2().typeText("250.98")
	r.clock.add(2 * time.Minute)
	r.view()
	r.press("enter")
	r.count(1, 0)
	if !strings.Contains(r.view(), "expired") || !strings.Contains(r.flat(), "125.98") {
		t.Fatal("the figures did not stay, or nothing says that they expired")
	}
	r.press("r")
	if r.op.requote != 1 || r.s.typed.Value() != "" {
		t.Fatalf("%d new quotes, field %q", r.op.requote, r.s.typed.Value())
	}
	r.press("enter")
	r.settle().read().typeText("250.98").press("enter") // the old amount
	r.count(1, 0)
	for range 6 {
		r.do(r.s.Update(tea.KeyPressMsg{Code: tea.KeyBackspace}))
		r.clock.add(300 * time.Millisecond)
	}
	r.typeText("251.04").press("enter")
	r.count(1, 1)
}

func TestExpiryDuringReview1AsksForAFreshPreparation(t *testing.T) {
	r := newRig(t)
	r.open().settle().read()
	r.clock.add(11 * time.Minute)
	r.press("y")
	r.count(0, 0)
	r.op.view1 = prepared(r.clock.now)
	r.press("r")
	if r.op.prepare != 2 {
		t.Fatalf("prepared %d times", r.op.prepare)
	}
}

func TestLowValueNeedsOneKeyAndUnknownValueTheAmount(t *testing.T) {
	r := newRig(t)
	r.op.cheap()
	r.toReview2().press("y")
	r.count(1, 1)

	r = newRig(t)
	r.op.cheap()
	r.op.next.Legs[0].Pays.Micro = nil
	r.toReview2().press("y", "enter")
	r.count(1, 0)
	r.typeText("1.00").press("enter")
	r.count(1, 1)
}

func TestWholeConsentGetsTheFullConfirmation(t *testing.T) {
	r := newRig(t)
	r.op.view1.WholeConsent = true
	r.open().settle().read().press("y", "enter")
	r.count(0, 0)
	r.typeText("250.4").press("enter")
	r.count(0, 0)
	r.do(r.s.Update(tea.KeyPressMsg{Code: tea.KeyBackspace}))
	r.typeText("5").press("enter")
	r.count(1, 0)
}

func TestRefusalShowsWhatWasComparedAndCannotBeConfirmed(t *testing.T) {
	r := newRig(t)
	r.op.report1 = report(verify.Reason{Code: "U8", Level: verify.Refuse, Title: "Not declared.", Want: "nothing",
		Got: "approve", Path: "/x"})
	r.open().settle().press("y", "enter")
	r.count(0, 0)
	for _, want := range []string{"U8", "Not declared.", "nothing", "approve", "/x", "Nothing was signed."} {
		if !strings.Contains(r.view(), want) {
			t.Errorf("%q is missing", want)
		}
	}
	r.press("e")
	arg, ok := r.lastOpen(screen.Build).(EditArg)
	if !ok || len(arg.Draft.Calls) != 1 || r.op.abandoned != 1 {
		t.Fatalf("%+v, abandoned %d", arg, r.op.abandoned)
	}
}

func (r *rig) lastOpen(id screen.ID) any {
	for i := len(r.sent) - 1; i >= 0; i-- {
		if o, ok := r.sent[i].(screen.OpenMsg); ok && o.Screen == id {
			return o.Arg
		}
	}
	return nil
}

func TestRefusedQuoteSaysThatTheFirstSignatureIsLive(t *testing.T) {
	r := newRig(t)
	r.op.report2 = report(verify.Reason{Code: "Q8", Level: verify.Refuse, Title: "Less is delivered."})
	r.open().settle().read().press("y").settle()
	if v := r.view(); !strings.Contains(v, "Less is delivered.") || !strings.Contains(v, "stays live until 12:11:03") {
		t.Fatal(v)
	}
	r.press("y", "enter")
	r.count(1, 0)
}

func TestLeavingSaysWhatIsLeftBehind(t *testing.T) {
	r := newRig(t)
	r.open().settle().press("esc")
	if !r.told("Nothing was signed") || r.op.abandoned != 1 {
		t.Fatal("leaving review 1 must say that nothing was signed, and close the operation")
	}
	r = newRig(t)
	r.toReview2().press("esc")
	if !r.told("stays live until 12:11:03") || r.op.abandoned != 0 {
		t.Fatal("leaving review 2 must say that the first signature stays live")
	}
	// It can be opened again from Activity.
	r.do(r.s.Update(screen.OpenedMsg{Arg: activity.ReopenArg{Op: r.op}}))
	r.settle().read().typeText("250.98").press("enter")
	r.count(1, 1)
}

func (r *rig) told(text string) bool {
	for _, m := range r.sent {
		if x, ok := m.(screen.ToastMsg); ok && strings.Contains(x.Text, text) {
			return true
		}
	}
	return false
}

func TestAnswersOfAnOperationThatWasLeftAreDropped(t *testing.T) {
	r := newRig(t)
	cmd := r.s.Update(screen.OpenedMsg{Arg: StartArg{Intent: anIntent(t, r.clock.now)}})
	started := tuitest.Messages(cmd)[0]
	r.press("esc")
	r.do(r.s.Update(started))
	if r.s.phase != phaseEmpty || r.op.prepare != 0 || r.op.abandoned != 1 {
		t.Fatalf("phase %d, prepared %d, abandoned %d", r.s.phase, r.op.prepare, r.op.abandoned)
	}
}

func TestUnknownOutcomeIsHandedOverAndNeverSentAgain(t *testing.T) {
	r := newRig(t)
	r.op.outcome = flow.StateUnknown
	r.toReview2().typeText("250.98").press("enter")
	r.count(1, 1)
	r.press("enter", "y", "r")
	r.count(1, 1)
	if _, ok := r.lastOpen(screen.Activity).(activity.ShowArg); !ok {
		t.Fatal("not handed over")
	}
}

func TestTheBuilderGetsTheFailuresOfTheService(t *testing.T) {
	r := newRig(t)
	r.op.err = &api.Error{Name: api.ErrValidation, StatusCode: 400,
		Details: []api.Failure{{Path: "calls[0].to", Expected: "x", Got: "y"}}}
	r.open().settle().press("e")
	if arg, ok := r.lastOpen(screen.Build).(EditArg); !ok || len(arg.Failures) != 1 ||
		arg.Failures[0].Path != "calls[0].to" {
		t.Fatalf("%+v", r.lastOpen(screen.Build))
	}
}

func TestOneAssetPaidOnSeveralChainsIsOneFigureToReadAndToType(t *testing.T) {
	r := newRig(t)
	agg, _ := r.s.ctx.Catalog.Aggregate("ob:usdc")
	on := func(id uint64, units string, micro int64) verify.AmountView {
		for _, e := range agg.Entities {
			if e.Asset.Chain == caip.EVM(id) {
				v, err := amount.Parse(units, e.Decimals)
				if err != nil {
					t.Fatal(err)
				}
				return verify.AmountView{Asset: e.Asset, Symbol: "USDC", Decimals: e.Decimals, Amount: v,
					Micro: big.NewInt(micro)}
			}
		}
		t.Fatalf("no USDC on %d", id)
		return verify.AmountView{}
	}
	r.op.next.Pay = []verify.AmountView{on(10, "125.98", 125_954_804), on(42161, "100.000001", 99_980_000)}
	r.op.next.Legs[0].Pays, r.op.next.Legs[1].Pays = r.op.next.Pay[0], r.op.next.Pay[1]
	r.op.next.Fees = []verify.AmountView{on(10, "0.4", 400_000), on(42161, "0.08", 80_000)}
	r.h = 40
	r.open().settle().read().press("y").settle().read().unfold()
	v := strings.Join(strings.Fields(r.view()), " ")
	for _, want := range []string{"You pay 225.980001 USDC $225.93 in 2 payments", "Fees 0.480000 USDC $0.48",
		"250.99 USDC leaves your account", "type 250 and press enter"} {
		if !strings.Contains(v, want) {
			t.Errorf("%q is not shown:\n%s", want, r.view())
		}
	}
	r.typeText("225.98").press("enter").count(1, 0)
	r.press("backspace")
	r.s.typed.Set("")
	r.typeText("250.980001").press("enter").count(1, 1)
	if got := r.op.next.Pay; len(got) != 2 || got[0].Amount.Cmp(big.NewInt(125_980_000)) != 0 {
		t.Error("the quote itself was changed")
	}
}

func TestACallThatWouldFailIsNamedAsThePersonCounts(t *testing.T) {
	r := newRig(t)
	e := api.NewError(api.ErrSimulationFailed, "call 1 would revert: paused")
	e.Details = []api.Failure{{Path: "calls[1]", Expected: "a call that succeeds", Got: "paused"}}
	r.op.err = e
	r.open()
	if v := r.view(); !strings.Contains(v, "Call 2 would fail: paused.") || strings.Contains(v, "calls[1]") ||
		!strings.Contains(v, "Nothing was signed.") {
		t.Fatal(v)
	}
	if r.s.KeepOpen() == "" {
		t.Error("quitting would lose the call without a question")
	}
}
