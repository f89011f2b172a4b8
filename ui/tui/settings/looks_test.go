package settings

import (
	"testing"

	"coffer/ui/tui/internal/tuitest"
)

// TestGoldenLooks keeps the styles as well: dark, light and without colour.
func TestGoldenLooks(t *testing.T) { tuitest.Looks(t, newBench(t).m, tuitest.Now(), nil) }
