package activity

import (
	"slices"
	"testing"

	tea "charm.land/bubbletea/v2"

	"coffer/api"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/screen"
	"coffer/wallet/flow"
	"coffer/wallet/journal"
)

func TestD10_TheRecipientOfAnOperationIsNamed(t *testing.T) {
	r := newRig(t, Deps{})
	const payee = "0x93DBD23b6b71b82E3A19aD8d51DdEBbB13aF7BC0"
	r.track(&fakeOp{snap: snapshot(flow.StateAccepted, api.StatusExecuted)})
	if _, there := kit.FindKey(r.s.Keys(), screen.NameKey); there {
		t.Error("a recipient that nothing names can be named")
	}
	r.s.ctx.Contacts.Save = func(_, _, _ string) error { return nil }
	r.s.ctx.Terms = func(id string) (journal.Terms, bool) {
		return journal.Terms{Payees: []journal.Payee{{To: payee}}}, id == id64("9f")
	}
	r.do(r.s.Update(kit.Press(screen.NameKey)))
	if !slices.Contains(r.sent, tea.Msg(screen.NameMsg{Address: payee})) {
		t.Errorf("%v", r.sent)
	}
}
