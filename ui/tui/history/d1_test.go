package history

import (
	"testing"

	"coffer/ui/tui/internal/tuitest"
)

// TestD1_TypingAFilterOrANameChangesThatFieldOnly types words into the filter and into the name of a view: nothing is
// written, copied or opened.
func TestD1_TypingAFilterOrANameChangesThatFieldOnly(t *testing.T) {
	s := records(12)
	m := opened(t, s, 100, 30)
	next := tuitest.NewWords(3)
	before := tuitest.Text(t, m, 100, 30)
	for range 600 {
		word := next.Next()
		pressed(m, "/")
		if sent := tuitest.Type(t, m, word); len(sent) > 0 || m.filter.Value() != word {
			t.Fatalf("%q: %q, sends %+v", word, m.filter.Value(), sent)
		}
		if pressed(m, "esc"); tuitest.Text(t, m, 100, 30) != before {
			t.Fatalf("%q changes more than the filter:\n%s", word, tuitest.Text(t, m, 100, 30))
		}
	}
	m.asking = askName
	m.name.Set("")
	m.name.Focus()
	for range 300 {
		word := next.Next()
		m.name.Set("")
		if sent := tuitest.Type(t, m, word); len(sent) > 0 || m.name.Value() != word || m.asking != askName ||
			len(m.views) > 0 {
			t.Fatalf("%q: %q, sends %+v", word, m.name.Value(), sent)
		}
	}
	if pressed(m, "esc"); tuitest.Text(t, m, 100, 30) != before {
		t.Fatalf("naming changes more than the name:\n%s", tuitest.Text(t, m, 100, 30))
	}
}
