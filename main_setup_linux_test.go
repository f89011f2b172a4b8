package main

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TH-K6: a set-up that is stopped from outside has forgotten its secrets when it goes on, and asks for them again.
func TestK6AStoppedSetUpForgetsItsSecrets(t *testing.T) {
	t.Parallel()
	_, env := home(t)
	_, _, line, _ := served(t, env)
	at, _ := where(t, line)
	p := person{t, start(t, env, 80, 24, "setup")}
	p.sees("step 1 of 7")
	p.fills("name", "team")
	p.goesOn("Service")
	p.fills("address", at.BaseURL)
	p.fills("CA file", at.CAFile)
	p.fills("network file", at.NetworkFile)
	p.fills("fingerprint", fingerprintOf(t, at.NetworkFile))
	p.goesOn("API key")
	p.pastes(at.APIKey)
	p.goesOn("Where keys are kept")
	if err := p.term.Process().Signal(syscall.SIGTSTP); err != nil {
		t.Fatal(err)
	}
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(limit); ; <-tick.C {
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.term.Process().Pid))
		if _, rest, _ := strings.Cut(string(b), ") "); err != nil || strings.HasPrefix(rest, "T") {
			break
		}
		if time.Now().After(end) {
			t.Fatal("it was never stopped")
		}
	}
	if err := p.term.Process().Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	p.sees("step 3 of 7", "were wiped")
	p.types("\x03")
	if err := p.ends(); err != nil {
		t.Error(err)
	}
}
