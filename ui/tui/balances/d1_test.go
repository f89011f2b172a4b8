package balances

import (
	"testing"

	"coffer/ui/tui/internal/tuitest"
)

// TestD1_TypingAFilterChangesThatFieldOnly types words into the filter: nothing is hidden, exported, built or asked.
func TestD1_TypingAFilterChangesThatFieldOnly(t *testing.T) {
	m := sample(t)
	next := tuitest.NewWords(5)
	tuitest.Keys(m, "home")
	before := tuitest.Text(t, m, 100, 30)
	for range 600 {
		word := next.Next()
		tuitest.Keys(m, "/")
		if sent := tuitest.Type(t, m, word); len(sent) > 0 || m.filter.Value() != word {
			t.Fatalf("%q: %q, sends %+v", word, m.filter.Value(), sent)
		}
		tuitest.Keys(m, "esc", "home") // where the filter matched nothing, another line is selected
		if tuitest.Text(t, m, 100, 30) != before {
			t.Fatalf("%q changes more than the filter:\n%s", word, tuitest.Text(t, m, 100, 30))
		}
	}
}
