//go:build unix

// Package exitcodes brings about every exit code that docs/commands.md promises.
package exitcodes

import (
	"testing"

	"coffer/ui/e2e/rig"
)

func TestMain(m *testing.M) { rig.Main(m) }
