//go:build unix

// Package commands runs the commands of the built program as scripts do, and holds what they print against goldens
// and documents.
package commands

import (
	"testing"

	"coffer/ui/e2e/rig"
)

func TestMain(m *testing.M) { rig.Main(m) }
