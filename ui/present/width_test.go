package present

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"
)

func TestWidthIsTheScreenLibrarys(t *testing.T) {
	parts := []string{"a", " ", "…", "←", "↑", "→", "↓", "↵", "•", "·", "›", "✓", "✗", "─", "│", "▾", "█", "▏", "◀",
		"\x1b[m", "\x1b[1m", "\x1b[38;5;240m", "\x1b[48;2;1;2;3m", "\x1b[7770z", "\x1b[2 q", "\x1b[?25l", "\x1b[",
		"\x1b", "\x1b]8;;\a", "\x1b]8;id=1;https://a/b\a", "\x1b[3", "\x1b(0",
		"é", "e\u0301", "\u0301", "\ufe0f", "\u200d", "日", "👍", "🇩🇪", "\n", "\t"}
	rapid.Check(t, func(t *rapid.T) {
		s := strings.Join(rapid.SliceOfN(rapid.SampledFrom(parts), 0, 8).Draw(t, "parts"), "")
		if got, want := Width(s), ansi.StringWidth(s); got != want {
			t.Errorf("%q: %d cells, want %d", s, got, want)
		}
	})
}

// What a screen writes is counted without looking for joined letters, which takes ten times as long.
func TestTextWithLooksIsSimple(t *testing.T) {
	for s, want := range map[string]int{"": 0, "\x1b[7770z": 0,
		"\x1b[38;5;240m│\x1b[m › \x1b[1mUSDC\x1b[m  ↵ ↑/↓ ←\x1b[m": 17} {
		if n, ok := simple(s); n != want || !ok {
			t.Errorf("%q: %d cells, simple %t", s, n, ok)
		}
	}
}
