package wire

import (
	"testing"

	"coffer/ui/tui/internal/tuitest"
)

// TestD1_TypingAFilterChangesThatFieldOnly types words into the filter of the list and into the search of an exchange.
func TestD1_TypingAFilterChangesThatFieldOnly(t *testing.T) {
	m := shown(t, speak(t, samples()), 100, 30)
	next := tuitest.NewWords(4)
	for _, open := range []string{"", "enter"} {
		if open != "" {
			tuitest.Keys(m, open)
		}
		before := tuitest.Text(t, m, 100, 30)
		for range 300 {
			word := next.Next()
			tuitest.Keys(m, "/")
			if sent := tuitest.Type(t, m, word); len(sent) > 0 || m.field().Value() != word {
				t.Fatalf("%q: %q, sends %+v", word, m.field().Value(), sent)
			}
			tuitest.Keys(m, "esc")
			if open == "" && tuitest.Text(t, m, 100, 30) != before || m.Capturing() ||
				(m.detail != nil) != (open != "") {
				t.Fatalf("%q changes more than the filter:\n%s", word, tuitest.Text(t, m, 100, 30))
			}
		}
	}
}
