package settings

import (
	"testing"

	"coffer/ui/tui/internal/tuitest"
)

// TestGoldenLooks fixes the styles too: dark, light and without colour.
func TestGoldenLooks(t *testing.T) { tuitest.Looks(t, newBench(t).m, tuitest.Now(), nil) }
