//go:build unix

// Package keys sets up profiles, keys and accounts in the built program, and uses the roles of an account.
package keys

import (
	"testing"

	"coffer/ui/e2e/rig"
)

func TestMain(m *testing.M) { rig.Main(m) }
