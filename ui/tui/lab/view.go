package lab

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"coffer/api/amount"
	"coffer/ui/present"
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
	case m.compare:
		return m.compareView(f)
	case !m.have:
		return kit.Notice(th, theme.None, f.W, f.H, "There is nothing to quote yet.",
			"Build a call, a swap or a transfer (2), then come back: it is quoted here under several funding assets, "+
				"slippages and accounts, side by side.",
			"Nothing is signed here.")
	case m.wrong != "":
		return kit.Notice(th, theme.Warn, f.W, f.H, "The draft is not complete: "+m.wrong+".",
			"Go on building it (2), then come back.")
	}
	table := m.table.View(th, f.W, func(i int, c []kit.Cell) []kit.Cell {
		return m.cells(th, m.variants[i], i, c)
	})
	m.pane.Keep(m.detailLines(th, f.W-4))
	rule := th.Rule.Render(kit.Rule(th.Signs.Rule, f.W))
	pane := indented(m.pane.View(f.W - 2))
	return kit.Box(kit.Lines(m.titleLine(f), m.axesLine(th, f.W), table, rule, pane, m.stateLine(f)), f.W, f.H)
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
	left := "  " + th.Dim.Render("vary  ") + axis("f", "funding", m.axes.funding) + "  " +
		axis("l", "slippage", m.axes.slippage) + "  " + axis("u", "accounts", m.axes.accounts)
	right := present.Plural(len(m.variants), "variant", "variants")
	if m.total > len(m.variants) {
		right = fmt.Sprintf("%d of %d variants", len(m.variants), m.total)
	}
	return kit.Sides(left, th.Dim.Render(right)+" ", w)
}

func (m *Model) stateLine(f screen.Frame) string {
	th := f.Theme
	left := th.Dim.Render("not quoted yet: ") + th.Accent.Render("r") + th.Dim.Render(" quotes all, ") +
		th.Accent.Render("w") + th.Dim.Render(" watches every "+secs(m.pause()))
	switch {
	case m.asking >= 0 && m.watching:
		left = th.Dim.Render(fmt.Sprintf("watching, round %d of %d: asking for %s", m.rounds+1, MaxRounds,
			kit.Count(m.asking+1, len(m.variants))))
	case m.asking >= 0:
		left = th.Dim.Render("asking for " + kit.Count(m.asking+1, len(m.variants)))
	case m.watching:
		left = th.Dim.Render(fmt.Sprintf("watching, %d of %d rounds, again %s after the last", m.rounds, MaxRounds,
			secs(m.pause())))
	case m.why != "":
		left = th.Warn.Render(th.Signs.Warn + " " + m.why)
	case !m.last.IsZero():
		left = th.Dim.Render("quoted " + kit.Age(f.Now, m.last))
	}
	right := ""
	switch n := m.pane.Below(); {
	case n > 0:
		right = th.Accent.Render("J") + th.Dim.Render(" "+present.Plural(n, "line", "lines")+" below ")
	case m.heldWhy != "" && m.axes.funding:
		right = th.Warn.Render(th.Signs.Warn+" balances unknown") + " "
	}
	return kit.Sides("  "+left, right, f.W)
}

func (m *Model) cells(th theme.Theme, v *variant, i int, c []kit.Cell) []kit.Cell {
	pin := "  "
	if m.a.set && m.a.key == v.key {
		pin = "A "
	}
	if m.b.set && m.b.key == v.key {
		pin = pin[:1] + "B"
	}
	c = append(c, kit.Styled(pin, th.Accent), kit.Text(v.fund), kit.Text(bpsText(v.bps)),
		kit.Styled(v.accounts, th.Dim))
	r, ok := m.latest(v.key)
	switch {
	case v.off:
		c[1].Style = th.Disabled
		return append(c, kit.Cell{}, kit.Styled("left out", th.Disabled))
	case m.asking == i:
		return append(c, kit.Cell{}, kit.Styled("asking "+th.Signs.More, th.Dim))
	case !ok:
		return append(c, kit.Cell{}, kit.Styled("not asked", th.Dim))
	}
	look, words := r.outcome()
	var paid *Money
	if len(r.Pays) > 0 {
		paid = &r.Pays[0]
	}
	pays := m.amountCell(th, paid)
	if len(r.Pays) > 1 {
		pays.Tail += " +" + strconv.Itoa(len(r.Pays)-1)
	}
	return append(c, pays, m.amountCell(th, r.Delivered), m.amountCell(th, r.Minimum),
		known(th, m.usd(th, r.FeesMicro)), known(th, bpsText(r.CostBps)), known(th, secs(r.Lifetime)),
		kit.Styled(ms(r), th.Dim), kit.Styled(callType(r.CallType), th.Dim),
		kit.Styled(th.Sign(look)+" "+words, th.Style(look)))
}

func ms(r Result) string { return amount.Group(strconv.FormatInt(r.Latency.Milliseconds(), 10)) }

// known draws a missing figure as missing.
func known(th theme.Theme, s string) kit.Cell {
	if s == present.UnknownText {
		return kit.Styled(s, th.Unknown)
	}
	return kit.Text(s)
}

// amountCell writes an amount with few decimals; the details below have all of them.
func (m *Model) amountCell(th theme.Theme, x *Money) kit.Cell {
	switch {
	case x == nil:
		return kit.Styled(present.UnknownText, th.Unknown)
	case m.hidden:
		return kit.Styled(kit.Masked(th), th.Dim)
	case x.Decimals < 0:
		return kit.Text(figure(*x))
	}
	f := kit.Short(x.Amount, x.Decimals, 8, th.Signs.More)
	return kit.Cell{Text: strings.TrimRight(f.Main, " "), Tail: strings.TrimRight(f.Zeros, " ") + " " +
		present.Clean(x.Symbol, 6), TailStyle: th.Dim}
}

// detailLines shows everything about the selected variant.
func (m *Model) detailLines(th theme.Theme, w int) []string {
	v := m.selected()
	if v == nil {
		return nil
	}
	var out []string
	add := func(label string, spans ...kit.Span) { out = append(out, kit.Row(th, w, 0, 12, label, spans...)...) }
	add("variant", kit.Plain(v.label(axes{true, true, true})))
	r, ok := m.latest(v.key)
	if !ok {
		add("", th.Dim.Span("Not asked yet."))
		return out
	}
	look, _ := r.outcome()
	add("checks", th.Style(look).Span(th.Sign(look)+" "),
		kit.Plain(fmt.Sprintf("%d passed, %d to read, %d gated, %d refused, %d could not be made", r.Passed, r.Warned,
			r.Gated, r.Refused, r.Unknown)))
	switch {
	case r.Problem != "":
		add("", th.Danger.Span(r.Problem+"."))
		return append(out, m.drift(th, w, v.key)...)
	case r.Refused > 0:
		add("", th.Danger.Span(present.Clean(r.Reason, 300)+" No figure of a refused answer is shown."))
		return append(out, m.drift(th, w, v.key)...)
	}
	if r.Prepared {
		add("", th.Warn.Span("Prepared only: what a call costs is known after its first signature, and the lab "+
			"never signs. The review (o) goes on from here."))
	}
	for i, p := range r.Pays {
		add(first(i, "pays"), kit.Plain(m.moneyText(th, &p)))
	}
	what := "delivered"
	if r.Prepared {
		what = "needs"
	}
	add(what, kit.Plain(m.moneyText(th, r.Delivered)))
	if r.Minimum != nil {
		add("minimum", kit.Plain(m.moneyText(th, r.Minimum)))
	}
	if !r.Prepared {
		add("all in", kit.Plain("pays "+m.usd(th, r.PayMicro)+", fees "+m.usd(th, r.FeesMicro)+", cost "+
			m.usd(th, r.CostMicro)+" = "+bpsText(r.CostBps)))
	}
	add("time", kit.Plain("good for "+secs(r.Lifetime)+", answered in "+ms(r)+" ms"))
	out = append(out, m.drift(th, w, v.key)...)
	if r.CallType != "" {
		add("call type", kit.Plain(callType(r.CallType)))
	}
	if r.Words != "" {
		add("", th.Dim.Span(present.Clean(r.Words, 300)))
	}
	add("signatures", kit.Plain(present.Plural(r.Legs, "operation", "operations")+" to sign, none of them here"))
	return out
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
	var of *Money
	for i, r := range all {
		fees[i] = r.FeesMicro
		if x := r.moving(m.draft.Kind); x != nil && (of == nil || of.Asset == x.Asset) {
			amounts[i], of = x.Amount, x
		}
	}
	text := func(v *big.Int) string {
		if m.hidden {
			return kit.Masked(th)
		}
		return figure(Money{Amount: v, Decimals: of.Decimals})
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
func (r Result) moving(kind string) *Money {
	if kind == intent.KindSwap || kind == intent.KindTransfer {
		return r.Delivered
	}
	return nil
}
