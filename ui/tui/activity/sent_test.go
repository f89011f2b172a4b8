package activity

import (
	"strings"
	"testing"

	"coffer/wallet/flow"
	"coffer/wallet/intent"
)

// sentBefore is an operation whose earlier quote was sent and not accepted: a new quote counts its signatures anew.
func sentBefore(state flow.State, kind string) flow.Snapshot {
	s := snapshot(state, "")
	s.Intent.Kind, s.SignaturesDone, s.BodyHash = kind, 0, strings.Repeat("ab", 32)
	return s
}

func TestWhatWasSentAndNotAcceptedIsNeitherForgottenNorSaidToBeUnsent(t *testing.T) {
	for _, kind := range []string{intent.KindCall, intent.KindSwap, intent.KindTransfer} {
		for _, state := range []flow.State{flow.StateQuoting, flow.StateReview1, flow.StateReview2,
			flow.StateAbandoned} {
			x := sentBefore(state, kind)
			if x.SignaturesDone == 0 && forgettable(x) {
				t.Errorf("%s %s is forgotten", kind, state)
			}
		}
	}
	r := newRig(t, Deps{})
	op := &leftOp{fakeOp: fakeOp{id: "op1", snap: sentBefore(flow.StateQuoting, intent.KindSwap)}}
	r.do(r.s.Update(TrackMsg{Op: op}))
	r.press("x")
	if !r.told("it is not sent again") || r.told("never sent") {
		t.Errorf("%v", r.sent)
	}
}
