package balances

import (
	"testing"

	"coffer/ui/tui/internal/tuitest"
)

// TestGoldenLooks fixes the styles too: dark, light and without colour.
func TestGoldenLooks(t *testing.T) {
	t.Run("assets", func(t *testing.T) {
		m := sample(t)
		tuitest.Keys(m, "down", "enter")
		tuitest.Looks(t, m, tuitest.Now(), nil)
	})
	t.Run("receive", func(t *testing.T) {
		m := sample(t)
		tuitest.Keys(m, "r")
		tuitest.Looks(t, m, tuitest.Now(), nil)
	})
}
