package tui

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"coffer/api"
	"coffer/ui/present"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/screen"
	"coffer/ui/tui/theme"
)

// View is what of a run the next one continues: the tab, what the person changed until the program ends, and what is
// known of the terminal, so that the first frame is a whole one.
type View struct {
	left    bool
	tab     screen.ID
	hidden  bool
	mouse   bool
	look    theme.Look
	ground  theme.Ground
	profile colorprofile.Profile
	w, h    int
	out     *seam // nil: the runs do not share it
}

// leaveView notes where this run is left.
func (m *Model) leaveView() {
	if m.opt.View != nil {
		*m.opt.View = View{left: true, tab: m.tab, hidden: m.hidden, mouse: m.mouseOn, look: m.look, ground: m.ground,
			profile: m.profile, w: m.w, h: m.h, out: m.opt.View.out}
	}
}

// resume continues where an earlier run was left.
func (m *Model) resume() {
	v := m.opt.View
	if v == nil || !v.left {
		return
	}
	m.mouseOn, m.look, m.ground, m.profile = v.mouse, v.look, v.ground, v.profile
	m.w, m.h = v.w, v.h
	if slices.Contains(m.tabs, v.tab) {
		m.tab = v.tab
	}
}

// accountKey is the key that lists the accounts to choose from.
func (m *Model) accountKey() kit.Key {
	return kit.NewKey("switch account", "@").Named("switch-account").Explain("use another account of this profile").
		OffWhen(len(m.choices()) == 0, "there is one EVM account")
}

// choices are the accounts of which one is used at a time.
func (m *Model) choices() []present.Own { return present.Choices(m.ctx.Own) }

func (m *Model) openAccounts() tea.Cmd {
	used := ""
	for _, a := range m.choices() {
		if a.Used {
			used = paletteAccount + a.AccountAddress
		}
	}
	items := m.accountItems()
	for i := range items {
		items[i].Label = strings.TrimPrefix(items[i].Label, useAccount)
	}
	m.palette.Open(items, used)
	m.palette.Title = "Use the account"
	return nil
}

// accountItems are the accounts to choose from.
func (m *Model) accountItems() []kit.Item {
	var items []kit.Item
	for _, a := range m.choices() {
		it := kit.Item{Value: paletteAccount + a.AccountAddress, Label: useAccount + present.Clean(a.Name, nameW),
			Note: present.ShortID(present.Checksummed(a.AccountAddress)),
			Also: "switch " + a.AccountAddress + " " + present.AccountType(a.Type)}
		switch {
		case a.Used:
			it.Off = "this account is in use"
		case m.opt.Switch == nil:
			it.Off = m.opt.noSwitch()
		}
		items = append(items, it)
	}
	return items
}

const useAccount = "use account "

// nameW is the longest name of an account, in cells.
const nameW = 24

// foreign is the account of something that belongs to another account than the one in use; "" for none.
func (m *Model) foreign(arg any) string {
	of, ok := arg.(screen.OfAccounts)
	if !ok || len(m.choices()) == 0 {
		return ""
	}
	for _, a := range of.Accounts() {
		if !a.IsEVM() || slices.ContainsFunc(m.ctx.Accounts, func(x api.Account) bool {
			return strings.EqualFold(x.AccountAddress, a.AccountAddress)
		}) {
			continue
		}
		for _, own := range m.ctx.Own {
			if strings.EqualFold(own.AccountAddress, a.AccountAddress) {
				return present.Clean(own.Name, nameW)
			}
		}
		return present.ShortID(present.Checksummed(a.AccountAddress))
	}
	return ""
}

// who is the account in use as the first line shows it before its address: its name, after the key that lists the
// others. It is empty for the only account without a name.
func (m *Model) who(room int) string {
	name := present.Clean(present.Current(m.ctx.Own), nameW)
	if name == "" {
		return ""
	}
	key := ""
	if k := m.shellKey("switch-account"); k != "" && len(m.choices()) > 0 {
		key = m.theme.Accent.Render(k) + " "
	}
	if most := room - present.Width(key); present.Width(name) > most {
		if most < 3 {
			return ""
		}
		name = strings.TrimRight(kit.Fit(name, most-1), " ") + m.theme.Signs.More
	}
	return key + m.theme.Strong.Render(name)
}
