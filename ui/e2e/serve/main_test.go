//go:build unix

// Package serve runs `coffer serve`: how it starts and ends, its keys, its store, what a private service shows.
package serve

import (
	"testing"

	"coffer/ui/e2e/rig"
)

func TestMain(m *testing.M) { rig.Main(m) }
