//go:build unix

// Package secrets looks for secrets in whatever the built program leaves behind.
package secrets

import (
	"testing"

	"coffer/ui/e2e/rig"
)

func TestMain(m *testing.M) { rig.Main(m) }
