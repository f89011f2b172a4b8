package balances

import (
	"fmt"
	"math/big"
	"strings"

	"coffer/api/amount"
	"coffer/ui/present"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/screen"
	"coffer/ui/tui/theme"
	"coffer/wallet/verify"
)

const inspectLabel = 12

// inspectView shows the selected line in full: exact figures, findings, ids, and its past where no pane beside the
// lines has it.
func (m *Model) inspectView(f screen.Frame, body string) string {
	th, w, h := f.Theme, f.W, f.H
	r, ok := m.current()
	if !ok {
		return body
	}
	panel := 92
	if w < panel+4 {
		panel = w // the ends of the lines beside it would read as part of it
	}
	inner := panel - 4
	lines := kit.Prose(inner, 0, th.Strong.Span(r.title), kit.Plain("  "),
		th.Dim.Span(r.name))
	head := len(lines)
	lines = append(lines, "")
	lines = append(lines, m.inspectFigures(th, r, inner)...)
	lines = append(lines, m.inspectReasons(th, r, inner)...)
	if r.address != "" {
		lines = append(lines, kit.Row(th, inner, 0, inspectLabel, "address", kit.Plain(present.Address(r.address)))...)
	}
	for i, id := range r.ids {
		label := "id"
		if i > 0 {
			label = ""
		}
		if r.address == "" {
			lines = append(lines, kit.Row(th, inner, 0, inspectLabel, label, kit.Plain(id))...)
		}
	}
	if len(m.panes()) < 2 {
		lines = append(lines, m.pastLines(f, r, inner)...)
	}
	room := min(len(lines)-head, max(2, h-4-head))
	m.facts.Resize(room)
	m.facts.Keep(lines[head:])
	shown := append(lines[:head:head], strings.Split(m.facts.View(inner), "\n")...)
	if more := m.facts.More(th); more != "" {
		shown = append(shown, th.Dim.Render(more))
	}
	return kit.Dialog(th, body, shown, panel, w, h)
}

func (m *Model) inspectFigures(th theme.Theme, r row, w int) []string {
	var lines []string
	add := func(label string, spans ...kit.Span) {
		lines = append(lines, kit.Row(th, w, 0, inspectLabel, label, spans...)...)
	}
	if m.hidden {
		add("amount", th.Dim.Span(kit.Masked(th)))
		return append(lines, "")
	}
	if m.scrambled {
		add("", th.Warn.Span(th.Signs.Warn+" scrambled: these figures are made up"))
	}
	if r.figure {
		base := present.UnknownText
		if r.amount != nil {
			base = amount.Group(r.amount.String())
		}
		add("exact", kit.Exact(r.amount, r.decimals).Spans(th, th.Text)...)
		add("base units", kit.Plain(base))
		add("decimals", kit.Plain(decimalsText(r.decimals)))
	}
	if r.kind != noteRow {
		value := []kit.Span{kit.Plain(exactUSD(r.micro))}
		if r.partial {
			value = append(value, th.Unknown.Span(" and what has no price"))
		}
		add("value", value...)
	}
	return append(lines, "")
}

// exactUSD writes micro USD with all of its digits.
func exactUSD(micro *big.Int) string {
	if micro == nil {
		return present.UnknownText
	}
	return "$" + amount.Group(amount.Format(micro, 6))
}

// inspectReasons lists the findings at the line, then at its parts.
func (m *Model) inspectReasons(th theme.Theme, r row, w int) []string {
	var lines []string
	for _, x := range r.found() {
		mean := meaning(x.Level)
		spans := []kit.Span{th.Style(mean).Span(th.Sign(mean) + " " + x.Title)}
		if !m.hidden && !m.scrambled && (x.Want != "" || x.Got != "") {
			spans = append(spans, kit.Plain(" "), th.Dim.Span(compared(x)))
		}
		lines = append(lines, kit.Row(th, w, 0, inspectLabel, "check "+x.Code, spans...)...)
	}
	if lines != nil {
		lines = append(lines, "")
	}
	return lines
}

// compared writes the expected and the actual value; the maker of the reason cleaned foreign text in it.
func compared(x verify.Reason) string {
	want, got := present.Clean(x.Want, 200), present.Clean(x.Got, 200)
	switch {
	case want == "":
		return "Found: " + got
	case got == "":
		return "Expected: " + want
	}
	return "Expected: " + want + ". Found: " + got
}

// meaning is the look of a level.
func meaning(l verify.Level) theme.Meaning {
	switch l {
	case verify.Refuse, verify.Gate:
		return theme.Danger
	case verify.Warn:
		return theme.Warn
	case verify.Unknown:
		return theme.Unknown
	}
	return theme.None
}

func decimalsText(d int) string {
	if d < 0 {
		return present.UnknownText + " (this program does not know the asset)"
	}
	return fmt.Sprint(d)
}
