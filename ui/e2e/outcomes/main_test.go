//go:build unix

// Package outcomes has a service lie about what became of a payment: nobody pays twice, and nothing that is signed is
// forgotten.
package outcomes

import (
	"testing"

	"coffer/ui/e2e/rig"
)

func TestMain(m *testing.M) { rig.Main(m) }
