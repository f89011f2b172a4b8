//go:build unix

package rig

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

// Help is what the help of a command tells: the commands below it, and its flags with their names.
type Help struct {
	Below []string
	Flags map[string]bool
}

// helpOf reads the help that the built program prints.
func helpOf(t *testing.T, env []string, path ...string) Help {
	t.Helper()
	out, errs, code := Run(t, env, append(slices.Clone(path), "--help")...)
	if code != 0 {
		t.Fatalf("coffer %v --help: exit code %d, %s", path, code, errs)
	}
	_, out, found := strings.Cut(out, "Usage:\n")
	if !found {
		t.Fatalf("coffer %v --help tells no usage", path)
	}
	h := Help{Flags: map[string]bool{}}
	heading := regexp.MustCompile(`^\S.*:$`)
	command, flag := regexp.MustCompile(`^  ([a-z][a-z-]*) +\S`), regexp.MustCompile(`^ +(?:-[a-z], )?--([a-z][a-z-]*)`)
	part := "Usage:"
	for line := range strings.SplitSeq(out, "\n") {
		switch {
		case heading.MatchString(line):
			part = line
		case part == "Usage:", part == "Examples:":
		case strings.HasSuffix(part, "Flags:"):
			if m := flag.FindStringSubmatch(line); m != nil {
				h.Flags[m[1]] = true
			}
		default:
			if m := command.FindStringSubmatch(line); m != nil && m[1] != "help" {
				h.Below = append(h.Below, m[1])
			}
		}
	}
	return h
}

// Commands walks every command of the built program.
func Commands(t *testing.T) map[string]Help {
	t.Helper()
	_, env := Home(t)
	out := map[string]Help{}
	var walk func(path ...string)
	walk = func(path ...string) {
		h := helpOf(t, env, path...)
		out[strings.Join(path, " ")] = h
		for _, name := range h.Below {
			walk(append(slices.Clone(path), name)...)
		}
	}
	walk()
	return out
}

// WholeJSON demands that what was printed is one JSON document, or one to a line where the command prints many, or
// nothing at all.
func WholeJSON(t *testing.T, command, out string) {
	t.Helper()
	docs := []string{strings.TrimSuffix(out, "\n")}
	if strings.HasPrefix(command, "history") {
		docs = strings.Split(docs[0], "\n")
	}
	for _, d := range docs {
		if d != "" && !jsontext.Value(d).IsValid() {
			t.Errorf("coffer %s printed no JSON: %.300s", command, d)
		}
	}
}
