//go:build unix

package flows

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"coffer/ui/e2e/rig"
)

// TestTerminalAQuoteThatExpiresInReviewIsNotConfirmed lets the quote expire on the screen. What is typed then confirms
// nothing; with a new quote and a fresh confirmation the call runs, once.
func TestTerminalAQuoteThatExpiresInReviewIsNotConfirmed(t *testing.T) {
	t.Parallel()
	env, b := rig.Team(t, "--lifetime", "30s")
	p := rig.Opens(t, env, 100, 30)
	p.Builds()
	p.Sees("Review 1 of 2", "y sign")
	p.Reads(`closes in (\d+:\d\d)`)
	p.Types("y")
	p.Sees("Review 2 of 2", "Arrives")
	p.Reads(`(?:expires|renews) in (\d+:\d\d)`)
	quotes := func(r rig.Request) bool { return r.Path == rig.PathCallQuote }
	b.Cuts(quotes, quotes)       // nothing renews it
	p.Types(p.Finds(rig.ToType)) // and the time is over before the enter
	p.Sees("quote expired")
	b.Cuts(nil, nil)
	p.Types("\r")
	p.Sees("r new quote")
	if n := len(b.Saw(rig.PathExecute)); n != 0 {
		t.Fatalf("an expired quote was executed %d times", n)
	}
	p.Types("r")
	p.Waits("the new quote", func(s string) bool { return strings.Contains(s, "renews in") })
	p.Reads(`(?:expires|renews) in (\d+:\d\d)`)
	p.Confirms(p.Finds(rig.ToType))
	p.Sees("COMPLETED")
	if n := len(b.Saw(rig.PathExecute)); n != 1 {
		t.Errorf("executed %d times", n)
	}
}

// TestTerminalTheNetworkEndsDuringExecute cuts the connection of execute before or after the service got it, and the
// network with it. The wallet never sends again; when the network is back it finds out what became of the quote.
func TestTerminalTheNetworkEndsDuringExecute(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		arrives bool
		outcome string
	}{
		"after the service has it": {true, "COMPLETED"},
		"before":                   {false, "OUTCOME UNKNOWN"}, // for good only when nothing late can arrive
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env, b := rig.Team(t, "--lifetime", "60s")
			p := rig.Opens(t, env, 100, 30)
			p.Builds()
			p.Sees("Review 1 of 2", "y sign")
			p.Reads(`closes in (\d+:\d\d)`)
			p.Types("y")
			p.Sees("Review 2 of 2", "Arrives")
			p.Reads(`(?:expires|renews) in (\d+:\d\d)`)
			gone := false
			b.Cuts(func(r rig.Request) bool { gone = gone || rig.Executes(r); return gone },
				func(r rig.Request) bool { return gone || !c.arrives && rig.Executes(r) })
			if !c.arrives {
				b.Cuts(nil, func(r rig.Request) bool { gone = gone || rig.Executes(r); return gone })
			}
			p.Confirms(p.Finds(rig.ToType))
			p.Sees("Activity", "outcome")
			asked := len(b.Saw(rig.PathStatus))
			b.Cuts(nil, nil)
			p.Waits("an answer about the quote", func(string) bool { return len(b.Saw(rig.PathStatus)) > asked })
			p.Sees(c.outcome)
			if n := len(b.Saw(rig.PathExecute)); n != 1 {
				t.Errorf("sent %d times", n)
			}
			p.Types("1")
			p.Sees("USDC")
		})
	}
}

// TestTerminalNothingButAPersonConfirms: keys that were pressed before the review stood there, a held key, a paste and
// a paste with an end of line confirm nothing.
func TestTerminalNothingButAPersonConfirms(t *testing.T) {
	t.Parallel()
	env, b := rig.Team(t)
	p := rig.Opens(t, env, 100, 30)
	p.Builds()
	p.Types(strings.Repeat("y", 40))
	p.Sees("Review 1 of 2", "y sign")
	for range 5 {
		if err := p.Term.Paste("y\ry\r"); err != nil {
			t.Fatal(err)
		}
	}
	p.Reads(`closes in (\d+:\d\d)`)
	if err := p.Term.Paste("y\r"); err != nil {
		t.Fatal(err)
	}
	p.Reads(`closes in (\d+:\d\d)`)
	if n := len(b.Saw(rig.PathCallQuote)); n != 0 {
		t.Fatal("the call was signed")
	}
	p.Types("y")
	p.Sees("Review 2 of 2", "Arrives")
	p.Reads(`(?:expires|renews) in (\d+:\d\d)`)
	pay := p.Finds(rig.ToType)
	if err := p.Term.Paste(pay + "\r"); err != nil {
		t.Fatal(err)
	}
	p.Reads(`(?:expires|renews) in (\d+:\d\d)`)
	p.Types("\r")
	p.Reads(`(?:expires|renews) in (\d+:\d\d)`)
	if n := len(b.Saw(rig.PathExecute)); n != 0 {
		t.Fatal("a paste confirmed")
	}
}

// TestTerminalResizingWhileScrollingLosesNothing changes the size again and again while a review is scrolled: what
// stands there is always whole, nothing is confirmed, and in the end it can be read and signed.
func TestTerminalResizingWhileScrollingLosesNothing(t *testing.T) {
	t.Parallel()
	_, env := rig.Home(t)
	p := rig.At(t, rig.Start(t, env, 80, 24))
	p.Sees("EMBEDDED", "USDC", "$")
	p.FillsIn()
	p.Types("r")
	p.Sees("Review 1 of 2")
	rng := rand.New(rand.NewPCG(1, 2))
	for range 60 {
		if err := p.Term.Resize(40+rng.IntN(100), 12+rng.IntN(40)); err != nil {
			t.Fatal(err)
		}
		p.Types([]string{" ", "k", "j", "g", "G", "\x1b[6~", "\x1b[5~"}[rng.IntN(7)])
	}
	if err := p.Term.Resize(80, 24); err != nil {
		t.Fatal(err)
	}
	p.Sees("Review 1 of 2", "closes in")
	p.Types("g")
	p.Sees("You asked", "0x8335")
	p.Reads(`closes in (\d+:\d\d)`)
	p.Types("y")
	p.Sees("Review 2 of 2", "Arrives")
}

// TestTerminalARecordingIsShownAgainWithoutTheService records balances, history and a prepared call, and shows them
// from the recording after the service has gone. Nothing can be signed there.
func TestTerminalARecordingIsShownAgainWithoutTheService(t *testing.T) {
	t.Parallel()
	env, b := rig.Team(t)
	dir := filepath.Join(t.TempDir(), "recording")
	p := rig.Opens(t, env, 100, 30, "--record", dir)
	total := p.Finds(`(\$[0-9,]+\.[0-9]{2})`)
	p.Builds()
	p.Sees("Review 1 of 2", "y sign")
	p.Types("\x1b")
	p.Sees("Left. Nothing was signed.")
	p.Types("qq")
	if err := p.Ends(); err != nil {
		t.Fatal(err)
	}
	b.Server.Close()
	again := rig.At(t, rig.Start(t, env, 100, 30, "--replay", dir))
	again.Sees("LAB", "REPLAY", total)
	again.Builds()
	again.Sees("Review 1 of 2", "e edit")
	again.Sees("nothing can be signed here")
	again.Rests(600 * time.Millisecond)
	again.Types("y")
	again.Sees("recording")
	again.Types("\x03")
	again.Types("\x03")
	_ = again.Ends()
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(files) < 3 {
		t.Fatalf("%v %v", files, err)
	}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if info, errInfo := os.Stat(f); err != nil || errInfo != nil || info.Mode().Perm() != 0o600 ||
			strings.Contains(string(text), b.At.APIKey) {
			t.Errorf("%s: %v %v", f, err, errInfo)
		}
	}
}
