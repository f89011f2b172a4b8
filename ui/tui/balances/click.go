package balances

import (
	tea "charm.land/bubbletea/v2"

	"coffer/ui/tui/kit"
	"coffer/ui/tui/screen"
)

// click selects a line, opens or closes the selected one, and sorts by a title.
func (m *Model) click(msg screen.ClickMsg) tea.Cmd {
	const above = 1 // the title of the pane
	if m.allowed.open {
		m.clickAllowances(msg)
		return nil
	}
	if m.receive.open || m.inspect || m.data == nil || len(m.rows) == 0 {
		return nil
	}
	m.filter.Blur()
	pane, _ := kit.PaneAt(m.panes(), msg.X)
	if m.focus = kit.Focus(pane); pane > 0 {
		return nil
	}
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
	m.showDetails()
	if m.selected == before {
		m.toggle("enter")
	}
	return nil
}

// sortAt sorts by the column at cell x, or reverses the order when it sorts by that column already.
func (m *Model) sortAt(x int) {
	const mark = 2
	at, wide := mark, m.panes()[0]
	for i, by := range [...]column{titleAt: titleColumn, amountAt: amountColumn, shareAt: valueColumn,
		percentAt: valueColumn, valueAt: valueColumn} {
		if !m.table.Shows(i, wide) {
			continue
		}
		w := m.table.WidthOf(i, wide)
		if x >= at && x < at+w {
			if i == titleAt && x >= at+m.symbol+gap {
				by = nameColumn
			}
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
