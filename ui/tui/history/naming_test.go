package history

import (
	"slices"
	"testing"

	tea "charm.land/bubbletea/v2"

	"coffer/ui/tui/kit"
	"coffer/ui/tui/screen"
)

// TestD10_TheRecipientOfARecordIsNamed from the list, and from a field of the details; the own account never is.
func TestD10_TheRecipientOfARecordIsNamed(t *testing.T) {
	ctx, s := onLab(t), records(3)
	signed(&ctx, s)
	ctx.Contacts.Save = func(_, _, _ string) error { return nil }
	m := openedWith(t, ctx, s, 120, 60)
	want := tea.Msg(screen.NameMsg{Address: paidTo})
	if got := pressed(m, screen.NameKey); !slices.Contains(got, want) {
		t.Errorf("from the list: %v", got)
	}
	m.enter()
	m.field = slices.IndexFunc(m.fields, func(f field) bool { return f.copy == paidTo })
	if got := pressed(m, screen.NameKey); m.field < 0 || !slices.Contains(got, want) {
		t.Errorf("from the details: %v", got)
	}
	ctx.Terms = nil
	s.records[0].RecipientAccountID = ctx.Accounts[0].AccountAddress
	m = openedWith(t, ctx, s, 120, 60)
	if _, there := kit.FindKey(m.Keys(), screen.NameKey); there || len(pressed(m, screen.NameKey)) > 0 {
		t.Error("the own account can be named")
	}
}
