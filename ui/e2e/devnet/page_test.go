//go:build unix

package devnet

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"coffer/ui/e2e/rig"
)

// reExample is a block of a page with a language.
var reExample = regexp.MustCompile("(?ms)^```(go|js|sh)\n(.*?)^```$")

// TestTheProjectsOfThePageRunFromAnEmptyDirectory takes the examples of docs/devnet.md as they are: a project in Go,
// one in Node and a CI job start a devnet, use it and leave nothing running. The job's forge is made up.
func TestTheProjectsOfThePageRunFromAnEmptyDirectory(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join(rig.Root(), "docs", "devnet.md"))
	must(t, err)
	_, section, found := strings.Cut(string(page), "\n## In a project\n")
	section, _, _ = strings.Cut(section, "\n## ")
	examples := map[string]string{}
	for _, m := range reExample.FindAllStringSubmatch(section, -1) {
		examples[m[1]] = m[2]
	}
	if !found || len(examples) != 3 {
		t.Fatalf("the page has %d examples", len(examples))
	}
	dir, env := rig.Home(t)
	bin := filepath.Join(dir, "bin")
	must(t, os.Mkdir(bin, 0o700))
	must(t, os.Symlink(rig.Program(), filepath.Join(bin, "coffer")))
	const forge = "#!/bin/sh\ngrep -q '\"http\":\"http://127.0.0.1:[0-9]*/8453\"' devnet.json && echo forge \"$@\"\n"
	must(t, os.WriteFile(filepath.Join(bin, "forge"), []byte(forge), 0o700)) //nolint:gosec // it is run
	env = append(slices.Clone(env), "PATH="+bin+":"+os.Getenv("PATH"), "GOFLAGS=", "GOWORK=off", "GOPROXY=off",
		"GOCACHE="+cache(t))
	// Several tests run at once: here the job takes a free port, too.
	job := strings.Replace(examples["sh"], "devnet --json", "devnet --listen 127.0.0.1:0 --json", 1)
	for name, p := range map[string]struct {
		file, text string
		command    []string
		shows      string
	}{
		"go":   {"devnet_test.go", examples["go"], []string{"go", "test", "-v"}, "Ethereum answers at http://127."},
		"node": {"devnet.test.mjs", examples["js"], []string{"node", "--test"}, "pass 1\n"},
		"job":  {"job.sh", job, []string{"sh", "job.sh"}, "forge test --fork-url http://127.0.0.1:8545/8453\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := exec.LookPath(p.command[0]); err != nil {
				t.Skip(err)
			}
			at := t.TempDir()
			must(t, os.WriteFile(filepath.Join(at, p.file), []byte(p.text), 0o600))
			if name == "go" {
				must(t, os.WriteFile(filepath.Join(at, "go.mod"), []byte("module project\n"), 0o600))
			}
			out := runs(t, at, env, p.command)
			if !strings.Contains(out, p.shows) {
				t.Errorf("%v shows\n%s", p.command, out)
			}
		})
	}
}

// runs runs a command and returns what it wrote, once everything that it started has ended.
func runs(t *testing.T, dir string, env, command []string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), command[0], command[1:]...) //nolint:gosec // a command of this test
	cmd.Dir, cmd.Env = dir, env
	cmd.WaitDelay = rig.Limit
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v\n%s", command, errors.Join(err, t.Context().Err()), out)
	}
	return string(out)
}

// cache is where go keeps what it built, as the person of the test has another home.
func cache(t *testing.T) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "env", "GOCACHE").Output()
	must(t, err)
	return strings.TrimSpace(string(out))
}
