//go:build unix

package rig

import (
	"testing"

	"coffer/api/service/settle/settletest"
)

// Bench is a test with a clock that moves only when it is told to. It is safe for concurrent use.
type Bench struct {
	*testing.T
	*settletest.Clock
}

// NewBench is a bench whose clock shows 2025-10-09 08:53:20 UTC.
func NewBench(t *testing.T) *Bench { return &Bench{t, settletest.NewClock()} }

// Must ends the test with an error that is not nil.
func (b *Bench) Must(err error) {
	b.Helper()
	must(b, err)
}
