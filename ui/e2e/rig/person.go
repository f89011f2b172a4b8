//go:build unix

package rig

import (
	"bytes"
	"errors"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"coffer/ui/termtest"
)

// Person is somebody in front of the terminal: each step waits for what it expects to see.
type Person struct {
	testing.TB
	Term *termtest.Terminal
}

// At puts a person in front of a terminal.
func At(t testing.TB, term *termtest.Terminal) Person { return Person{t, term} }

// Sees waits until all the texts are on the screen.
func (p Person) Sees(texts ...string) {
	p.Helper()
	must(p, p.Term.WaitFor(Limit, texts...))
}

// Types presses keys.
func (p Person) Types(keys string) {
	p.Helper()
	must(p, p.Term.Type(keys))
}

// Waits waits until the screen is as it should be; what says how, for a failure.
func (p Person) Waits(what string, ok func(screen string) bool) {
	p.Helper()
	must(p, p.Term.WaitUntil(what, Limit, ok))
}

// Ends waits for the end of the program. When it does not come, the program is made to say what it is doing.
func (p Person) Ends() error {
	p.Helper()
	err := p.Term.WaitExit(Limit)
	if errors.Is(err, termtest.ErrTimeout) {
		said := len(p.Term.Raw())
		_ = p.Term.Process().Signal(syscall.SIGQUIT)
		_ = p.Term.WaitExit(Limit)
		p.Fatalf("%v\n%s", err, p.Term.Raw()[said:])
	}
	return err
}

// Finds waits until the pattern is on the screen and returns its first group.
func (p Person) Finds(pattern string) string {
	p.Helper()
	found, err := p.Term.Find(Limit, pattern)
	must(p, err)
	return found
}

// Reads scrolls to the end of a review, then lets its countdown move twice: the first moments of a screen confirm
// nothing.
func (p Person) Reads(countdown string) {
	p.Helper()
	must(p, p.Term.ReadReview(Limit, countdown))
}

// FillsIn makes the ready-made call and returns what it needs. The call is there once its amount is: it may wait for
// the balances.
func (p Person) FillsIn() (needs string) {
	p.Helper()
	p.Types("2")
	p.Sees("Build", "trial call")
	p.Types("d")
	needs = p.Finds(`needs +([0-9.,]+) USDC`)
	p.Sees("elsewhere")
	return needs
}

// Unknown is what the screen says of an operation that was sent perhaps, until its end is known.
const Unknown = "OUTCOME UNKNOWN"

// Outcome waits for the end of an operation that was cut off, or for the place where it waits when it was not sent. The
// proof that it never ran comes a minute and a half later, after the expiry of its quote: with COFFER_TEST_WHOLE it
// waits for that, otherwise for an answer of the service and then takes Unknown.
func (p Person) Outcome() (found string) {
	p.Helper()
	const ends = `COMPLETED|REFUNDED|never ran|waits for review 2|no (?:new )?quote yet`
	sees := func(limit time.Duration, words string) error {
		any := regexp.MustCompile(words)
		return p.Term.WaitUntil("the outcome", limit, func(screen string) bool {
			found = any.FindString(screen)
			return found != ""
		})
	}
	err := sees(Limit, ends+"|"+Unknown)
	if err == nil && found == Unknown {
		if Whole() {
			err = sees(3*Limit, ends)
		} else if err = sees(answered, ends); errors.Is(err, termtest.ErrTimeout) {
			return Unknown
		}
	}
	must(p, err)
	return found
}

// answered is a time in which a service that runs has said all that it knows of an operation.
const answered = 5 * time.Second

// ToType finds what review 2 asks to be typed.
const ToType = `type ([0-9.]+) and press enter`

// WalksToReview2 goes from the first screen, which names the kind of network, to the second review of the trial call,
// read to its end. It returns what the call needs and what has to be typed to confirm.
func (p Person) WalksToReview2(kind string) (needs, pay string) {
	p.Helper()
	p.Sees(kind, "USDC", "$")
	needs = p.FillsIn()
	p.Types("r")
	p.Sees("Review 1 of 2", "No other calls", "y sign")
	p.Reads(`closes in (\d+:\d\d)`)
	p.Types("y")
	p.Sees("Review 2 of 2", "Arrives")
	p.Reads(`(?:expires|renews) in (\d+:\d\d)`)
	return needs, p.Finds(ToType)
}

// Confirms answers what review 2 asks for: amount is the beginning of what leaves. Where no contact book has the payee
// of the trial call, as in a lab, characters of its address are asked for as well.
func (p Person) Confirms(amount string) {
	p.Helper()
	p.Types(amount + "\r")
	p.Waits("what comes behind the amount", func(screen string) bool {
		return !strings.Contains(screen, "press enter") || letters.MatchString(screen)
	})
	found := letters.FindStringSubmatch(p.Term.Screen())
	if found == nil {
		return
	}
	from, err := strconv.Atoi(found[1])
	must(p, err)
	p.Reads(`(?:expires|renews) in (\d+:\d\d)`)
	p.Types(strings.TrimPrefix(Payee(p), "0x")[from-1:][:4] + "\r")
}

var letters = regexp.MustCompile(`type characters (\d+) to`)

// Escapes presses escape, which would be part of the next key if that followed at once.
func (p Person) Escapes() {
	p.Helper()
	p.Types("\x1b")
	p.Rests(200 * time.Millisecond)
}

// Rests waits until the screen has not changed for a while.
func (p Person) Rests(while time.Duration) {
	p.Helper()
	must(p, p.Term.Still(while, Limit))
}

// Settles waits until the program has drawn what the keys led to, however busy the machine is.
func (p Person) Settles() {
	p.Helper()
	must(p, p.Term.Settled(30*time.Millisecond, Limit))
}

// Quits leaves the dashboard, and looks whether the terminal was given back.
func (p Person) Quits() {
	p.Helper()
	p.Types("q")
	if err := p.Term.WaitExit(Limit); err != nil {
		p.Errorf("leaving: %v\n%s", err, p.Term.Screen())
	}
	if p.Term.AltScreen() {
		p.Error("the terminal was not given back")
	}
}

// Builds makes the ready-made call and asks for review 1.
func (p Person) Builds() {
	p.Helper()
	p.FillsIn()
	p.Types("r")
}

// FillsInTransfer fills in a transfer of USDC to Optimism. r asks for its review then.
func (p Person) FillsInTransfer(amount, to string) {
	p.Helper()
	p.Types("2")
	p.Sees("Build")
	p.Types("Xt") // an empty form of a transfer
	p.Sees("Transfer", "how much, or max")
	p.Types("\r")
	p.Sees("What to send", "USDC on any chain")
	p.Types("USDC\r")
	p.Sees("you have")
	p.Types(amount + "\t" + to + "\t\r")
	p.Sees("The chain on which it arrives")
	p.Types("Optimism\r")
	p.Sees("on         Optimism", " ? help") // single keys work
}

// Asks runs a command in front of a person who answers its questions, each as soon as it stands there, and returns what
// was on the screen.
func Asks(t *testing.T, env, args []string, answers ...string) (screen string, code error) {
	t.Helper()
	p := Person{t, Start(t, env, 160, 40, args...)}
	times := map[string]int{} // a question that comes again is answered again
	for pair := range slices.Chunk(answers, 2) {
		question, answer := pair[0], pair[1]
		times[question]++
		p.Waits(question, func(screen string) bool { return strings.Count(screen, question) >= times[question] })
		p.Types(answer + "\r")
	}
	code = p.Ends()
	for pair := range slices.Chunk(answers, 2) {
		hidden := strings.Contains(pair[0], "not shown") || strings.Contains(pair[0], "once more")
		if hidden && bytes.Contains(p.Term.Raw(), []byte(pair[1])) {
			t.Errorf("%v showed what was typed at %q", args, pair[0])
		}
	}
	return p.Term.Screen(), code
}
