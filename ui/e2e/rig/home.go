//go:build unix

package rig

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"coffer/ui/termtest"
)

// Limit bounds each wait; a quiet machine needs a small part of it.
const Limit = 60 * time.Second

// Home is an empty home directory and the environment that makes the program use it.
func Home(t testing.TB) (dir string, env []string) {
	t.Helper()
	dir = t.TempDir()
	return dir, []string{
		"HOME=" + dir,
		"XDG_CONFIG_HOME=" + dir + "/config", "XDG_DATA_HOME=" + dir + "/data", "XDG_STATE_HOME=" + dir + "/state",
		"PATH=" + os.Getenv("PATH"), "TERM=xterm-256color", "LANG=C.UTF-8",
	}
}

// DataOf is the data directory of the demo profile's service in a home.
func DataOf(dir string) string { return filepath.Join(dir, "data", "coffer", "demo") }

// Start runs the program in a terminal of the given size in cells.
func Start(t testing.TB, env []string, cols, rows int, args ...string) *termtest.Terminal {
	t.Helper()
	cmd := exec.Command(Program(), args...)
	cmd.Env, cmd.Dir = env, t.TempDir()
	term, err := termtest.Start(cmd, cols, rows)
	must(t, err)
	t.Cleanup(term.Close)
	return term
}

// Run runs the program without a terminal and returns what it printed and its exit code.
func Run(t *testing.T, env []string, args ...string) (out, errs string, code int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), Limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, Program(), args...)
	var o, e strings.Builder
	cmd.Stdout, cmd.Stderr, cmd.Env = &o, &e, env
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return o.String(), e.String(), cmd.ProcessState.ExitCode()
}
