//go:build unix

package main

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"image/color"
	"slices"
	"strings"

	"coffer/ui/termtest"
)

// Sizes of the picture, in pixels: of a cell, and around the screen.
const (
	cellW, cellH = 8.4, 17.0
	margin       = 14.0
)

// ground is the terminal's own colours.
type ground struct{ paper, ink string }

var (
	onDark  = ground{paper: "#11151c", ink: "#d7dde5"}
	onLight = ground{paper: "#ffffff", ink: "#1f2328"}
)

// shot is one screen in the colours for a dark and for a light background.
type shot struct{ dark, light [][]termtest.Cell }

// same reports whether both show the same text.
func (s shot) same() bool {
	return slices.EqualFunc(s.dark, s.light, func(a, b []termtest.Cell) bool {
		return slices.EqualFunc(a, b, func(x, y termtest.Cell) bool { return x.Text == y.Text })
	})
}

// class is the look of an element for a reader whose colours are dark, and for one whose colours are light.
type class struct{ dark, light string }

// drawing collects the elements of a picture and their classes.
type drawing struct {
	body    bytes.Buffer
	classes []class
}

// class returns the name of a class.
func (d *drawing) class(c class) string {
	i := slices.Index(d.classes, c)
	if i < 0 {
		i = len(d.classes)
		d.classes = append(d.classes, c)
	}
	return fmt.Sprintf("c%d", i)
}

// picture draws a screen; it follows the colours of its reader.
func picture(s shot) []byte {
	var d drawing
	for y := range s.dark {
		d.line(s, y)
	}
	return d.file(len(s.dark[0]), len(s.dark), "")
}

// line draws a line of the screen. Every run of cells of one look is a text of fixed length, so that any font with
// fixed widths fits.
func (d *drawing) line(s shot, y int) {
	dark, light := s.dark[y], s.light[y]
	for x := 0; x < len(dark); {
		end := x + 1
		for end < len(dark) && sameLook(dark[x], dark[end]) && sameLook(light[x], light[end]) {
			end++
		}
		d.run(dark[x:end], light[x], margin+cellW*float64(x), margin+cellH*float64(y))
		x = end
	}
}

// run draws cells of one look at a place.
func (d *drawing) run(cells []termtest.Cell, light termtest.Cell, x, y float64) {
	a, b := styleOf(cells[0], onDark), styleOf(light, onLight)
	if a.bg != onDark.paper || b.bg != onLight.paper {
		fmt.Fprintf(&d.body, `<rect class="%s" x="%.1f" y="%.1f" width="%.1f" height="%.1f"/>`,
			d.class(class{"fill:" + a.bg, "fill:" + b.bg}), x, y, cellW*float64(len(cells)), cellH)
	}
	for len(cells) > 0 && blank(cells[0]) { // a blank at an end may be lost
		cells, x = cells[1:], x+cellW
	}
	for len(cells) > 0 && blank(cells[len(cells)-1]) {
		cells = cells[:len(cells)-1]
	}
	if len(cells) == 0 {
		return
	}
	var text strings.Builder
	for _, c := range cells {
		text.WriteString(c.Text)
	}
	fmt.Fprintf(&d.body, `<text class="%s" x="%.1f" y="%.1f" textLength="%.1f" lengthAdjust="spacingAndGlyphs">`,
		d.class(class{a.text(), b.text()}), x, y+cellH*0.76, cellW*float64(len(cells)))
	_ = xml.EscapeText(&d.body, []byte(text.String())) // a buffer takes everything
	d.body.WriteString("</text>\n")
}

// file is the picture of a screen of so many cells; rules are more rules of its style sheet.
func (d *drawing) file(cols, rows int, rules string) []byte {
	w, h := 2*margin+cellW*float64(cols), 2*margin+cellH*float64(rows)
	paper := d.class(class{"fill:" + onDark.paper, "fill:" + onLight.paper})
	var dark, light strings.Builder
	for i, c := range d.classes {
		fmt.Fprintf(&dark, ".c%d{%s}\n", i, c.dark)
		if c.light != c.dark {
			fmt.Fprintf(&light, ".c%d{%s}\n", i, c.light)
		}
	}
	var b bytes.Buffer
	fmt.Fprintf(&b,
		`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.1f %.1f" width="%.0f" height="%.0f" font-size="14" `+
			`font-family="ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace" xml:space="preserve">`+"\n",
		w, h, w, h)
	fmt.Fprintf(&b, "<style>\n%s@media (prefers-color-scheme:light){\n%s}\n%s</style>\n",
		dark.String(), light.String(), rules)
	fmt.Fprintf(&b, `<rect class="%s" width="100%%" height="100%%" rx="8"/>`+"\n", paper)
	b.Write(d.body.Bytes())
	b.WriteString("</svg>\n")
	return b.Bytes()
}

func blank(c termtest.Cell) bool { return c.Text == " " }

func sameLook(a, b termtest.Cell) bool {
	a.Text, b.Text = "", ""
	return a == b
}

type style struct {
	fg, bg            string
	bold, faint, line bool
}

func styleOf(c termtest.Cell, g ground) style {
	s := style{fg: hex(c.Fg, g.ink), bg: hex(c.Bg, g.paper), bold: c.Bold, faint: c.Faint, line: c.Line}
	if c.Reverse {
		s.fg, s.bg = s.bg, s.fg
	}
	return s
}

// text is the look of the style's text.
func (s style) text() string {
	out := "fill:" + s.fg
	if s.bold {
		out += ";font-weight:bold"
	}
	if s.faint {
		out += ";opacity:.6"
	}
	if s.line {
		out += ";text-decoration:underline"
	}
	return out
}

func hex(c color.Color, otherwise string) string {
	if c == nil {
		return otherwise
	}
	r, g, b, _ := c.RGBA()
	return fmt.Sprintf("#%02x%02x%02x", r>>8, g>>8, b>>8)
}
