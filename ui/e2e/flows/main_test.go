//go:build unix

// Package flows walks the main job in the built program, at a terminal and line by line: to its end, over kills,
// signals and cut connections, and from a recording.
package flows

import (
	"testing"

	"coffer/ui/e2e/rig"
)

func TestMain(m *testing.M) { rig.Main(m) }
