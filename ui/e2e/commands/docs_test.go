//go:build unix

package commands

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"coffer/ui/e2e/rig"
)

// typed is a command of this program as a document shows it.
type typed struct{ where, line string }

// documented extracts the commands of README.md, CONTRIBUTING.md and docs/*.md: lines of sh blocks and of indented
// blocks that begin with coffer, and what is between backquotes and begins with it.
func documented(t *testing.T) []typed {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(rig.Root(), "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	var out []typed
	for _, file := range append(files, filepath.Join(rig.Root(), "README.md"),
		filepath.Join(rig.Root(), "CONTRIBUTING.md")) {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		text := string(raw)
		for _, block := range regexp.MustCompile("(?ms)^```([a-z]*)\n(.*?)^```$").FindAllStringSubmatch(text, -1) {
			text = strings.Replace(text, block[0], "", 1)
			for line := range strings.SplitSeq(block[2], "\n") {
				line = regexp.MustCompile(`^(?:go run \. |\./coffer |[a-z]+=\S+ )`).ReplaceAllString(
					strings.TrimSpace(line), "coffer ")
				if block[1] == "sh" && strings.HasPrefix(line, "coffer ") {
					out = append(out, typed{file, line})
				}
			}
		}
		for _, m := range regexp.MustCompile("(?m)^    (coffer .*)$|`(coffer [^`]*)`").FindAllStringSubmatch(text, -1) {
			out = append(out, typed{file, m[1] + m[2]})
		}
	}
	return out
}

// words splits a command line as a shell would, up to a comment, a pipe or a redirection.
func words(line string) []string {
	var out []string
	for _, m := range regexp.MustCompile(`"[^"]*"|'[^']*'|\S+`).FindAllString(line, -1) {
		if strings.HasPrefix(m, "#") || strings.HasPrefix(m, "|") || strings.HasPrefix(m, "3<") ||
			strings.HasPrefix(m, ">") || strings.HasPrefix(m, "<") {
			break
		}
		out = append(out, strings.Trim(m, `"'`))
	}
	return out
}

// TestEveryCommandOfTheDocumentsExists: the command, and every flag that stands behind it, are in the help of the built
// program.
func TestEveryCommandOfTheDocumentsExists(t *testing.T) {
	t.Parallel()
	commands, found := rig.Commands(t), 0
	for _, d := range documented(t) {
		var path []string
		args := words(d.line)[1:]
		for len(args) > 0 {
			next := append(slices.Clone(path), args[0])
			if _, ok := commands[strings.Join(next, " ")]; !ok {
				break
			}
			path, args = next, args[1:]
		}
		if slices.Equal(args, []string{"help", "terms"}) { // a topic, which the list of commands has not
			found++
			continue
		}
		h := commands[strings.Join(path, " ")]
		if len(args) > 0 && len(h.Below) > 0 && regexp.MustCompile(`^[a-z][a-z-]*$`).MatchString(args[0]) {
			t.Errorf("%s: %q: there is no command %q", d.where, d.line, args[0])
		}
		for i := 0; i < len(args); i++ {
			name, flag := strings.CutPrefix(args[i], "--")
			name, _, _ = strings.Cut(name, "=")
			if flag && name != "help" && !h.Flags[name] {
				t.Errorf("%s: %q: coffer %s has no --%s", d.where, d.line, strings.Join(path, " "), name)
			}
		}
		found++
	}
	if found < 100 {
		t.Errorf("only %d commands were found", found)
	}
}
