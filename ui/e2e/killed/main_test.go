//go:build unix

// Package killed kills the built program while it sends what was signed. It is apart from package flows because with
// COFFER_TEST_WHOLE it may have to wait for a quote to end and for the proof that it never ran, which together take a
// minute and a half.
package killed

import (
	"testing"

	"coffer/ui/e2e/rig"
)

func TestMain(m *testing.M) { rig.Main(m) }
