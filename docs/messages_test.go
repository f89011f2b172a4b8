package docs

import (
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
)

// TestTheMessagesThatThePagesExplainAreTheProgramsOwn: each message that messages.md and operate.md explain is in the
// texts of the program, in the order of the alphabet in the first.
func TestTheMessagesThatThePagesExplainAreTheProgramsOwn(t *testing.T) {
	t.Parallel()
	said := strings.ToLower(texts(t, "api", "wallet", "ui", "config"))
	others := []string{ // the words of Go, of the system and of the interface
		"certificate signed by unknown authority", "connection refused", "forbiddenexception", "unauthorizedexception",
	}
	for file, head := range map[string]string{
		"docs/messages.md": "| message | why | what to do |\n|---|---|---|\n",
		"docs/operate.md":  "| the log says | it means | what to do |\n|---|---|---|\n",
	} {
		_, table, _ := strings.Cut(read(t, file), head)
		table, _, _ = strings.Cut(table, "\n\n")
		var messages []string
		for row := range strings.Lines(table) {
			for message := range strings.SplitSeq(strings.ToLower(strings.Split(row, "|")[1]), ";") {
				messages = append(messages, strings.TrimSpace(message))
			}
		}
		for _, m := range messages {
			for part := range strings.SplitSeq(m, "…") {
				if !slices.Contains(others, m) && !strings.Contains(said, strings.TrimSpace(part)) {
					t.Errorf("%s: nothing prints %q", file, m)
				}
			}
		}
		if len(messages) < 10 {
			t.Errorf("%s explains %d messages", file, len(messages))
		}
		if file == "docs/messages.md" && !slices.IsSortedFunc(messages, func(a, b string) int {
			return strings.Compare(strings.TrimLeft(a, "-"), strings.TrimLeft(b, "-"))
		}) {
			t.Errorf("%s is not in the order of the alphabet", file)
		}
	}
}

// texts are the string literals of the Go files below some directories, without tests, a line each.
func texts(t *testing.T, dirs ...string) string {
	t.Helper()
	var all strings.Builder
	for _, dir := range dirs {
		err := fs.WalkDir(os.DirFS(".."), dir, func(file string, _ fs.DirEntry, err error) error {
			if err != nil || path.Ext(file) != ".go" || strings.HasSuffix(file, "_test.go") {
				return err
			}
			raw, err := os.ReadFile(path.Join("..", file))
			if err != nil {
				return err
			}
			found, err := literals(file, raw)
			for _, l := range found {
				all.WriteString(l.text + "\n")
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return all.String()
}
