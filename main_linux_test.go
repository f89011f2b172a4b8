package main

import (
	"fmt"
	"os"
	"regexp"
	"testing"
)

// TestTheProgramWritesNoCoreFile: the program hardens its process before it does anything else (TH-K3).
func TestTheProgramWritesNoCoreFile(t *testing.T) {
	t.Parallel()
	_, env := home(t)
	cmd, _, _, _ := served(t, env)
	limits, err := os.ReadFile(fmt.Sprintf("/proc/%d/limits", cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	if !regexp.MustCompile(`(?m)^Max core file size +0 +0 `).Match(limits) {
		t.Errorf("%s", limits)
	}
	interrupt(t, cmd)
}
