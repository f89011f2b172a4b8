package kit

import (
	"math/big"
	"strings"

	"coffer/api/amount"
	"coffer/ui/tui/theme"
)

// Span is a run of text in one style. Whole keeps it on one line if a line can hold it: addresses and short facts.
type Span struct {
	Text  string
	Style theme.Style
	Whole bool
}

// Plain is a span in the terminal's own colour.
func Plain(s string) Span { return Span{Text: s} }

// Spans returns the figure as two spans that stay on one line: the significant digits in style s, trailing zeros dim.
func (f Figure) Spans(th theme.Theme, s theme.Style) []Span {
	return []Span{{Text: f.Main, Style: s}, {Text: f.Zeros, Style: th.Dim}}
}

type piece struct {
	text  string
	style theme.Style
}

// word is text that stays together unless it is wider than a line; gap is the number of spaces before it.
type word struct {
	pieces []piece
	w, gap int
}

func (w *word) add(text string, st theme.Style) {
	w.w += Width(text)
	if n := len(w.pieces); n > 0 && w.pieces[n-1].style == st {
		w.pieces[n-1].text += text
		return
	}
	w.pieces = append(w.pieces, piece{text, st})
}

// Prose breaks spans into lines of at most w cells, at spaces where it can; a word wider than a line breaks anywhere.
// It never drops text. Every line starts with indent blank cells, which leave room for a label.
func Prose(w, indent int, spans ...Span) []string {
	p := prose{room: max(1, w-indent), lead: strings.Repeat(" ", max(0, indent))}
	for _, x := range words(spans, p.room) {
		p.put(x)
	}
	if p.used > 0 || len(p.lines) == 0 {
		p.newline()
	}
	return p.lines
}

func words(spans []Span, room int) []word {
	var out []word
	var cur word
	gap := 0
	end := func() {
		if cur.w > 0 {
			out = append(out, cur)
			gap = 0
		}
		cur = word{}
	}
	for _, s := range spans {
		if s.Whole && Width(s.Text) <= room {
			if cur.w == 0 {
				cur.gap = gap
			}
			cur.add(s.Text, s.Style)
			continue
		}
		for i, part := range strings.Split(s.Text, " ") {
			if i > 0 {
				end()
				gap++
			}
			if part == "" {
				continue
			}
			if cur.w == 0 {
				cur.gap = gap
			}
			cur.add(part, s.Style)
		}
	}
	end()
	return out
}

type prose struct {
	lines []string
	cur   strings.Builder
	used  int
	room  int
	lead  string
}

func (p *prose) newline() {
	p.lines = append(p.lines, p.lead+p.cur.String())
	p.cur.Reset()
	p.used = 0
}

func (p *prose) put(x word) {
	if p.used > 0 && p.used+x.gap+x.w > p.room {
		p.newline()
	}
	if p.used > 0 {
		Spaces(&p.cur, x.gap)
		p.used += x.gap
	}
	for _, c := range x.pieces {
		p.split(c)
	}
}

// split writes one piece and breaks it wherever a line is full.
func (p *prose) split(c piece) {
	text := c.text
	for p.used+Width(text) > p.room {
		cut := 0
		at := p.used
		for i, r := range text {
			n := Width(string(r))
			if at+n > p.room {
				cut = i
				break
			}
			at += n
		}
		if cut == 0 && p.used == 0 {
			break // a single character wider than the line
		}
		c.style.Write(&p.cur, text[:cut])
		text = text[cut:]
		p.used = 1
		p.newline()
	}
	c.style.Write(&p.cur, text)
	p.used += Width(text)
}

// Row is a label in a column of labelW cells and spans beside it, in as many lines as needed.
func Row(th theme.Theme, w, indent, labelW int, label string, spans ...Span) []string {
	if labelW > w/2 || Width(label) >= labelW {
		head := Prose(w, indent, Span{Text: label, Style: th.Dim})
		return append(head, Prose(w, indent+2, spans...)...)
	}
	lines := Prose(w, indent+labelW, spans...)
	lines[0] = strings.Repeat(" ", indent) + th.Dim.Render(Fit(label, labelW)) + lines[0][indent+labelW:]
	return lines
}

// Groups writes a hex string in groups of four after its 0x: "0x12ab 34cd". It returns other text cleaned. Nothing is
// cut.
func Groups(hex string) string {
	rest, ok := strings.CutPrefix(hex, "0x")
	if !ok {
		return Clean(hex, max(1, len(hex)))
	}
	rest = Clean(rest, max(1, len(rest)))
	var b strings.Builder
	b.WriteString("0x")
	n := 0
	for _, r := range rest {
		if n > 0 && n%4 == 0 {
			b.WriteByte(' ')
		}
		b.WriteRune(r)
		n++
	}
	return b.String()
}

// AmountSpans writes an amount with its unit: exactly, with all decimals, when the asset is known, else in base units
// with the asset's id. A nil amount is "unknown".
func AmountSpans(th theme.Theme, v *big.Int, decimals int, symbol, id string) []Span {
	if v == nil {
		return []Span{{Text: amount.Unknown, Style: th.Unknown}}
	}
	if decimals < 0 {
		return []Span{Plain(amount.Group(v.String()) + " base units of " + Clean(id, 120))}
	}
	return append(Exact(v, decimals).Spans(th, th.Text), Plain(" "+Clean(symbol, 60)))
}
