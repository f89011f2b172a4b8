package accounts

import (
	"cmp"

	tea "charm.land/bubbletea/v2"

	"coffer/api/network"
	"coffer/ui/present"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/screen"
	"coffer/ui/tui/theme"
)

// Profile is a profile of the configuration: its kind, the place of its service ("" inside this program), and the place
// of its keys, in a few words.
type Profile struct {
	Name         string
	Kind         network.Kind
	Service      string
	Keys         string
	NoOwnAccount bool // it has no account yet
}

const alone = "this program was started for this profile alone"

// profileKeys lists the keys that switch to another profile.
func (m *Model) profileKeys() []kit.Key {
	return []kit.Key{
		kit.NewKey("switch profile", "p").Named("switch-profile").OffWhen(len(m.deps.Profiles) < 2, m.noSwitch()),
		kit.NewKey("set up another", "+").Named("set-up-profile").OffWhen(!m.deps.Setup, alone),
		kit.NewKey("settings", "o").Named("settings"),
	}
}

func (m *Model) noSwitch() string {
	if len(m.deps.Profiles) == 1 {
		return "there is no other profile; + sets one up"
	}
	return alone
}

// openProfiles shows the list of profiles to switch to.
func (m *Model) openProfiles() {
	items := make([]kit.Item, len(m.deps.Profiles))
	for i, p := range m.deps.Profiles {
		items[i] = kit.Item{Value: p.Name, Label: present.Clean(p.Name, 40), Note: present.KindWord(p.Kind)}
		switch {
		case p.Name == m.ctx.Profile:
			items[i].Off = "you are here"
		case p.NoOwnAccount && p.Kind != network.Embedded:
			items[i].Off = "it has no account yet: coffer accounts add --profile " + p.Name
		}
	}
	m.switching.Open(items, m.ctx.Profile)
}

// choose handles a message while the list of profiles is open.
func (m *Model) choose(msg tea.Msg) tea.Cmd {
	it, ok := m.switching.Update(msg)
	if !ok {
		return nil
	}
	return screen.Send(screen.SwitchMsg{Profile: it.Value})
}

// profileLines lists the profiles; a sign marks the open one.
func (m *Model) profileLines(th theme.Theme, w int) []string {
	if len(m.deps.Profiles) == 0 {
		return nil
	}
	out := []string{"  " + th.Strong.Render("Profiles")}
	widest := 8
	for _, p := range m.deps.Profiles {
		widest = max(widest, min(24, present.Width(present.Clean(p.Name, 40)))+2)
	}
	for _, p := range m.deps.Profiles {
		mark := "  "
		name := kit.Span{Text: kit.Fit(present.Clean(p.Name, 40), widest), Whole: true}
		if p.Name == m.ctx.Profile {
			mark, name.Style = th.Signs.Good+" ", th.Strong
		}
		kind := kit.Span{Text: kit.Fit(present.KindWord(p.Kind), 10), Whole: true}
		if p.Kind == network.Real {
			kind.Style = th.Danger
		}
		text := cmp.Or(present.Clean(p.Service, 200), "inside this program")
		if p.Keys != "" {
			text += ", keys " + p.Keys
		}
		if p.Name == m.ctx.Profile {
			text += " (open)"
		}
		lines := kit.Prose(w-2, 6+widest, kind, kit.Plain(text))
		lines[0] = "    " + th.Good.Render(mark) + name.Style.Render(name.Text) + lines[0][6+widest:]
		out = append(out, lines...)
	}
	return append(out, "")
}
