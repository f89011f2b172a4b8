package lab

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"coffer/api/amount"
	"coffer/ui/present"
	"coffer/ui/quotelab"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/screen"
	"coffer/ui/tui/theme"
	"coffer/wallet/intent"
)

// View draws the body.
func (m *Model) View(f screen.Frame) string {
	m.drawn = true
	if m.w != f.W || m.h != f.H {
		m.resize(f.W, f.H)
	}
	th := f.Theme
	switch {
	case m.field.Focused():
		return m.fieldView(f)
	case m.compare:
		return m.besideView(f)
	case m.inspect && m.selected() != nil:
		return m.inspectView(f)
	case !m.have:
		return kit.Notice(th, theme.None, f.W, f.H, "There is nothing to quote yet.",
			"Build a call, a swap or a transfer (2), or type a question (n) or paste one: it is quoted here under "+
				"several funding assets, slippages and accounts, side by side.",
			"Nothing is signed here.")
	case m.wrong != "":
		return kit.Notice(th, theme.Warn, f.W, f.H, "The draft is not complete: "+m.wrong+".",
			"Go on building it (2), then come back.")
	}
	w := m.widths()
	m.bestKey, m.bestWords = m.best()
	table := m.table.View(th, w[0], func(i int, c []kit.Cell) []kit.Cell {
		return m.cells(th, m.variants[i], i, c)
	})
	m.keepDetails(th, w[min(1, len(w)-1)]-4, len(w) < 3)
	body := kit.Lines(table, th.Rule.Render(kit.Rule(th.Signs.Rule, f.W)), indented(m.pane.View(f.W-2)))
	if len(w) > 1 {
		panes := []kit.Pane{{W: w[0], Title: "Variants", Body: table},
			{W: w[1], Title: "Route", Body: indented(m.pane.View(w[1] - 2)), State: th.Dim.Render(m.pane.More(th))}}
		if len(w) > 2 {
			m.right.Keep(m.curveLines(th, w[2]-4))
			panes = append(panes, kit.Pane{W: w[2], Title: "Curve", Body: indented(m.right.View(w[2] - 2)),
				State: th.Dim.Render(m.right.More(th))})
		}
		body = kit.Beside(th, f.H-ownLines, m.focus.In(len(w)), panes...)
	}
	return kit.Box(kit.Lines(m.titleLine(f), m.axesLine(th, f.W), body, m.stateLine(f)), f.W, f.H)
}

// fieldView is the screen while a question is typed.
func (m *Model) fieldView(f screen.Frame) string {
	th := f.Theme
	m.field.Hint = "such as: swap 5 USDC@optimism for ETH@base, slippage 0.5 %"
	lines := []string{"  " + th.Strong.Render("A question for the Lab"), "",
		"  " + m.field.View(th, f.W-4, 10), "  " + m.field.Note(th, f.W-4, 10), ""}
	for _, s := range []string{"swap AMOUNT ASSET for ASSET [to ADDRESS [on CHAIN]]",
		"transfer AMOUNT ASSET to ADDRESS on CHAIN", "call on CHAIN ADDRESS [data 0x…] [, needs AMOUNT ASSET]",
		"each may end with: , slippage PERCENT %"} {
		lines = append(lines, kit.Row(th, f.W-4, 2, 10, "", th.Dim.Span(s))...)
	}
	lines = append(lines, "", "  "+th.Accent.Render("enter")+th.Dim.Render(" compares it, ")+th.Accent.Render("esc")+
		th.Dim.Render(" goes back. Nothing is signed here."))
	return kit.Box(kit.Lines(lines...), f.W, f.H)
}

func (m *Model) titleLine(f screen.Frame) string {
	th := f.Theme
	right := th.Dim.Render("nothing is signed here ")
	return kit.Sides("  "+th.Strong.Render("Quote lab")+"  "+m.asks(), right, f.W)
}

// axesLine names the axes that vary.
func (m *Model) axesLine(th theme.Theme, w int) string {
	axis := func(key, name string, on bool) string {
		mark := th.Dim.Render(th.Signs.Dot)
		if on {
			mark = th.Good.Render(th.Signs.Good)
		}
		return th.Accent.Render(key) + " " + th.Dim.Render(name) + " " + mark
	}
	left := "  " + th.Dim.Render("vary  ") + axis("f", "funding", m.axes.Funding) + "  " +
		axis("l", "slippage", m.axes.Slippage) + "  " + axis("u", "accounts", m.axes.Accounts) + "  " +
		axis("t", "arrival", m.axes.Arrival)
	right := present.Plural(len(m.variants), "variant", "variants")
	if m.total > len(m.variants) {
		right = fmt.Sprintf("%d of %d variants", len(m.variants), m.total)
	}
	return kit.Sides(left, th.Dim.Render(right)+" ", w)
}

func (m *Model) stateLine(f screen.Frame) string {
	th := f.Theme
	left := th.Dim.Render("not quoted yet: ") + th.Accent.Render("r") + th.Dim.Render(" quotes all, ") +
		th.Accent.Render("w") + th.Dim.Render(" watches every "+quotelab.Seconds(m.pause()))
	switch {
	case m.wanted:
		left = th.Dim.Render("reading the balances first " + th.Signs.More)
	case m.asking >= 0 && m.watching:
		left = th.Dim.Render(fmt.Sprintf("watching, round %d of %d: asking for %s", m.rounds+1, MaxRounds,
			kit.Count(m.asking+1, len(m.variants))))
	case m.asking >= 0:
		left = th.Dim.Render("asking for " + kit.Count(m.asking+1, len(m.variants)))
	case m.watching:
		left = th.Dim.Render(fmt.Sprintf("watching, %d of %d rounds, again %s after the last", m.rounds, MaxRounds,
			quotelab.Seconds(m.pause())))
	case m.why != "":
		left = th.Warn.Render(th.Signs.Warn + " " + m.why)
	case !m.last.IsZero() && m.unasked() > 0:
		left = th.Dim.Render(present.Plural(m.unasked(), "variant", "variants")+" not asked yet: ") +
			th.Accent.Render("r") + th.Dim.Render(" quotes all")
	case !m.last.IsZero():
		left = th.Dim.Render("quoted " + kit.Age(f.Now, m.last))
	}
	right := ""
	switch n := m.pane.Below(); {
	case n > 0 && len(m.widths()) == 1:
		right = th.Accent.Render("J") + th.Dim.Render(" "+present.Plural(n, "line", "lines")+" below ")
	case m.asking < 0 && m.bestWords != "":
		right = th.Good.Render(th.Signs.Good) + th.Dim.Render(" "+m.bestWords+" ") + th.Accent.Render("m") + " "
	case m.heldWhy != "" && m.axes.Funding:
		right = th.Warn.Render(th.Signs.Warn+" balances unknown") + " "
	}
	if present.Width(left)+present.Width(right)+4 > f.W {
		right = ""
	}
	return kit.Sides("  "+left, right, f.W)
}

func (m *Model) cells(th theme.Theme, v *quotelab.Variant, i int, c []kit.Cell) []kit.Cell {
	mark := kit.Styled("", th.Accent)
	if i := slices.Index(m.marks, v.Key); i >= 0 {
		mark.Text = strconv.Itoa(i + 1)
	}
	if m.bestKey == v.Key {
		mark = kit.Styled(th.Signs.Good+mark.Text, th.Good)
	}
	c = append(c, mark, kit.Text(v.Fund), kit.Text(quotelab.Bps(v.Bps)),
		kit.Styled(v.Accounts, th.Dim))
	r, ok := m.latest(v.Key)
	switch {
	case m.off[v.Key]:
		c[1].Style = th.Disabled
		return append(c, kit.Cell{}, kit.Styled("left out", th.Disabled))
	case m.asking == i:
		return append(c, kit.Cell{}, kit.Styled("asking "+th.Signs.More, th.Dim))
	case !ok:
		return append(c, kit.Cell{}, kit.Styled("not asked", th.Dim))
	}
	tone, words := r.Outcome()
	var paid *quotelab.Money
	if len(r.Pays) > 0 {
		paid = &r.Pays[0]
	}
	pays := m.amountCell(th, paid)
	if len(r.Pays) > 1 {
		pays.Tail += " +" + strconv.Itoa(len(r.Pays)-1)
	}
	return append(c, pays, m.amountCell(th, r.Delivered), m.amountCell(th, r.Minimum),
		known(th, about(r, m.usd(th, r.FeesMicro))), known(th, about(r, r.Share())),
		known(th, quotelab.Seconds(r.Lifetime)),
		kit.Styled(ms(r), th.Dim), kit.Styled(quotelab.CallType(r.CallType), th.Dim),
		kit.Styled(th.Sign(look(tone))+" "+words, th.Style(look(tone))))
}

func ms(r quotelab.Answer) string {
	return amount.Group(strconv.FormatInt(r.Latency.Milliseconds(), 10))
}

// about marks an estimate.
func about(r quotelab.Answer, s string) string {
	if r.Estimate && s != present.UnknownText {
		return "~" + s
	}
	return s
}

// known draws a missing figure as missing.
func known(th theme.Theme, s string) kit.Cell {
	if s == present.UnknownText {
		return kit.Styled(s, th.Unknown)
	}
	return kit.Text(s)
}

// amountCell writes an amount with few decimals; the details below have all of them.
func (m *Model) amountCell(th theme.Theme, x *quotelab.Money) kit.Cell {
	switch {
	case x == nil:
		return kit.Styled(present.UnknownText, th.Unknown)
	case m.hidden:
		return kit.Styled(kit.Masked(th), th.Dim)
	case x.Decimals < 0:
		return kit.Text(x.Figure())
	}
	f := kit.Short(x.Amount, x.Decimals, 8, th.Signs.More)
	return kit.Cell{Text: strings.TrimRight(f.Main, " "), Tail: strings.TrimRight(f.Zeros, " ") + " " +
		present.Clean(x.Symbol, 6), TailStyle: th.Dim}
}

// keepDetails gives the pane its lines, and brings the curve into sight that was just asked for.
func (m *Model) keepDetails(th theme.Theme, w int, curve bool) {
	lines := m.detailLines(th, w, curve)
	m.pane.Keep(lines)
	if m.toCurve && curve {
		m.pane.Reveal(max(0, len(lines)-len(m.curveLines(th, w))), len(lines))
	}
	m.toCurve = false
}

// detailLines show the selected variant: its route first, then its facts, and, with curve, its curve.
func (m *Model) detailLines(th theme.Theme, w int, curve bool) []string {
	v := m.selected()
	if v == nil {
		return nil
	}
	var out []string
	add := func(label string, spans ...kit.Span) { out = append(out, kit.Row(th, w, 0, 12, label, spans...)...) }
	add("variant", kit.Plain(v.Label(quotelab.Axes{Funding: true, Slippage: true, Accounts: true})))
	r, ok := m.latest(v.Key)
	if !ok {
		add("", th.Dim.Span("Not asked yet."))
		return out
	}
	tone, words := r.Outcome()
	if !r.Figures() {
		add("answer", kit.Noted(th, look(tone), words)...)
		add("", kit.Plain(present.Clean(cmp.Or(r.Problem, r.Reason), 300)))
		if r.Refused > 0 {
			add("", th.Dim.Span("No figure of a blocked answer is shown."))
		}
		return append(out, m.drift(th, w, v.Key)...)
	}
	checks := fmt.Sprintf("%d passed, %s, %d blocked, %d not checked", r.Passed,
		present.Plural(r.Warned, "warning", "warnings"), r.Refused, r.Unknown)
	if r.Gated > 0 {
		checks += ", " + present.Plural(r.Gated, "gate", "gates")
	}
	add("checks", th.Style(look(tone)).Span(th.Sign(look(tone))+" "), kit.Plain(checks))
	if route := m.routeLines(th, w, r); len(route) > 0 {
		out = append(append(append(out, ""), route...), "")
	}
	if r.Prepared {
		out = append(out, m.estimateLines(th, w, r)...)
	}
	for i, p := range r.Pays {
		add(first(i, estimated(r, "pays")), kit.Plain(m.moneyText(th, &p)))
	}
	what := "delivered"
	if r.Prepared {
		what = "needs"
	}
	add(what, kit.Plain(m.moneyText(th, r.Delivered)))
	if r.Minimum != nil {
		add("minimum", kit.Plain(m.moneyText(th, r.Minimum)))
	}
	if r.Estimate || !r.Prepared {
		add(estimated(r, "all in"), kit.Plain("pays "+m.usd(th, r.PayMicro)+", fees "+m.usd(th, r.FeesMicro)+", cost "+
			m.usd(th, r.CostMicro)+" = "+r.Share()))
	}
	add("time", kit.Plain("valid for "+quotelab.Seconds(r.Lifetime)+", answered in "+ms(r)+" ms"))
	out = append(out, m.drift(th, w, v.Key)...)
	if r.CallType != "" {
		add("call type", kit.Plain(quotelab.CallType(r.CallType)))
	}
	if r.Words != "" {
		add("", th.Dim.Span(present.Clean(r.Words, 300)))
	}
	add("signatures", kit.Plain(present.Plural(r.Signs, "operation", "operations")+" to sign, none of them here"))
	if curve {
		out = append(append(out, ""), m.curveLines(th, w)...)
	}
	return out
}

// estimated marks the label of a figure that is an estimate.
func estimated(r quotelab.Answer, label string) string {
	if r.Estimate {
		return label + " ~"
	}
	return label
}

// estimateLines say what a prepared call lacks, and where its figures are from.
func (m *Model) estimateLines(th theme.Theme, w int, r quotelab.Answer) (out []string) {
	for i, x := range r.Missing {
		out = append(out, kit.Row(th, w, 0, 12, first(i, "missing"), kit.Plain(m.moneyText(th, &x)))...)
	}
	return append(out, kit.Row(th, w, 0, 12, "", th.Warn.Span(r.Basis()))...)
}

func first(i int, label string) string {
	if i > 0 {
		return ""
	}
	return label
}

// drift shows how a variant's figures moved over its results.
func (m *Model) drift(th theme.Theme, w int, key string) []string {
	all := m.series[key]
	if len(all) < 2 {
		return nil
	}
	room := max(8, min(30, w-56))
	var out []string
	line := func(label string, values []*big.Int, text func(*big.Int) string) {
		lo, mid, hi := spread(values)
		if lo == nil {
			return
		}
		spans := []kit.Span{{Text: kit.Spark(th, values, room), Style: th.Accent, Whole: true}, kit.Plain("  "),
			{Text: text(lo) + " / " + text(mid) + " / " + text(hi)}, th.Dim.Span("  min, median, max")}
		out = append(out, kit.Row(th, w, 0, 12, label, spans...)...)
	}
	amounts, fees := make([]*big.Int, len(all)), make([]*big.Int, len(all))
	var of *quotelab.Money
	for i, r := range all {
		fees[i] = r.FeesMicro
		if x := moving(r, m.draft.Kind); x != nil && (of == nil || of.Asset == x.Asset) {
			amounts[i], of = x.Amount, x
		}
	}
	text := func(v *big.Int) string {
		if m.hidden {
			return kit.Masked(th)
		}
		return quotelab.Money{Amount: v, Decimals: of.Decimals}.Figure()
	}
	if of != nil {
		line("drift", amounts, text)
	}
	line("fees", fees, func(v *big.Int) string { return m.usd(th, v) })
	var spans []kit.Span
	most := 1
	for _, b := range lives(all) {
		most = max(most, b.n)
	}
	for _, b := range lives(all) {
		if b.n > 0 {
			spans = append(spans, kit.Span{Text: b.words + " ", Whole: true},
				kit.Span{Text: strings.Repeat(th.Signs.BarFull, 1+7*b.n/most), Style: th.Accent, Whole: true},
				kit.Span{Text: " " + strconv.Itoa(b.n) + "   "})
		}
	}
	if len(spans) > 0 {
		out = append(out, kit.Row(th, w, 0, 12, "good for", spans...)...)
	}
	return out
}

// moving is the amount that a re-quote can change: what is delivered for a fixed payment.
func moving(r quotelab.Answer, kind string) *quotelab.Money {
	if kind == intent.KindSwap || kind == intent.KindTransfer {
		return r.Delivered
	}
	return nil
}
