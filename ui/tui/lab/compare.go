package lab

import (
	"cmp"
	"math/big"
	"strconv"
	"strings"

	"coffer/api/amount"
	"coffer/ui/present"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/screen"
	"coffer/ui/tui/theme"
)

// field is one line of a comparison: both sides and, where they can be subtracted, B minus A.
type field struct {
	name, a, b, delta string
}

// differs reports whether the sides differ, even in digits that are not shown.
func (f field) differs() bool { return f.a != f.b || f.delta != "" }

// fields compares two results field by field.
func (m *Model) fields(th theme.Theme, a, b Result) []field {
	_, outA := a.outcome()
	_, outB := b.outcome()
	one := func(r Result) *Money {
		if len(r.Pays) == 1 {
			return &r.Pays[0]
		}
		return nil
	}
	list := func(r Result) string {
		if len(r.Pays) == 0 {
			return present.UnknownText
		}
		s := m.moneyText(th, &r.Pays[0])
		for i := range r.Pays[1:] {
			s += ", " + m.moneyText(th, &r.Pays[i+1])
		}
		return s
	}
	money := func(name string, a, b *Money) field {
		return field{name, m.moneyText(th, a), m.moneyText(th, b), m.delta(th, a, b)}
	}
	usd := func(name string, a, b *big.Int) field {
		return field{name, m.usd(th, a), m.usd(th, b), m.deltaUSD(th, a, b)}
	}
	return []field{
		{"asked at", a.At.Format("02 Jan 15:04:05"), b.At.Format("02 Jan 15:04:05"), ""},
		{"checks", outA, outB, ""},
		{"pays", list(a), list(b), m.delta(th, one(a), one(b))},
		money("delivered", a.Delivered, b.Delivered),
		money("minimum", a.Minimum, b.Minimum),
		usd("fees", a.FeesMicro, b.FeesMicro),
		usd("all-in cost", a.CostMicro, b.CostMicro),
		{"cost of payment", bpsText(a.CostBps), bpsText(b.CostBps), deltaBps(a.CostBps, b.CostBps)},
		{"good for", secs(a.Lifetime), secs(b.Lifetime), ""},
		{"answered in", ms(a) + " ms", ms(b) + " ms", ""},
		{"call type", cmp.Or(callType(a.CallType), present.UnknownText),
			cmp.Or(callType(b.CallType), present.UnknownText), ""},
		{"to sign", strconv.Itoa(a.Legs), strconv.Itoa(b.Legs), ""},
		{"refusal", orNone(a.Reason + a.Problem), orNone(b.Reason + b.Problem), ""},
	}
}

func orNone(s string) string {
	return present.Clean(cmp.Or(s, "none"), 200)
}

// delta is B minus A of the same asset; "" when it is unknown.
func (m *Model) delta(th theme.Theme, a, b *Money) string {
	if a == nil || b == nil || a.Asset != b.Asset || a.Decimals != b.Decimals || a.Amount.Cmp(b.Amount) == 0 {
		return ""
	}
	if m.hidden {
		return kit.Masked(th)
	}
	d := new(big.Int).Sub(b.Amount, a.Amount)
	return signed(d, figure(Money{Amount: new(big.Int).Abs(d), Decimals: a.Decimals})) + " " +
		present.Clean(a.Symbol, 20)
}

func (m *Model) deltaUSD(th theme.Theme, a, b *big.Int) string {
	if a == nil || b == nil || a.Cmp(b) == 0 {
		return ""
	}
	if m.hidden {
		return kit.Masked(th)
	}
	d := new(big.Int).Sub(b, a)
	return signed(d, "$"+amount.Plain(new(big.Int).Abs(d), 6))
}

func deltaBps(a, b int) string {
	if a < 0 || b < 0 || a == b {
		return ""
	}
	d := big.NewInt(int64(b - a))
	return signed(d, bpsText(int(new(big.Int).Abs(d).Int64())))
}

func signed(d *big.Int, abs string) string {
	if d.Sign() < 0 {
		return "-" + abs
	}
	return "+" + abs
}

// compareView draws A and B field by field.
func (m *Model) compareView(f screen.Frame) string {
	th := f.Theme
	var lines []string
	label := func(name string, p pin) {
		lines = append(lines, kit.Row(th, f.W-4, 0, 4, name, kit.Plain(p.label))...)
	}
	label("A", m.a)
	label("B", m.b)
	lines = append(lines, "")
	n := 0
	for _, x := range m.fields(th, m.a.result, m.b.result) {
		if x.differs() {
			n++
		}
		lines = append(lines, m.fieldLines(th, f.W-4, x)...)
	}
	m.pane.Resize(f.H - 2)
	m.pane.Keep(lines)
	title := kit.Sides("  "+th.Strong.Render("A against B"),
		th.Dim.Render(present.Plural(n, "difference", "differences")+" ")+" ", f.W)
	body := indented(m.pane.View(f.W - 2))
	return kit.Box(kit.Lines(title, body, kit.Sides("", th.Dim.Render(m.pane.More(th))+" ", f.W)), f.W, f.H)
}

// fieldLines writes one field: side by side where there is room, else below each other.
func (m *Model) fieldLines(th theme.Theme, w int, x field) []string {
	mark, look := "  ", th.Text
	if x.differs() {
		mark, look = th.Signs.Warn+" ", th.Warn
	}
	const name = 16
	side := (w - 2 - name - 4) * 3 / 8
	rest := w - 2 - name - 2*side - 4
	if present.Width(x.a) <= side && present.Width(x.b) <= side && present.Width(x.delta) <= rest {
		return []string{look.Render(mark) + th.Dim.Render(kit.Fit(x.name, name)) + kit.Fit(x.a, side) + "  " +
			look.Render(kit.Fit(x.b, side)) + "  " + th.Dim.Render(kit.Fit(x.delta, rest))}
	}
	out := []string{look.Render(mark) + th.Dim.Render(x.name)}
	out = append(out, kit.Row(th, w, 4, 3, "A", kit.Plain(x.a))...)
	out = append(out, kit.Row(th, w, 4, 3, "B", look.Span(x.b))...)
	if x.delta != "" {
		out = append(out, kit.Row(th, w, 4, 3, "", th.Dim.Span(x.delta))...)
	}
	return out
}

// indented moves every line two cells to the right.
func indented(s string) string { return "  " + strings.ReplaceAll(s, "\n", "\n  ") }
