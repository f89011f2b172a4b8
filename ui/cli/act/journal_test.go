package act

import (
	"errors"
	"strings"
	"testing"
	"time"

	"coffer/wallet/flow"
	"coffer/wallet/journal"
)

// TestK7_APlanThatTheJournalLostIsNotAppliedAgain: the list of plans survives the adoption of an older journal, in
// either of its two places.
func TestK7_APlanThatTheJournalLostIsNotAppliedAgain(t *testing.T) {
	r := newRig(t)
	path := aPlan(t, r)
	r.done(0, "apply", path, "--yes") // the rig's journal does not keep the operation
	r.done(4, "apply", path, "--yes")
	r.says("which this journal does not know", opID, "--again")
	r.done(4, "apply", path, "--yes", "--again", readPlan(t, path).Salt)
	r.says("this very salt")
	if len(r.started) != 1 {
		t.Fatal("applied again")
	}
	none := newRig(t) // without the list nothing is known
	r.s.Keep = none
	r.done(4, "apply", path, "--yes")
	r.s.Keep, r.s.Plans = r, none
	r.done(4, "apply", path, "--yes")
	r.s.Keep = none
	r.done(0, "apply", path, "--yes")
}

// TestK8_APlanIsCarriedOutByOneProcess: right before the first signature other processes have to yield, and one that
// has signed continues undisturbed.
func TestK8_APlanIsCarriedOutByOneProcess(t *testing.T) {
	r := newRig(t)
	path := aPlan(t, r)
	r.done(0, "apply", path, "--yes")
	if len(r.yields) != 1 || r.held != 0 {
		t.Errorf("%v, %d held", r.yields, r.held)
	}
	for state, code := range map[journal.State]int{journal.Signed: 4, journal.QuoteSigned: 4, journal.Executing: 6} {
		r = newRig(t)
		path = aPlan(t, r)
		r.finds = func() error { // after the start, another process signs the same plan
			sent(t, r, path, state)
			r.book[0].ID, r.book[0].Signatures = "2222222222222222", []journal.Signature{{Role: "prepared"}}
			return nil
		}
		r.done(code, "apply", path, "--yes")
		r.says("2222222222222222")
		if r.op.signs != 0 {
			t.Errorf("%s: signed beside it", state)
		}
	}
}

func TestK8_ACommandWaitsForAsLongAsItWasTold(t *testing.T) {
	r := newRig(t)
	r.op.watched = "" // a Watch would show
	r.done(6, append(callFlags(), "--yes", "--wait", "0")...)
	r.says("it was sent and is not waited for. Resume with: coffer status " + opID + " --watch")
	if r.op.snap.State != flow.StateAccepted {
		t.Errorf("%s", r.op.snap.State)
	}
	r.done(2, append(callFlags(), "--yes", "--wait", "-3s")...)
	r = newRig(t)
	r.op.forever = true
	r.done(6, append(callFlags(), "--yes", "--wait", "1ms")...)
	r.says("it has not finished after 1ms. Resume with: coffer status " + opID + " --watch")
	r.op.overdue = "Ask the operator."
	r.done(6, append(callFlags(), "--yes", "--wait", "1ms")...)
	r.says("after 1ms. Ask the operator. Resume with:")
}

func TestK10_ADryRunTriesOnAJournalInMemory(t *testing.T) {
	r := newRig(t)
	r.done(0, append(callFlags(), "--dry-run")...)
	if r.tries != 1 || len(r.kept) != 0 {
		t.Errorf("%d tries, kept %v", r.tries, r.kept)
	}
	r.done(0, append(callFlags(), "--yes")...)
	if r.tries != 1 {
		t.Error("what is signed is tried only")
	}
}

func TestK7_AnOlderJournalIsAdoptedWithASentenceOnly(t *testing.T) {
	r := newRig(t)
	r.lostErr = journal.ErrWhole
	r.done(2, "activity", "adopt")
	r.done(0, "activity", "adopt", "--confirm", "x")
	r.says("lacks nothing")
	r.lostErr = errors.New("damaged")
	r.done(1, "activity", "adopt", "--confirm", adoptSentence)
	r.lostErr, r.lost = nil, journal.Loss{Has: 3, Written: 9, Until: r.now.Add(-time.Minute),
		Why: errors.New("it is older")}
	r.done(4, "activity", "adopt", "--confirm", "yes")
	r.says("it is older", "6 records are lost", "A lost signature with a window ends at 2026-01-31 12:10:00Z")
	if r.adopted != 0 {
		t.Fatal("adopted without the sentence")
	}
	r.lost.Missing = true
	r.now = r.now.Add(time.Hour)
	r.done(0, "activity", "adopt", "--confirm", adoptSentence)
	r.says("no journal at all", "Every lost signature with a window has ended")
	r.c.Terminal = true
	r.answers = []string{"yes"}
	r.done(5, "activity", "adopt")
	r.answers = []string{adoptSentence}
	r.done(0, "activity", "adopt")
	if r.adopted != 2 || !strings.Contains(r.err.String(), "goes on with this journal") {
		t.Errorf("%d: %s", r.adopted, r.err.String())
	}
}
