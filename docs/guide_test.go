package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestTheGuideLeadsSomewhere: every page that the documents link to is there, the guide names the commands that a
// person needs, and the warnings that it explains are the words of the program.
func TestTheGuideLeadsSomewhere(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range append(files, "../README.md", "../CONTRIBUTING.md") {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`\]\(([^)#:]+)(?:#[^)]*)?\)`).FindAllStringSubmatch(string(raw), -1) {
			if _, err := os.Stat(filepath.Join(filepath.Dir(file), m[1])); err != nil {
				t.Errorf("%s links to %s, which is not there", file, m[1])
			}
		}
	}
	guide, err := os.ReadFile("guide.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, needed := range []string{
		"balances", "chains", "doctor", "call", "transfer", "swap", "plan", "apply", "status", "history", "export",
		"verify", "profile add", "profile list", "profile fingerprint", "keys init",
		"keys new", "keys backup", "keys restore", "keys remove", "keys probe", "keys api-key set", "accounts add",
		"accounts check", "serve", "serve keys add", "setup",
	} {
		if !strings.Contains(string(guide), "coffer "+needed) {
			t.Errorf("the guide leaves out coffer %s", needed)
		}
	}
	before, table, _ := strings.Cut(string(guide), "| warning | what it means | what to do |\n|---|---|---|\n")
	table, after, _ := strings.Cut(table, "\n\n")
	if m := regexp.MustCompile(`(?i)\b(solver|filled|userop|calldata|nonce)\b`).FindString(before + after); m != "" {
		t.Errorf("the guide says %q", m)
	}
	sources, err := filepath.Glob("../wallet/verify/*.go")
	if err != nil {
		t.Fatal(err)
	}
	var code strings.Builder
	for _, file := range sources {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		code.Write(raw)
	}
	// a long text is cut into two literals
	titles := regexp.MustCompile(`" ?\+\n\t*"`).ReplaceAllString(code.String(), "")
	rows := strings.Split(table, "\n")
	if len(rows) < 8 {
		t.Errorf("%d warnings are explained", len(rows))
	}
	for _, row := range rows {
		if title := strings.TrimSpace(strings.Split(row, "|")[1]); !strings.Contains(titles, `"`+title+`"`) {
			t.Errorf("no check says %q", title)
		}
	}
}
