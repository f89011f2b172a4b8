//go:build unix

// Package hostile puts attacks into the answers that the built program gets: none of them gets a signature that
// nobody meant to give.
package hostile

import (
	"testing"

	"coffer/ui/e2e/rig"
)

func TestMain(m *testing.M) { rig.Main(m) }
