package review

import (
	"slices"
	"testing"

	tea "charm.land/bubbletea/v2"

	"coffer/ui/tui/internal/tuitest"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/screen"
	"coffer/wallet/journal"
)

// TestD10_TheRecipientIsNamedAfterTheReview, and never while a person decides.
func TestD10_TheRecipientIsNamedAfterTheReview(t *testing.T) {
	r := newRig(t)
	const payee = "0x93DBD23b6b71b82E3A19aD8d51DdEBbB13aF7BC0"
	r.s.ctx.Contacts.Save = func(_, _, _ string) error { return nil }
	r.s.ctx.Terms = func(string) (journal.Terms, bool) {
		return journal.Terms{Payees: []journal.Payee{{To: payee}}}, true
	}
	named := func() (listed, sent bool) {
		_, listed = kit.FindKey(r.s.Keys(), screen.NameKey)
		cmd := r.s.Update(kit.Press(screen.NameKey))
		return listed, cmd != nil && slices.Contains(tuitest.Messages(cmd), tea.Msg(screen.NameMsg{Address: payee}))
	}
	r.toReview2()
	r.s.snap.QuoteID = "0x01"
	if listed, sent := named(); listed || sent {
		t.Errorf("while a person decides: listed %v, sent %v", listed, sent)
	}
	for _, p := range []phase{phaseExecute, phaseGone} {
		r.s.phase = p
		if listed, sent := named(); !listed || !sent {
			t.Errorf("phase %d: listed %v, sent %v", p, listed, sent)
		}
	}
}
