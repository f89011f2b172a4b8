package builder

import (
	"testing"

	"coffer/ui/tui/internal/tuitest"
)

// TestGoldenLooks fixes the styles too: dark, light and without colour.
func TestGoldenLooks(t *testing.T) {
	for name, to := range map[string]func(*rig){
		"call": func(r *rig) { r.press("d") }, "mistakes": func(r *rig) { r.press("r") }, "transfer": filledTransfer,
		"swap": filledSwap,
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			to(r)
			tuitest.Looks(t, r.s, r.now, nil)
		})
	}
}
