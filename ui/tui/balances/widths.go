package balances

import (
	"coffer/ui/present"
	"coffer/ui/tui/kit"
)

// Widths of the columns with figures: their minimum, and the most that a figure may take from the other columns. A
// longer figure is written with the number of its digits.
const (
	titleMin  = 16
	amountMin = 18
	valueMin  = 13
	amountMax = 26
	valueMax  = 24
	gaps      = 3 * 2 // the mark of the selection, and the spaces before amount and value
)

// widths are those of the amount and of the value: no figure loses a digit while another column can give way.
type widths struct{ amount, value int }

// measure notes the width of the widest figures.
func (m *Model) measure() {
	m.wide = widths{amount: amountMin, value: valueMin}
	for _, r := range m.rows {
		if n := amountWidth(r); n <= amountMax {
			m.wide.amount = max(m.wide.amount, n)
		}
		if n := valueWidth(r); n <= valueMax {
			m.wide.value = max(m.wide.value, n)
		}
	}
}

func amountWidth(r row) int {
	if !r.figure || r.amount == nil || r.decimals < 0 {
		return 0
	}
	return present.Width(kit.Short(r.amount, r.decimals, shownDecimals, "…").String())
}

func valueWidth(r row) int {
	n := present.Width(present.USD(r.micro))
	if r.partial {
		n += present.Width(present.UnknownText)
	}
	return n
}

// fitted are the widths for w cells. The value goes before the amount, because one key shows the amount in base units.
// Hidden figures change nothing, or the width would reveal their size.
func (m *Model) fitted(w int) widths {
	if m.hidden {
		return widths{amount: amountMin, value: valueMin}
	}
	room := w - gaps - titleMin
	value := max(valueMin, min(m.wide.value, room-amountMin))
	return widths{amount: max(amountMin, min(m.wide.amount, room-value)), value: value}
}
