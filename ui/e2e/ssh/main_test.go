//go:build unix

// Package ssh opens dashboards that `coffer serve` offers over SSH.
package ssh

import (
	"testing"

	"coffer/ui/e2e/rig"
)

func TestMain(m *testing.M) { rig.Main(m) }
