package builder

import (
	"math/big"
	"slices"
	"strconv"
	"strings"

	"coffer/ui/compose"
	"coffer/ui/present"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/theme"
	"coffer/wallet/verify"
)

// paneKey gives the summary beside the form the keyboard, from any row: it is no text.
const paneKey = "ctrl+o"

// panes are the widths of the form and of the summary beside it; only the form where both do not fit.
func (s *Screen) panes() []int {
	w := kit.PaneWidths(s.width, 3, 2)
	if spare := w[0] - formW; len(w) > 1 && spare > 0 { // a remark stays near its field
		w[0], w[1] = formW, w[1]+spare
	}
	return w
}

// reading reports whether the summary has the keyboard.
func (s *Screen) reading() bool { return s.pane.In(len(s.panes())) == 1 }

// read gives the summary the keyboard, if there is one.
func (s *Screen) read() {
	if len(s.panes()) > 1 {
		s.leaveField()
		s.pane = 1
	}
}

// pressSummary handles a key while the summary has the keyboard.
func (s *Screen) pressSummary(key string) {
	if key == paneKey || s.pane.Press(key, 2) {
		s.pane = 0
		return
	}
	s.summary.Press(key)
}

// paneKeys are the keys that go to the summary.
func (s *Screen) paneKeys() []kit.Key {
	if len(s.panes()) < 2 {
		return nil
	}
	return []kit.Key{kit.NewKey("summary", paneKey).Explain(
		"give the summary the keyboard: the arrows scroll it then; tab or esc goes back")}
}

// summaryKeys are the keys of the summary.
func summaryKeys() []kit.Key {
	return []kit.Key{kit.NewKey("to the form", "esc", "tab", paneKey), {Press: []string{"r", "ctrl+r"}, Show: "r",
		Label: "review"}, kit.NewKey("scroll", "up", "down"), kit.NewKey("page down", "pgdown", "space").Hidden(),
		kit.NewKey("page up", "pgup").Hidden()}
}

// summaryPane draws what the form would do, as far as it is known before the service is asked.
func (s *Screen) summaryPane(th theme.Theme, w, h int, wrong map[string]string, notes map[string]caution) kit.Pane {
	return kit.Pane{W: w, Title: "Summary", Body: s.summary.Body(th, s.summaryLines(th, w-1, wrong, notes), w, h)}
}

func (s *Screen) summaryLines(th theme.Theme, w int, wrong map[string]string, notes map[string]caution) []string {
	if s.empty() {
		return append([]string{""}, kit.Prose(w, 1, th.Dim.Span(
			"What the order would take and bring appears here while you fill in the form."))...)
	}
	sum := s.Summary(s.shown())
	out := []string{""}
	block := func(title string, lines ...string) {
		if len(lines) > 0 {
			out = append(append(out, "", " "+th.Strong.Render(title)), lines...)
		}
	}
	if sum.Headline != "" {
		out = append(out, kit.Prose(w, 1, th.Strong.Span(sum.Headline))...)
	} else {
		out = append(out, kit.Prose(w, 1, th.Dim.Span("Not complete: "+
			present.Plural(sum.Open, "field is empty or wrong.", "fields are empty or wrong.")))...)
	}
	if lines := s.remarkLines(th, w, wrong, notes); len(lines) > 0 {
		out = append(append(out, ""), lines...)
	}
	for _, l := range sum.Leaves {
		block("Leaves", s.leaveLines(th, w, l)...)
		if l.Missing == nil || l.Missing.Sign() > 0 {
			block("Pays for it", s.heldLines(th, w, l)...)
		}
	}
	var lines []string
	for i, a := range sum.Arrives {
		lines = append(lines, s.arriveLines(th, w, a, i+1 == len(sum.Arrives) || sum.Arrives[i+1].To != a.To)...)
	}
	block("Arrives", lines...)
	lines = nil
	var ends []string
	for _, a := range sum.MayTake {
		if a.Amount != nil && a.Amount.Sign() == 0 {
			ends = append(ends, s.arriveLines(th, w, a, true)...)
		} else {
			lines = append(lines, s.arriveLines(th, w, a, true)...)
		}
	}
	block("May be taken, while the calls run", lines...)
	block("Nothing more may be taken", ends...)
	lines = nil
	for i, c := range sum.Calls {
		lines = append(lines, kit.Row(th, w, 1, 4, strconv.Itoa(i+1), kit.Plain(c))...)
	}
	block("Calls", lines...)
	last := "Review asks for a quote. You see the cost, and the minimum received, before anything is signed."
	if x, is := s.shown().(*compose.Exchange); is && s.Itself(x) {
		last = "Your Solana account pays Solana's fee. You see it, and the whole message, before anything is signed."
	} else if s.OwnNodes {
		last = "Your gas tank pays for gas. You see the whole call before anything is signed."
	}
	return append(append(out, ""), kit.Prose(w, 1, th.Dim.Span(last))...)
}

// remarkLines are the mistakes and the warnings of the form, each once with the fields that have it, the worst first.
func (s *Screen) remarkLines(th theme.Theme, w int, wrong map[string]string, notes map[string]caution) []string {
	type found struct {
		caution
		at []string
	}
	var all []found
	for _, r := range s.rows() {
		c := notes[r.id]
		if problem := wrong[r.id]; problem != "" {
			c = remark(compose.Danger, problem)
		}
		if r.id == "" || c.Text == "" || c.Level == compose.None {
			continue
		}
		i := slices.IndexFunc(all, func(f found) bool { return f.caution == c })
		if i < 0 {
			i, all = len(all), append(all, found{caution: c})
		}
		all[i].at = append(all[i].at, s.nameOf(r))
	}
	slices.SortStableFunc(all, func(a, b found) int { return int(b.Level) - int(a.Level) })
	var out []string
	for _, f := range all {
		at := strings.Join(f.at[:min(2, len(f.at))], ", ")
		if n := len(f.at) - 2; n > 0 {
			at += " and " + present.Plural(n, "other field", "other fields")
		}
		out = append(out, kit.Prose(w, 1, append(kit.Marked(th, f.Level, f.Text),
			th.Dim.Span(" ("+at+")"))...)...)
	}
	return out
}

// nameOf names a row among all rows.
func (s *Screen) nameOf(r row) string {
	if i := slices.Index(s.b.Calls, r.of); r.of != nil && len(s.b.Calls) > 1 {
		return "call " + strconv.Itoa(i+1) + ", " + r.label
	}
	return r.label
}

// leaveLines are what is spent, what of it is there, and what is missing.
func (s *Screen) leaveLines(th theme.Theme, w int, l compose.Leaving) []string {
	entries := []kit.Entry{{Figure: exact(l.AmountView), Unit: present.Clean(l.Symbol, 60),
		Aside: present.USD(l.Micro)}}
	if s.form == formCalls {
		entries[0].Label = "needed"
		of := func(v *big.Int) kit.Figure {
			if s.Hidden {
				return kit.Figure{Main: kit.Masked(th)}
			}
			a := l.AmountView
			a.Amount = v
			return exact(a)
		}
		entries = append(entries, kit.Entry{Label: "on " + l.ChainName, Figure: of(l.There)},
			kit.Entry{Label: "missing", Figure: of(l.Missing)})
	}
	return kit.Ledger(th, w, 1, 0, entries)
}

func exact(a verify.AmountView) kit.Figure {
	if a.Amount == nil {
		return kit.Figure{Main: present.UnknownText}
	}
	return kit.Exact(a.Amount, a.Decimals)
}

// heldLines are the chains that hold what pays, the most first. The quote chooses among them.
func (s *Screen) heldLines(th theme.Theme, w int, l compose.Leaving) []string {
	switch {
	case l.Pays.Symbol == "":
		return nil
	case s.Hidden:
		return kit.Prose(w, 1, th.Dim.Span("what you have is hidden (h)"))
	case l.Total == nil:
		return kit.Prose(w, 1, th.Dim.Span(l.Pays.Symbol+"; your balances are unknown"))
	}
	entries := make([]kit.Entry, 0, len(l.Held))
	for _, a := range l.Held {
		entries = append(entries, kit.Entry{Label: a.ChainName, Figure: exact(a), Unit: present.Clean(a.Symbol, 60),
			Aside: present.USD(a.Micro)})
	}
	lines := kit.Ledger(th, w, 1, 0, entries)
	switch {
	case len(l.Held) > 0 && l.Short():
		lines = append(lines, kit.Prose(w, 1, kit.Marked(th, theme.Warn, "less than what has to be paid")...)...)
	case len(l.Held) > 1:
		lines = append(lines, kit.Prose(w, 1, th.Dim.Span("the quote chooses among these"))...)
	case len(l.Held) == 0:
		lines = kit.Prose(w, 1, kit.Marked(th, theme.Warn, "no "+present.Clean(l.Pays.Symbol, 60)+
			" elsewhere")...)
	}
	return lines
}

// arriveLines are an amount, and with whom who gets it.
func (s *Screen) arriveLines(th theme.Theme, w int, a compose.Arriving, whom bool) []string {
	spans := kit.AmountSpans(th, a.Amount, a.Decimals, a.Symbol, "")
	switch {
	case a.Amount == nil:
		spans = []kit.Span{kit.Plain(present.Clean(a.Symbol, 60)), th.Dim.Span(", how much the quote says")}
	case a.About:
		spans = append([]kit.Span{kit.Plain("about ")}, kit.Short(a.Amount, a.Decimals, 6, "").Spans(th, th.Text)...)
		spans = append(spans, kit.Plain(" "+present.Clean(a.Symbol, 60)), th.Dim.Span(" at list prices, less fees"))
	case a.LessFees:
		spans = append(spans, th.Dim.Span(" less the fees"))
	case a.AtLeast:
		spans = append(spans, th.Dim.Span(" at least"))
	}
	if a.ChainName != "" {
		spans = append(spans, kit.Plain(" on "+a.ChainName))
	}
	lines := kit.Prose(w, 1, spans...)
	if !whom {
		return lines
	}
	if a.To == "" {
		return append(lines, kit.Prose(w, 1, th.Dim.Span("to your own account"))...)
	}
	if name, mean := s.Whose(a.To); name != "" {
		lines = append(lines, kit.Prose(w, 1, th.Style(mean).Span(name+" "+th.Sign(mean)))...)
	}
	return append(lines, kit.Prose(w, 1, kit.Span{Text: present.Address(a.To), Whole: true})...)
}
