package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"coffer/config/contacts"
	"coffer/ui/compose"
	"coffer/ui/present"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/screen"
	"coffer/ui/tui/theme"
)

// naming is the dialog that names an address, renames its contact or removes it.
type naming struct {
	open    bool
	from    string // the name that the address has; "" for none
	address string // "" while the person types it
	name    *kit.Field
	typed   *kit.Field // the address, when it is typed; else nil
	wrong   string
	busy    bool
}

// namedMsg brings the end of a change of the contacts, in words.
type namedMsg struct {
	done string
	err  error
}

// nameIt opens the dialog for an address, or for one that is typed there.
func (m *Model) nameIt(address string) {
	if m.ctx.Contacts.Save == nil {
		m.warn("this program keeps no contacts")
		return
	}
	n := naming{open: true, address: address, name: kit.NewField("name", contacts.MaxName)}
	n.name.Empty = "your name for it"
	if address == "" {
		n.typed = kit.NewField("address", 100)
		n.typed.Empty = "0x and 40 digits, or a Solana address"
	}
	for _, c := range m.ctx.Contacts.List() {
		if c.Address != address {
			continue
		}
		if c.Account {
			m.warn("this is your account " + present.Clean(c.Name, contacts.MaxName) +
				": coffer accounts rename changes its name")
			return
		}
		if !c.Own {
			m.warn("this program itself calls this address " + present.Clean(c.Name, contacts.MaxName))
			return
		}
		n.from = c.Name
		n.name.Set(c.Name)
	}
	n.name.Focus()
	m.naming = n
}

// pressNaming handles a key or a paste of the dialog.
func (m *Model) pressNaming(msg tea.Msg) tea.Cmd {
	n := &m.naming
	key, _ := msg.(tea.KeyPressMsg)
	switch name := key.String(); {
	case name == "esc":
		m.naming = naming{}
		return nil
	case n.busy:
		return nil
	case name == "enter" && n.name.Focused() && n.typed != nil, name == "tab", name == "down", name == "up",
		name == "shift+tab":
		n.other()
		return nil
	case name == "enter":
		return m.saveName(n.from, strings.TrimSpace(n.name.Value()))
	case name == "ctrl+x" && n.from != "":
		return m.saveName(n.from, "")
	}
	field := n.name
	if n.typed != nil && n.typed.Focused() {
		field = n.typed
	}
	if p, ok := msg.(tea.PasteMsg); ok {
		msg = tea.PasteMsg{Content: strings.TrimSpace(p.Content)}
	}
	if field.Update(msg) {
		n.wrong = ""
	}
	return nil
}

// other moves between the fields.
func (n *naming) other() {
	if n.typed == nil {
		return
	}
	if n.name.Focused() {
		n.name.Blur()
		n.typed.Focus()
		return
	}
	n.typed.Blur()
	n.name.Focus()
}

// saveName writes the change; no name removes the contact.
func (m *Model) saveName(from, name string) tea.Cmd {
	n := &m.naming
	address := n.address
	if n.typed != nil {
		address = n.typed.Value()
	}
	done := present.Clean(name, contacts.MaxName) + " is " + present.Address(strings.TrimSpace(address))
	switch {
	case from != "" && name == "" && n.name.Value() != "":
		done = present.Clean(from, contacts.MaxName) + " is no contact any more: " + present.Address(address)
	default:
		c, err := contacts.New(name, address)
		if err != nil {
			n.wrong = err.Error()
			return nil
		}
		address = c.Address
	}
	n.busy, n.wrong = true, ""
	save := m.ctx.Contacts.Save
	return func() tea.Msg { return namedMsg{done, save(from, name, address)} }
}

// named ends the dialog, or shows why nothing was written.
func (m *Model) named(msg namedMsg) tea.Cmd {
	m.naming.busy = false
	if msg.err != nil {
		m.naming.wrong = present.Clean(msg.err.Error(), 300)
		if !m.naming.open {
			m.warn(m.naming.wrong)
		}
		return nil
	}
	m.naming = naming{}
	m.show(screen.ToastMsg{Meaning: theme.Good, Text: msg.done})
	return m.broadcast(screen.ContactsChangedMsg{Book: m.ctx.Contacts.List()})
}

// namingKeys are the keys of the dialog.
func (m *Model) namingKeys() []kit.Key {
	label := "save"
	if m.naming.typed != nil && m.naming.name.Focused() {
		label = "next"
	}
	keys := []kit.Key{kit.NewKey(label, "enter")}
	if m.naming.from != "" {
		keys = append(keys, kit.NewKey("remove the contact", "ctrl+x"))
	}
	return append(keys, kit.NewKey("leave", "esc"))
}

// view draws the dialog over the body. The address stands in it in full.
func (n *naming) view(th theme.Theme, whose func(string) (string, compose.Level), body string, w, h int) string {
	panel := min(w-4, 76)
	inner := panel - 4
	const labelW = 9
	title, address := "Name this address", n.address
	switch {
	case n.from != "":
		title = "Rename " + present.Clean(n.from, contacts.MaxName)
	case n.typed != nil:
		title, address = "A new contact", strings.TrimSpace(n.typed.Value())
	}
	lines := []string{th.Strong.Render(title), "", n.name.View(th, inner, labelW)}
	if n.typed != nil {
		lines = append(lines, n.typed.View(th, inner, labelW))
	} else {
		lines = append(lines, kit.Row(th, inner, 0, labelW, "address", kit.Plain(present.Address(n.address)))...)
	}
	lines = append(lines, "")
	who, level := "", compose.None
	if whose != nil {
		who, level = whose(address)
	}
	switch {
	case n.wrong != "":
		lines = append(lines, kit.Prose(inner, 0, kit.Marked(th, theme.Danger, n.wrong)...)...)
	case level == compose.Danger:
		lines = append(lines, kit.Prose(inner, 0, kit.Marked(th, theme.Danger, "It "+who+
			". Compare all of it with its source.")...)...)
	default:
		lines = append(lines, kit.Prose(inner, 0, th.Dim.Span(
			"The name is shown beside the address, never instead of it."))...)
	}
	return kit.Dialog(th, body, lines, panel, w, h)
}
