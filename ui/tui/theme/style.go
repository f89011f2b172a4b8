package theme

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"image/color"
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/colorprofile"

	"coffer/ui/present"
)

// Style is a ready-made escape sequence. Rendering is one concatenation, because a screen of money has hundreds of
// small cells. The zero value renders text as it is.
type Style struct {
	open  string
	plain bool   // Over drops the looks of the segments
	link  string // opens a link; "": there is none
}

const reset = "\x1b[m"

// from keeps the escape sequence that Lip Gloss writes before a text in this look, so that the rules of a look are
// computed once per terminal.
func from(look lipgloss.Style) Style {
	const probe = "x"
	before, _, _ := strings.Cut(look.Render(probe), probe)
	return Style{open: before}
}

func bold() lipgloss.Style    { return lipgloss.NewStyle().Bold(true) }
func reverse() lipgloss.Style { return lipgloss.NewStyle().Reverse(true) }

// Render wraps one segment of text. Segments do not nest: an inner one would end the outer; use Over for a whole line.
func (s Style) Render(text string) string {
	if text == "" {
		return text
	}
	if s.link != "" {
		return s.link + Style{open: s.open}.Render(text) + linkEnd
	}
	if s.plainOn(text) {
		return text
	}
	return s.open + text + reset
}

// plainOn reports whether text looks the same without s, as blanks do in a colour.
func (s Style) plainOn(text string) bool {
	return s.open == "" || strings.TrimLeft(text, " ") == "" && !shows(s.open)
}

// Write appends the rendered segment to b.
func (s Style) Write(b *strings.Builder, text string) {
	if text == "" || s.link != "" || s.plainOn(text) {
		b.WriteString(s.Render(text))
		return
	}
	b.WriteString(s.open)
	b.WriteString(text)
	b.WriteString(reset)
}

// Span is a run of text in this style, for a paragraph.
func (s Style) Span(text string) present.Run[Style] { return present.Run[Style]{Text: text, Style: s} }

// Link is s over text that opens a page in a browser (OSC 8) where the terminal does that; elsewhere, and for a page
// whose address cannot be written so, it is s. The number of the link keeps the lines of a wrapped text together.
func (t Theme) Link(s Style, page string) Style {
	outside := func(r rune) bool { return r <= ' ' || r > '~' || r == ';' }
	if !t.Links || page == "" || strings.ContainsFunc(page, outside) {
		return s
	}
	id := fnv.New32a()
	_, _ = id.Write([]byte(page))
	s.link = fmt.Sprintf("\x1b]8;id=%x;%s\a", id.Sum32(), page)
	return s
}

const linkEnd = "\x1b]8;;\a"

// And adds the attributes of o to those of s.
func (s Style) And(o Style) Style { return Style{open: s.open + o.open} }

// Over puts the style under a finished line: every segment of it keeps its own style and gains this one. Where the
// style exchanges colours, a coloured segment would be a patch of its colour: all of the line looks the same.
func (s Style) Over(line string) string {
	if s.open == "" || line == "" {
		return line
	}
	if s.plain {
		return s.open + withoutLooks(line) + reset
	}
	return s.open + strings.ReplaceAll(Carry(line), reset, reset+s.open) + reset
}

// withoutLooks removes the escape sequences of looks; others, such as a mark of the cursor, stay.
func withoutLooks(line string) string {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(line, "\x1b[")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		end := strings.IndexFunc(rest, func(r rune) bool { return r != ';' && (r < '0' || r > '9') })
		if end >= 0 && rest[end] == 'm' {
			rest = rest[end+1:]
		} else {
			b.WriteString("\x1b[")
		}
		line = rest
	}
}

// palette picks colours for one background and profile.
type palette struct {
	ground   Ground
	profile  colorprofile.Profile
	contrast bool
	own      map[hue]string // the person's own, "#rrggbb" or a number
}

// pick returns the hue as this terminal can show it; nil where it has none.
func (p palette) pick(h hue) color.Color {
	if own := p.own[h]; own != "" && p.profile >= colorprofile.ANSI {
		return p.profile.Convert(lipgloss.Color(own))
	}
	s := shadeOf(h, p.ground, p.contrast)
	name := ""
	switch p.profile {
	case colorprofile.TrueColor:
		name = cmp.Or(s.rgb, s.index)
	case colorprofile.ANSI256:
		name = s.index
	case colorprofile.ANSI:
		name = s.basic
	}
	if name == "" {
		return nil
	}
	return lipgloss.Color(name)
}

// look adds the hue to a look. Where the hue has no colour, secondary text gets faint and important text bold; the sign
// beside the text carries the meaning.
func (p palette) look(h hue, base lipgloss.Style) lipgloss.Style {
	if c := p.pick(h); c != nil {
		return base.Foreground(c)
	}
	switch h {
	case dimHue, ruleHue, disabledHue:
		if !p.contrast {
			return base.Faint(true)
		}
	case accentHue, warnHue, dangerHue:
		if p.contrast || p.profile == colorprofile.ANSI {
			return base.Bold(true)
		}
	}
	return base
}

func (p palette) fg(h hue) Style { return from(p.look(h, lipgloss.NewStyle())) }

// selected is a quiet background where there are enough colours for one, else reverse.
func (p palette) selected() Style {
	if c := p.pick(selectedHue); c != nil && p.profile >= colorprofile.ANSI256 {
		return from(lipgloss.NewStyle().Background(c))
	}
	s := from(reverse())
	s.plain = p.profile >= colorprofile.ANSI
	return s
}
