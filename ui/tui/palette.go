package tui

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"coffer/ui/present"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/screen"
	"coffer/ui/tui/theme"
	"coffer/wallet/intent"
)

// The prefixes of a palette line's value.
const (
	paletteOpen    = "open "
	palettePress   = "press " // the screen, a space, the key that the screen knows
	paletteDo      = "do "
	paletteTheme   = "theme "
	paletteProfile = "profile "
	paletteAccount = "account " // the address of the account to use
	paletteGo      = "go "      // the screen to open, a space, the key that it knows
	paletteForm    = "form "    // of the builder
	paletteAsset   = "asset "   // the aggregate to transfer
	palettePay     = "pay "     // the address to transfer to
	paletteChain   = "chain "   // whose balances are shown
)

const paletteTitle = "Go to or do"

// recentLines is the number of palette lines that the program remembers while it runs.
const recentLines = 8

func (m *Model) openPalette() tea.Cmd {
	m.palette.Open(m.paletteItems(), "")
	m.palette.Title = paletteTitle
	return nil
}

// paletteItems lists the screens, the keys of the active screen, the forms, the actions of the shell and of the other
// screens, profiles, and by name accounts, contacts, assets and chains; recently used ones come first.
func (m *Model) paletteItems() []kit.Item {
	items := m.openItems()
	items = append(items, m.screenItems()...)
	items = append(items, m.formItems()...)
	items = append(items, m.shellItems()...)
	items = append(items, m.otherItems()...)
	items = append(items, m.themeItems()...)
	items = append(items, m.accountItems()...)
	items = append(items, m.profileItems()...)
	items = append(items, m.namedItems()...)
	at := make([]int, 0, len(m.recent))
	for _, value := range m.recent {
		if i := slices.IndexFunc(items, func(it kit.Item) bool { return it.Value == value }); i >= 0 {
			at = append(at, i)
		}
	}
	out := make([]kit.Item, 0, len(items))
	for _, i := range at {
		out = append(out, items[i])
	}
	for i, it := range items {
		if !slices.Contains(at, i) {
			out = append(out, it)
		}
	}
	return out
}

func (m *Model) openItems() []kit.Item {
	var items []kit.Item
	for _, id := range m.order {
		name := string(id)
		switch {
		case slices.Contains(m.tabs, id):
			name = "open-" + name
		case id != screen.Settings && id != screen.Wire:
			continue // a review needs a subject to open
		}
		it := kit.Item{Value: paletteOpen + string(id), Label: "open " + m.screens[id].Title(), Note: m.shellKey(name),
			Also: aliases(string(id))}
		if id == screen.Wire {
			it.Label += " (what went over the wire)"
		}
		if m.activeID() == id {
			it.Off = "you are there"
		}
		items = append(items, it)
	}
	return items
}

func (m *Model) screenItems() []kit.Item {
	id := m.activeID()
	own := m.active().Keys()
	shown, _ := m.screenKeys()
	items := make([]kit.Item, 0, len(own))
	for i, k := range shown {
		if len(k.Press) == 0 {
			continue
		}
		it := kit.Item{Value: palettePress + string(id) + " " + own[i].Press[0], Label: k.Words(),
			Note: k.Name(m.theme), Off: k.Off, Also: aliases(own[i].ActionName())}
		if it.Off == "" && m.careful(own[i]) {
			it.Off = "press " + it.Note + " yourself: a list never signs"
		}
		items = append(items, it)
	}
	return items
}

func (m *Model) shellItems() []kit.Item {
	var items []kit.Item
	own := m.active().Keys()
	for _, k := range m.shellKeys() {
		name := k.ActionName()
		if _, shadowed := kit.FindKey(own, k.Press[0]); shadowed && name == "hide-amounts" {
			continue // the screen lists it as its own
		}
		if strings.HasPrefix(name, "open-") || slices.Contains([]string{"palette", string(screen.Settings),
			string(screen.Wire), "switch-account"}, name) {
			continue
		}
		items = append(items, kit.Item{Value: paletteDo + name, Label: k.Label, Note: k.Name(m.theme), Off: k.Off,
			Also: aliases(name)})
	}
	return items
}

func (m *Model) themeItems() []kit.Item {
	var items []kit.Item
	for _, name := range theme.Names() {
		it := kit.Item{Value: paletteTheme + name, Label: "theme " + name, Note: themeNotes(name)}
		if name == m.look.Name {
			it.Off = "this is the theme now"
		}
		items = append(items, it)
	}
	return items
}

func themeNotes(name string) string {
	switch name {
	case theme.Dark:
		return "for a dark background"
	case theme.Light:
		return "for a light background"
	case theme.Contrast:
		return "few colours, strong ones"
	}
	return "as the terminal says"
}

func (m *Model) profileItems() []kit.Item {
	var items []kit.Item
	for _, name := range m.opt.Profiles {
		it := kit.Item{Value: paletteProfile + name, Label: "switch to profile " + present.Clean(name, 40)}
		switch {
		case name == m.ctx.Profile:
			it.Off = "this profile is open"
		case m.opt.Switch == nil:
			it.Off = m.opt.noSwitch()
		}
		items = append(items, it)
	}
	return items
}

// choose runs a line of the palette.
func (m *Model) choose(it kit.Item, chosen bool) tea.Cmd {
	if !chosen {
		return nil
	}
	m.recent = append([]string{it.Value}, slices.DeleteFunc(m.recent, func(v string) bool { return v == it.Value })...)
	m.recent = m.recent[:min(len(m.recent), recentLines)]
	kind, rest, _ := strings.Cut(it.Value, " ")
	switch kind + " " {
	case paletteOpen:
		return m.opened(screen.OpenMsg{Screen: screen.ID(rest)})
	case paletteDo:
		return m.run(rest)
	case paletteTheme:
		return m.use(rest)
	case paletteProfile:
		return m.leaveFor(screen.SwitchMsg{Profile: rest})
	case paletteAccount:
		return m.leaveFor(screen.SwitchMsg{Account: rest})
	case paletteForm:
		return m.opened(screen.OpenMsg{Screen: screen.Build, Arg: screen.AssetArg{Form: rest}})
	case paletteAsset:
		return m.opened(screen.OpenMsg{Screen: screen.Build, Arg: screen.AssetArg{Aggregate: rest,
			Form: intent.KindTransfer}})
	case palettePay:
		return m.opened(screen.OpenMsg{Screen: screen.Build, Arg: screen.AssetArg{To: rest,
			Form: intent.KindTransfer}})
	case paletteChain:
		return m.opened(screen.OpenMsg{Screen: screen.Balances, Arg: screen.FilterArg{Text: rest}})
	case paletteGo:
		return m.pressOn(rest)
	}
	id, key, _ := strings.Cut(rest, " ")
	if screen.ID(id) != m.activeID() { // the screen changed under the list
		return nil
	}
	if k, ok := kit.FindKey(m.active().Keys(), key); !ok || k.Off != "" || m.careful(k) {
		return nil
	}
	return m.hand(kit.Press(key))
}

// aliases are further words for a screen, a form or an action, as people say them elsewhere.
func aliases(name string) string {
	return map[string]string{
		"transfer": "pay give payment", "swap": "trade convert buy sell",
		"call": "contract function batch build", "receive": "deposit address faucet fund top up qr",
		"accounts": "contacts keys profiles network", "settings": "preferences options configuration doctor",
		"activity": "pending under way signatures", "history": "past transactions records",
		"balances": "portfolio holdings money home", "lab": "compare quotes", "wire": "requests answers debug",
		"hide-amounts": "privacy", "hide": "privacy", "lock": "password passphrase", "suspend": "background",
		"quit": "exit leave close", "help": "keys shortcuts", "palette": "commands search",
		"allowances": "approvals revoke spender", "contacts": "address book people names",
		"copy": "clipboard", "theme": "colours dark light",
	}[name]
}

// formItems open a form of the builder as it was left.
func (m *Model) formItems() []kit.Item {
	if m.screens[screen.Build] == nil {
		return nil
	}
	var items []kit.Item
	for _, f := range [][2]string{{intent.KindTransfer, "send or pay: build a transfer"}, {intent.KindSwap,
		"swap: exchange an asset"}, {screen.FormCalls, "call: run contracts"}} {
		items = append(items, kit.Item{Value: paletteForm + f[0], Label: f[1], Also: aliases(f[0])})
	}
	return items
}

// otherItems are the actions of the tabs that are not shown, as far as they can be taken now. What the builder does
// depends on the row: its forms are listed instead.
func (m *Model) otherItems() []kit.Item {
	var items []kit.Item
	for _, id := range m.tabs {
		if id == m.activeID() || id == screen.Build || m.screens[id].Capturing() {
			continue
		}
		title, own := m.screens[id].Title(), m.screens[id].Keys()
		shown, _ := m.keys.translate(string(id), own)
		for i, k := range shown {
			if len(k.Press) == 0 || k.Quiet || k.Off != "" || k.Careful {
				continue
			}
			items = append(items, kit.Item{Value: paletteGo + string(id) + " " + own[i].Press[0], Label: k.Words(),
				Note: title + " " + k.Name(m.theme), Also: title + " " + aliases(own[i].ActionName())})
		}
	}
	return items
}

// pressOn opens a tab and presses a key there, unless that takes the person's own hand or nothing comes of it now.
func (m *Model) pressOn(what string) tea.Cmd {
	id, key, _ := strings.Cut(what, " ")
	if !slices.Contains(m.tabs, screen.ID(id)) {
		return nil
	}
	open := m.opened(screen.OpenMsg{Screen: screen.ID(id)})
	k, ok := kit.FindKey(m.active().Keys(), key)
	switch {
	case m.activeID() != screen.ID(id) || !ok || m.active().Capturing() || m.careful(k):
		return open
	case k.Off != "":
		m.refuse(k.Off)
		return open
	}
	return tea.Batch(open, m.hand(kit.Press(key)))
}

// namedItems are accounts, contacts, assets and chains by their names.
func (m *Model) namedItems() []kit.Item {
	var items []kit.Item
	build, there := m.screens[screen.Build] != nil, m.screens[screen.Balances] != nil
	if m.screens[screen.Accounts] != nil {
		for _, a := range m.ctx.Accounts {
			items = append(items, kit.Item{Value: paletteOpen + string(screen.Accounts), Label: "account " +
				present.ShortID(present.Checksummed(a.AccountAddress)), Also: a.AccountAddress})
		}
	}
	if m.ctx.Contacts.List != nil && build {
		for _, c := range m.ctx.Contacts.List() {
			items = append(items, kit.Item{Value: palettePay + c.Address,
				Label: present.Clean(c.Name, 24) + ": transfer to",
				Note:  present.ShortID(present.Checksummed(c.Address)),
				Also:  "send pay contact " + c.Address})
		}
	}
	if build {
		for _, a := range m.ctx.Catalog.Aggregates() {
			items = append(items, kit.Item{Value: paletteAsset + a.ID.String(),
				Label: a.Symbol + ": transfer " + a.Name,
				Note:  "asset", Also: "send pay asset"})
		}
	}
	if there {
		for _, c := range append(m.ctx.Catalog.Chains(), m.ctx.Catalog.Solana()) {
			items = append(items, kit.Item{Value: paletteChain + c.Name, Label: c.Name + ": balances", Note: "chain",
				Also: c.Short + " " + c.Chain.String() + " chain"})
		}
	}
	return items
}
