package activity

import (
	"strings"
	"testing"

	"coffer/api"
	"coffer/wallet/flow"
)

func TestNothingUnderWayPointsToTheHistory(t *testing.T) {
	r := newRig(t, Deps{Unfinished: func() []Operation { return nil }})
	if v := r.view(); !strings.Contains(v, "Nothing is under way.") ||
		!strings.Contains(v, "What has ended is in History (4).") {
		t.Error(v)
	}
}

func TestTheStepsNameNobodyWhomThePersonDoesNotKnow(t *testing.T) {
	for _, snap := range []flow.Snapshot{snapshot(flow.StateAccepted, api.StatusInProgress),
		aSwap(flow.StateDone, api.StatusCompleted)} {
		r := newRig(t, Deps{})
		r.track(&fakeOp{id: "op1", snap: snap})
		if text := r.detailText(); strings.Contains(text, "solver") || !strings.Contains(text, "ended") {
			t.Error(text)
		}
	}
}
