package cli_test

import (
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/exp/golden"
	"github.com/spf13/pflag"

	"coffer/config"
	"coffer/ui/cli"
)

// pages writes the manual and returns it by the names of the files.
func pages(t *testing.T, env ...string) map[string]string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "man1")
	says(t, env, "man", dir)
	names, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, n := range names {
		b, err := os.ReadFile(filepath.Join(dir, n.Name()))
		if err != nil {
			t.Fatal(err)
		}
		out[n.Name()] = string(b)
	}
	return out
}

func TestEveryCommandHasAPageWithItsFlags(t *testing.T) {
	all := pages(t)
	commands := cli.Documented(whole(io.Discard).Root())
	if len(all) != len(commands) || len(all) < 40 {
		t.Errorf("%d pages, %d commands", len(all), len(commands))
	}
	for _, c := range commands {
		page, ok := all[cli.ManName(c)+".1"]
		if !ok {
			t.Errorf("%s has no page", c.CommandPath())
			continue
		}
		look := func(f *pflag.Flag) {
			if !f.Hidden && !strings.Contains(page, "\n\\fB"+cli.Escape("--"+f.Name)) &&
				!strings.Contains(page, cli.Escape(", --"+f.Name)) {
				t.Errorf("%s: --%s is not in the page", c.CommandPath(), f.Name)
			}
		}
		c.LocalFlags().VisitAll(look)
		c.InheritedFlags().VisitAll(look)
		for _, part := range []string{"NAME", "SYNOPSIS", "DESCRIPTION", "EXAMPLES", "EXIT STATUS", "SEE ALSO"} {
			if !strings.Contains(page, "\n.SH "+part+"\n") {
				t.Errorf("%s: no %s", c.CommandPath(), part)
			}
		}
		for _, word := range []string{"0", "1", "2", "3", "4", "5", "6"} {
			if !strings.Contains(page, ".TP\n\\fB"+word+"\\fR\n") {
				t.Errorf("%s: exit code %s", c.CommandPath(), word)
			}
		}
	}
	for _, v := range config.Variables() {
		if !strings.Contains(all["coffer.1"], "\\fB"+v.Name+"\\fR") {
			t.Errorf("%s is not in coffer.1", v.Name)
		}
	}
	golden.RequireEqual(t, []byte(all["coffer-status.1"]))
}

// Two runs of one program write the same bytes; the date is that of the source, never today.
func TestThePagesAreTheSameTwice(t *testing.T) {
	if a, b := pages(t), pages(t); !maps.Equal(a, b) || !strings.Contains(a["coffer.1"], `"2026-11-21"`) {
		t.Error("two runs differ, or the day is not that of the revision")
	}
	if a := pages(t, "SOURCE_DATE_EPOCH=86400"); !strings.Contains(a["coffer.1"], `"1970-01-02"`) {
		t.Error(a["coffer.1"][:80])
	}
	if err := whole(io.Discard, "SOURCE_DATE_EPOCH=yesterday").Run(t.Context(),
		[]string{"man"}); cli.Code(err) != cli.ExitUsage {
		t.Error(err)
	}
}

// The programs that show pages accept them, if installed.
func TestThePagesAreAccepted(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "man1")
	says(t, nil, "man", dir)
	files, err := filepath.Glob(filepath.Join(dir, "*.1"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	slices.Sort(files)
	for _, check := range [][]string{{"mandoc", "-T", "lint", "-W", "warning"},
		{"groff", "-man", "-Tutf8", "-ww", "-z"}, {"man", "--warnings=w", "-l", "-Tutf8", "-Z"}} {
		if check[0] == "man" {
			files = files[:1] // it starts four programs for each page
		}
		if out, there := runs(t, check[0], append(check[1:], files...)...); there && check[0] != "man" &&
			strings.TrimSpace(out) != "" {
			t.Errorf("%s:\n%s", check[0], out)
		}
	}
}
