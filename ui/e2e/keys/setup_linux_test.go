package keys

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"coffer/ui/e2e/rig"
)

// TH-K6: a set-up that is stopped from outside has forgotten its secrets when it goes on, and asks for them again.
func TestK6AStoppedSetUpForgetsItsSecrets(t *testing.T) {
	t.Parallel()
	_, env := rig.Home(t)
	_, _, line, _ := rig.Serve(t, env)
	at, _ := rig.Where(t, line)
	p := rig.At(t, rig.Start(t, env, 80, 24, "setup"))
	p.Sees("step 1 of 4")
	fills(p, "name", "team")
	chooses(p, "a service")
	goesOn(p, "Service")
	fills(p, "address", at.BaseURL)
	fills(p, "CA file", at.CAFile)
	fills(p, "network file", at.NetworkFile)
	fills(p, "fingerprint", fingerprintOf(t, at.NetworkFile))
	goesOn(p, "API key")
	pastes(p, at.APIKey)
	goesOn(p, "Where keys are kept")
	if err := p.Term.Process().Signal(syscall.SIGTSTP); err != nil {
		t.Fatal(err)
	}
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(rig.Limit); ; <-tick.C {
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.Term.Process().Pid))
		if _, rest, _ := strings.Cut(string(b), ") "); err != nil || strings.HasPrefix(rest, "T") {
			break
		}
		if time.Now().After(end) {
			t.Fatal("it was never stopped")
		}
	}
	if err := p.Term.Process().Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	p.Sees("step 3 of 7", "were wiped")
	p.Types("\x03")
	if err := p.Ends(); err != nil {
		t.Error(err)
	}
}
