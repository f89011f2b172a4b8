package linear

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// stopsAt runs the script of a call up to each of its answers, ends it there in some way, and requires that only
// confirmed steps signed.
func stopsAt(t *testing.T, end func(r *rig)) {
	for n := range len(callScript()) + 1 {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t).begins()
			r.types(callScript()[:n]...)
			end(r)
			signs, executes := 0, 0
			if n > yesAt {
				signs = 1
			}
			if n > amountAt {
				executes = 1
			}
			if r.op.signs != signs || r.op.executes != executes {
				t.Errorf("ended after answer %d: %d signed, %d executed\n%s", n, r.op.signs, r.op.executes,
					r.script.String())
			}
			if gone := r.op.gones == 1; gone != (n > reviewAt && n <= yesAt) {
				t.Errorf("ended after answer %d: abandoned %v", n, gone)
			}
		})
	}
}

func TestTheEndOfTheInputSignsNothing(t *testing.T) {
	stopsAt(t, func(r *rig) {
		if err := r.ends(); err != nil {
			r.t.Error(err)
		}
	})
}

func TestALineWithoutAnEndSignsNothing(t *testing.T) {
	stopsAt(t, func(r *rig) {
		if n := len(r.answers); n < len(callScript()) {
			time.Sleep(time.Second)
			r.keys.lines <- callScript()[n]
		}
		if err := r.ends(); err != nil {
			r.t.Error(err)
		}
	})
}

func TestASignalAtAQuestionLeavesWithoutLoss(t *testing.T) {
	stopsAt(t, func(r *rig) {
		r.stop()
		r.hears()
		if err := r.ends(); err != nil {
			r.t.Error(err)
		}
	})
}

func TestEmptyLinesLeadOutAndSignNothing(t *testing.T) {
	stopsAt(t, func(r *rig) {
		r.types("", "", "", "")
		if err := r.ends(); err != nil {
			r.t.Error(err)
		}
	})
}

// inFrontOf runs the script of a call up to the question that answer n confirms, and then puts lines into the input in
// some way.
func inFrontOf(t *testing.T, n int, act func(r *rig) string) (said string, op *fakeOp) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t).begins()
		r.types(callScript()[:n]...)
		said = act(r)
		op = r.op
		if err := r.ends(); err != nil {
			t.Error(err)
		}
	})
	return said, op
}

func TestWaitingLinesConfirmNothing(t *testing.T) {
	said, op := inFrontOf(t, yesAt-1, func(r *rig) string { return r.atOnce("1", "yes") })
	if op.signs != 0 || !strings.Contains(flat(said), "was dropped") {
		t.Errorf("%d signed:\n%s", op.signs, said)
	}
	said, op = inFrontOf(t, amountAt-1, func(r *rig) string { return r.atOnce("1", "250.98") })
	if op.executes != 0 || !strings.Contains(flat(said), "was dropped") {
		t.Errorf("%d executed:\n%s", op.executes, said)
	}
}

func TestEverythingAtOnceConfirmsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t).begins()
		r.atOnce(callScript()...)
		if err := r.ends(); err != nil {
			t.Error(err)
		}
		if r.op.prepares != 1 || r.op.signs != 0 {
			t.Errorf("%d prepared, %d signed", r.op.prepares, r.op.signs)
		}
	})
}

func TestALineWithinHalfASecondConfirmsNothing(t *testing.T) {
	_, op := inFrontOf(t, yesAt, func(r *rig) string {
		time.Sleep(499*time.Millisecond - heels)
		r.atOnce("yes")
		time.Sleep(50 * time.Millisecond)
		return r.atOnce("yes") // half a second after the question, but not after the previous line
	})
	if op.signs != 0 {
		t.Errorf("%d signed", op.signs)
	}
}

func TestAPasteOfLinesConfirmsNothing(t *testing.T) {
	said, op := inFrontOf(t, amountAt, func(r *rig) string {
		time.Sleep(time.Second)
		return r.atOnce("250.98", "250.98")
	})
	if op.executes != 0 || !strings.Contains(flat(said), "a paste") {
		t.Errorf("%d executed:\n%s", op.executes, said)
	}
}

func TestAnAnswerRightBeforeTheEndConfirmsNothing(t *testing.T) {
	_, op := inFrontOf(t, amountAt, func(r *rig) string {
		time.Sleep(time.Second)
		r.keys.lines <- "250.98\n"
		return ""
	})
	if op.executes != 0 {
		t.Errorf("%d executed", op.executes)
	}
}

func TestAnEndlessInputConfirmsNothing(t *testing.T) {
	said, op := inFrontOf(t, amountAt, func(r *rig) string {
		for range maxDropped + 100 {
			r.keys.lines <- "250.98\n"
		}
		return r.hears()
	})
	if op.executes != 0 || !strings.Contains(flat(said), "too fast to have been typed") {
		t.Errorf("%d executed:\n%s", op.executes, said)
	}
}

func TestAfterAPasteTheHandStillConfirms(t *testing.T) {
	_, op := inFrontOf(t, amountAt, func(r *rig) string {
		time.Sleep(time.Second)
		r.atOnce("250.98", "250.98")
		return r.types("250.98")
	})
	if op.executes != 1 {
		t.Errorf("%d executed", op.executes)
	}
}

func TestAnEmptyLineThatWasWaitingDoesNotLeaveAReview(t *testing.T) {
	said, op := inFrontOf(t, reviewAt, func(r *rig) string {
		r.atOnce("1", "", "", "")
		return r.types("1")
	})
	if op.gones != 1 || !strings.Contains(flat(said), "type yes:") { // only the end of the input abandons it
		t.Errorf("%d abandoned:\n%s", op.gones, said)
	}
}

func TestOnlyTheRightAmountConfirms(t *testing.T) {
	for text, right := range map[string]bool{
		"250.98": true, "250.980000": true, "250.98 USDC": false, "250.97": false, "yes": false, "0": false,
		"-250.98": false, "25098": false, "250.9800001": false, "1e3": false,
	} {
		_, op := inFrontOf(t, amountAt, func(r *rig) string { return r.types(text) })
		if (op.executes == 1) != right {
			t.Errorf("%q: %d executed", text, op.executes)
		}
	}
}

func TestOnlyYesConfirmsWhatIsCheap(t *testing.T) {
	for text, right := range map[string]bool{"yes": true, "Yes": true, "y": false, "1": false, "yes please": false,
		"no": false} {
		_, op := inFrontOf(t, yesAt, func(r *rig) string { return r.types(text) })
		if (op.signs == 1) != right {
			t.Errorf("%q: %d signed", text, op.signs)
		}
	}
}

func TestAGateNeedsItsSentenceAndTheAmount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.gated()
		r.op.view1.WholeConsent = true
		r.begins()
		r.types(callScript()[:yesAt]...)
		r.types(gate, "yes", strings.ToUpper(gate))
		if r.op.signs != 0 {
			t.Fatal("signed without the sentence and the amount")
		}
		r.types("250.5")
		if err := r.ends(); err != nil || r.op.signs != 1 {
			t.Errorf("%d signed, %v", r.op.signs, err)
		}
	})
}
