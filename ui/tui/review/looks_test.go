package review

import (
	"testing"
	"time"

	"coffer/ui/tui/internal/tuitest"
)

// TestGoldenLooks fixes the styles too: dark, light and without colour.
func TestGoldenLooks(t *testing.T) {
	for name, to := range map[string]func(*rig){
		"review1": func(r *rig) { r.open().settle() },
		"review2": func(r *rig) { r.open().settle().read().press("y").settle().read() },
		"expired": func(r *rig) {
			r.open().settle().read().press("y").settle().read()
			r.clock.add(2 * time.Minute)
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			to(r)
			tuitest.Looks(t, r.s, r.clock.now, nil)
		})
	}
}
