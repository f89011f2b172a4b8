//go:build linux

package sshci

import (
	"errors"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"coffer/ui/termtest"
)

// person is somebody in front of a terminal in which ssh runs: each step waits for what it expects to see.
type person struct {
	testing.TB
	term *termtest.Terminal
}

func (p person) sees(texts ...string) {
	p.Helper()
	must(p, p.term.WaitFor(limit, texts...))
}

func (p person) waits(what string, ok func(screen string) bool) {
	p.Helper()
	must(p, p.term.WaitUntil(what, limit, ok))
}

func (p person) types(keys string) {
	p.Helper()
	must(p, p.term.Type(keys))
}

// finds waits until the pattern is on the screen and returns its first group.
func (p person) finds(pattern string) (found string) {
	p.Helper()
	re := regexp.MustCompile(pattern)
	p.waits(pattern, func(screen string) bool {
		m := re.FindStringSubmatch(screen)
		if m != nil {
			found = m[1]
		}
		return m != nil
	})
	return found
}

// ends waits for the end of ssh, which tells the exit code of what it ran.
func (p person) ends() error {
	p.Helper()
	err := p.term.WaitExit(limit)
	if errors.Is(err, termtest.ErrTimeout) {
		p.Fatal(err)
	}
	return err
}

// leaves quits the dashboard and expects it to be gone from the terminal.
func (p person) leaves() {
	p.Helper()
	p.types("q")
	if err := p.ends(); err != nil {
		p.Fatalf("leaving: %v\n%s", err, p.term.Screen())
	}
	if p.term.AltScreen() {
		p.Error("the terminal was not given back")
	}
}

// reads scrolls to the end of a review, then lets its countdown move twice: the first moments of a screen confirm
// nothing.
func (p person) reads(countdown string) {
	p.Helper()
	for more := regexp.MustCompile(`(\d+) more lines? below`); ; {
		p.settles()
		m := more.FindString(p.term.Screen())
		if m == "" {
			break
		}
		p.types(" ")
		p.waits("less than "+m, func(screen string) bool { return more.FindString(screen) != m })
	}
	left := regexp.MustCompile(countdown)
	for range 2 {
		now := p.finds(countdown)
		p.waits("the countdown to move on from "+now, func(screen string) bool {
			m := left.FindStringSubmatch(screen)
			return m != nil && m[1] != now
		})
	}
}

// answers gives answers to questions, each as soon as it stands there, and returns the error of the command.
func (p person) answers(pairs ...string) error {
	p.Helper()
	for i := 0; i+1 < len(pairs); i += 2 {
		times := 1 // a question that comes again is answered again
		for j := 0; j < i; j += 2 {
			if pairs[j] == pairs[i] {
				times++
			}
		}
		p.waits(pairs[i], func(screen string) bool { return strings.Count(screen, pairs[i]) >= times })
		p.types(pairs[i+1] + "\r")
	}
	return p.ends()
}

// builds makes the ready-made call and reads the first review.
func (p person) builds() (needs string) {
	p.Helper()
	needs = p.asks()
	p.reviews()
	return needs
}

// asks makes the ready-made call and asks for its review.
func (p person) asks() (needs string) {
	p.Helper()
	p.types("2")
	p.sees("Build", "trial call")
	p.types("d")
	needs = p.finds(`needs +([0-9.,]+) USDC`)
	p.sees("elsewhere")
	p.types("r")
	return needs
}

// reviews reads the first review.
func (p person) reviews() {
	p.Helper()
	p.sees("Review 1 of 2", "No other calls", "y sign")
	p.reads(`closes in (\d+:\d\d)`)
}

// pays reads the second review and returns what has to be typed to confirm it.
func (p person) pays() string {
	p.Helper()
	p.sees("Review 2 of 2", "Arrives")
	p.reads(`(?:expires|renews) in (\d+:\d\d)`)
	return p.finds(`type ([0-9.]+) and press enter`)
}

// confirms answers what review 2 asks for: what leaves and, because a lab's contact book does not have the payee of the
// trial call, characters of its address.
func (p person) confirms(pay string) {
	p.Helper()
	p.types(pay + "\r")
	p.waits("what comes behind the amount", func(screen string) bool {
		return !strings.Contains(screen, "press enter") || letters.MatchString(screen)
	})
	found := letters.FindStringSubmatch(p.term.Screen())
	if found == nil {
		return
	}
	from, err := strconv.Atoi(found[1])
	must(p, err)
	p.reads(`(?:expires|renews) in (\d+:\d\d)`)
	p.types("93DBD23b6b71b82E3A19aD8d51DdEBbB13aF7BC0"[from-1:][:4] + "\r")
}

var letters = regexp.MustCompile(`type characters (\d+) to`)

// settles waits until nothing has been written for a moment, so that the whole of the last frame is there.
func (p person) settles() {
	p.Helper()
	must(p, p.term.Still(150*time.Millisecond, limit))
}
