package tui

import (
	"fmt"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"coffer/config"
	"coffer/ui/tui/internal/term"
	"coffer/ui/tui/screen"
)

// TestANotificationIsSentWhereItIsWanted: in the form of the terminal, never over SSH unless the person says so, and
// never to a terminal that would print it.
func TestANotificationIsSentWhereItIsWanted(t *testing.T) {
	const nine, titled = "\x1b]9;Coffer: An operation finished: completed\a",
		"\x1b]777;notify;Coffer;An operation finished: completed\a"
	for _, c := range []struct {
		env, set, want string
	}{
		{"TERM=xterm-256color TERM_PROGRAM=iTerm.app", "", nine},
		{"TERM=xterm-kitty", config.NotifyAuto, nine},
		{"TERM=foot", "", titled},
		{"TERM=rxvt-unicode-256color", "", titled},
		{"TERM=xterm-256color", "", ""},
		{"TERM=xterm-256color", config.NotifyOn, nine},
		{"TERM=xterm-256color VTE_VERSION=7600", "", ""},
		{"TERM=xterm-256color VTE_VERSION=7600", config.NotifyOn, titled},
		{"TERM=xterm-kitty", config.NotifyOff, ""},
		{"TERM=xterm-kitty SSH_TTY=/dev/pts/1", "", ""},
		{"TERM=xterm-kitty SSH_TTY=/dev/pts/1", config.NotifyOn, nine},
		{"TERM=linux", config.NotifyOn, ""},
		{"TERM=dumb", config.NotifyDetails, ""},
		{"TERM=tmux-256color TMUX=/tmp/x TERM_PROGRAM=WezTerm", "", ""},
		{"TERM=tmux-256color TMUX=/tmp/x", config.NotifyOn, ansi.TmuxPassthrough(nine)},
		{"TERM=screen STY=1", config.NotifyOn, ansi.ScreenPassthrough(nine, screenChunk)},
	} {
		m, _, _ := withPad(t, func(o *Options) { o.Env, o.UI.Notify = term.Env(strings.Fields(c.env)), c.set })
		got := ""
		if cmd := m.handle(screen.EndedMsg{What: "transfer USDC to Base", Word: "completed"}); cmd != nil {
			got = fmt.Sprint(cmd())
		}
		if strings.Trim(got, "{}") != c.want {
			t.Errorf("%s with %q: %q, not %q", c.env, c.set, got, c.want)
		}
	}
	m, _, _ := withPad(t, func(o *Options) { o.Env, o.Away = term.Env{"TERM=xterm-kitty"}, &Away{} })
	if m.handle(screen.EndedMsg{Word: "completed"}) != nil {
		t.Error("a guest's terminal notifies unasked")
	}
}

// TestANotificationSaysWhatItMay: what it was only with details and while amounts are shown, and nothing that ends the
// sequence or begins another.
func TestANotificationSaysWhatItMay(t *testing.T) {
	for _, c := range []struct {
		set    string
		hidden bool
		said   bool
	}{{config.NotifyOn, false, false}, {config.NotifyDetails, false, true}, {config.NotifyDetails, true, false}} {
		m, _, _ := withPad(t, func(o *Options) {
			o.Env, o.UI.Notify, o.UI.HideAmounts = term.Env{"TERM=foot"}, c.set, c.hidden
		})
		got := fmt.Sprint(m.handle(screen.EndedMsg{What: "transfer USDC to Base", Word: "completed"})())
		if strings.Contains(got, "transfer USDC to Base: completed") != c.said {
			t.Errorf("%+v: %q", c, got)
		}
	}
	m, _, _ := withPad(t, func(o *Options) { o.Env, o.UI.Notify = term.Env{"TERM=foot"}, config.NotifyDetails })
	evil := "a\x1b]52;c;AAAA\a\x1b\\\u009c\u009d\n;b" + strings.Repeat("→", 500)
	got := strings.Trim(fmt.Sprint(m.handle(screen.EndedMsg{What: evil, Word: evil})()), "{}")
	inside := strings.TrimSuffix(strings.TrimPrefix(got, "\x1b]777;notify;Coffer;"), "\a")
	if len(got) != len(inside)+len("\x1b]777;notify;Coffer;\a") || len(inside) > longestNotice+1 ||
		!strings.HasPrefix(inside, "a?]52,c,AAAA") || strings.Contains(inside, ";") ||
		strings.ContainsFunc(inside, func(r rune) bool { return r < ' ' || r > '~' }) {
		t.Errorf("%q", got)
	}
}
