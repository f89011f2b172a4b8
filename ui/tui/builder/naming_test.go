package builder

import (
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"coffer/ui/compose"
	"coffer/ui/tui/internal/tuitest"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/screen"
)

func TestD10_ARecipientThatWasTypedCanBeNamedAndTheNameTyped(t *testing.T) {
	r := newRig(t)
	r.s.ctx.Contacts.Save = func(_, _, _ string) error { return nil }
	r.press("t", "down", "down")
	if r.s.current().id != compose.IDTarget {
		t.Fatal(r.s.current().id)
	}
	other := "0xfe52613d747E20F2f62e0A5cC36B0DFAe771C442"
	tuitest.Type(t, r.s, "0xfe52")
	r.do(r.s.Update(kit.Press(screen.NameKey)))
	if _, there := kit.FindKey(r.s.Keys(), screen.NameKey); there || len(r.sent) != 0 {
		t.Errorf("half an address can be named: %v", r.sent)
	}
	tuitest.Type(t, r.s, strings.ToLower(other[6:]))
	_, there := kit.FindKey(r.s.Keys(), screen.NameKey)
	r.do(r.s.Update(kit.Press(screen.NameKey)))
	if !there || !slices.Contains(r.sent, tea.Msg(screen.NameMsg{Address: other})) {
		t.Fatalf("%v", r.sent)
	}
	r.do(r.s.Update(screen.ContactsChangedMsg{Book: append(slices.Clone(r.s.Book),
		compose.Contact{Name: "Anna", Address: other, Own: true})}))
	if v := r.view(); !strings.Contains(v, "Anna ✓") {
		t.Fatal(v)
	}
	r.press("ctrl+u")
	tuitest.Type(t, r.s, "anna")
	r.press("tab")
	if got := r.s.x[r.s.form].To; got != other {
		t.Fatal(got)
	}
}
