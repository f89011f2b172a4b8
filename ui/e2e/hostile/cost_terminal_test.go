//go:build unix

package hostile

import (
	"fmt"
	"strings"
	"testing"

	"coffer/ui/e2e/rig"
)

// cannotConfirm presses everything that confirms a review elsewhere. Opening the list of checks shows that it was read.
func cannotConfirm(p rig.Person, code string) {
	p.Helper()
	p.Types("y\ryy\rc")
	p.Sees("Checks", "esc back to the review", code)
	p.Types("\x1b")
	p.Sees("nothing can be signed", "Nothing was signed.")
}

// TestK5_TerminalACostBeyondTheBoundsIsRefusedOrToldBeforeItIsConfirmed: of 100 a fee of 19.90 is refused in words and
// nothing can be confirmed; of 20 a fee of $1 is a warning, which has to be on the screen before y does anything.
func TestK5_TerminalACostBeyondTheBoundsIsRefusedOrToldBeforeItIsConfirmed(t *testing.T) {
	t.Parallel()
	env, b := rig.Team(t)
	c := &charges{TB: t, bps: 1990}
	b.Behaves(c.answer)
	b.With(func() { b.Recast = c.request })
	executed := func() int { return len(b.Saw(rig.PathExecute)) }
	p := rig.Opens(t, env, 80, 24)

	p.FillsInTransfer("100", rig.Payee(t))
	p.Types("r")
	p.Sees("Refused", "The quote costs far more than it delivers.", "Q11", "at most 10.00 %, or 2.00 USD", "20.30 USD")
	cannotConfirm(p, "Q11")
	p.Types("\x1b")
	p.Sees("Left. Nothing was signed.")

	b.With(func() { c.bps = 500 })
	p.FillsInTransfer("20", rig.Payee(t))
	p.Types("r")
	p.Sees("Review of the transfer", "renews in", "! The quote costs much for what it delivers.", "$1.00", "5.00 %")
	if executed() != 0 {
		t.Fatal("confirmed without a key")
	}
	p.Reads(`(?:expires|renews) in (\d+:\d\d)`)
	p.Sees("y sign 1 payment")
	p.Types("y")
	p.Sees("Activity", "COMPLETED")
	if c.charged != 2 || executed() != 1 {
		t.Errorf("charged %d times, executed %d", c.charged, executed())
	}
}

// TestK5_TerminalTheDayOfALabHasACap: without a policy file no more than $5,000 are signed for on one day, also on the
// dashboard, which names the cap and lets nobody confirm.
func TestK5_TerminalTheDayOfALabHasACap(t *testing.T) {
	t.Parallel()
	env, b := rig.Team(t, "--fault", "revert@1")
	s := rig.Script{T: t, Env: env, Pass: rig.Passphrase}
	to := func(n int) string { return "0x" + strings.Repeat(fmt.Sprint(n), 40) }
	for n := range 4 { // all of it comes back
		s.Runs(1, "transfer", "--asset", "usdc", "--amount", "1100", "--to", to(n+1), "--chain", "op", "--yes",
			"--accept", "V4,Q11,J4,U3")
	}
	p := rig.Opens(t, env, 100, 40)
	p.FillsInTransfer("1100", to(5))
	p.Types("r")
	p.Sees("Refused", "Y5", "at most 5000.00 USD", "The service did nothing wrong.")
	cannotConfirm(p, "Y5")
	if n := len(b.Saw(rig.PathExecute)); n != 4 {
		t.Errorf("executed %d times", n)
	}
	p.Types("\x1b")
	p.Sees("Left. Nothing was signed.")
	p.FillsInTransfer("400", to(5)) // the rest of the day may be spent
	p.Types("r")
	p.Sees("Review of the transfer", "renews in", "type 400 and press enter")
}
