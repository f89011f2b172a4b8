package settings

import (
	"errors"
	"strings"
	"testing"

	"coffer/ui/tui/internal/tuitest"
)

// The screen says whether other tools reach the chains, where, and why they do not where they should.
func TestTheEndpointsOfTheChainsAreShown(t *testing.T) {
	b := newBench(t)
	draw := func() string { return tuitest.Text(b, b.m, 120, 60) }
	if got := draw(); strings.Contains(got, "Endpoints") {
		t.Errorf("of another program's chains:\n%s", got)
	}
	var problem error
	b.m.deps.Endpoints = func() ([]Path, error) {
		if problem != nil {
			return nil, problem
		}
		return []Path{{"Ethereum", "http://127.0.0.1:8545/1"}, {"Solana", "http://127.0.0.1:8545/solana"}}, nil
	}
	if got := draw(); !strings.Contains(got, "off: no other tool reaches the chains") ||
		strings.Contains(got, "http://") {
		t.Errorf("off:\n%s", got)
	}
	b.m.deps.RPC = "127.0.0.1:8545"
	if got := draw(); !strings.Contains(got, "Ethereum      http://127.0.0.1:8545/1") {
		t.Errorf("on:\n%s", got)
	}
	problem = errors.New("the port is taken")
	if got := draw(); !strings.Contains(got, "the port is taken") || strings.Contains(got, "http://") {
		t.Errorf("refused:\n%s", got)
	}
}
