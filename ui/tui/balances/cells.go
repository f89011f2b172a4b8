package balances

import (
	"math/big"
	"strconv"
	"strings"

	"coffer/api/amount"
	"coffer/ui/present"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/theme"
)

const shownDecimals = 6

func (m *Model) cells(th theme.Theme, w, i int, c []kit.Cell) []kit.Cell {
	r := m.rows[i]
	switch r.kind {
	case noteRow:
		return append(c, kit.Cell{Text: present.Plural(m.zeros, "zero balance is", "zero balances are") +
			" not shown: press z", Style: th.Dim, Span: true})
	case headRow:
		return m.headCells(th, r, w, c)
	}
	title, name := kit.Styled("    "+r.title, th.Dim), kit.Styled(r.name, th.Dim)
	if r.kind == groupRow {
		title = m.groupTitle(th, r)
		if r.name == "" && m.view == byChain {
			name = kit.Styled(present.Plural(r.parts, "asset", "assets"), th.Dim)
		}
	}
	title = marked(th, title, r, m.table.WidthOf(titleAt, w))
	return append(c, title, name, m.amountCell(th, r, m.table.WidthOf(amountAt, w)),
		m.shareCell(th, r, m.table.WidthOf(shareAt, w)), m.percentCell(th, r),
		m.valueCell(th, r, m.table.WidthOf(valueAt, w)))
}

// headCells is the heading of the unpriced assets or of dust.
func (m *Model) headCells(th theme.Theme, r row, w int, c []kit.Cell) []kit.Cell {
	sign := th.Signs.Closed
	if m.isOpen(r.key) {
		sign = th.Signs.Open
	}
	title, name := kit.Text(sign+" "+r.key+" ("+strconv.Itoa(r.parts)+")"), kit.Styled("no price", th.Dim)
	value := kit.Styled(present.UnknownText, th.Unknown)
	if r.key == dustKey {
		name = kit.Styled("below "+present.USD(m.ctx.Settings.Dust), th.Dim)
		value = m.valueCell(th, r, m.table.WidthOf(valueAt, w))
	}
	return append(c, title, name, kit.Cell{}, kit.Cell{}, kit.Cell{}, value)
}

func (m *Model) groupTitle(th theme.Theme, r row) kit.Cell {
	sign := th.Signs.Closed
	if m.open[r.key] {
		sign = th.Signs.Open
	}
	if r.parts == 0 {
		sign = " "
	}
	c := kit.Cell{Text: sign + " " + r.title}
	if r.deep {
		c.Text = "  " + c.Text
	}
	return c
}

// marked puts the sign of the findings behind a title, where cutting a long title does not remove it.
func marked(th theme.Theme, c kit.Cell, r row, w int) kit.Cell {
	if mean := r.worst(); mean != theme.None {
		c.Text = kit.Cut(c.Text, w-2, th.Signs.More)
		c.Tail, c.TailStyle = " "+th.Sign(mean), th.Style(mean)
	}
	return c
}

func (m *Model) amountCell(th theme.Theme, r row, w int) kit.Cell {
	switch {
	case !r.figure:
		return kit.Cell{}
	case m.hidden:
		return kit.Styled(kit.Masked(th)+strings.Repeat(" ", shownDecimals-2), th.Dim)
	case r.amount == nil || r.decimals < 0:
		return kit.Styled(kit.Short(nil, 0, shownDecimals, "").Main, th.Unknown)
	}
	f := kit.Short(r.amount, r.decimals, shownDecimals, th.Signs.More)
	if present.Width(f.String()) <= w {
		return f.Cell(th)
	}
	whole := amount.Scale(r.amount, r.decimals, 0)
	return kit.Text(long(amount.Group(whole.String()), th.Signs.More, w))
}

// long shortens a figure that does not fit to its first digits and the number of digits of its whole part, so that its
// size shows: "115,792… 60 digits". Inspect shows the full figure.
func long(s, more string, w int) string {
	if present.Width(s+more) <= w {
		return s + more
	}
	digits := 0
	for _, r := range s {
		if r >= '0' && r <= '9' {
			digits++
		}
	}
	tail := more + " " + strconv.Itoa(digits) + " digits"
	if present.Width(tail) >= w {
		tail = more + " " + strconv.Itoa(digits) + " dig."
	}
	room := max(1, w-present.Width(tail))
	return strings.TrimRight(s[:min(len(s), room)], ",") + tail
}

func (m *Model) shareCell(th theme.Theme, r row, w int) kit.Cell {
	if r.kind != groupRow || m.hidden || r.micro == nil || r.micro.Sign() == 0 {
		return kit.Cell{}
	}
	return kit.BarCell(th, r.micro, m.total(), w)
}

func (m *Model) percentCell(th theme.Theme, r row) kit.Cell {
	if r.micro == nil || r.micro.Sign() == 0 || m.hidden || r.kind != groupRow {
		return kit.Cell{}
	}
	return kit.Styled(present.Share(r.micro, m.total()), th.Dim)
}

func (m *Model) valueCell(th theme.Theme, r row, w int) kit.Cell {
	switch {
	case m.hidden:
		return kit.Styled(kit.Masked(th), th.Dim)
	case r.micro == nil:
		return kit.Styled(present.UnknownText, th.Unknown)
	}
	tails := []string{""}
	if r.partial {
		tails = []string{" + " + present.UnknownText, present.UnknownText}
	}
	var c kit.Cell
	for _, tail := range tails {
		c = kit.Cell{Text: present.USD(r.micro), Tail: tail, TailStyle: th.Unknown}
		if present.Width(c.Text+tail) > w {
			dollars := new(big.Int).Quo(r.micro, big.NewInt(1_000_000))
			c.Text = "$" + long(amount.Group(dollars.String()), th.Signs.More, w-1-present.Width(tail))
		}
		if present.Width(c.Text+tail) <= w {
			break
		}
	}
	if r.kind == partRow {
		c.Style = th.Dim
	}
	return c
}
