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

// typed is a command of this program as a document shows it, and where: the page and the heading above it. A named one
// is in the middle of a sentence; it may be a name alone, or have words such as FILE.
type typed struct {
	page, heading, line string
	named               bool
}

var (
	// rePart is a fenced block, an indented one, a heading, or a command between backquotes.
	rePart = regexp.MustCompile("(?m)^```([a-z]*)\n((?s:.*?))^```$|((?:^    \\S.*\n)+)|^#+ (.+)$|" +
		"`(coffer(?: [^`\n]*)?)`")
	reIndent  = regexp.MustCompile(`(?m)^    `)
	reProgram = regexp.MustCompile(`^(?:go run \.|\./coffer)( |$)`)
)

// documented are the commands of README.md, CONTRIBUTING.md and docs/*.md, page by page in the order of reading: every
// line of their sh blocks and of indented blocks that begin with coffer, and what is between backquotes and begins with
// it. blocks are the other blocks, each as one text.
func documented(t *testing.T) (commands []typed, blocks []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(rig.Root(), "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range append([]string{filepath.Join(rig.Root(), "README.md"),
		filepath.Join(rig.Root(), "CONTRIBUTING.md")}, files...) {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		at := typed{page: filepath.Base(file)}
		for _, m := range rePart.FindAllStringSubmatch(string(raw), -1) {
			language, fenced, indented, heading, span := m[1], m[2], m[3], m[4], m[5]
			switch {
			case heading != "":
				at.heading = heading
			case span != "":
				for _, line := range alternatives(span) {
					commands = append(commands, typed{at.page, at.heading, line, true})
				}
			case language == "sh" || strings.HasPrefix(indented, "    coffer "):
				for _, line := range shellLines(fenced + indented) {
					at.line = line
					commands = append(commands, at)
				}
			default:
				blocks = append(blocks, fenced+reIndent.ReplaceAllString(indented, ""))
			}
		}
	}
	return commands, blocks
}

// shellLines are the lines of a block, each with what belongs to it: a line that a backslash continues, or what `case`
// makes of its exit code.
func shellLines(block string) (lines []string) {
	block = regexp.MustCompile(`\\\n\s*`).ReplaceAllString(reIndent.ReplaceAllString(block, ""), "")
	for line := range strings.Lines(block) {
		line = strings.TrimRight(line, "\n")
		if last := len(lines) - 1; strings.HasPrefix(line, "case ") || strings.HasPrefix(line, " ") || line == "esac" {
			lines[last] += "\n" + line
		} else {
			lines = append(lines, reProgram.ReplaceAllString(line, "coffer$1"))
		}
	}
	return lines
}

// alternatives are the commands that a sentence names at once, as in keys list\|new, with what may be left out.
func alternatives(span string) (lines []string) {
	span = strings.NewReplacer("[", "", "]", "", `\|`, "|").Replace(span)
	head, last := "", span
	if i := strings.LastIndex(span, " "); i > 0 {
		head, last = span[:i+1], span[i+1:]
	}
	for word := range strings.SplitSeq(last, "|") {
		if word != "…" {
			lines = append(lines, head+word)
		}
	}
	return lines
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
	typed, _ := documented(t)
	for _, d := range typed {
		if !strings.HasPrefix(d.line, "coffer") {
			continue
		}
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
			t.Errorf("%s: %q: there is no command %q", d.page, d.line, args[0])
		}
		for i := 0; i < len(args); i++ {
			name, flag := strings.CutPrefix(args[i], "--")
			name, _, _ = strings.Cut(name, "=")
			if flag && name != "help" && !h.Flags[name] {
				t.Errorf("%s: %q: coffer %s has no --%s", d.page, d.line, strings.Join(path, " "), name)
			}
		}
		found++
	}
	if found < 100 {
		t.Errorf("only %d commands were found", found)
	}
}
