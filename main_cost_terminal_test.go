//go:build unix

package main

import (
	"fmt"
	"strings"
	"testing"
)

// fillsInTransfer fills in a transfer of USDC to Optimism. r asks for its review then.
func (p person) fillsInTransfer(amount, to string) {
	p.Helper()
	p.types("2")
	p.sees("Build")
	p.types("Xt") // an empty form of a transfer
	p.sees("Transfer", "how much, or max")
	p.types("\r")
	p.sees("What to send", "USDC on any chain")
	p.types("USDC\r")
	p.sees("you have")
	p.types(amount + "\t" + to + "\t\r")
	p.sees("The chain on which it arrives")
	p.types("Optimism\r")
	p.sees("on         Optimism")
	p.types("\x1b")
	p.sees(" ? help") // single keys work again
}

// cannotConfirm presses everything that confirms a review elsewhere. Opening the list of checks shows that it was read.
func (p person) cannotConfirm(code string) {
	p.Helper()
	p.types("y\ryy\rc")
	p.sees("Checks", "esc back to the review", code)
	p.types("\x1b")
	p.sees("nothing can be signed", "Nothing was signed.")
}

// TestK5_TerminalACostBeyondTheBoundsIsRefusedOrToldBeforeItIsConfirmed: of 100 a fee of 19.90 is refused in words and
// nothing can be confirmed; of 20 a fee of $1 is a warning, which has to be on the screen before y does anything.
func TestK5_TerminalACostBeyondTheBoundsIsRefusedOrToldBeforeItIsConfirmed(t *testing.T) {
	t.Parallel()
	env, b := team(t)
	c := &charges{TB: t, bps: 1990}
	b.behaves(c.answer)
	b.with(func() { b.recast = c.request })
	executed := func() int { return len(b.saw(pathExecute)) }
	p := opens(t, env, 80, 24)

	p.fillsInTransfer("100", payee(t))
	p.types("r")
	p.sees("Refused", "The quote costs far more than it delivers.", "Q11", "at most 10.00 %, or 2.00 USD", "20.30 USD")
	p.cannotConfirm("Q11")
	p.types("\x1b")
	p.sees("Left. Nothing was signed.")

	b.with(func() { c.bps = 500 })
	p.fillsInTransfer("20", payee(t))
	p.types("r")
	p.sees("Review of the transfer", "expires in", "more lines below")
	const warning = "! The quote costs much for what it delivers."
	if screen := p.term.Screen(); strings.Contains(screen, warning) {
		t.Fatalf("there is nothing to scroll for:\n%s", screen)
	}
	p.types("y")
	p.sees("read to the end first")
	if executed() != 0 {
		t.Fatal("confirmed before the warning was on the screen")
	}
	p.reads(`expires in (\d+:\d\d)`)
	p.sees(warning, "$1.00 (5.00 % of what you pay)", "y sign 1 payment")
	p.types("y")
	p.sees("Activity", "COMPLETED")
	if c.charged != 2 || executed() != 1 {
		t.Errorf("charged %d times, executed %d", c.charged, executed())
	}
}

// TestK5_TerminalTheDayOfALabHasACap: without a policy file no more than $5,000 are signed for on one day, also on the
// dashboard, which names the cap and lets nobody confirm.
func TestK5_TerminalTheDayOfALabHasACap(t *testing.T) {
	t.Parallel()
	env, b := team(t, "--fault", "revert@1")
	s := script{t, env, passphrase}
	to := func(n int) string { return "0x" + strings.Repeat(fmt.Sprint(n), 40) }
	for n := range 4 { // all of it comes back
		s.runs(1, "transfer", "--asset", "usdc", "--amount", "1100", "--to", to(n+1), "--chain", "op", "--yes",
			"--accept", "V4,Q11,J4,U3")
	}
	p := opens(t, env, 100, 40)
	p.fillsInTransfer("1100", to(5))
	p.types("r")
	p.sees("Refused", "Y5", "at most 5000.00 USD", "The service did nothing wrong.")
	p.cannotConfirm("Y5")
	if n := len(b.saw(pathExecute)); n != 4 {
		t.Errorf("executed %d times", n)
	}
	p.types("\x1b")
	p.sees("Left. Nothing was signed.")
	p.fillsInTransfer("400", to(5)) // the rest of the day may be spent
	p.types("r")
	p.sees("Review of the transfer", "expires in", "type 400 and press enter")
}
