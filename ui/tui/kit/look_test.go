package kit

import (
	"testing"

	tea "charm.land/bubbletea/v2"
)

func TestLookLendsWhatWasTypedAndKeepsIt(t *testing.T) {
	f := NewSecretField()
	f.Update(tea.PasteMsg{Content: "river stone"})
	var got string
	f.Look(func(typed []byte) { got = string(typed) })
	if got != "river stone" || f.Empty() {
		t.Errorf("%q", got)
	}
	f.Wipe()
	f.Look(func(typed []byte) { got = string(typed) })
	if got != "" {
		t.Errorf("%q after it was wiped", got)
	}
}
