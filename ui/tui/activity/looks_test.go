package activity

import (
	"testing"

	"coffer/api"
	"coffer/ui/tui/internal/tuitest"
	"coffer/wallet/flow"
)

// TestGoldenLooks fixes the styles too: dark, light and without colour.
func TestGoldenLooks(t *testing.T) {
	for name, snap := range map[string]flow.Snapshot{
		"executing": snapshot(flow.StateAccepted, api.StatusInProgress),
		"completed": snapshot(flow.StateDone, api.StatusCompleted), "unknown": snapshot(flow.StateUnknown, ""),
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, Deps{Outstanding: live})
			r.track(&fakeOp{id: "op1", snap: snap})
			tuitest.Looks(t, r.s, r.now, nil)
		})
	}
}
