package accounts

import (
	"testing"

	"coffer/ui/tui/internal/tuitest"
)

// TestGoldenLooks fixes the styles too: dark, light and without colour.
func TestGoldenLooks(t *testing.T) { tuitest.Looks(t, many(t), tuitest.Now(), nil) }
