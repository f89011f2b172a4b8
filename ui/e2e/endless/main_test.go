//go:build unix

// Package endless gives the built program answers that are too large, cut off or never end, and journals that are
// old.
package endless

import (
	"testing"

	"coffer/ui/e2e/rig"
)

func TestMain(m *testing.M) { rig.Main(m) }
