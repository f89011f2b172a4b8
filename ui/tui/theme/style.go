package theme

import (
	"image/color"
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/colorprofile"
)

// Style is a ready-made escape sequence. Rendering is one concatenation, because a screen of money has hundreds of small cells.
// The zero value renders text as it is.
type Style struct{ open string }

const reset = "\x1b[m"

// from keeps what Lip Gloss writes before a text in this look, so that the rules of a look are worked out once for a terminal.
func from(look lipgloss.Style) Style {
	const probe = "x"
	before, _, _ := strings.Cut(look.Render(probe), probe)
	return Style{open: before}
}

func bold() lipgloss.Style      { return lipgloss.NewStyle().Bold(true) }
func underline() lipgloss.Style { return lipgloss.NewStyle().Underline(true) }
func reverse() lipgloss.Style   { return lipgloss.NewStyle().Reverse(true) }

// Render wraps one segment of text. Segments are not nested: an inner one would end the outer; use Over for a whole line.
func (s Style) Render(text string) string {
	if s.open == "" || text == "" {
		return text
	}
	return s.open + text + reset
}

// Write appends the rendered segment to b.
func (s Style) Write(b *strings.Builder, text string) {
	if s.open == "" || text == "" {
		b.WriteString(text)
		return
	}
	b.WriteString(s.open)
	b.WriteString(text)
	b.WriteString(reset)
}

// And adds the attributes of o to those of s.
func (s Style) And(o Style) Style { return Style{open: s.open + o.open} }

// Over lays the style under a finished line: every segment of it keeps its own style and gains this one.
func (s Style) Over(line string) string {
	if s.open == "" || line == "" {
		return line
	}
	return s.open + strings.ReplaceAll(line, reset, reset+s.open) + reset
}

// colour is one meaning on every terminal: for dark and light backgrounds in true colour and in 256 colours, and one of the 16 basic colours ("" is none:
// the text is then faint).
type colour struct {
	dark, light       string
	dark256, light256 string
	basic             string
}

// hue names a colour by its meaning.
type hue int

const (
	dimHue hue = iota
	ruleHue
	accentHue
	goodHue
	warnHue
	dangerHue
	unknownHue
	selectedHue
)

func (h hue) colour() colour {
	switch h {
	case dimHue:
		return colour{"#8b93a1", "#5f6671", "246", "241", ""}
	case ruleHue:
		return colour{"#4d5461", "#b4bac4", "240", "250", ""}
	case accentHue:
		return colour{"#7ab3f5", "#1f5fbf", "111", "25", "6"}
	case goodHue:
		return colour{"#7fc88a", "#1e7a34", "114", "28", "2"}
	case warnHue:
		return colour{"#e6b455", "#8f5a00", "179", "94", "3"}
	case dangerHue:
		return colour{"#f26d78", "#b91c2e", "204", "124", "1"}
	case unknownHue:
		return colour{"#c09af0", "#733fb0", "141", "91", "5"}
	}
	return colour{"#262d3a", "#dfe7f3", "236", "254", ""}
}

// palette picks colours for one background and profile.
type palette struct {
	dark    bool
	profile colorprofile.Profile
}

// pick returns the hue as this terminal can show it.
func (p palette) pick(h hue) color.Color {
	c := h.colour()
	side := lipgloss.LightDark(p.dark)
	return lipgloss.Complete(p.profile)(
		lipgloss.Color(c.basic), side(lipgloss.Color(c.light256), lipgloss.Color(c.dark256)), side(lipgloss.Color(c.light), lipgloss.Color(c.dark)))
}

// look adds the hue to a look. Where there are too few colours for it the look gets faint instead; without any colour the sign beside the text
// carries the meaning.
func (p palette) look(h hue, base lipgloss.Style) lipgloss.Style {
	switch basic := h.colour().basic; {
	case p.profile >= colorprofile.ANSI256, p.profile == colorprofile.ANSI && basic != "":
		return base.Foreground(p.pick(h))
	case basic == "":
		return base.Faint(true)
	}
	return base
}

func (p palette) fg(h hue) Style { return from(p.look(h, lipgloss.NewStyle())) }

// selected is a quiet background where there are enough colours for one, else reverse.
func (p palette) selected() Style {
	if p.profile >= colorprofile.ANSI256 {
		return from(lipgloss.NewStyle().Background(p.pick(selectedHue)))
	}
	return from(reverse())
}
