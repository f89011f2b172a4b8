package theme

import (
	"strconv"
	"strings"

	"github.com/charmbracelet/colorprofile"
)

// Style is a ready-made escape sequence. Rendering is one concatenation, because a screen of money has hundreds of small cells.
// The zero value renders text as it is.
type Style struct{ open string }

const reset = "\x1b[m"

const (
	bold      = "1"
	faint     = "2"
	underline = "4"
	reverse   = "7"
)

func style(codes string) Style { return Style{open: "\x1b[" + codes + "m"} }

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

// colour is one meaning in every profile: hex and 256-colour for dark and light backgrounds, and the basic code (0 = faint).
type colour struct {
	dark, light       [3]uint8
	dark256, light256 int
	basic             int
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
		return colour{[3]uint8{0x8b, 0x93, 0xa1}, [3]uint8{0x5f, 0x66, 0x71}, 246, 241, 0}
	case ruleHue:
		return colour{[3]uint8{0x4d, 0x54, 0x61}, [3]uint8{0xb4, 0xba, 0xc4}, 240, 250, 0}
	case accentHue:
		return colour{[3]uint8{0x7a, 0xb3, 0xf5}, [3]uint8{0x1f, 0x5f, 0xbf}, 111, 25, 36}
	case goodHue:
		return colour{[3]uint8{0x7f, 0xc8, 0x8a}, [3]uint8{0x1e, 0x7a, 0x34}, 114, 28, 32}
	case warnHue:
		return colour{[3]uint8{0xe6, 0xb4, 0x55}, [3]uint8{0x8f, 0x5a, 0x00}, 179, 94, 33}
	case dangerHue:
		return colour{[3]uint8{0xf2, 0x6d, 0x78}, [3]uint8{0xb9, 0x1c, 0x2e}, 204, 124, 31}
	case unknownHue:
		return colour{[3]uint8{0xc0, 0x9a, 0xf0}, [3]uint8{0x73, 0x3f, 0xb0}, 141, 91, 35}
	}
	return colour{[3]uint8{0x26, 0x2d, 0x3a}, [3]uint8{0xdf, 0xe7, 0xf3}, 236, 254, 0}
}

// palette picks codes for one background and profile.
type palette struct {
	dark    bool
	profile colorprofile.Profile
}

func (p palette) fg(h hue) Style {
	c := h.colour()
	switch {
	case p.profile >= colorprofile.TrueColor:
		return style("38;2;" + rgb(p.rgb(c)))
	case p.profile == colorprofile.ANSI256:
		return style("38;5;" + strconv.Itoa(p.index(c)))
	case p.profile == colorprofile.ANSI && c.basic != 0:
		return style(strconv.Itoa(c.basic))
	case c.basic == 0:
		return style(faint)
	}
	return Style{} // without colour the sign beside the text carries the meaning
}

// selected is a quiet background where there are enough colours for one, else reverse.
func (p palette) selected() Style {
	c := selectedHue.colour()
	switch {
	case p.profile >= colorprofile.TrueColor:
		return style("48;2;" + rgb(p.rgb(c)))
	case p.profile == colorprofile.ANSI256:
		return style("48;5;" + strconv.Itoa(p.index(c)))
	}
	return style(reverse)
}

func (p palette) rgb(c colour) [3]uint8 {
	if p.dark {
		return c.dark
	}
	return c.light
}

func (p palette) index(c colour) int {
	if p.dark {
		return c.dark256
	}
	return c.light256
}

func rgb(c [3]uint8) string {
	return strconv.Itoa(int(c[0])) + ";" + strconv.Itoa(int(c[1])) + ";" + strconv.Itoa(int(c[2]))
}
