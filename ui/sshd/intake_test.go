package sshd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"
	uv "github.com/charmbracelet/ultraviolet"
)

// screenful is a small program of the screen library with the input reader that guests reach: it prints how much was
// pasted, and ends at "q".
type screenful struct{}

func (s screenful) Init() tea.Cmd { return nil }

func (s screenful) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.PasteMsg:
		return s, tea.Printf("pasted=%d", len(msg.Content))
	case tea.KeyPressMsg:
		if msg.String() == "q" {
			return s, tea.Quit
		}
		return s, tea.Println("typed=" + msg.String())
	}
	return s, nil
}

func (s screenful) View() tea.View { return tea.NewView("") }

func program(ctx context.Context, v Visit) error {
	_, err := tea.NewProgram(screenful{}, tea.WithContext(ctx), tea.WithInput(v.In), tea.WithOutput(v.Out),
		tea.WithEnvironment(v.Env),
		tea.WithWindowSize(v.Size.Width, v.Size.Height), tea.WithoutSignalHandler()).Run()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

func heap() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// pours sends total bytes of part after first, or as many as the server takes, and returns the largest growth of the
// heap of both ends.
func (g *guest) pours(first string, part []byte, total int) (sent int, grown uint64) {
	runtime.GC()
	before := heap()
	_, err := io.WriteString(g.in, first)
	for err == nil && sent < total {
		var n int
		n, err = g.in.Write(part)
		sent += n
		if now := heap(); now > before {
			grown = max(grown, now-before)
		}
	}
	return sent, grown
}

// TestK9_AGuestWhoPoursEndsItsOwnVisitAlone: 256 MiB without an end cost the server some megabytes, the guest reads
// why its visit was closed, and others continue.
func TestK9_AGuestWhoPoursEndsItsOwnVisitAlone(t *testing.T) {
	text := bytes.Repeat([]byte("0123456789abcdef"), 64<<10>>4)
	for name, c := range map[string]struct {
		first string
		part  []byte
	}{
		"a paste without an end":              {pasteStart, text},
		"a paste without an end, 8-bit":       {"\x9b200~", text},
		"a paste that is spelled another way": {"\x1b[0000200;1~", text},
		"an OSC without an end":               {"\x1b]52;c;", text},
		"an OSC in a paste":                   {pasteStart + "\x1b]0;", text},
		"a DCS without an end":                {"\x1bP", text},
		"an APC without an end":               {"\x1b_G", text},
		"a CSI without an end":                {"\x1b[", bytes.Repeat([]byte("1"), 64<<10)},
		"keys that may be sequences":          {"", bytes.Repeat([]byte("\x1ba"), 32<<10)},
		"sequences that mean nothing":         {"", bytes.Repeat([]byte("\x1b[999z"), 10<<10)},
		"bytes that are no text":              {"", bytes.Repeat([]byte{0xff}, 64<<10)},
	} {
		t.Run(name, func(t *testing.T) {
			alice, bob := newSigner(t), newSigner(t)
			r := serving(t, Options{Show: program}, line(alice, "alice"), line(bob, "bob"))
			other := opened(t, r.dial(bob))
			other.typed("x")
			other.out.wait(t, "typed=x")
			g := opened(t, r.dial(alice))
			g.typed("x")
			g.out.wait(t, "typed=x")
			sent, grown := g.pours(c.first, c.part, 256<<20)
			if sent >= 64<<20 || grown > 128<<20 {
				t.Errorf("%d MiB were taken, and the heap grew by %d MiB", sent>>20, grown>>20)
			}
			if code := g.code(); code != exitFailed ||
				!strings.Contains(strings.ReplaceAll(g.out.String(), "\n", " "), "sent more than 1 MiB at once") {
				t.Errorf("code %d, %q", code, g.out)
			}
			other.typed("y")
			other.out.wait(t, "typed=y")
		})
	}
}

func TestK9_APasteUpToTheBoundArrivesWhole(t *testing.T) {
	alice := newSigner(t)
	r := serving(t, Options{Show: program}, line(alice, "alice"))
	g := opened(t, r.dial(alice))
	g.typed("x")
	g.out.wait(t, "typed=x")
	g.typed(pasteStart + strings.Repeat("a", maxPaste) + pasteEnd)
	g.out.wait(t, fmt.Sprintf("pasted=%d", maxPaste))
	g.typed("q")
	if code := g.code(); code != exitDone {
		t.Errorf("code %d, %q", code, g.out)
	}
}

// TestK9_AnUnfinishedSequenceByBytesIsGotOver: an unfinished sequence arrives byte by byte without a pause, and the
// program still receives the key after it.
func TestK9_AnUnfinishedSequenceByBytesIsGotOver(t *testing.T) {
	alice := newSigner(t)
	r := serving(t, Options{Show: program}, line(alice, "alice"))
	g := opened(t, r.dial(alice))
	g.typed("x")
	g.out.wait(t, "typed=x")
	g.typed("\x1b]0;")
	for range 20_000 {
		g.typed("a")
	}
	g.typed("\x07\x1b[B")
	g.out.wait(t, "typed=down")
	g.typed("q")
	if code := g.code(); code != exitDone {
		t.Errorf("code %d, %q", code, g.out)
	}
}

// bytewise is a client that sends one byte at a time, with a pause before each.
type bytewise struct {
	text  []byte
	pause time.Duration
}

func (b *bytewise) Read(p []byte) (int, error) {
	if len(b.text) == 0 {
		return 0, io.EOF
	}
	time.Sleep(b.pause)
	p[0], b.text = b.text[0], b.text[1:]
	return 1, nil
}

// reads takes everything that an intake passes on, as the library does. work is how many bytes the library reads when
// it keeps everything since the last pause, kept the most that it keeps.
func reads(i *intake, from io.Reader) (got []byte, work, kept int) {
	var pump sync.WaitGroup
	pump.Go(func() { i.pump(from) })
	defer pump.Wait()
	b := make([]byte, 4096)
	since := 0
	for {
		asked := time.Now()
		n, err := i.Read(b)
		if time.Since(asked) >= quiet {
			since = 0
		}
		got = append(got, b[:n]...)
		since += n
		work += since
		kept = max(kept, since)
		if err != nil {
			return got, work, kept
		}
	}
}

// TestK9_WhatTheLibraryKeepsAndReadsAgainIsBounded counts a million single bytes on a fake clock.
func TestK9_WhatTheLibraryKeepsAndReadsAgainIsBounded(t *testing.T) {
	for name, first := range map[string]string{"OSC": "\x1b]0;", "key": "\x1ba", "no text": "\xff",
		"8-bit OSC": "\x9d"} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				i := newIntake(make(chan struct{}))
				text := bytes.Repeat([]byte(first+strings.Repeat("a", 100)), 10_000)
				got, work, kept := reads(i, &bytewise{text: slices.Clone(text), pause: 10 * time.Microsecond})
				if !bytes.Equal(got, text) {
					t.Errorf("%d of %d bytes came through", len(got), len(text))
				}
				if kept > 2*maxHeld || work > 64*len(text) {
					t.Errorf("the library keeps %d bytes, and looks at %d for %d", kept, work, len(text))
				}
			})
		})
	}
}

// TestK9_TextIsNotHeldUp: a paste of plain text and ordinary typing pass without any pause.
func TestK9_TextIsNotHeldUp(t *testing.T) {
	for name, text := range map[string]string{
		"a paste": pasteStart + strings.Repeat("a line, ünïcödé\r\n", 10_000) + pasteEnd,
		"keys":    strings.Repeat("j", 60), "arrows": strings.Repeat("\x1b[B", 20),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				i := newIntake(make(chan struct{}))
				begun := time.Now()
				got, _, _ := reads(i, strings.NewReader(text))
				if string(got) != text || time.Since(begun) > time.Second {
					t.Errorf("%d of %d bytes in %v", len(got), len(text), time.Since(begun))
				}
			})
		})
	}
}

// TestK9_ASlowPasteHasTheSameBound: a paste that never ends and arrives no faster than a guest may type all day.
func TestK9_ASlowPasteHasTheSameBound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := newIntake(make(chan struct{}))
		got, _, _ := reads(i, &bytewise{text: append([]byte(pasteStart), bytes.Repeat([]byte("a"), 2*maxPaste)...),
			pause: 2 * time.Millisecond})
		select {
		case <-i.refused:
		default:
			t.Error("not ended")
		}
		if len(got) > len(pasteStart)+maxPaste {
			t.Errorf("%d bytes came through", len(got))
		}
	})
}

func TestK9_ADayOfMouseMovesIsNoFlood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := newIntake(make(chan struct{}))
		// 500 bytes a second, for an hour and more
		moves := &bytewise{text: bytes.Repeat([]byte("\x1b[<35;100;40M"), 200_000), pause: 2 * time.Millisecond}
		if got, _, _ := reads(i, moves); len(got) != 13*200_000 {
			t.Errorf("%d bytes came through", len(got))
		}
	})
}

// cuts is a client whose bytes arrive in pieces, with pauses in places that a second text sets.
type cuts struct{ text, plan []byte }

func (c *cuts) Read(p []byte) (int, error) {
	if len(c.text) == 0 {
		return 0, io.EOF
	}
	n := len(c.text)
	if len(c.plan) > 0 {
		n = min(n, 1+int(c.plan[0]%32))
		if c.plan[0] > 200 {
			time.Sleep(2 * quiet)
		}
		c.plan = c.plan[1:]
	}
	copy(p, c.text[:min(n, len(p))])
	n = min(n, len(p))
	c.text = c.text[n:]
	return n, nil
}

// FuzzIntake: any input in any pieces passes in order and unchanged, or ends; little of it is kept.
func FuzzIntake(f *testing.F) {
	f.Add([]byte(pasteStart+"text"+pasteEnd+"\x1b]0;x"), []byte{3, 201, 7})
	f.Add([]byte("\x1b\x1b[200~\x1b[20\x1b[201~é\xc3"), []byte{0, 0, 0, 255})
	f.Add([]byte("\x9d\x90\xe2\x9d\xed\xa0\x90\x1b[200~\xf0\x9f"), []byte{1})
	f.Fuzz(func(t *testing.T, text, plan []byte) {
		synctest.Test(t, func(t *testing.T) {
			i := newIntake(make(chan struct{}))
			got, _, kept := reads(i, &cuts{slices.Clone(text), plan})
			if i.reason() != nil {
				if !bytes.HasPrefix(text, got) {
					t.Fatalf("%q became %q", text, got)
				}
				return
			}
			if !bytes.Equal(got, text) {
				t.Fatalf("%q became %q", text, got)
			}
			if i.marks.odd && kept > 2*maxHeld {
				t.Fatalf("%d bytes between two pauses", kept)
			}
			if len(i.marks.begun) >= len(pasteStart) {
				t.Fatalf("%d bytes are put aside", len(i.marks.begun))
			}
		})
	})
}

func TestK9_AReaderThatIsGoneHoldsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := make(chan struct{})
		i := newIntake(ended)
		from, to := io.Pipe()
		go i.pump(from)
		close(ended)
		if n, err := i.Read(make([]byte, 8)); n != 0 || !errors.Is(err, io.EOF) {
			t.Errorf("%d, %v", n, err)
		}
		to.Close()
	})
}

// breakers are inputs on which the reader of the library panics, on a goroutine where this program cannot recover.
func breakers() map[string]string {
	many := strings.Repeat("1;", 33)
	return map[string]string{
		"parameters": "\x1b[" + many + "1m", "sub-parameters": "\x1b[" + strings.Repeat("1:", 33) + "1m",
		"no digits": "\x1b[" + strings.Repeat(";", 40) + "1m",
		"DCS":       "\x1bP" + many + "1q", "8-bit": "\x9b" + many + "1m", "8-bit DCS": "\x90" + many + "1q",
		"intermediates before": "\x1b !/[" + many + "1m",
		"a prefix":             "\x1b[?" + many + "1h", "in a paste": pasteStart + "\x1b[" + many + "1m" + pasteEnd,
		"8-bit mouse": "\x9bMabc", "8-bit mouse at the end": "a\x9bM\xf0\x9f;",
		"after the old mouse":             "\x1b[Mab\u975b\u975bMabc",
		"half a character as 8-bit mouse": "\x1b]\U0001f71bMabc",
		"half a character as 8-bit":       "\x1b]\U0001f71b" + many + "1m",
	}
}

// TestK9_ASequenceThatBreaksTheLibraryEndsOneVisit: without the check, one guest could end the whole service, with all
// its guests, by thirty-three numbers.
func TestK9_ASequenceThatBreaksTheLibraryEndsOneVisit(t *testing.T) {
	alice, bob := newSigner(t), newSigner(t)
	r := serving(t, Options{Show: program, Limits: Limits{PerMinute: 1000, Burst: 100}}, line(alice, "alice"),
		line(bob, "bob"))
	other := opened(t, r.dial(bob))
	for name, text := range breakers() {
		g := opened(t, r.dial(alice))
		g.typed("x")
		g.out.wait(t, "typed=x")
		g.typed(text)
		if code := g.code(); code != exitFailed || !strings.Contains(g.out.String(),
			"closed: your terminal sent a control sequence") {
			t.Errorf("%s: code %d, %q", name, code, g.out)
		}
		other.typed("y")
		other.out.wait(t, "typed=y")
	}
}

// TestK9_WhatTerminalsSendIsSafe: nothing that people type or paste counts as a breaker.
func TestK9_WhatTerminalsSendIsSafe(t *testing.T) {
	for _, text := range []string{
		"\x1b[<35;100;40M", "\x1b[M abc", "\x1b[97;5:1;97u", "\x1b[?62;1;2;3;4;6;7;8;9;15;16;17;18;21;22;28;29;42;52c",
		"\x1bP>|term(1.0)\x1b\\", "\x1b]11;rgb:ffff/ffff/ffff\x07",
		"雛M and 雛;1;2;3", pasteStart + "[" + strings.Repeat("1;", 100) + "] 雛M" + pasteEnd,
		strings.Repeat("1;2;3;", 50),
	} {
		var m marks
		if m.look([]byte(text)); m.refused() != nil {
			t.Errorf("%q: %v", text, m.refused())
		}
	}
}

// FuzzTheLibraryBehindTheIntake: on any input in any pieces, the library's reader behind the intake does not panic.
func FuzzTheLibraryBehindTheIntake(f *testing.F) {
	for _, text := range breakers() {
		f.Add([]byte(text), []byte{3, 201, 7})
	}
	f.Fuzz(func(t *testing.T, text, plan []byte) {
		synctest.Test(t, func(t *testing.T) {
			i := newIntake(make(chan struct{}))
			events := make(chan uv.Event)
			var all sync.WaitGroup
			all.Go(func() { i.pump(&cuts{slices.Clone(text), plan}) })
			all.Go(func() {
				for range events {
				}
			})
			err := uv.NewTerminalReader(i, "xterm-256color").StreamEvents(t.Context(), events)
			close(events)
			all.Wait()
			if err != nil {
				t.Fatal(err)
			}
		})
	})
}
