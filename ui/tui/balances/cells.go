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
		return append(c, kit.Cell{Text: " " + present.Plural(m.zeros, "zero balance", "zero balances") + " hidden (z)",
			Style: th.Dim, Span: true})
	case headRow:
		return m.headCells(th, r, w, c)
	}
	title := kit.Styled("    "+r.title, th.Dim)
	if r.kind == groupRow {
		title = m.groupTitle(th, r)
	}
	title = m.named(th, marked(th, title, r, m.table.WidthOf(titleAt, w)), r, w)
	if r.alone {
		return append(c, title, kit.Cell{}, kit.Cell{}, kit.Cell{}, kit.Cell{})
	}
	return append(c, title, m.amountCell(th, r, m.table.WidthOf(amountAt, w)),
		m.shareCell(th, r, m.table.WidthOf(shareAt, w)), m.percentCell(th, r),
		m.valueCell(th, r, m.table.WidthOf(valueAt, w)))
}

// nameOf is what a line says behind its title.
func (m *Model) nameOf(r row) string {
	if r.kind == groupRow && r.name == "" && m.view == byChain {
		return present.Plural(r.parts, "asset", "assets")
	}
	return r.name
}

// named puts the name of a line behind its title, where the column has room for names. A mark of findings stays.
func (m *Model) named(th theme.Theme, c kit.Cell, r row, w int) kit.Cell {
	name, room := m.nameOf(r), m.table.WidthOf(titleAt, w)
	cut := m.view == byAsset && room < m.wide.names
	if c.Tail != "" || name == "" || room <= m.symbol || cut {
		return c
	}
	c.Text = kit.Fit(c.Text, max(m.symbol, present.Width(c.Text))) + "  "
	c.Tail, c.TailStyle = name, th.Dim
	return c
}

// headCells is the heading of the unpriced assets or of dust.
func (m *Model) headCells(th theme.Theme, r row, w int, c []kit.Cell) []kit.Cell {
	sign := th.Signs.Closed
	if m.isOpen(r.key) {
		sign = th.Signs.Open
	}
	title, value := kit.Text(sign+" "+r.key+" ("+strconv.Itoa(r.parts)+")"), kit.Styled(present.UnknownText, th.Unknown)
	note := kit.Styled("no price", th.Dim)
	if r.key == dustKey {
		note = kit.Styled("below "+present.USD(m.ctx.Settings.Dust), th.Dim)
		value = m.valueCell(th, r, m.table.WidthOf(valueAt, w))
	}
	return append(c, title, kit.Cell{}, note, kit.Cell{}, value)
}

func (m *Model) groupTitle(th theme.Theme, r row) kit.Cell {
	sign := th.Signs.Closed
	if m.isOpen(r.key) {
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

// amountCell writes an amount without trailing zeros, its point under those of the other lines.
func (m *Model) amountCell(th theme.Theme, r row, w int) kit.Cell {
	switch {
	case !r.figure:
		return kit.Cell{}
	case m.hidden:
		return kit.Styled(kit.Masked(th), th.Dim)
	case r.amount == nil || r.decimals < 0:
		return kit.Styled(strings.Repeat(" ", max(0, min(m.whole, w)-1))+present.UnknownText, th.Unknown)
	}
	whole, fraction := amountText(r, th.Signs.More)
	text := strings.Repeat(" ", max(0, m.whole-present.Width(whole))) + whole + fraction
	c := kit.Text(text)
	if present.Width(text) > w {
		c.Text = long(amount.Group(amount.Scale(r.amount, r.decimals, 0).String()), th.Signs.More, w)
	}
	if r.kind == partRow {
		c.Style = th.Dim
	}
	return c
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
	switch {
	case r.kind != groupRow || m.hidden:
		return kit.Cell{}
	case r.micro == nil:
		return kit.Styled("no price", th.Dim)
	case r.micro.Sign() == 0:
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
		tails = []string{unpricedTail, present.UnknownText}
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
