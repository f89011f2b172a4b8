package tui

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"coffer/ui/present"
	"coffer/ui/tui/screen"
)

// longestNotice is the longest text of a notification, in characters.
const longestNotice = 120

// notify has the terminal notify of the end of an operation, in the form that it reads. It may be shown on a locked
// screen, so it says neither amounts nor addresses, and what the operation was only where the person chose that and
// amounts are not hidden.
func (m *Model) notify(msg screen.EndedMsg) tea.Cmd {
	kind := m.opt.notices()
	on, details := m.opt.UI.Notifies(kind.known, m.opt.remote() || m.opt.Away != nil)
	if !on || kind.none {
		return nil
	}
	text := "An operation finished: " + msg.Word
	if details && !m.hidden {
		text = msg.What + ": " + msg.Word
	}
	text = noticeText(text)
	sequence := "\x1b]9;Coffer: " + text + "\a" // the name first: after OSC 9 some terminals read a digit as a command
	if kind.titled {
		sequence = "\x1b]777;notify;Coffer;" + text + "\a"
	}
	switch {
	case m.opt.Env.Get("TMUX") != "":
		sequence = ansi.TmuxPassthrough(sequence)
	case m.opt.inScreen():
		sequence = ansi.ScreenPassthrough(sequence, screenChunk)
	}
	return tea.Raw(sequence)
}

// noticeText is text that no terminal takes for anything else: printable ASCII without the separator of the fields.
func noticeText(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ';':
			return ','
		case r < ' ' || r > '~':
			return '?'
		}
		return r
	}, present.Clean(s, longestNotice))
}

// notices are the notifications of a terminal: none at all, known to be shown, and with a title (OSC 777, else OSC 9).
type notices struct{ none, known, titled bool }

func (o Options) notices() notices {
	name, program := o.Env.Get("TERM"), o.Env.Get("TERM_PROGRAM")
	switch {
	case Dumb(o.Env) || name == "linux": // the console prints what it does not know
		return notices{none: true}
	case o.Env.Get("TMUX") != "" || o.inScreen():
		return notices{} // what is around it is not known, and it may let nothing through
	case strings.HasPrefix(name, "foot") || strings.HasPrefix(name, "rxvt-unicode"):
		return notices{known: true, titled: true}
	case o.Env.Get("VTE_VERSION") != "":
		return notices{titled: true} // some builds of it show them
	}
	return notices{known: name == "xterm-kitty" || name == "xterm-ghostty" ||
		slices.Contains([]string{"iTerm.app", "WezTerm", "ghostty", "kitty"}, program)}
}

// inScreen reports whether GNU Screen is between the program and the terminal.
func (o Options) inScreen() bool {
	return o.Env.Get("STY") != "" && strings.HasPrefix(o.Env.Get("TERM"), "screen")
}
