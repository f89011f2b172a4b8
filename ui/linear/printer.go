package linear

import (
	"fmt"
	"io"
	"strings"

	"coffer/ui/present"
)

// Width is the width of the lines in cells, unless Options.Width says another; they are never narrower than leastWidth.
const (
	Width      = 78
	leastWidth = 20
)

// span is a run of text without a style; Whole keeps it on one line where a line can hold it.
type span = present.Run[struct{}]

func plain(text string) span { return span{Text: text} }

// printer writes plain lines. It keeps the writer's first error and writes nothing after it.
type printer struct {
	w     io.Writer
	width int
	err   error
}

func newPrinter(w io.Writer, width int) *printer {
	if width == 0 {
		width = Width
	}
	return &printer{w: w, width: max(width, leastWidth)}
}

// raw writes one line unchanged, except for characters that are not text.
func (p *printer) raw(text string) {
	if p.err != nil {
		return
	}
	if _, err := io.WriteString(p.w, present.Whole(strings.TrimRight(text, " "))+"\n"); err != nil {
		p.err = fmt.Errorf("write a line: %w", err)
	}
}

// put writes spans, wrapped at blanks into as many lines as needed; it indents all but the first by two more cells.
func (p *printer) put(indent int, spans ...span) {
	for i := range spans {
		spans[i] = span{Text: present.Whole(spans[i].Text), Whole: spans[i].Whole}
	}
	lines := present.Fill(p.width, indent+2, func(_ struct{}, b *strings.Builder, text string) { b.WriteString(text) },
		spans...)
	lines[0] = lines[0][2:]
	for _, l := range lines {
		p.raw(l)
	}
}

// say writes a paragraph.
func (p *printer) say(text string) { p.put(0, plain(text)) }

// note writes a paragraph below another.
func (p *printer) note(text string) { p.put(2, plain(text)) }

// fact writes "label: value"; where is one with an address.
func (p *printer) fact(indent int, label, value string) { p.where(indent, label, plain(value)) }

func (p *printer) where(indent int, label string, value ...span) {
	p.put(indent, append([]span{plain(label + ": ")}, value...)...)
}
