package builder

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"coffer/ui/compose"
)

// TestAPastedPaymentRequestFillsInTheForm: from any row, also a text row and an open list; what was there comes back.
func TestAPastedPaymentRequestFillsInTheForm(t *testing.T) {
	const usdc = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"
	request := tea.PasteMsg{Content: "ethereum:" + usdc + "@8453/transfer?address=" + payee + "&uint256=25500000\n"}
	for name, keys := range map[string][]string{"a text row": {"t", "down"}, "a list": {"t", "enter"},
		"review": {"t", "G"}} {
		r := newRig(t)
		r.press(keys...)
		r.do(r.s.Update(request))
		if v := r.view(); r.s.form != formCalls || r.s.current().id != idReview || !strings.Contains(v, "25.5") ||
			!strings.Contains(v, "Demo payee ✓") || len(r.s.mistakes()) > 0 {
			t.Errorf("%s: %v\n%s", name, r.s.mistakes(), v)
		}
	}
	r := newRig(t)
	r.press("t", "down")
	r.s.edit()
	*r.s.current().field = "7"
	r.do(r.s.Update(tea.PasteMsg{Content: "ethereum:" + payee + "@424242?value=1"}))
	if r.s.x[r.s.form].Amount != "7" {
		t.Error("a request that cannot be paid changed the form")
	}
	r.do(r.s.Update(tea.PasteMsg{Content: "solana:GThUX1Atko4tqhN2NaiTazWSeFWMuiUvfFnyJyUghFMJ?memo=x"}))
	if v := r.view(); r.s.current().id != compose.IDAmount || !strings.Contains(v, "not kept of the request: memo") {
		t.Error(v)
	}
	r.press("esc", "U")
	if r.s.x[r.s.form].Amount != "7" {
		t.Errorf("U brings back %+v", r.s.x[r.s.form])
	}
}
