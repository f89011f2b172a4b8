package history

import (
	tea "charm.land/bubbletea/v2"

	"coffer/ui/tui/kit"
	"coffer/ui/tui/screen"
)

// Update handles one message.
func (m *Model) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case screen.ResizedMsg:
		m.resize(msg.W, msg.H)
		m.table.Select(m.table.Selected())
		m.remember()
		m.showDetails()
		return m.wantMore()
	case pageMsg:
		if msg.gen == m.gen {
			return m.arrived(msg)
		}
	case followMsg:
		if msg.gen == m.gen && !m.loading {
			return m.startRefresh(PageSize)
		}
	case stillMsg:
		if msg.move == m.moves {
			m.showDetails()
		}
	case screen.BalancesChangedMsg:
		return m.refresh()
	case screen.AmountsMsg:
		m.hidden = msg.Hidden
	case screen.OpenedMsg:
		if m.ctx.Clock().Sub(m.at) > freshFor {
			return m.refresh()
		}
	case tea.PasteMsg:
		return m.pasted(msg)
	case screen.ClickMsg:
		m.alone = 0
		return m.clicked(msg)
	case tea.KeyPressMsg:
		m.alone = 0
		return m.press(msg)
	default:
		return m.cached(msg)
	}
	return nil
}

// cached handles what commands report about files.
func (m *Model) cached(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case loadedMsg:
		return m.wasLoaded(msg)
	case savedMsg:
		return tea.Batch(m.wasSaved(msg), m.saveSoon())
	case saveMsg:
		m.saveDue = false
		return m.saveSoon()
	case exportedMsg:
		return wasExported(msg)
	}
	return nil
}

// refresh reads from the top, unless a reading is in progress.
func (m *Model) refresh() tea.Cmd {
	if m.loading || m.since.IsZero() {
		return nil
	}
	return m.startRefresh(PageSize)
}

func (m *Model) pasted(msg tea.PasteMsg) tea.Cmd {
	switch {
	case m.filter.Focused():
		if m.filter.Update(msg) {
			m.setFilter()
		}
	case m.asking == askName:
		m.name.Update(msg)
		m.name.Error = ""
	case m.choice.IsOpen():
		m.choice.Update(msg)
	}
	return nil
}

// clicked selects a row; a click on the selected one, or on the details beside the list, gives these the keyboard.
func (m *Model) clicked(msg screen.ClickMsg) tea.Cmd {
	if m.choice.IsOpen() {
		it, ok := m.choice.Click(msg.Y-m.choiceTop(), choiceLines)
		return m.useView(it, ok)
	}
	pane, _ := kit.PaneAt(m.panes(), msg.X)
	switch {
	case m.asking != askNothing:
		return nil
	case pane > 0:
		if m.filter.Blur(); m.chosen != nil && !m.inside {
			m.enter()
		}
		return nil
	}
	before := m.table.Selected()
	if !m.table.Click(msg.Y - 1) {
		return nil
	}
	m.filter.Blur()
	again := before == m.table.Selected() && m.chosen != nil
	m.inside = false
	m.moved()
	m.showDetails()
	if again {
		m.enter()
	}
	return m.wantMore()
}

// setFilter applies the text of the filter.
func (m *Model) setFilter() {
	m.query = parser{m.ctx.Catalog, m.ctx.Clock()}.parse(m.filter.Value())
	m.searching, m.months = false, nil
	var keep func(*record) bool
	if q := m.query; q.active() {
		keep = func(r *record) bool { return q.match(m.format, r) }
	}
	m.book.setFilter(keep)
	m.choose()
}

// useFilter applies a text as the filter.
func (m *Model) useFilter(text string) tea.Cmd {
	m.filter.Set(text)
	m.setFilter()
	return m.wantMore()
}

// readOn continues a reading when a key asks for it: closes a gap, resumes a stopped reading, or searches further for
// the filter.
func (m *Model) readOn() tea.Cmd {
	m.err, m.alone = nil, 0
	m.searching = m.query.active()
	if m.searching && m.book.unsearched() > 0 {
		return m.again()
	}
	for _, s := range m.book.sections {
		if s.live && s.further {
			s.seen, s.stopped, s.further = map[string]bool{s.next: true}, "", false
		}
		if s.canGo() {
			return m.startMore(s, !m.searching)
		}
	}
	return m.refresh()
}

// canReadOn reports whether there is something left to read.
func (m *Model) canReadOn() bool {
	for _, s := range m.book.sections {
		if s.canGo() || s.live && s.further {
			return m.book.held <= m.most
		}
	}
	return false
}
