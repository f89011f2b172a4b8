package secrets

import (
	"fmt"
	"os"
	"regexp"
	"testing"

	"coffer/ui/e2e/rig"
)

// TestTheProgramWritesNoCoreFile: the program hardens its process before it does anything else (TH-K3).
func TestTheProgramWritesNoCoreFile(t *testing.T) {
	t.Parallel()
	_, env := rig.Home(t)
	cmd, _, _, _ := rig.Serve(t, env)
	limits, err := os.ReadFile(fmt.Sprintf("/proc/%d/limits", cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	if !regexp.MustCompile(`(?m)^Max core file size +0 +0 `).Match(limits) {
		t.Errorf("%s", limits)
	}
	rig.Interrupt(t, cmd)
}
