//go:build unix

package main

import (
	"regexp"
	"strings"
	"testing"
)

// visits goes to other screens and comes back to the builder: the keys still work.
func (p person) visits() {
	p.Helper()
	for _, tab := range []string{"3 Activity", "4 History", "6 Accounts", "2 Build"} {
		p.types(tab[:1])
		p.sees("›" + tab)
	}
}

// signsAndSends fills in a transfer of 20 USDC and confirms it.
func (p person) signsAndSends(to string) {
	p.Helper()
	p.fillsInTransfer("20", to)
	p.types("r")
	p.sees("Review of the transfer", "expires in", "y sign")
	p.reads(`expires in (\d+:\d\d)`)
	p.types("y")
}

// TestK6_TerminalTheDashboardGoesOnWhateverTheServiceSays: the service switches protocols, or says half of an answer,
// and falls silent. The screens say so, keys go on working, a review that is asked for can be left, the program ends.
func TestK6_TerminalTheDashboardGoesOnWhateverTheServiceSays(t *testing.T) {
	t.Parallel()
	env, b := team(t)
	p := opens(t, env, 120, 40)
	p.fillsIn()
	for _, c := range []struct{ lie, words string }{
		{switches, "the service answered 101"}, {processes, "the service answered 102"},
		{upgrades, "the service answered 101"}, {half, "Asking the service to prepare"},
	} {
		asked := len(b.saw(pathPrepare))
		b.says(func(request) string { return c.lie })
		p.types("r")
		p.waits("the request", func(string) bool { return len(b.saw(pathPrepare)) > asked })
		p.sees("› Review", c.words, "esc leave, nothing signed")
		p.types("\x1b")
		p.sees("›2 Build  3", "Left. Nothing was signed.")
		if p.types("1\x12"); c.lie != half {
			p.sees("›1 Balances", "read balances", c.words)
			p.types("4\x12")
			p.sees("›4 History", "newest first, read", c.words)
		}
		p.visits()
	}
	p.types("q") // while answers hang
	if err := p.ends(); err != nil {
		t.Error(err)
	}
}

// TestK6_TerminalHalfOfAnAnswerToWhatWasSentHoldsNobody: what was signed is sent, half of an answer comes, and the
// person leaves: one question names all that is unfinished, the second q ends the program, the next start finds it.
func TestK6_TerminalHalfOfAnAnswerToWhatWasSentHoldsNobody(t *testing.T) {
	t.Parallel()
	env, b := team(t, "--lifetime", "60s")
	p := opens(t, env, 120, 40)
	b.says(func(r request) string {
		if executes(r) || r.path == pathStatus {
			return half
		}
		return ""
	})
	p.signsAndSends(payee(t))
	p.sees("sent to the service, once", "You can leave")
	p.types("\x1b")
	p.sees("›3 Activity", "1 outstanding signature")
	p.visits()
	p.types("q")
	p.sees("an operation is under way; payments are being signed and sent; press again to quit")
	p.types("q")
	if err := p.ends(); err != nil {
		t.Error(err)
	}
	again := opens(t, env, 120, 40)
	again.types("3")
	again.sees("›3 Activity", "OUTCOME UNKNOWN", "It is never sent again")
	if n := len(b.saw(pathExecute)); n != 1 {
		t.Errorf("sent %d times", n)
	}
}

// TestK8_TerminalAServiceThatNeverEndsKeepsNothingWaiting: a payment stays PENDING for ever. The person builds the next
// one, another process signs and sends beside the dashboard, and it can be quit. The next start finds both again, and
// their ends when the service tells them.
func TestK8_TerminalAServiceThatNeverEndsKeepsNothingWaiting(t *testing.T) {
	t.Parallel()
	env, b := team(t, "--lifetime", "60s")
	later := regexp.MustCompile(`"(IN_PROGRESS|EXECUTED|COMPLETED)"`)
	b.behaves(func(r request, status int, answer []byte) (int, []byte) {
		if r.path == pathStatus {
			answer = later.ReplaceAll(answer, []byte(`"PENDING"`))
		}
		return status, answer
	})
	p := opens(t, env, 120, 40)
	p.signsAndSends(payee(t))
	p.sees("›3 Activity", "The service has accepted it and has not started yet")
	p.visits()
	s := script{t, env, passphrase}
	_, errs := s.runs(6, "call", "--chain", "base", "--to", "usdc", "--function", "transfer(address to, uint256 v)",
		"--arg", "0x"+strings.Repeat("2", 40), "--arg", "20 USDC", "--wait", "1s",
		"--yes", "--accept", "V4,Q10,Q11,J4,U3")
	if !strings.Contains(errs, "Resume with: coffer status") {
		t.Errorf("%s", errs)
	}
	p.types("Xc")
	p.fillsIn() // and is not finished
	p.types("q")
	p.sees("a call is being built", "an operation is under way", "press again to quit")
	p.types("q")
	if err := p.ends(); err != nil {
		t.Error(err)
	}

	again := opens(t, env, 120, 40)
	again.types("3")
	two := func(word string) func(string) bool { // the lines of the list begin with a time
		line := regexp.MustCompile(`(?m)^[ ›]+\d\d:\d\d:\d\d +transfer (?:USDC to Optimism|on Base) .* ` + word)
		return func(screen string) bool { return len(line.FindAllString(screen, -1)) == 2 }
	}
	again.waits("both of them", two("accepted"))
	b.behaves(nil)
	again.types("r")
	again.waits("both ends", two("COMPLETED"))
	if n := len(b.saw(pathExecute)); n != 2 {
		t.Errorf("sent %d times", n)
	}
	again.types("q")
	if err := again.ends(); err != nil {
		t.Error(err)
	}
}

// TestK10_TerminalAnAnswerThatIsTooLargeIsToldAndNotKept: the answer to a prepare, then that to a quote, carries 3.9 MB
// of a member that nobody knows. The dashboard says why it takes neither, and the journal grows by none of it.
func TestK10_TerminalAnAnswerThatIsTooLargeIsToldAndNotKept(t *testing.T) {
	t.Parallel()
	env, b := team(t)
	padding := `{"padding":"` + strings.Repeat("x", 3_900_000) + `",`
	b.behaves(func(r request, status int, answer []byte) (int, []byte) {
		if r.path != pathPrepare && r.path != pathQuote || status/100 != 2 {
			return status, answer
		}
		return status, []byte(padding + strings.TrimPrefix(string(answer), "{"))
	})
	p := opens(t, env, 120, 40)
	refused := func() {
		t.Helper()
		p.types("r")
		p.sees("› Review", "not done", "more than 256 KiB", "Nothing was signed.")
		p.types("\x1b")
		p.sees("›2 Build  3", "Left. Nothing was signed.")
	}
	p.fillsIn()
	refused()
	p.fillsInTransfer("20", payee(t))
	refused()
	p.types("q")
	if err := p.ends(); err != nil {
		t.Error(err)
	}
	if n := sizeOf(t, env); n > 256<<10 {
		t.Errorf("the state takes %d bytes", n)
	}
	if len(b.saw(pathPrepare)) == 0 || len(b.saw(pathQuote)) == 0 || len(b.saw(pathExecute)) != 0 {
		t.Error("the lies were not told, or something was executed")
	}
}
