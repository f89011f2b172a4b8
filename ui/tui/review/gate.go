package review

import (
	"coffer/ui/present"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/theme"
	"coffer/wallet/verify"
)

// gateLines names every open gate of the review. The sentence to type is at the end of the text.
func gateLines(th theme.Theme, r verify.Report, w int) []string {
	var out []string
	for _, x := range r.Reasons {
		if x.Level != verify.Gate || !x.Open {
			continue
		}
		out = append(out, comparedLines(th, reasonSpans(th, theme.Danger, x), x, w)...)
		out = blank(out)
	}
	return out
}

// phraseLines shows the sentence that confirms behind an open gate, whole and exactly as it has to be typed.
func phraseLines(th theme.Theme, phrase string, w int) []string {
	if phrase == "" {
		return nil
	}
	out := kit.Prose(w, indent, marked(th, theme.Danger,
		"To sign in spite of the open gate, type this sentence exactly:")...)
	return append(out, kit.Prose(w, indent+2, kit.Span{Text: phrase, Style: th.Strong})...)
}

// comparedLines draws one finding under head, with the expected and the actual value.
func comparedLines(th theme.Theme, head []kit.Span, x verify.Reason, w int) []string {
	labels := 8
	if present.Policy(x) {
		labels = 10
	}
	out := kit.Prose(w, indent, head...)
	for _, f := range present.Compared(x) {
		out = append(out, kit.Row(th, w, indent+2, labels, f.Label, kit.Plain(present.Clean(f.Text, 600)))...)
	}
	if words := present.Gate(x); words != "" {
		out = append(out, kit.Prose(w, indent+2, kit.Plain(present.Clean(words, 300)))...)
	}
	return out
}

// reasonSpans writes a reason; a review has no room for its code.
func reasonSpans(th theme.Theme, m theme.Meaning, x verify.Reason) []kit.Span {
	return marked(th, m, present.Clean(present.Title(x), 400))
}

// codedSpans writes a reason with the code of its check, for the two places where a person looks codes up: the list of
// checks and the page of a refusal.
func codedSpans(th theme.Theme, m theme.Meaning, x verify.Reason) []kit.Span {
	return append(reasonSpans(th, m, x), kit.Span{Text: "  " + present.Clean(x.Code, 8), Style: th.Dim})
}
