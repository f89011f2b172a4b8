package review

import (
	"strings"
	"testing"
	"time"

	"coffer/ui/tui/activity"
	"coffer/ui/tui/internal/tuitest"
	"coffer/ui/tui/screen"
	"coffer/wallet/flow"
)

// entered opens a review with a locked vault and gives the passphrase.
func entered(t *testing.T, v *fakeVault) *rig {
	t.Helper()
	r := newRig(t).withVault(v)
	r.s.ctx.Vault.Lock = func() { v.locked = true }
	r.open().settle()
	if r.op.prepare != 0 || !strings.Contains(r.view(), "The keys are locked") {
		t.Fatalf("%d prepared before the passphrase:\n%s", r.op.prepare, r.view())
	}
	r.typeText(passphrase).press("enter")
	if v.locked || r.op.prepare != 1 || r.s.phase != phaseReview1 {
		t.Fatalf("locked %v, %d prepared, phase %d", v.locked, r.op.prepare, r.s.phase)
	}
	return r.settle().read()
}

// The passphrase comes before anything is asked of the service, so that it takes nothing of the time of a quote, and no
// signature asks again. It confirms nothing.
func TestD5_ThePassphraseIsAskedForOnEnteringAReview(t *testing.T) {
	v := &fakeVault{locked: true}
	r := entered(t, v)
	r.count(0, 0)
	r.press("y").count(1, 0)
	r.settle().read().typeText("250").press("enter").count(1, 1)
	if len(v.tries) != 1 {
		t.Errorf("%d tries", len(v.tries))
	}
}

// Leaving in any way locks again what entering unlocked, and only that.
func TestD5_LeavingAReviewLocksWhatEnteringUnlocked(t *testing.T) {
	for name, leave := range map[string]func(r *rig){
		"leave":  func(r *rig) { r.press("esc") },
		"edit":   func(r *rig) { r.press("e") },
		"signed": func(r *rig) { r.press("y").settle().press("esc") },
		"sent":   func(r *rig) { r.press("y").settle().read().typeText("250").press("enter") },
		"other": func(r *rig) {
			r.do(r.s.Update(screen.OpenedMsg{Arg: StartArg{Intent: anIntent(t, r.clock.now)}}))
		},
	} {
		v := &fakeVault{locked: true}
		r := entered(t, v)
		if leave(r); !v.locked {
			t.Errorf("%s: the vault stays open", name)
		}
		v = &fakeVault{}
		r = newRig(t).withVault(v)
		r.s.ctx.Vault.Lock = func() { v.locked = true }
		r.open().settle().read()
		if leave(r); v.locked {
			t.Errorf("%s: a vault that was open before is locked", name)
		}
	}
}

// A step that needs a key ends before the vault is locked.
func TestD5_LeavingWhileSomethingIsSignedLocksAfterwards(t *testing.T) {
	v := &fakeVault{locked: true}
	r := entered(t, v)
	sign := r.s.Update(keyOf("y"))
	if r.s.busy[r.op.ID()] == "" {
		t.Fatal("nothing is being signed")
	}
	r.press("esc")
	if v.locked {
		t.Fatal("locked while a key is needed")
	}
	for _, m := range tuitest.Messages(sign) {
		r.do(r.s.Update(m))
	}
	if !v.locked || r.op.sign != 1 {
		t.Errorf("locked %v, %d signed", v.locked, r.op.sign)
	}
}

// Without the passphrase one can look; signing asks for it. What a suspension calls off is asked for again.
func TestD5_AReviewCanBeEnteredWithoutThePassphrase(t *testing.T) {
	v := &fakeVault{locked: true}
	r := newRig(t).withVault(v)
	r.open().settle().typeText("x")
	r.clock.add(time.Second)
	r.s.Update(keyOf("enter"))
	r.do(r.s.Update(screen.SuspendedMsg{}))
	if !r.s.unlock.open || r.s.unlock.busy || r.op.prepare != 0 {
		t.Fatalf("open %v, busy %v, %d prepared", r.s.unlock.open, r.s.unlock.busy, r.op.prepare)
	}
	r.press("esc")
	if r.op.prepare != 1 || r.s.phase != phaseReview1 || len(v.tries) != 0 {
		t.Fatalf("%d prepared, phase %d, %d tries", r.op.prepare, r.s.phase, len(v.tries))
	}
	if r.settle().read().press("y").count(0, 0); !strings.Contains(r.view(), "The keys are locked") {
		t.Error("signing does not ask")
	}
}

// A review that waited is entered by the passphrase as well, unless it needs no key.
func TestD5_AWaitingReviewAsksForThePassphraseWhereItSigns(t *testing.T) {
	for name, asks := range map[string]bool{"payments": true, "nothing more": false} {
		r := newRig(t)
		if !asks {
			sameChain(r.op.next)
		}
		r.toReview2()
		waiting := r.op.Snapshot()
		r = newRig(t).withVault(&fakeVault{locked: true})
		r.op.snap, r.op.next = waiting, waiting.Review2
		r.do(r.s.Update(screen.OpenedMsg{Arg: activity.ReopenArg{Op: r.op}}))
		if waiting.State != flow.StateReview2 || r.s.phase != phaseReview2 || r.s.unlock.open != asks {
			t.Errorf("%s: state %s, phase %d, asked %v", name, waiting.State, r.s.phase, r.s.unlock.open)
		}
	}
}
