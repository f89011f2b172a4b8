//go:build unix

package main

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// executes says whether a request executes a quote.
func executes(r request) bool { return strings.HasSuffix(r.path, "/execute-quote") }

// TestTerminalAQuoteThatExpiresInReviewIsNotConfirmed lets the quote expire on the screen. What is typed then confirms nothing; with a new quote and a fresh
// confirmation the call runs, once.
func TestTerminalAQuoteThatExpiresInReviewIsNotConfirmed(t *testing.T) {
	t.Parallel()
	env, b := team(t, "--lifetime", "40s")
	p := opens(t, env, 100, 30)
	p.builds()
	p.sees("Review 1 of 2", "y sign")
	p.reads(`closes in (\d+:\d\d)`)
	p.types("y")
	p.sees("Review 2 of 2", "You pay")
	p.reads(`expires in (\d+:\d\d)`)
	p.types(p.finds(`type ([0-9.]+) and press enter`)) // and the time is over before the enter
	p.sees("quote expired")
	p.types("\r")
	p.sees("r new quote")
	if n := len(b.saw(pathExecute)); n != 0 {
		t.Fatalf("an expired quote was executed %d times", n)
	}
	p.types("r")
	p.waits("the new quote", func(s string) bool { return strings.Contains(s, "expires in") })
	p.reads(`expires in (\d+:\d\d)`)
	p.types(p.finds(`type ([0-9.]+) and press enter`) + "\r")
	p.sees("COMPLETED")
	if n := len(b.saw(pathExecute)); n != 1 {
		t.Errorf("executed %d times", n)
	}
}

// TestTerminalTheNetworkEndsDuringExecute cuts the connection of execute before or after the service got it, and the network with it. The wallet never sends
// again; when the network is back it finds out what became of the quote.
func TestTerminalTheNetworkEndsDuringExecute(t *testing.T) {
	for name, c := range map[string]struct {
		arrives bool
		outcome string
	}{
		"after the service has it": {true, "COMPLETED"},
		"before":                   {false, "OUTCOME UNKNOWN"}, // for good only when nothing late can arrive
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env, b := team(t, "--lifetime", "60s")
			p := opens(t, env, 100, 30)
			p.builds()
			p.sees("Review 1 of 2", "y sign")
			p.reads(`closes in (\d+:\d\d)`)
			p.types("y")
			p.sees("Review 2 of 2", "You pay")
			p.reads(`expires in (\d+:\d\d)`)
			gone := false
			b.cuts(func(r request) bool { gone = gone || executes(r); return gone }, func(r request) bool { return gone || !c.arrives && executes(r) })
			if !c.arrives {
				b.cuts(nil, func(r request) bool { gone = gone || executes(r); return gone })
			}
			p.types(p.finds(`type ([0-9.]+) and press enter`) + "\r")
			p.sees("Activity", "outcome")
			asked := len(b.saw(pathStatus))
			b.cuts(nil, nil)
			p.waits("an answer about the quote", func(string) bool { return len(b.saw(pathStatus)) > asked })
			p.sees(c.outcome)
			if n := len(b.saw(pathExecute)); n != 1 {
				t.Errorf("sent %d times", n)
			}
			p.types("1")
			p.sees("USDC")
		})
	}
}

// TestTerminalNothingButAPersonConfirms: keys that were pressed before the review stood there, a held key, a paste and a paste with an end of line confirm
// nothing.
func TestTerminalNothingButAPersonConfirms(t *testing.T) {
	t.Parallel()
	env, b := team(t)
	p := opens(t, env, 100, 30)
	p.builds()
	p.types(strings.Repeat("y", 40))
	p.sees("Review 1 of 2", "y sign")
	for range 5 {
		if err := p.term.Paste("y\ry\r"); err != nil {
			t.Fatal(err)
		}
	}
	p.reads(`closes in (\d+:\d\d)`)
	if err := p.term.Paste("y\r"); err != nil {
		t.Fatal(err)
	}
	p.reads(`closes in (\d+:\d\d)`)
	if n := len(b.saw(pathCallQuote)); n != 0 {
		t.Fatal("the call was signed")
	}
	p.types("y")
	p.sees("Review 2 of 2", "You pay")
	p.reads(`expires in (\d+:\d\d)`)
	pay := p.finds(`type ([0-9.]+) and press enter`)
	if err := p.term.Paste(pay + "\r"); err != nil {
		t.Fatal(err)
	}
	p.reads(`expires in (\d+:\d\d)`)
	p.types("\r")
	p.reads(`expires in (\d+:\d\d)`)
	if n := len(b.saw(pathExecute)); n != 0 {
		t.Fatal("a paste confirmed")
	}
}

// TestTerminalResizingWhileScrollingLosesNothing changes the size again and again while a review is scrolled: what stands there is always whole, nothing is
// confirmed, and in the end it can be read and signed.
func TestTerminalResizingWhileScrollingLosesNothing(t *testing.T) {
	t.Parallel()
	_, env := home(t)
	p := person{t, start(t, env, 80, 24)}
	p.sees("EMBEDDED", "USDC", "$")
	p.fillsIn()
	p.types("r")
	p.sees("Review 1 of 2")
	rng := rand.New(rand.NewPCG(1, 2))
	for range 60 {
		if err := p.term.Resize(40+rng.IntN(100), 12+rng.IntN(40)); err != nil {
			t.Fatal(err)
		}
		p.types([]string{" ", "k", "j", "g", "G", "\x1b[6~", "\x1b[5~"}[rng.IntN(7)])
	}
	if err := p.term.Resize(80, 24); err != nil {
		t.Fatal(err)
	}
	p.sees("Review 1 of 2", "closes in")
	p.types("g")
	p.sees("You asked", "0x8335")
	p.reads(`closes in (\d+:\d\d)`)
	p.types("y")
	p.sees("Review 2 of 2", "You pay")
}

// TestTerminalARecordingIsShownAgainWithoutTheService records balances, history and a prepared call, and shows them from the recording after the service has gone.
// Nothing can be signed there.
func TestTerminalARecordingIsShownAgainWithoutTheService(t *testing.T) {
	t.Parallel()
	env, b := team(t)
	dir := filepath.Join(t.TempDir(), "recording")
	p := opens(t, env, 100, 30, "--record", dir)
	total := p.finds(`(\$[0-9,]+\.[0-9]{2})`)
	p.builds()
	p.sees("Review 1 of 2", "y sign")
	p.types("\x1b")
	p.sees("Left. Nothing was signed.")
	p.types("qq")
	if err := p.ends(); err != nil {
		t.Fatal(err)
	}
	b.server.Close()
	again := person{t, start(t, env, 100, 30, "--replay", dir)}
	again.sees("LAB", total)
	again.builds()
	again.sees("Review 1 of 2", "y sign")
	again.reads(`closes in (\d+:\d\d)`)
	again.types("y")
	again.sees("recording")
	again.types("\x03")
	again.types("\x03")
	_ = again.ends()
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(files) < 3 {
		t.Fatalf("%v %v", files, err)
	}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if info, errInfo := os.Stat(f); err != nil || errInfo != nil || info.Mode().Perm() != 0o600 || strings.Contains(string(text), b.at.APIKey) {
			t.Errorf("%s: %v %v", f, err, errInfo)
		}
	}
}
