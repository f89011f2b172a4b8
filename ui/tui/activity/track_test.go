package activity

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"coffer/ui/present"

	tea "charm.land/bubbletea/v2"

	"coffer/api"
	"coffer/api/client"
	"coffer/api/network"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/screen"
	"coffer/wallet/flow"
	"coffer/wallet/verify"
)

func TestH4AnUnknownStatusIsShownCleanedAsUnknownAndGoesOn(t *testing.T) {
	snap := snapshot(flow.StateAccepted, "HALF\x1b[2JDONE")
	r := newRig(t, Deps{}).track(&fakeOp{id: "op1", snap: snap})
	if v := r.view(); !strings.Contains(v, "unknown: HALF\uFFFD[2JDONE") || strings.Contains(v, "\x1b") || ended(snap) {
		t.Errorf("%q", v)
	}
}

func TestEverySignatureIsAStepOfItsOwn(t *testing.T) {
	snap := snapshot(flow.StateReview2, "")
	snap.SignaturesDone, snap.SignaturesTotal = 2, 4
	snap.Review1 = &verify.PreparedView{Delegation: &verify.DelegationView{Chain: verify.ChainLabel{Name: "Base"}}}
	r := newRig(t, Deps{}).track(&fakeOp{id: "op1", snap: snap})
	v := r.view()
	for _, want := range []string{
		"✓ signature 1 of 4: the delegation of your EOA on Base", "✓ signature 2 of 4: the call",
		"· signature 3 of 4: payment on Optimism", "· signature 4 of 4: payment on Arbitrum One",
	} {
		if !strings.Contains(v, want) {
			t.Errorf("%q is missing:\n%s", want, v)
		}
	}
}

// After a restart the journal has the signatures and no reviews.
func TestAfterARestartTheStepsGoOnFromTheJournal(t *testing.T) {
	resumed := snapshot(flow.StateUnknown, "")
	resumed.Review1, resumed.Review2, resumed.SignaturesDone, resumed.SignaturesTotal = nil, nil, 2, 2
	op := &fakeOp{id: "op1", snap: resumed}
	d := Deps{Unfinished: func() []Operation { return []Operation{op} }}
	r := newRig(t, d)
	if v := r.view(); !strings.Contains(v, "✓ signature 1 of 2\n") && !strings.Contains(v, "✓ signature 1 of 2 ") ||
		!strings.Contains(v, "? accepted by the service") {
		t.Errorf("without a name:\n%s", v)
	}
	r.s.Close()
	d.Outstanding = func(now time.Time) []present.Signature {
		out := append(live(now), live(now)...)
		out[1].Summary.Role, out[1].Summary.Chain = verify.RoleFunding, "eip155:10"
		return out
	}
	done := resumed
	done.State, done.Status = flow.StateDone, snapshot(flow.StateDone, api.StatusCompleted).Status
	op.steps = []flow.Snapshot{done}
	r = newRig(t, d)
	if op.watched != 2 {
		t.Fatalf("watched %d times", op.watched)
	}
	v := r.view()
	for _, want := range []string{"COMPLETED ✓", "✓ signature 1 of 2: the call itself, on Base",
		"✓ signature 2 of 2: a payment on Optimism", "✓ Optimism deposit", "✓ solver advanced the tokens on Base",
		"✓ your call ran on Base"} {
		if !strings.Contains(v, want) {
			t.Errorf("%q is missing:\n%s", want, v)
		}
	}
}

func TestASameChainCallHasNoFill(t *testing.T) {
	snap := snapshot(flow.StateDone, api.StatusCompleted)
	snap.Review2.Legs, snap.Review2.SameChainOnly, snap.Status.OriginChainOperations = nil, true, nil
	snap.SignaturesDone, snap.SignaturesTotal = 1, 1
	v := newRig(t, Deps{}).track(&fakeOp{id: "op1", snap: snap}).view()
	if strings.Contains(v, "filled") || strings.Contains(v, "deposit") || strings.Contains(v, "released") ||
		!strings.Contains(v, "✓ your call ran on Base") {
		t.Error(v)
	}
}

func TestALostNetworkSaysWhatItMeansAndWhatGoesOn(t *testing.T) {
	snap := snapshot(flow.StateAccepted, api.StatusInProgress)
	snap.Err, snap.Problem = &client.Error{Op: "status", Kind: client.KindNetwork, Err: errors.New("no route")},
		"The service cannot be reached: no route"
	r := newRig(t, Deps{}).track(&fakeOp{id: "op1", snap: snap})
	v := strings.Join(strings.Fields(r.view()), " ")
	for _, want := range []string{"! The service cannot be reached: no route", "does not need this machine",
		"Nothing is sent again.", "asks by itself"} {
		if !strings.Contains(v, want) {
			t.Errorf("%q is missing:\n%s", want, r.view())
		}
	}
	snap.Became = []verify.Became{{Part: verify.PartDelivery, Outcome: verify.Filled, Block: 41,
		Chain: verify.ChainLabel{Name: "Base"}}}
	v = strings.Join(strings.Fields(newRig(t, Deps{}).track(&fakeOp{id: "op1", snap: snap}).view()), " ")
	if !strings.Contains(v, "seen by your node: filled on Base in block 41") || !strings.Contains(v, "No connection") {
		t.Errorf("what own nodes see does not stand beside the silence:\n%s", v)
	}
	snap.Err = errors.New("the journal is full")
	if v := newRig(t, Deps{}).track(&fakeOp{id: "op1", snap: snap}).view(); strings.Contains(v, "No connection") {
		t.Errorf("an error of this machine is called one of the network:\n%s", v)
	}
}

func TestAnUnknownOutcomeIsReconciledByAskingAtOnceAndNeverBySending(t *testing.T) {
	op := &fakeOp{id: "op1", snap: snapshot(flow.StateUnknown, "")}
	r := newRig(t, Deps{}).track(op)
	it := r.s.find("op1")
	k, _ := kit.FindKey(r.s.Keys(), "r")
	if k.Label != "reconcile now" || k.ActionName() != "ask-again" || k.Off != "" {
		t.Errorf("%+v", k)
	}
	stopped := 0
	it.watching, it.stop = true, func() { stopped++ }
	r.now = r.now.Add(time.Minute)
	before := op.watched
	r.press("r", "r")
	if stopped != 1 || !it.again || !r.told("nothing is sent again") || !r.told("asked just now") {
		t.Fatalf("stopped %d times", stopped)
	}
	quiet := op.snap
	quiet.Problem = "You stopped this step."
	r.do(r.s.Update(progressedMsg{id: "op1", snap: quiet, feed: closed()}))
	op.steps = []flow.Snapshot{snapshot(flow.StateNotExecuted, "")}
	r.do(r.s.Update(watchedMsg{id: "op1", snap: quiet, err: context.Canceled}))
	if op.watched != before+1 || it.err != "" || strings.Contains(it.snap.Problem, "stopped") {
		t.Fatalf("asked %d times, %q, %q", op.watched-before, it.err, it.snap.Problem)
	}
	if v := r.view(); !strings.Contains(v, "never ran") {
		t.Error(v)
	}
	if k, _ := kit.FindKey(r.s.Keys(), "r"); k.Off == "" {
		t.Error("an ended operation can be asked about")
	}
}

func closed() chan flow.Snapshot { c := make(chan flow.Snapshot); close(c); return c }

func TestAWatchThatEndedIsAskedAgainByR(t *testing.T) {
	op := &fakeOp{id: "op1", snap: snapshot(flow.StateAccepted, api.StatusPending)}
	r := newRig(t, Deps{}).track(op)
	r.now = r.now.Add(time.Minute)
	r.press("r")
	if op.watched != 2 {
		t.Fatalf("watched %d times", op.watched)
	}
}

func TestTheSupportBundleHasIdsStatesAndTimesAndNothingElse(t *testing.T) {
	snap := snapshot(flow.StateFailed, api.StatusRefunded)
	snap.Status.FailReason, snap.BodyHash, snap.Problem, snap.Skew = "SLIPPAGE", strings.Repeat("ab", 32),
		"The call did not\x1b run.", 3*time.Second
	snap.Review1 = &verify.PreparedView{Outflow: live(begin())[0].Summary.Spend,
		Sender: "0x93DBD23b6b71b82E3A19aD8d51DdEBbB13aF7BC0"}
	r := newRig(t, Deps{Outstanding: live}).track(&fakeOp{id: "op1", snap: snap})
	r.press("b")
	c, ok := r.sent[len(r.sent)-1].(screen.CopyMsg)
	if !ok {
		t.Fatalf("%+v", r.sent)
	}
	for _, want := range []string{
		"operation: op1", "state: failed", "started: 2026-11-21 12:01:03 UTC", "signatures: 3 of 3",
		"quote: " + id64("9f"), "sent body, SHA-256: " + snap.BodyHash, "status: REFUNDED",
		"reason: SLIPPAGE", "asked: 2026-11-21 12:01:03 UTC", "clock of the service minus ours: 3s",
		"problem: The call did not\uFFFD run.", "paid on: eip155:10 " + id64("a1"),
		"live signature: prepared on eip155:8453",
	} {
		if !strings.Contains(c.Text, want+"\n") && !strings.Contains(c.Text, want) {
			t.Errorf("%q is missing:\n%s", want, c.Text)
		}
	}
	for _, never := range []string{"250", "USDC", "93DBD23b", usdc, "\x1b"} {
		if strings.Contains(c.Text, never) {
			t.Errorf("%q is in the bundle:\n%s", never, c.Text)
		}
	}
	if moment(time.Time{}) != "unknown" {
		t.Error("a time that is not known is said")
	}
}

func TestExplorerAddressesAreCopiedOneAfterTheOtherAndForeignOnesNever(t *testing.T) {
	snap := snapshot(flow.StateDone, api.StatusCompleted)
	snap.Status.OriginChainOperations[0].ExplorerURL = "https://evil.example/tx/1"
	r := newRig(t, Deps{}).track(&fakeOp{id: "op1", snap: snap})
	r.h = 60
	if !strings.Contains(r.view(), "not a page of the known explorer") {
		t.Error(r.view())
	}
	r.sent = nil
	r.press("u", "u", "u")
	var got []string
	for _, m := range r.sent {
		if c, ok := m.(screen.CopyMsg); ok {
			got = append(got, c.Text)
		}
	}
	want := []string{snap.Status.DestinationChainOperations[0].ExplorerURL,
		snap.Status.OriginChainOperations[1].ExplorerURL, snap.Status.DestinationChainOperations[0].ExplorerURL}
	if strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("%q", got)
	}
	r.s.ctx.Network.Kind = network.Embedded
	if k, _ := kit.FindKey(r.s.Keys(), "u"); k.Off == "" || !k.Quiet {
		t.Error("chains inside this program have pages")
	}
}

func TestAClickChoosesAnOperationAndOpensNothing(t *testing.T) {
	a, b := snapshot(flow.StateReview2, ""), snapshot(flow.StateReview2, "")
	b.ID, b.Started = "op2", begin().Add(-time.Minute)
	r := newRig(t, Deps{}).track(&fakeOp{id: "op1", snap: a}, &fakeOp{id: "op2", snap: b})
	r.view()
	r.sent = nil
	r.do(r.s.Update(screen.ClickMsg{X: 3, Y: 2}))
	if it := r.s.selected(); it == nil || it.op.ID() != "op2" || len(r.sent) != 0 {
		t.Fatalf("%+v, sent %v", it, r.sent)
	}
}

func TestAnOperationHandedOverIsSelectedAndItsAgeKeepsTheScreenAwake(t *testing.T) {
	old, fresh := snapshot(flow.StateDone, api.StatusCompleted), snapshot(flow.StateAccepted, api.StatusPending)
	r := newRig(t, Deps{Outstanding: live}).track(&fakeOp{id: "op1", snap: old})
	if r.s.KeepOpen() != "" || r.s.Title() == "" || r.s.Capturing() {
		t.Error("an ended operation keeps the program open")
	}
	if got := r.s.Wake(r.now); got != 9*time.Minute+41*time.Second {
		t.Errorf("the screen wakes in %s and not when its signature ends", got)
	}
	fresh.ID = "op2"
	op := &fakeOp{id: "op2", snap: fresh}
	r.press("o")
	r.do(r.s.Update(screen.OpenedMsg{Arg: ShowArg{Op: op}}))
	if it := r.s.selected(); it == nil || it.op.ID() != "op2" || r.s.sigs || op.watched != 1 || r.s.KeepOpen() == "" {
		t.Fatalf("%+v", it)
	}
	if r.s.Wake(r.now) <= 0 {
		t.Error("the age stands still")
	}
	if r.press("o"); r.s.Wake(r.now.Add(500*time.Millisecond)) != 500*time.Millisecond {
		t.Errorf("the countdown of a signature wakes in %s", r.s.Wake(r.now.Add(500*time.Millisecond)))
	}
	r.press("space", "esc")
	if r.s.sigs {
		t.Error("esc does not go back")
	}
	r.do(r.s.Update(tea.PasteMsg{Content: "x"}))
	r.press("down", "space", "pgup")
}

func TestAnEmptyActivitySaysWhereItsOperationsComeFrom(t *testing.T) {
	s := New(screen.Context{Clock: begin}, Deps{Unfinished: func() []Operation { return nil }})
	r := &rig{t: t, s: s, now: begin(), w: 80, h: 19}
	if !strings.Contains(r.view(), "Reading the journal.") {
		t.Error(r.view())
	}
	r.do(s.Init())
	if !strings.Contains(r.view(), "Nothing is under way.") || s.deps.Retry != 5*time.Second {
		t.Error(r.view())
	}
	r.s.live = live(begin())
	if !strings.Contains(r.view(), "1 outstanding signature") {
		t.Error(r.view())
	}
}

// The service may report the end before this screen looks: an operation in progress at the start is still shown, and
// announced once.
func TestAnEndThatCameBeforeAnybodyLookedIsShownAndAnnounced(t *testing.T) {
	done, open := snapshot(flow.StateDone, api.StatusCompleted), snapshot(flow.StateReview2, "")
	done.ID, open.ID = "op1", "op2"
	ops := []Operation{&fakeOp{id: "op1", snap: done}, &fakeOp{id: "op2", snap: open}}
	r := newRig(t, Deps{Unfinished: func() []Operation { return ops }})
	announced := func() (n int) {
		for _, m := range r.sent {
			if x, ok := m.(screen.ToastMsg); ok && strings.Contains(strings.ToLower(x.Text), "completed") {
				n++
			}
		}
		return n
	}
	if v := r.view(); !strings.Contains(v, "COMPLETED") || announced() != 1 {
		t.Errorf("announced %d times\n%s", announced(), v)
	}
	if r.track(ops[0].(*fakeOp)); announced() != 1 {
		t.Error("announced again")
	}
}

// TestARowNamesItsAccount: of a profile with several, and beside the panes of a wide screen; the column of states takes
// no more than its words need.
func TestARowNamesItsAccount(t *testing.T) {
	r := newRig(t, Deps{})
	snap := snapshot(flow.StateAccepted, api.StatusInProgress)
	daily := api.Account{Type: api.AccountKernelV31, AccountAddress: "0x" + strings.Repeat("Ab", 20)}
	snap.Intent.Accounts = []api.Account{{Type: daily.Type, AccountAddress: strings.ToLower(daily.AccountAddress)}}
	r.track(&fakeOp{id: "op1", snap: snap})
	const row = "transfer on Base  savings "
	for w, h := range map[int]int{80: 24, 120: 40, 200: 60} {
		r.w, r.h = w, h
		r.s.ctx.Own = []present.Own{{Account: daily, Name: "savings"}}
		if strings.Contains(r.view(), "savings") {
			t.Errorf("%d: nothing is to choose:\n%s", w, r.view())
		}
		r.s.ctx.Own = append(r.s.ctx.Own, present.Own{Account: api.Account{Type: daily.Type,
			AccountAddress: "0x" + strings.Repeat("cd", 20)}, Name: "daily"})
		if !strings.Contains(r.view(), row) || strings.Contains(r.view(), "daily") {
			t.Errorf("%d: %q is missing:\n%s", w, row, r.view())
		}
	}
}
