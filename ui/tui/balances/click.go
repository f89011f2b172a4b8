package balances

import (
	tea "charm.land/bubbletea/v2"

	"coffer/ui/tui/screen"
)

// click selects a line, opens or closes the selected one, and sorts by a title.
func (m *Model) click(msg screen.ClickMsg) tea.Cmd {
	const above = 1 // the state line
	if m.receive || m.inspect || m.data == nil || len(m.rows) == 0 {
		return nil
	}
	m.filter.Blur()
	y := msg.Y - above
	if y == 0 {
		m.sortAt(msg.X)
		return nil
	}
	before := m.selected
	if !m.table.Click(y) {
		return nil
	}
	m.remember()
	if m.selected == before {
		m.toggle("enter")
	}
	return nil
}

// sortAt sorts by the column at cell x, or reverses the order when it sorts by that column already.
func (m *Model) sortAt(x int) {
	const mark, gap = 2, 2
	at := mark
	for i, by := range [...]column{titleAt: titleColumn, nameAt: nameColumn, amountAt: amountColumn,
		shareAt: valueColumn, percentAt: valueColumn, valueAt: valueColumn} {
		if !m.table.Shows(i, m.w) {
			continue
		}
		w := m.table.WidthOf(i, m.w)
		if x >= at && x < at+w {
			if m.order.by == by {
				m.order.reversed = !m.order.reversed
			} else {
				m.order = order{by: by}
			}
			m.arrange()
			return
		}
		at += w + gap
	}
}
