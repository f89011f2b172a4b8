package kit

import (
	"coffer/ui/present"
	"coffer/ui/tui/theme"
)

// HelpPanel draws help over a body of w×h cells: a title and lines that scroll.
func HelpPanel(th theme.Theme, scroll *Scroll, title string, lines func(w int) []string, body string, w, h int) string {
	panel := min(w-4, 64)
	inner := panel - 4
	text := lines(inner)
	scroll.Resize(min(len(text), h-6))
	scroll.Keep(text)
	foot := scroll.More(th)
	if foot != "" {
		foot += "   "
	}
	out := []string{Sides(th.Strong.Render(title), th.Dim.Render(foot+"esc close"), inner), ""}
	from := scroll.Top()
	return Dialog(th, body, append(out, text[from:min(len(text), from+h-6)]...), panel, w, h)
}

// KeyHelp is what a list of keys says about one.
func KeyHelp(th theme.Theme, k Key, w int) []string {
	name, spans := th.Accent.Render(Fit(k.Name(th), KeyNameW)), []Span{Plain(k.Words())}
	if k.Off != "" {
		spans = []Span{th.Disabled.Span(k.Words()), th.Dim.Span(": " + k.Off)}
		name = th.Disabled.Render(Fit(k.Name(th), KeyNameW))
	}
	words := Prose(w, KeyNameW, spans...)
	words[0] = name + words[0][KeyNameW:]
	return words
}

// KeyNameW is the width of the keys in a list of keys.
const KeyNameW = 14

// Terms explains the words of the program.
func Terms(th theme.Theme, w int) (lines []string) {
	for _, t := range present.Terms() {
		if lines != nil {
			lines = append(lines, "")
		}
		lines = append(lines, th.Strong.Render(t.Name))
		lines = append(lines, Prose(w, 2, Plain("  "+t.Text))...)
	}
	return lines
}
