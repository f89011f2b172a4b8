//go:build unix

package commands

import (
	"strings"
	"testing"

	"coffer/ui/e2e/rig"
)

// TestD3_TheHistoryOfTheRealProgramAddsUp makes a call that needs more than is paid, because some of it is on its
// chain: history, status and export name the payee, what was there and the fee; a home without the journal reports no
// fee.
func TestD3_TheHistoryOfTheRealProgramAddsUp(t *testing.T) {
	t.Parallel()
	env, _ := rig.Team(t)
	s := rig.Script{T: t, Env: env, Pass: rig.Passphrase}
	out, _ := s.Runs(0, rig.Pays(t, "call", "--yes", "--accept", "V4,Q11", "--json")...)
	done := rig.ResultOf(t, out)
	out, _ = s.Runs(0, "status", done.QuoteID)
	for _, want := range []string{"payee                Demo payee " + rig.Payee(t) + " got 430.5 USDC on Base\n",
		"  payment  ", "  was there  ", ", as reviewed\n"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	if out, _ = s.Runs(0, "history"); !strings.Contains(out, ", as reviewed; to Demo payee "+rig.Payee(t)+"\n") ||
		!strings.Contains(out, "for a call with 430.5 USDC") {
		t.Error(out)
	}
	if out, _ = s.Runs(0, "export"); !strings.Contains(out, `"terms":{"payees":[{"to":"`+rig.Payee(t)+`"`) {
		t.Error(out)
	}
	if out, _ = s.Runs(0, "history", "--csv"); !strings.Contains(out, ","+rig.Payee(t)+",eip155:8453/erc20:") {
		t.Error(out)
	}
}
