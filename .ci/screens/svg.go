//go:build unix

package main

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"image/color"
	"strings"

	"coffer/ui/termtest"
)

// Sizes of the picture, in pixels: of a cell, and around the screen.
const (
	cellW, cellH = 8.4, 17.0
	margin       = 14.0
)

const (
	paper = "#11151c"
	ink   = "#d7dde5"
)

// svg draws a screen. Every run of cells of one style is a text of fixed length, so that any monospaced font fits.
func svg(cells [][]termtest.Cell) []byte {
	w, h := 2*margin+cellW*float64(len(cells[0])), 2*margin+cellH*float64(len(cells))
	var b bytes.Buffer
	fmt.Fprintf(&b,
		`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.1f %.1f" width="%.0f" height="%.0f" `+
			`font-family="ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace" font-size="14">`+"\n", w, h, w, h)
	fmt.Fprintf(&b, `<rect width="100%%" height="100%%" rx="8" fill="%s"/>`+"\n", paper)
	for y, line := range cells {
		for x := 0; x < len(line); {
			end := x + 1
			for end < len(line) && sameLook(line[x], line[end]) {
				end++
			}
			drawRun(&b, line[x:end], margin+cellW*float64(x), margin+cellH*float64(y))
			x = end
		}
	}
	b.WriteString("</svg>\n")
	return b.Bytes()
}

func sameLook(a, b termtest.Cell) bool {
	a.Text, b.Text = "", ""
	return a == b
}

// attributes are those of a text.
func (s style) attributes() string {
	out := ` fill="` + s.fg + `"`
	if s.bold {
		out += ` font-weight="bold"`
	}
	if s.faint {
		out += ` opacity="0.6"`
	}
	if s.line {
		out += ` text-decoration="underline"`
	}
	return out
}

type style struct {
	fg, bg            string
	bold, faint, line bool
}

func styleOf(c termtest.Cell) style {
	s := style{fg: hex(c.Fg, ink), bg: hex(c.Bg, ""), bold: c.Bold, faint: c.Faint, line: c.Line}
	if c.Reverse {
		if s.bg == "" {
			s.bg = paper
		}
		s.fg, s.bg = s.bg, s.fg
	}
	return s
}

// drawRun draws cells of one style at a place.
func drawRun(b *bytes.Buffer, cells []termtest.Cell, x, y float64) {
	s, w := styleOf(cells[0]), cellW*float64(len(cells))
	if s.bg != "" {
		fmt.Fprintf(b, `<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="%s"/>`, x, y, w, cellH, s.bg)
	}
	var text strings.Builder
	for _, c := range cells {
		text.WriteString(c.Text)
	}
	if strings.TrimSpace(text.String()) == "" {
		return
	}
	fmt.Fprintf(b, `<text x="%.1f" y="%.1f" textLength="%.1f" lengthAdjust="spacingAndGlyphs" xml:space="preserve"%s>`,
		x, y+cellH*0.76, w, s.attributes())
	_ = xml.EscapeText(b, []byte(text.String())) // a buffer takes everything
	b.WriteString("</text>\n")
}

func hex(c color.Color, otherwise string) string {
	if c == nil {
		return otherwise
	}
	r, g, b, _ := c.RGBA()
	return fmt.Sprintf("#%02x%02x%02x", r>>8, g>>8, b>>8)
}
