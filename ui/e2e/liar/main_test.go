//go:build unix

// Package liar lets random persons use the wallet and the built program against a service whose owner lies at random.
package liar

import (
	"testing"

	"coffer/ui/e2e/rig"
)

func TestMain(m *testing.M) { rig.Main(m) }
