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
		!strings.Contains(v, "Finished operations are in History (4).") {
		t.Error(v)
	}
}

func TestTheStepsNameTheSolverOnlyWhereItAdvancesTokens(t *testing.T) {
	for step, snap := range map[string]flow.Snapshot{
		"solveradvancedthetokensonBase": snapshot(flow.StateAccepted, api.StatusInProgress),
		"":                              aSwap(flow.StateDone, api.StatusCompleted)} {
		r := newRig(t, Deps{})
		r.track(&fakeOp{id: "op1", snap: snap})
		if text := r.detailText(); strings.Contains(text, "solver") != (step != "") || !strings.Contains(text, step) {
			t.Error(text)
		}
	}
}
