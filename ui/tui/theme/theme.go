// Package theme holds every style of the terminal interface: no other package writes a colour, sign or line character.
//
// Promise: a Theme is a plain value built from the terminal's known properties (background, colour profile, ASCII only)
// and the person's choice (Look), and is passed down with each frame; there is no global one. On an unknown background
// it uses colours that read on black and on white. Colour carries meaning only (good, warn, danger, unknown, one
// accent) and never alone: a sign is beside it. Text without a meaning keeps the terminal's own foreground, so it reads
// on any background. Without colour (NO_COLOR) bold, faint and reverse remain; on a dumb terminal nothing but text
// remains.
package theme

import (
	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/colorprofile"

	"coffer/ui/present"
	"coffer/ui/qr"
)

// Theme is every style and sign for one terminal. The zero value renders plain text without signs; use New.
type Theme struct {
	Dark    bool // the background is not known to be light
	ASCII   bool
	Links   bool // the terminal opens pages (OSC 8)
	Profile colorprofile.Profile

	Text     Style // the terminal's own colour
	Strong   Style // bold text: titles, totals
	Dim      Style // secondary text, trailing zeros, old figures
	Rule     Style // thin lines and empty parts of bars
	Accent   Style // the one accent colour: active tab, keys, bars
	Good     Style // ✓
	Warn     Style // !
	Danger   Style // ✗
	Unknown  Style // ?
	Selected Style // the selected line; use Over on a finished line
	Disabled Style // a key that does not work now
	Input    Style // text in a field that has the focus

	BadgeEmbedded Style
	BadgeLab      Style
	BadgeTest     Style
	BadgeReal     Style

	Signs Signs
}

// Signs are the characters that carry meaning or draw lines; each is one cell wide except Arrow, Back and Enter in
// ASCII.
type Signs struct {
	Good, Warn, Bad, Unknown string
	Open, Closed             string // an expanded and a collapsed group
	Cursor                   string // marks the selected line
	Arrow, Back              string
	More                     string    // cut text
	Dot                      string    // separates short facts
	Rule                     string    // one cell of a horizontal line
	Divider                  string    // one cell of a vertical line
	Corners                  [4]string // top left, top right, bottom left, bottom right
	BarFull                  string
	BarParts                 []string // a cell of a bar that is not full, in even steps
	Up, Down                 string   // more lines above, below
	Enter                    string
	Mask                     string // one cell of a hidden amount
	Sparks                   []string
}

// New builds the theme of a terminal. dark says that the background is dark, ascii that only ASCII may be drawn.
func New(dark bool, profile colorprofile.Profile, ascii bool) Theme {
	if dark {
		return Make(Look{}, OnDark, profile, ascii)
	}
	return Make(Look{}, OnLight, profile, ascii)
}

// Make builds a person's theme for a terminal with this background.
func Make(look Look, ground Ground, profile colorprofile.Profile, ascii bool) Theme {
	ground = look.ground(ground)
	t := Theme{Dark: ground != OnLight, ASCII: ascii, Profile: profile, Signs: unicodeSigns()}
	if ascii {
		t.Signs = asciiSigns()
	}
	if profile <= colorprofile.NoTTY {
		return t
	}
	p := palette{ground: ground, profile: profile, contrast: look.Name == Contrast, own: look.own()}
	t.Strong = from(bold())
	t.Dim = p.fg(dimHue)
	t.Rule = p.fg(ruleHue)
	t.Accent = p.fg(accentHue)
	t.Good = p.fg(goodHue)
	t.Warn = p.fg(warnHue)
	t.Danger = from(p.look(dangerHue, bold()))
	t.Unknown = p.fg(unknownHue)
	t.Disabled = p.fg(disabledHue)
	t.Input = from(lipgloss.NewStyle().Underline(true))
	t.Selected = p.selected()
	t.BadgeEmbedded = from(p.look(dimHue, reverse()))
	t.BadgeLab = from(p.look(accentHue, reverse()))
	t.BadgeTest = from(p.look(warnHue, reverse().Bold(true)))
	t.BadgeReal = from(p.look(dangerHue, reverse().Bold(true)))
	return t
}

// QR is what drawing a QR code needs to know of the terminal.
func (t Theme) QR() qr.Look { return qr.Look{Dark: t.Dark, ASCII: t.ASCII, Profile: t.Profile} }

// Meaning is the meaning of a colour and its sign.
type Meaning = present.Meaning

// The meanings. None is plain text.
const (
	None    = present.None
	Good    = present.Good
	Warn    = present.Warn
	Danger  = present.Danger
	Unknown = present.Unknown
)

// Style returns the style of a meaning.
func (t Theme) Style(m Meaning) Style {
	switch m {
	case Good:
		return t.Good
	case Warn:
		return t.Warn
	case Danger:
		return t.Danger
	case Unknown:
		return t.Unknown
	}
	return t.Text
}

// Sign returns the sign of a meaning, one cell; a space for None.
func (t Theme) Sign(m Meaning) string {
	switch m {
	case Good:
		return t.Signs.Good
	case Warn:
		return t.Signs.Warn
	case Danger:
		return t.Signs.Bad
	case Unknown:
		return t.Signs.Unknown
	}
	return " "
}

// Mark renders the sign of a meaning in its style.
func (t Theme) Mark(m Meaning) string { return t.Style(m).Render(t.Sign(m)) }

// Say renders a text in the style of its meaning, behind its sign.
func (t Theme) Say(m Meaning, text string) string { return t.Mark(m) + " " + t.Style(m).Render(text) }

func unicodeSigns() Signs {
	return Signs{
		Good: "✓", Warn: "!", Bad: "✗", Unknown: "?", Open: "▾", Closed: "▸", Cursor: "›", Arrow: "→", Back: "←",
		More: "…", Dot: "·",
		Rule: "─", Divider: "│", Corners: [4]string{"┌", "┐", "└", "┘"}, BarFull: "█", Up: "↑",
		Down: "↓", Enter: "↵", Mask: "•",
		BarParts: []string{"▏", "▎", "▍", "▌", "▋", "▊", "▉"},
		Sparks:   []string{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"},
	}
}

func asciiSigns() Signs {
	return Signs{
		Good: "+", Warn: "!", Bad: "x", Unknown: "?", Open: "v", Closed: ">", Cursor: "*", Arrow: "->", Back: "<-",
		More: "~", Dot: "-",
		Rule: "-", Divider: "|", Corners: [4]string{"+", "+", "+", "+"}, BarFull: "#", Up: "^",
		Down: "v", Enter: "enter", Mask: "*",
		Sparks: []string{"_", ".", ":", "-", "=", "+", "*", "#"},
	}
}
