package tui

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"coffer/ui/tui/builder"
	"coffer/ui/tui/internal/tuitest"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/screen"
)

// TestD1_TheShellLeavesATextRowAlone types words over a row of the builder that is only highlighted, through the whole
// program: no screen, help, palette or message opens, digits go into the row, F1 reaches the help, and the lines above
// and below name no key that would be text.
func TestD1_TheShellLeavesATextRowAlone(t *testing.T) {
	bubble(func(t *testing.T) {
		o := options(t, sample(t))
		o.beside(func(ctx screen.Context) map[screen.ID]screen.Screen {
			return map[screen.ID]screen.Screen{screen.Build: builder.New(ctx, builder.Deps{}),
				screen.Lab: &fieldScreen{title: "Lab"}}
		})
		m := started(t, o, 80, 24)
		press := func(keys ...string) {
			for _, k := range keys {
				m.Update(kit.Press(k))
			}
		}
		press("2", "down")
		next := tuitest.NewWords(7)
		for range 200 {
			word := next.Next()
			for _, c := range word {
				m.Update(tea.KeyPressMsg{Code: c, Text: string(c)})
				if m.activeID() != screen.Build || m.help.open || m.palette.IsOpen() || m.toast.Text != "" || m.hidden {
					t.Fatalf("%q of %q: on %s, help %v, palette %v, %q", c, word, m.activeID(), m.help.open,
						m.palette.IsOpen(), m.toast.Text)
				}
			}
			press("ctrl+u")
		}
		press("0", "x", "A", "1")
		lines := strings.Split(ansi.Strip(m.View().Content), "\n")
		if !strings.Contains(strings.Join(lines, "\n"), "0xA1") || !strings.Contains(lines[1], "f1 help") ||
			strings.Contains(lines[23], "? ") {
			t.Fatalf("%s", strings.Join(lines, "\n"))
		}
		if press("f1"); !m.help.open {
			t.Error("F1 does not reach the help")
		}
		press("esc", "esc", "1")
		if m.activeID() != screen.Balances {
			t.Errorf("esc, 1 leads to %s", m.activeID())
		}
	})(t)
}
