package history

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"coffer/ui/present"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/screen"
	"coffer/ui/tui/theme"
)

func (m *Model) press(msg tea.KeyPressMsg) tea.Cmd {
	key := msg.String()
	switch {
	case m.choice.IsOpen():
		return m.useView(m.choice.Update(msg))
	case m.asking == askName:
		return m.pressName(msg, key)
	case m.asking != askNothing:
		return m.answer(key)
	case m.filter.Focused():
		return m.pressFilter(msg)
	case m.inside:
		return m.pressInside(key)
	}
	if m.table.Press(key) {
		return tea.Batch(m.moved(), m.wantMore())
	}
	m.showDetails()
	return m.pressList(key)
}

func (m *Model) pressList(key string) tea.Cmd {
	switch key {
	case "/":
		m.filter.Focus()
	case "esc":
		return m.leave()
	case "enter":
		return m.openLine()
	case "tab", "shift+tab":
		if m.chosen != nil {
			m.enter()
		}
	case "space":
		m.pane.Press(key)
	case "J":
		m.pane.Move(1)
	case "K":
		m.pane.Move(-1)
	case "y":
		return screen.Copy("quote id", m.chosen.id)
	case "p":
		return m.printReceipt()
	case screen.NameKey:
		return m.ctx.Name(m.payee())
	case "x":
		m.asking = askExport
	case "t":
		m.asking = askMonths
	case "v":
		m.choice.Open(m.viewItems(), m.filter.Value())
	case "V":
		m.asking = askName
		m.name.Set("")
		m.name.Error = ""
		m.name.Focus()
	case "m":
		return m.readOn()
	case "ctrl+r":
		m.err = nil
		if m.loading {
			return nil
		}
		return m.startRefresh(coverRecords)
	case "R":
		m.err = nil
		return m.again()
	}
	return nil
}

// openLine opens the selection: the details of a record, or the missing records of a gap.
func (m *Model) openLine() tea.Cmd {
	if m.chosen != nil {
		m.enter()
		return nil
	}
	if above := m.aboveGap(); above != nil {
		return m.startMore(above, true)
	}
	return nil
}

// aboveGap is the section from which a selected gap is closed; nil when no gap is selected or nothing can be read.
func (m *Model) aboveGap() *section {
	if m.query.active() {
		return nil
	}
	s, _ := m.book.at(m.table.Selected())
	if s.sec == nil || s.chunk != nil {
		return nil
	}
	for i := slices.Index(m.book.sections, s.sec) - 1; i >= 0; i-- {
		if above := m.book.sections[i]; above.canGo() {
			return above
		}
	}
	return nil
}

// leave closes the details first, then the filter.
func (m *Model) leave() tea.Cmd {
	if m.details && !m.side() {
		m.details = false
		m.resize(m.w, m.h)
		return nil
	}
	return m.useFilter("")
}

func (m *Model) pressFilter(msg tea.KeyPressMsg) tea.Cmd {
	if m.filter.Narrow(msg) {
		m.setFilter()
	}
	if m.filter.Focused() {
		return nil
	}
	return m.wantMore()
}

// answer handles a key while a question or a panel is open.
func (m *Model) answer(key string) tea.Cmd {
	ask := m.asking
	m.asking = askNothing
	if ask == askExport {
		switch key {
		case "c":
			return m.exportRows("csv")
		case "j":
			return m.exportRows("json")
		case "esc":
		default:
			m.asking = ask
		}
	}
	return nil
}

const (
	viewAll    = "all:"
	viewUse    = "use:"
	viewForget = "forget:"
)

func (m *Model) viewItems() []kit.Item {
	items := []kit.Item{{Value: viewAll, Label: "all records"}}
	for _, v := range m.views {
		items = append(items, kit.Item{Value: viewUse + v.Name, Label: v.Name, Note: v.Filter})
	}
	for _, v := range m.views {
		items = append(items, kit.Item{Value: viewForget + v.Name, Label: "forget " + v.Name,
			Note: "takes the view out"})
	}
	return items
}

// useView applies the choice from the list of views.
func (m *Model) useView(it kit.Item, ok bool) tea.Cmd {
	if !ok {
		return nil
	}
	if name, forget := strings.CutPrefix(it.Value, viewForget); forget {
		m.views = slices.DeleteFunc(m.views, func(v view) bool { return v.Name == name })
		return tea.Batch(m.saveViews(), screen.Toast(theme.None, "the view "+name+" is forgotten"))
	}
	name := strings.TrimPrefix(it.Value, viewUse)
	for _, v := range m.views {
		if it.Value != viewAll && v.Name == name {
			return m.useFilter(v.Filter)
		}
	}
	return m.useFilter("")
}

// pressName handles a key while a view is being named.
func (m *Model) pressName(msg tea.KeyPressMsg, key string) tea.Cmd {
	switch key {
	case "esc":
		m.asking = askNothing
		m.name.Blur()
	case "enter":
		return m.saveView()
	default:
		m.name.Update(msg)
		m.name.Error = ""
	}
	return nil
}

func (m *Model) saveView() tea.Cmd {
	name := strings.TrimSpace(present.Clean(m.name.Value(), maxName))
	known := slices.ContainsFunc(m.views, func(v view) bool { return v.Name == name })
	switch {
	case name == "":
		m.name.Error = "write a name"
		return nil
	case len(m.views) >= maxViews && !known:
		m.name.Error = "there are " + grouped(maxViews) + " views; forget one first"
		return nil
	}
	m.asking = askNothing
	m.name.Blur()
	m.putView(name, m.filter.Value())
	return tea.Batch(m.saveViews(), screen.Toast(theme.Good, "saved as "+name+"; v opens it"))
}

// Listing reports whether a list is open.
func (m *Model) Listing() bool { return m.choice.IsOpen() }

// Keys lists the keys that work now.
func (m *Model) Keys() []kit.Key {
	switch {
	case m.choice.IsOpen():
		return []kit.Key{kit.NewKey("use", "enter"), kit.NewKey("leave", "esc")}
	case m.asking == askName:
		return []kit.Key{kit.NewKey("save", "enter"), kit.NewKey("leave", "esc")}
	case m.asking == askExport:
		return []kit.Key{kit.NewKey("CSV, a table", "c"), kit.NewKey("JSON", "j"), kit.NewKey("leave", "esc")}
	case m.asking == askMonths:
		return []kit.Key{kit.NewKey("close", "esc")}
	case m.filter.Focused():
		return []kit.Key{kit.NewKey("keep filter", "enter"), kit.NewKey("clear filter", "esc")}
	case m.inside:
		return m.ctx.Naming(m.insideKeys(), m.payee())
	}
	return append(m.ctx.Naming(m.listKeys(), m.payee()), kit.MoveKeys()...)
}

const noRecord = "there is no record to use it on"

func (m *Model) insideKeys() []kit.Key {
	noExport, whyExport := m.noExport()
	return []kit.Key{
		kit.NewKey("choose", "up", "down"), kit.NewKey("list", "tab"), kit.NewKey("copy", "y"),
		kit.NewKey("receipt", "p").OffWhen(noExport, whyExport), kit.NewKey("back to the list", "esc"),
		kit.NewKey("next field", "j").Hidden(), kit.NewKey("field before", "k").Hidden(),
		kit.NewKey("first field", "g", "home").Hidden(),
		kit.NewKey("last field", "G", "end").Hidden(), kit.NewKey("scroll", "J", "K", "space", "pgdown",
			"pgup").Hidden(),
		kit.NewKey("back to the list, too", "left", "enter").Hidden(),
	}
}

func (m *Model) listKeys() []kit.Key {
	none := m.chosen == nil
	noExport, whyExport := m.noExport()
	noKeep := m.ctx.Keep == nil
	details := kit.NewKey("details", "enter").OffWhen(none, noRecord)
	if none && m.aboveGap() != nil {
		details = kit.NewKey("load what is missing", "enter").OffWhen(m.loading, "a page is being read already")
	}
	details = details.Named("details")
	more := kit.NewKey("read more", "m").Explain(
		"read on: close a gap, go on after a stop, look further for the filter").OffWhen(m.loading ||
		!m.canReadOn(), m.whyNoMore())
	more.Quiet = !m.query.active() && !m.stopped()
	return []kit.Key{
		details, kit.NewKey("copy quote id", "y").OffWhen(none, noRecord), kit.NewKey("filter", "/"), more,
		kit.NewKey("views", "v").OffWhen(noKeep, "this program keeps no views"),
		kit.NewKey("export", "x").OffWhen(noExport, whyExport),
		kit.NewKey("receipt", "p").OffWhen(none, noRecord).OffWhen(noExport, whyExport),
		kit.NewKey("totals", "t").Explain("totals of every month"),
		kit.NewKey("save the filter as a view", "V").Hidden().OffWhen(noKeep,
			"this program keeps no views").OffWhen(!m.query.active(), "there is no filter to save"),
		kit.NewKey("read again", "ctrl+r"), kit.NewKey("read everything again from the top",
			"R").Hidden().OffWhen(m.loading, "a page is being read already"),
		kit.NewKey("scroll details", "J", "K", "space").Hidden(), kit.NewKey("details", "tab").Hidden(),
		kit.NewKey("close details, clear filter", "esc").Hidden(),
	}
}

func (m *Model) noExport() (off bool, why string) {
	switch {
	case m.ctx.Export == nil:
		return true, m.ctx.WhyNoFiles("this program cannot write exports")
	case m.found() == 0:
		return true, "there is nothing to write"
	}
	return false, ""
}

// stopped reports whether reading stopped where a key can continue it.
func (m *Model) stopped() bool {
	return m.alone >= alonePages || slices.ContainsFunc(m.book.sections, func(s *section) bool { return s.further })
}

func (m *Model) whyNoMore() string {
	if m.loading {
		return "a page is being read already"
	}
	for _, s := range m.book.sections {
		if s.live && s.stopped != "" {
			return s.stopped
		}
	}
	if m.book.held > m.most {
		return "this is as many records as the program holds; clear the filter"
	}
	return "this is the end of history"
}
