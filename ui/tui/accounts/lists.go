package accounts

import (
	"fmt"

	tea "charm.land/bubbletea/v2"

	"coffer/ui/present"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/screen"
	"coffer/ui/tui/theme"
	"coffer/wallet/verify"
)

// listing is the result of comparing the service's lists of chains and assets (TH-B2, B3).
type listing struct {
	known  bool
	list   verify.AssetList
	report verify.Report
	err    error
}

// listedMsg brings the comparison of the lists.
type listedMsg struct {
	gen int
	listing
}

// acceptedMsg reports whether a change was accepted.
type acceptedMsg struct {
	id  string
	err error
}

// compare reads the lists of the service.
func (m *Model) compare() tea.Cmd {
	if m.deps.Lists == nil {
		return nil
	}
	m.listGen++
	gen, life, read := m.listGen, m.life, m.deps.Lists
	return func() tea.Msg {
		list, report, err := read(life)
		return listedMsg{gen, listing{true, list, report, err}}
	}
}

// listed stores the comparison, and shows a toast when an asset is not what it was.
func (m *Model) listed(msg listedMsg) tea.Cmd {
	if msg.gen != m.listGen {
		return nil
	}
	m.lists = msg.listing
	if n := len(m.lists.list.Changes); n > 0 {
		return screen.Toast(theme.Danger, present.Plural(n, "asset of the service is", "assets of the service are")+
			" not what this wallet knows: see Accounts, and trade none of them before")
	}
	return nil
}

// acceptable lists the changes that a person may accept: none that contradicts this program itself.
func (m *Model) acceptable() []verify.AssetChange {
	var out []verify.AssetChange
	for _, c := range m.lists.list.Changes {
		if !c.Pinned {
			out = append(out, c)
		}
	}
	return out
}

// openChanges shows the changes to accept.
func (m *Model) openChanges() {
	var items []kit.Item
	for _, c := range m.acceptable() {
		items = append(items, kit.Item{Value: c.ID, Label: present.Clean(c.ID, 120), Note: changeWords(c)})
	}
	m.accepting.Open(items, "")
}

// accept handles a message while the list of changes is open.
func (m *Model) accept(msg tea.Msg) tea.Cmd {
	it, ok := m.accepting.Update(msg)
	if !ok || m.deps.Accept == nil {
		return nil
	}
	for _, c := range m.acceptable() {
		if c.ID == it.Value {
			accept := m.deps.Accept
			return func() tea.Msg { return acceptedMsg{c.ID, accept(c)} }
		}
	}
	return nil
}

func (m *Model) accepted(msg acceptedMsg) tea.Cmd {
	if msg.err != nil {
		return screen.Toast(theme.Danger, "not accepted: "+present.Clean(msg.err.Error(), 160))
	}
	return tea.Batch(m.compare(), screen.Toast(theme.Good, "accepted as it is now listed: "+present.Clean(msg.id, 120)))
}

// changeWords says what an asset was and what it is now.
func changeWords(c verify.AssetChange) string {
	of := func(a *verify.SeenAsset) string {
		if a == nil {
			return ""
		}
		return fmt.Sprintf("%s, %d decimals, of %s", present.Clean(a.Symbol, 40), a.Decimals,
			present.Clean(a.Aggregate, 60))
	}
	switch {
	case c.Was == nil && c.Is == nil:
		return "contradicts what is known"
	case c.Is == nil:
		return "was " + of(c.Was) + "; is no longer listed"
	case c.Was == nil:
		return "is new: " + of(c.Is)
	}
	return "was " + of(c.Was) + "; is " + of(c.Is)
}

// listLines shows how the lists of the service compare.
func (m *Model) listLines(th theme.Theme, w int) []string {
	if m.deps.Lists == nil {
		return nil
	}
	out := []string{"  " + th.Strong.Render("Assets of the service")}
	write := func(mean theme.Meaning, text string) {
		out = append(out, kit.Prose(w-2, 4, append([]kit.Span{kit.Plain("    ")}, kit.Noted(th, mean, text)...)...)...)
	}
	switch {
	case !m.lists.known:
		write(theme.None, "being compared with what this program ships")
	case m.lists.err != nil:
		write(theme.Unknown, "not compared: "+present.ErrorText(m.lists.err))
	case len(m.lists.list.Changes) == 0:
		write(theme.Good, present.Plural(len(m.lists.list.Usable), "asset is", "assets are")+
			" what this program ships, or what was seen first")
	}
	for _, c := range m.lists.list.Changes {
		text := present.Clean(c.ID, 120) + " " + changeWords(c)
		if c.Pinned {
			write(theme.Danger, text+". It contradicts this program and cannot be accepted.")
		} else {
			write(theme.Warn, text+". It is not trusted until you accept it (A).")
		}
	}
	return append(out, "")
}
