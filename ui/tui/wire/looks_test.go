package wire

import (
	"testing"

	"coffer/ui/tui/internal/tuitest"
)

// TestGoldenLooks fixes the styles too: dark, light and without colour.
func TestGoldenLooks(t *testing.T) {
	for name, keys := range map[string][]string{"list": nil, "body": {"k", "enter", "j", "j"}} {
		t.Run(name, func(t *testing.T) {
			m := shown(t, speak(t, samples()), 80, 19)
			tuitest.Keys(m, keys...)
			tuitest.Looks(t, m, tuitest.Now(), nil)
		})
	}
}
