package lab

import (
	"testing"

	"coffer/ui/tui/internal/tuitest"
)

// TestGoldenLooks fixes the styles too: dark, light and without colour.
func TestGoldenLooks(t *testing.T) {
	for name, keys := range map[string][]string{"quoted": {"r", "r", "r"}, "beside": {"r", "c"}} {
		t.Run(name, func(t *testing.T) {
			d := swap(t)
			b := newBench(t, &d, 80, 19)
			b.keys(keys...)
			tuitest.Looks(t, b.Model, tuitest.Now(), nil)
		})
	}
}
