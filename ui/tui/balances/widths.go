package balances

import (
	"strings"

	"coffer/ui/present"
	"coffer/ui/tui/kit"
)

// Widths of the columns: their minimum, and the most that a figure may take from the other columns. A longer figure is
// written with the number of its digits.
const (
	titleMin   = 10
	partMin    = 16 // of a title while a group is open
	amountMin  = 8
	amountLong = 18 // of an amount that is written with the number of its digits
	valueMin   = 9
	valueLong  = 13
	amountMax  = 26
	valueMax   = 24
	barMin     = 8
	barWith    = 12 // of a bar beside names
	barMax     = 17
	percent    = 7
	gap        = 2
)

// widths are those of the title without and with its name, of the amount and of the value: no figure loses a digit
// while another column can give way.
type widths struct{ title, names, amount, value int }

// measure notes the widths of the widest figures, and of the widest title and name.
func (m *Model) measure() {
	m.wide = widths{title: titleMin, amount: amountMin, value: valueMin}
	fraction, name := 0, 0
	m.symbol, m.whole = 0, 0
	for _, r := range m.rows {
		switch r.kind {
		case groupRow:
			m.symbol, name = max(m.symbol, present.Width(r.title)+2), max(name, present.Width(m.nameOf(r)))
		case partRow:
			m.wide.title = partMin
		case headRow, noteRow:
		}
		if whole, frac := amountParts(r); whole+frac <= amountMax {
			m.whole, fraction = max(m.whole, whole), max(fraction, frac)
		} else {
			m.wide.amount = max(m.wide.amount, amountLong)
		}
		if n := valueWidth(r); n <= valueMax {
			m.wide.value = max(m.wide.value, n)
		} else {
			m.wide.value = max(m.wide.value, valueLong)
		}
	}
	m.wide.title = max(m.wide.title, min(m.symbol, 18))
	m.wide.names = max(m.wide.title, m.symbol+gap+name)
	m.wide.amount = max(m.wide.amount, m.whole+fraction)
}

// amountText is the amount of a line without trailing zeros, its whole part and what follows that, the point included.
func amountText(r row, more string) (whole, fraction string) {
	text := strings.TrimRight(kit.Short(r.amount, r.decimals, shownDecimals, more).Main, " ")
	if i := strings.IndexByte(text, '.'); i >= 0 {
		fraction, cut := strings.CutSuffix(text[i:], more)
		if cut {
			fraction = strings.TrimRight(fraction, "0") + more
		}
		return text[:i], fraction
	}
	return text, ""
}

func amountParts(r row) (whole, fraction int) {
	if !r.figure || r.amount == nil || r.decimals < 0 {
		return 0, 0
	}
	w, f := amountText(r, "…")
	return present.Width(w), present.Width(f)
}

// unpricedTail follows a value to which something without a price belongs.
const unpricedTail = " + " + present.UnknownText

func valueWidth(r row) int {
	n := present.Width(present.USD(r.micro))
	if r.partial {
		n += present.Width(unpricedTail)
	}
	return n
}

// fitted are the widths for w cells: names where a bar has room beside them, in the views that need them in any case.
// The value goes before the amount, because one key shows the amount in base units. Hidden figures change nothing, or
// the width would reveal their size.
func (m *Model) fitted(w int) widths {
	out := m.wide
	if m.hidden {
		out.amount, out.value = amountMin, valueMin
	}
	room := w - 3*gap - out.title
	leastAmount := min(out.amount, amountLong)
	out.value = max(min(out.value, valueLong), min(out.value, room-leastAmount))
	out.amount = max(leastAmount, min(out.amount, room-out.value))
	switch need := out.names + out.amount + out.value + percent + 5*gap; {
	case need+barWith <= w:
		out.title = out.names
	case m.view == byAsset:
		out.names = out.title
	default:
		out.title = max(out.title, min(out.names, w-3*gap-out.amount-out.value))
	}
	return out
}
