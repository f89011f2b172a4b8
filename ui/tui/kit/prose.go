package kit

import (
	"math/big"
	"strings"

	"coffer/api/amount"
	"coffer/ui/present"
	"coffer/ui/tui/theme"
)

// Span is a run of text in one style.
type Span = present.Run[theme.Style]

// Plain is a span in the terminal's own colour.
func Plain(s string) Span { return Span{Text: s} }

// Noted is a plain text behind the sign of its meaning.
func Noted(th theme.Theme, m theme.Meaning, text string) []Span {
	return []Span{th.Style(m).Span(th.Sign(m) + " "), Plain(text)}
}

// Spans returns the figure as two spans that stay on one line: the significant digits in style s, trailing zeros dim.
func (f Figure) Spans(th theme.Theme, s theme.Style) []Span {
	return []Span{s.Span(f.Main), th.Dim.Span(f.Zeros)}
}

// Marked is text behind the sign of its meaning, both in its style.
func Marked(th theme.Theme, m theme.Meaning, text string) []Span {
	return []Span{th.Style(m).Span(th.Sign(m) + " "), th.Style(m).Span(text)}
}

// Prose breaks spans into lines of at most w cells, at spaces where it can; a word wider than a line breaks anywhere.
// It never drops text. Every line starts with indent blank cells, which leave room for a label.
func Prose(w, indent int, spans ...Span) []string {
	return present.Fill(w, indent, theme.Style.Write, spans...)
}

// Row is a label in a column of labelW cells and spans beside it, in as many lines as needed.
func Row(th theme.Theme, w, indent, labelW int, label string, spans ...Span) []string {
	if labelW > w/2 || present.Width(label) >= labelW {
		head := Prose(w, indent, th.Dim.Span(label))
		return append(head, Prose(w, indent+2, spans...)...)
	}
	lines := Prose(w, indent+labelW, spans...)
	lines[0] = strings.Repeat(" ", indent) + th.Dim.Render(Fit(label, labelW)) + lines[0][indent+labelW:]
	return lines
}

// LinkedRow is Row for a text that is one link, its blanks included: a link for each word would cost its address again.
func LinkedRow(th theme.Theme, w, indent, labelW int, label, text string, link theme.Style) []string {
	lines := Row(th, w, indent, labelW, label, Plain(text))
	before := strings.Repeat(" ", indent) + th.Dim.Render(Fit(label, labelW))
	for i, l := range lines {
		rest := strings.TrimLeft(l, " ")
		if i == 0 {
			var beside bool
			if rest, beside = strings.CutPrefix(l, before); !beside {
				continue // the label has the line for itself
			}
		}
		lines[i] = l[:len(l)-len(rest)] + link.Render(rest)
	}
	return lines
}

// AmountSpans writes an amount with its unit: exactly, with all decimals, when the asset is known, else in base units
// with the asset's id. A nil amount is "unknown".
func AmountSpans(th theme.Theme, v *big.Int, decimals int, symbol, id string) []Span {
	if v == nil {
		return []Span{th.Unknown.Span(amount.Unknown)}
	}
	if decimals < 0 {
		return []Span{Plain(amount.Group(v.String()) + " base units of " + present.Clean(id, 120))}
	}
	return append(Exact(v, decimals).Spans(th, th.Text), Span{Text: " " + present.Clean(symbol, 60), Whole: true})
}
