package tui

import (
	"errors"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"coffer/ui/compose"
	"coffer/ui/tui/builder"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/screen"
)

const someone = "0xfe52613d747E20F2f62e0A5cC36B0DFAe771C442"

// book is a book of contacts in memory.
type book struct {
	all  []compose.Contact
	fail error
}

func (b *book) contacts() screen.Contacts {
	return screen.Contacts{
		List: func() []compose.Contact { return b.all },
		Save: func(from, name, address string) error {
			if b.fail != nil {
				return b.fail
			}
			var out []compose.Contact
			for _, c := range b.all {
				if c.Name != from || c.Address != address {
					out = append(out, c)
				}
			}
			if name != "" {
				out = append(out, compose.Contact{Name: name, Address: address, Own: true})
			}
			b.all = out
			return nil
		},
		Whose: func(a string) (string, compose.Level) { return (&compose.World{Book: b.all}).Whose(a) },
	}
}

func withBook(t *testing.T, b *book) *Model {
	o := options(t, sample(t))
	o.Context.Contacts = b.contacts()
	return started(t, o, 80, 24)
}

func typed(m *Model, text string) {
	for _, r := range text {
		press(m, string(r))
	}
}

func TestD10_AnAddressIsNamedRenamedAndRemovedInADialog(t *testing.T) {
	bubble(func(t *testing.T) {
		b := &book{}
		m := withBook(t, b)
		drive(m, screen.NameMsg{Address: someone})
		typed(m, "q4 Anna") // no key of the shell
		if got := text(t, m); !strings.Contains(got, "0xfe52 613d 747E 20F2 f62e 0A5c C36B 0DFA e771 C442") ||
			!strings.Contains(got, "q4 Anna") {
			t.Fatal(got)
		}
		press(m, "ctrl+u")
		typed(m, "0xA")
		press(m, "enter")
		if got := text(t, m); !strings.Contains(got, "must not look like an address") || len(b.all) > 0 {
			t.Fatal(got)
		}
		press(m, "ctrl+u")
		typed(m, "Anna")
		press(m, "enter")
		if len(b.all) != 1 || b.all[0] != (compose.Contact{Name: "Anna", Address: someone, Own: true}) ||
			m.naming.open {
			t.Fatalf("%+v\n%s", b.all, text(t, m))
		}
		drive(m, screen.NameMsg{Address: someone})
		if got := text(t, m); !strings.Contains(got, "Rename Anna") ||
			!strings.Contains(got, "ctrl+x remove the contact") {
			t.Fatal(got)
		}
		typed(m, "2")
		press(m, "enter")
		if len(b.all) != 1 || b.all[0].Name != "Anna2" {
			t.Fatalf("%+v", b.all)
		}
		drive(m, screen.NameMsg{Address: someone})
		b.fail = errors.New("the disk is full")
		press(m, "ctrl+x")
		if got := text(t, m); !strings.Contains(got, "the disk is full") || !m.naming.open || len(b.all) != 1 {
			t.Fatal(got)
		}
		b.fail = nil
		press(m, "ctrl+x")
		if got := text(t, m); len(b.all) != 0 || !strings.Contains(got, "Anna2 is no contact any more: 0xfe52 613d") {
			t.Fatalf("%+v\n%s", b.all, got)
		}
	})(t)
}

func TestD10_ANewContactTakesAPastedAddressAndWarnsOfALookAlike(t *testing.T) {
	bubble(func(t *testing.T) {
		b := &book{all: []compose.Contact{{Name: "Anna", Address: someone, Own: true}}}
		m := withBook(t, b)
		press(m, "6", "c", "enter")
		typed(m, "Bert")
		press(m, "enter")
		drive(m, tea.PasteMsg{Content: " " + strings.ToLower(someone[:41]) + "3\n"})
		if got := text(t, m); !strings.Contains(got, "It looks like Anna, but is another address.") {
			t.Fatal(got)
		}
		press(m, "ctrl+u")
		drive(m, tea.PasteMsg{Content: "0x93dbd23b6b71b82e3a19ad8d51ddebbb13af7bc0"})
		press(m, "enter")
		if len(b.all) != 2 || b.all[1].Address != "0x93DBD23b6b71b82E3A19aD8d51DdEBbB13aF7BC0" {
			t.Fatalf("%+v\n%s", b.all, text(t, m))
		}
		press(m, "6", "c")
		if got := text(t, m); !strings.Contains(got, "Bert") || !strings.Contains(got, b.all[1].Address) {
			t.Fatal(got)
		}
	})(t)
}

// What the program itself names is not renamed, and without a book nothing opens.
func TestD10_TheProgramsOwnNamesStay(t *testing.T) {
	bubble(func(t *testing.T) {
		m := withBook(t, &book{all: []compose.Contact{{Name: "Demo payee", Address: someone}}})
		drive(m, screen.NameMsg{Address: someone})
		if got := text(t, m); m.naming.open || !strings.Contains(got,
			"this program itself calls this address Demo payee") {
			t.Error(got)
		}
		m = started(t, options(t, sample(t)), 80, 24)
		drive(m, screen.NameMsg{Address: someone})
		if got := text(t, m); m.naming.open || !strings.Contains(got, "keeps no contacts") {
			t.Error(got)
		}
	})(t)
}

// TestD9_EverythingIsReachedFromAnywhere types what people type into the palette on Accounts.
func TestD9_EverythingIsReachedFromAnywhere(t *testing.T) {
	bubble(func(t *testing.T) {
		b := &book{all: []compose.Contact{{Name: "Anna", Address: someone, Own: true}}}
		o := options(t, sample(t))
		o.Context.Contacts = b.contacts()
		o.beside(func(c screen.Context) map[screen.ID]screen.Screen {
			return map[screen.ID]screen.Screen{screen.Build: builder.New(c, builder.Deps{Book: b.all})}
		})
		m := started(t, o, 80, 24)
		for typing, want := range map[string][2]string{
			"swap": {"build", "receive"}, "exchange": {"build", "receive"}, "send": {"build", "amount"},
			"pay":      {"build", "amount"},
			"pay anna": {"build", "Anna ✓"}, "wbtc": {"build", "WBTC on any chain"}, "faucet": {"balances", "Receive"},
			"optim": {"balances", "/ Optimism"}, "batch": {"build", "Call 1 of 1"}, "hist": {"history", "quote id"},
			"totals": {"history", "Totals"}, "deposit": {"balances", "Receive"},
			"account 0xfe52613d": {"accounts", "Smart account"},
			"address book":       {"accounts", "new contact"}, "sign": {"", ""}, "dark": {"accounts", ""},
		} {
			press(m, "esc", "esc", "6", ":")
			typed(m, typing)
			shown := text(t, m)
			press(m, "enter")
			got := text(t, m)
			if string(m.activeID()) != want[0] && want[0] != "" || !strings.Contains(got, want[1]) {
				t.Errorf("%q leads to %s, want %v:\n%s\n%s", typing, m.activeID(), want, shown, got)
			}
			if m.palette.IsOpen() {
				press(m, "esc")
			}
		}
		m = started(t, o, 80, 24)
		press(m, "2", "t", "down")
		typed(m, "2:")
		press(m, "ctrl+p")
		open := m.palette.IsOpen()
		press(m, "esc")
		if got := text(t, m); !open || m.palette.IsOpen() || !strings.Contains(got, "amount     2:") {
			t.Errorf("in a field ctrl+p opens nothing:\n%s", got)
		}
		press(m, "down", "enter", "down", "ctrl+p")
		if got := text(t, m); m.palette.IsOpen() || !strings.Contains(got, "› type an address") {
			t.Errorf("in a list ctrl+p is no arrow any more:\n%s", got)
		}
	})(t)
}

// A line of the palette for another screen does there what its key does, and never what signs or is off.
func TestD9_ALineForAnotherScreenNeverSigns(t *testing.T) {
	bubble(func(t *testing.T) {
		m, pad, _ := withPad(t, nil)
		press(m, "4")
		for _, it := range m.paletteItems() {
			if strings.HasPrefix(it.Value, paletteGo+"build") {
				t.Errorf("%q", it.Label)
			}
		}
		pad.take()
		m.choose(kit.Item{Value: paletteGo + "build y"}, true)
		press(m, "4")
		m.choose(kit.Item{Value: paletteGo + "build x"}, true)
		if got := pad.take(); strings.Contains(got, "y") || strings.Contains(got, "x") {
			t.Errorf("pressed %q", got)
		}
		press(m, "4")
		m.choose(kit.Item{Value: paletteGo + "build s"}, true)
		if got := pad.take(); got != "s" || m.activeID() != screen.Build {
			t.Errorf("pressed %q on %s", got, m.activeID())
		}
	})(t)
}
