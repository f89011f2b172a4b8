package lab

import (
	"cmp"
	"math/big"
	"strings"

	"coffer/ui/present"
	"coffer/ui/quotelab"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/theme"
)

// The columns of a lane, in cells.
const (
	stageW = 9
	valueW = 11
	barMin = 8
	thinW  = 72 // below it a lane takes two lines
)

// routeLines draw the way of the money of an answer, every bar to one scale: in steps of an eighth of a cell, or whole
// cells where only ASCII may be drawn.
func (m *Model) routeLines(th theme.Theme, w int, r quotelab.Answer) (out []string) {
	lanes := quotelab.Route(r)
	top := quotelab.Longest(lanes)
	before := quotelab.Stage("")
	name, figureW := 0, 0
	for _, l := range lanes {
		name, figureW = max(name, present.Width(l.Name)+1), max(figureW, present.Width(m.laneText(th, l))+1)
	}
	name = min(name, w-stageW-figureW-valueW-barMin) // figures are whole, names give way
	for _, l := range lanes {
		stage := ""
		if l.Stage != before {
			stage, before = string(l.Stage), l.Stage
		}
		figure, value := m.laneText(th, l), about(r, m.usd(th, l.Micro))
		head := th.Dim.Render(kit.Fit(stage, stageW))
		if w < thinW {
			name := w - stageW - present.Width(figure) - 1
			out = append(out, head+kit.Fit(l.Name, max(0, name))+" "+figure)
			bar := w - stageW - valueW
			out = append(out, kit.Fit("", stageW)+m.bar(th, l.Micro, top, bar)+kit.FitRight(value, valueW))
			continue
		}
		bar := w - stageW - name - figureW - valueW
		out = append(out, head+kit.Fit(l.Name, name)+m.bar(th, l.Micro, top, bar)+kit.FitRight(figure, figureW)+
			kit.FitRight(value, valueW))
	}
	return out
}

func (m *Model) bar(th theme.Theme, v, top *big.Int, w int) string {
	c := kit.BarCell(th, v, top, max(0, w))
	return c.Style.Render(kit.Fit(c.Text, max(0, w)))
}

// laneText is the amount of a lane with few decimals.
func (m *Model) laneText(th theme.Theme, l quotelab.Lane) string {
	switch {
	case l.Of == nil:
		return l.Share
	case m.hidden:
		return kit.Masked(th)
	case l.Of.Decimals < 0:
		return l.Of.Figure() + " base units"
	}
	figure := strings.TrimRight(kit.Short(l.Of.Amount, l.Of.Decimals, 8, th.Signs.More).String(), " ")
	return figure + " " + kit.Fit(present.Clean(l.Of.Symbol, 6), 5)
}

// chart draws values as a filled curve in h lines of w cells, labelW of them for the largest and the smallest value at
// its left. base, where it is set, is below everything: a cost is drawn from zero.
func chart(th theme.Theme, values []*big.Int, base *big.Int, w, h int) (out []string) {
	const labelW = 10
	cols := quotelab.Columns(values, max(0, w-labelW))
	lo, hi := present.Bounds(values)
	if lo == nil || len(cols) == 0 {
		return nil
	}
	if base != nil && base.Cmp(lo) < 0 {
		lo = base
	}
	steps := len(th.Signs.Sparks)
	span := new(big.Int).Sub(hi, lo)
	for y := h - 1; y >= 0; y-- {
		label := ""
		switch y {
		case h - 1:
			label = quotelab.ShareText(hi)
		case 0:
			label = quotelab.ShareText(lo)
		}
		var b strings.Builder
		for _, v := range cols {
			b.WriteString(column(th.Signs.Sparks, eighths(v, lo, span, h*steps)-y*steps))
		}
		out = append(out, th.Dim.Render(kit.FitRight(label, labelW-1))+" "+th.Accent.Render(b.String()))
	}
	return out
}

// eighths is the height of a value among so many steps, at least one; 0 where it is unknown.
func eighths(v, lo, span *big.Int, steps int) int {
	if v == nil {
		return 0
	}
	if span.Sign() <= 0 {
		return 1
	}
	part := new(big.Int).Sub(v, lo)
	part.Mul(part, big.NewInt(int64(steps-1)))
	return 1 + int(part.Quo(part, span).Int64())
}

// column is one cell of a column that reaches n steps into it.
func column(sparks []string, n int) string {
	if n <= 0 {
		return " "
	}
	return sparks[min(n, len(sparks))-1]
}

// curveLines draw cost over amount and cost over time of the selected variant.
func (m *Model) curveLines(th theme.Theme, w int) (out []string) {
	v := m.selected()
	if v == nil {
		return nil
	}
	const high = 6
	out = append(out, th.Strong.Render("Cost over amount"))
	points := m.points
	if m.curveKey != v.Key {
		points = nil
	}
	lines := chart(th, quotelab.CostsOver(points), new(big.Int), w, high)
	switch {
	case len(points) == 0:
		out = append(out, kit.Row(th, w, 0, 0, "", th.Dim.Span(m.whyNoCurve(v)))...)
	case lines == nil:
		out = append(out, th.Dim.Render("No cost is known yet."))
	}
	out = append(out, lines...)
	for _, p := range points {
		cost := th.Dim.Render("asking " + th.Signs.More)
		if p.Asked {
			tone, words := p.Answer.Outcome()
			cost = th.Style(look(tone)).Render(th.Sign(look(tone)) + " " + words)
			if p.Answer.Figures() {
				cost = kit.FitRight(about(p.Answer, p.Answer.Share()), 9) +
					kit.FitRight(about(p.Answer, m.usd(th, p.Answer.CostMicro)), valueW)
			}
		}
		of := kit.Masked(th)
		if !m.hidden {
			of = strings.TrimRight(kit.Short(p.Of.Amount, p.Of.Decimals, 6, th.Signs.More).Main, " .") + " " +
				present.Clean(p.Of.Symbol, 8)
		}
		out = append(out, kit.FitRight(of, max(8, min(20, w-22)))+"  "+cost)
	}
	if all := m.series[v.Key]; len(all) > 1 {
		if lines := chart(th, quotelab.CostsOf(all), nil, w, high); lines != nil {
			out = append(out, "", th.Strong.Render("Cost over time")+th.Dim.Render("  "+
				all[0].At.Format("02 Jan 15:04")+" to "+all[len(all)-1].At.Format("02 Jan 15:04")))
			out = append(out, lines...)
		}
	}
	return out
}

func (m *Model) whyNoCurve(v *quotelab.Variant) string {
	r, ok := m.latest(v.Key)
	switch {
	case !ok:
		return "Not asked yet: r quotes all, then asks for six amounts of the selected variant."
	case !r.Figures():
		return "This variant has no figures."
	case r.Prepared && !r.Estimate:
		return "Nothing is estimated: " + cmp.Or(present.Clean(r.Why, 300), present.UnknownText)
	}
	return "v asks for six amounts of this variant."
}
