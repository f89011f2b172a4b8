//go:build unix

package endless

import (
	"regexp"
	"strings"
	"testing"

	"coffer/ui/e2e/rig"
)

// visits goes to other screens and comes back to the builder: the keys still work.
func visits(p rig.Person) {
	p.Helper()
	for _, tab := range []string{"3 Activity", "4 History", "6 Accounts", "2 Build"} {
		p.Types(tab[:1])
		p.Sees("›" + tab)
	}
}

// signsAndSends fills in a transfer of 20 USDC and confirms it.
func signsAndSends(p rig.Person, to string) {
	p.Helper()
	p.FillsInTransfer("20", to)
	p.Types("r")
	p.Sees("Review of the transfer", "renews in", "y sign")
	p.Reads(`(?:expires|renews) in (\d+:\d\d)`)
	p.Types("y")
}

// TestK6_TerminalTheDashboardGoesOnWhateverTheServiceSays: the service switches protocols, or says half of an answer,
// and falls silent. The screens say so, keys go on working, a review that is asked for can be left, the program ends.
func TestK6_TerminalTheDashboardGoesOnWhateverTheServiceSays(t *testing.T) {
	t.Parallel()
	env, b := rig.Team(t)
	p := rig.Opens(t, env, 120, 40)
	p.FillsIn()
	for _, c := range []struct{ lie, words string }{
		{switches, "the service answered 101"}, {processes, "the service answered 102"},
		{upgrades, "the service answered 101"}, {half, "Asking the service to prepare"},
	} {
		asked := len(b.Saw(rig.PathPrepare))
		says(b, func(rig.Request) string { return c.lie })
		p.Types("r")
		p.Waits("the request", func(string) bool { return len(b.Saw(rig.PathPrepare)) > asked })
		p.Sees("› Review", c.words, "esc leave, nothing signed")
		p.Types("\x1b")
		p.Sees("›2 Build  3", "Left. Nothing was signed.")
		if p.Types("1\x12"); c.lie != half {
			p.Sees("›1 Balances", "read balances", c.words)
			p.Types("4\x12")
			p.Sees("›4 History", "newest first, read", c.words)
		}
		visits(p)
	}
	p.Types("q") // while answers hang
	if err := p.Ends(); err != nil {
		t.Error(err)
	}
}

// TestK6_TerminalHalfOfAnAnswerToWhatWasSentHoldsNobody: what was signed is sent, half of an answer comes, and the
// person leaves: one question names all that is unfinished, the second q ends the program, the next start finds it.
func TestK6_TerminalHalfOfAnAnswerToWhatWasSentHoldsNobody(t *testing.T) {
	t.Parallel()
	env, b := rig.Team(t, "--lifetime", "60s")
	p := rig.Opens(t, env, 120, 40)
	says(b, func(r rig.Request) string {
		if rig.Executes(r) || r.Path == rig.PathStatus {
			return half
		}
		return ""
	})
	signsAndSends(p, rig.Payee(t))
	p.Sees("sent to the service, once", "You can leave")
	p.Types("\x1b")
	p.Sees("›3 Activity", "1 outstanding signature")
	p.Finds(`transfer USDC to Optimism +(sent)`)
	p.Waits("the request", func(string) bool { return len(b.Saw(rig.PathExecute)) == 1 })
	visits(p)
	p.Types("q")
	p.Sees("an operation is under way; payments are being signed and sent; press again to quit")
	p.Types("q")
	if err := p.Ends(); err != nil {
		t.Error(err)
	}
	again := rig.Opens(t, env, 120, 40)
	again.Types("3")
	again.Sees("›3 Activity", "OUTCOME UNKNOWN", "It is never sent again")
	if n := len(b.Saw(rig.PathExecute)); n != 1 {
		t.Errorf("sent %d times", n)
	}
}

// TestK8_TerminalAServiceThatNeverEndsKeepsNothingWaiting: a payment stays PENDING for ever. The person builds the next
// one, another process signs and sends beside the dashboard, and it can be quit. The next start finds both again, and
// their ends when the service tells them.
func TestK8_TerminalAServiceThatNeverEndsKeepsNothingWaiting(t *testing.T) {
	t.Parallel()
	env, b := rig.Team(t, "--lifetime", "60s")
	later := regexp.MustCompile(`"(IN_PROGRESS|EXECUTED|COMPLETED)"`)
	b.Behaves(func(r rig.Request, status int, answer []byte) (int, []byte) {
		if r.Path == rig.PathStatus {
			answer = later.ReplaceAll(answer, []byte(`"PENDING"`))
		}
		return status, answer
	})
	p := rig.Opens(t, env, 120, 40)
	signsAndSends(p, rig.Payee(t))
	p.Sees("›3 Activity", "The service has accepted it and has not started yet")
	visits(p)
	s := rig.Script{T: t, Env: env, Pass: rig.Passphrase}
	_, errs := s.Runs(6, "call", "--chain", "base", "--to", "usdc", "--function", "transfer(address to, uint256 v)",
		"--arg", "0x"+strings.Repeat("2", 40), "--arg", "20 USDC", "--wait", "1s",
		"--yes", "--accept", "V4,Q10,Q11,J4,U3")
	if !strings.Contains(errs, "Resume with: coffer status") {
		t.Errorf("%s", errs)
	}
	p.Types("Xc")
	p.FillsIn() // and is not finished
	p.Types("q")
	p.Sees("an operation is under way", "press again to quit") // the call is saved
	p.Types("q")
	if err := p.Ends(); err != nil {
		t.Error(err)
	}

	again := rig.Opens(t, env, 120, 40)
	again.Types("3")
	two := func(word string) func(string) bool { // the lines of the list begin with a time
		line := regexp.MustCompile(`(?m)^[ ›]+\d\d:\d\d:\d\d +transfer (?:USDC to Opt\S*|on Base) .* ` + word)
		return func(screen string) bool { return len(line.FindAllString(screen, -1)) == 2 }
	}
	again.Waits("both of them", two("accepted"))
	b.Behaves(nil)
	again.Types("r")
	again.Waits("both ends", two("COMPLETED"))
	if n := len(b.Saw(rig.PathExecute)); n != 2 {
		t.Errorf("sent %d times", n)
	}
	again.Types("q")
	if err := again.Ends(); err != nil {
		t.Error(err)
	}
}

// TestK10_TerminalAnAnswerThatIsTooLargeIsToldAndNotKept: the answer to a prepare, then that to a quote, carries 3.9 MB
// of a member that nobody knows. The dashboard says why it takes neither, and the journal grows by none of it.
func TestK10_TerminalAnAnswerThatIsTooLargeIsToldAndNotKept(t *testing.T) {
	t.Parallel()
	env, b := rig.Team(t)
	padding := `{"padding":"` + strings.Repeat("x", 3_900_000) + `",`
	b.Behaves(func(r rig.Request, status int, answer []byte) (int, []byte) {
		if r.Path != rig.PathPrepare && r.Path != rig.PathQuote || status/100 != 2 {
			return status, answer
		}
		return status, []byte(padding + strings.TrimPrefix(string(answer), "{"))
	})
	p := rig.Opens(t, env, 120, 40)
	refused := func() {
		t.Helper()
		p.Types("r")
		p.Sees("› Review", "not done", "more than 256 KiB", "Nothing was signed.")
		p.Types("\x1b")
		p.Sees("›2 Build  3", "Left. Nothing was signed.")
	}
	p.FillsIn()
	refused()
	p.FillsInTransfer("20", rig.Payee(t))
	refused()
	p.Types("q")
	if err := p.Ends(); err != nil {
		t.Error(err)
	}
	if n := sizeOf(t, env); n > 256<<10 {
		t.Errorf("the state takes %d bytes", n)
	}
	if len(b.Saw(rig.PathPrepare)) == 0 || len(b.Saw(rig.PathQuote)) == 0 || len(b.Saw(rig.PathExecute)) != 0 {
		t.Error("the lies were not told, or something was executed")
	}
}
