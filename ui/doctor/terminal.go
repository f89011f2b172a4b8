package doctor

import (
	"fmt"

	"coffer/api/text"
)

// Terminal is what is known about the terminal. Width and Height are cells, 0 when unknown.
type Terminal struct {
	Name          string // the value of TERM; "": none
	Colors        string // "true colour", "256 colours", "16 colours", "none (NO_COLOR)"; "": unknown
	ASCII         bool   // only ASCII is drawn
	Remote        bool   // over SSH
	Multiplexer   string // "tmux", "screen"; "" none
	Width, Height int
	MinW, MinH    int
}

// TerminalOf reads the terminal's properties from its environment (getenv reads the user's session).
func TerminalOf(getenv func(string) string) Terminal {
	t := Terminal{Name: getenv("TERM"), Remote: getenv("SSH_TTY") != "" || getenv("SSH_CONNECTION") != ""}
	switch {
	case getenv("TMUX") != "":
		t.Multiplexer = "tmux"
	case getenv("STY") != "":
		t.Multiplexer = "screen"
	}
	return t
}

func (t Terminal) findings() []Finding {
	return []Finding{t.kind(), t.colours(), t.characters(), t.size(), t.clipboard()}
}

// kind reports whether the screens can be drawn at all: they move the cursor.
func (t Terminal) kind() Finding {
	f := Finding{Area: AreaTerminal, Name: "kind", Text: text.Clean(t.Name, 40)}
	switch t.Name {
	case "":
		f.Level, f.Text = Unknown, "not known (TERM is not set)"
	case "dumb":
		f.is(Warn, "dumb: it cannot move its cursor",
			"use coffer --linear, or set TERM to what your terminal is")
	}
	if t.Remote {
		f.Text += ", over SSH"
	}
	if t.Multiplexer != "" {
		f.Text += ", inside " + t.Multiplexer
	}
	return f
}

func (t Terminal) colours() Finding {
	f := Finding{Area: AreaTerminal, Name: "colours", Text: t.Colors}
	if t.Colors == "" {
		f.Level, f.Text = Unknown, "not known"
	}
	return f
}

func (t Terminal) characters() Finding {
	f := Finding{Area: AreaTerminal, Name: "characters", Text: "UTF-8"}
	if t.ASCII {
		f.Level, f.Text = Warn, "ASCII only: other characters of names appear as ?"
		f.Todo = "set LANG to a UTF-8 locale, or turn ASCII off in the settings, if your terminal draws more"
	}
	return f
}

func (t Terminal) size() Finding {
	f := Finding{Area: AreaTerminal, Name: "size", Text: fmt.Sprintf("%d by %d cells", t.Width, t.Height)}
	switch {
	case t.Width == 0 || t.Height == 0:
		f.Level, f.Text = Unknown, "not known"
	case t.Width < t.MinW || t.Height < t.MinH:
		f.Level, f.Todo = Bad, fmt.Sprintf("make the window at least %d by %d cells", t.MinW, t.MinH)
	}
	return f
}

// clipboard is always Unknown: no terminal says whether it takes OSC 52.
func (t Terminal) clipboard() Finding {
	f := Finding{Area: AreaTerminal, Name: "clipboard", Level: Unknown,
		Text: "copies are sent to the terminal (OSC 52); Coffer cannot tell whether your terminal supports it",
		Todo: "copy something and paste it to find out"}
	if t.Remote {
		f.Text =
			"copies are sent to the terminal you sit at, not to this machine (OSC 52); Coffer cannot tell whether " +
				"your terminal supports it"
	}
	switch t.Multiplexer {
	case "tmux":
		f.Todo = "in tmux: set -g set-clipboard on; then copy something and paste it"
	case "screen":
		f.Text, f.Todo = "screen does not hand copies on to the terminal", "use tmux, or mark the text with the mouse"
	}
	return f
}
