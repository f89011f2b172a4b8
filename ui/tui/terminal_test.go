package tui

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"

	"coffer/api"
	"coffer/ui/tui/balances"
	"coffer/ui/tui/internal/tuitest"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/screen"
)

func TestProgramInATerminal(t *testing.T) {
	s := tuitest.Start(t, New(options(t, sample(t))), 80, 24)
	s.WaitText("$4,952.22")
	s.Type("v")
	s.WaitText("Balances by chain")
	s.Type("r")
	s.WaitText("0xfe52 613d 747E")
	s.Type("y")
	s.WaitText("sent to the terminal's clipboard: account address")
	s.WaitRaw(ansi.SetSystemClipboard(tuitest.Account))
	s.Type("\x1b")
	s.Wait("closed panel", func(v string) bool { return !strings.Contains(v, "613d 747E") })
	s.Type("4")
	s.WaitText("newest first")
	s.Resize(120, 40)
	s.WaitText("Payment on ")
	s.Resize(50, 10)
	s.WaitText("coffer needs 60×20")
	s.Resize(80, 24)
	s.WaitText("newest first")
	s.Type("q")
	if err := s.End(); err != nil {
		t.Fatal(err)
	}
	if raw := s.Raw(); !strings.Contains(raw, "\x1b[?1049h") ||
		strings.LastIndex(raw, "\x1b[?1049l") < strings.LastIndex(raw, "\x1b[?1049h") {
		t.Error("the terminal was not given back")
	}
}

// On a fake clock: balances are read every 15 seconds, and nothing is written while they are the same.
func TestIdleProgramIsQuietAndRefreshes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := options(t, sample(t))
		o.Context.Clock = time.Now
		var calls atomic.Int32
		var down atomic.Bool
		src := sample(t)
		source := balancesFunc(func() (api.AggregatedBalance, error) {
			calls.Add(1)
			if down.Load() {
				return api.AggregatedBalance{}, errors.New("connection refused")
			}
			return src.balances, nil
		})
		o.beside(func(c screen.Context) map[screen.ID]screen.Screen {
			return map[screen.ID]screen.Screen{screen.Balances: balances.New(c, source)}
		})
		s := tuitest.Start(t, New(o), 80, 24)
		settle := func() { time.Sleep(100 * time.Millisecond); synctest.Wait() }
		settle()
		if v := s.Screen(); !strings.Contains(v, "$4,952.22") || calls.Load() != 1 {
			t.Fatalf("%d readings:\n%s", calls.Load(), v)
		}
		time.Sleep(11 * time.Second)
		settle()
		before := s.Bytes()
		time.Sleep(3 * time.Second)
		settle()
		if n := s.Bytes() - before; n != 0 {
			t.Errorf("%d bytes were written while nothing changed", n)
		}
		time.Sleep(time.Minute)
		settle()
		if n := calls.Load(); n != 5 {
			t.Errorf("%d readings in 74 seconds, want 5", n)
		}
		perMinute := s.Bytes() - before
		if perMinute != 0 {
			t.Errorf("%d bytes in an idle minute in which every reading was the same", perMinute)
		}
		down.Store(true)
		time.Sleep(16 * time.Second)
		settle()
		if v := s.Screen(); !strings.Contains(v, "connection refused") || !strings.Contains(v, "$4,952.22") {
			t.Errorf("a failed reading:\n%s", v)
		}
		s.Type("q")
		if err := s.End(); err != nil {
			t.Error(err)
		}
		time.Sleep(2 * time.Minute) // timers of the library end
	})
}

// A cursor move draws two lines, and a scroll step lets the terminal move the window by one. The details beside a list
// are drawn once the selection holds still, not for each record that a held key passes. Terminals over SSH have 256
// colours.
func TestMovesAreCheapOnTheWire(t *testing.T) {
	src := sample(t)
	for i := len(src.page.Transactions); i < 90; i++ {
		src.page.Transactions = append(src.page.Transactions, tuitest.Record(i))
	}
	for _, c := range []struct {
		tab          string
		cols, rows   int
		profile      colorprofile.Profile
		move, scroll int  // bytes a key
		details      int  // bytes of the details that follow
		real         bool // on a real network: pages are links
	}{
		{"1", 80, 24, colorprofile.ANSI256, 270, 0, 0, false},
		{"1", 120, 40, colorprofile.ANSI256, 260, 0, 1000, false},
		{"1", 120, 40, colorprofile.TrueColor, 260, 0, 1050, false},
		{"1", 200, 60, colorprofile.TrueColor, 220, 0, 700, false},
		{"4", 80, 24, colorprofile.ANSI256, 250, 250, 0, false},
		{"4", 80, 24, colorprofile.TrueColor, 270, 260, 0, false},
		{"4", 120, 40, colorprofile.ANSI256, 250, 260, 1400, false},
		{"4", 120, 40, colorprofile.TrueColor, 270, 280, 1400, false},
		{"4", 200, 60, colorprofile.TrueColor, 380, 380, 1950, false},
		{"1", 120, 40, colorprofile.TrueColor, 260, 0, 1150, true},
		{"4", 120, 40, colorprofile.TrueColor, 270, 280, 4300, true}, // each transaction names its page
	} {
		t.Run(fmt.Sprintf("%s %dx%d %s real %t", c.tab, c.cols, c.rows, c.profile, c.real), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := options(t, src)
				if c.real {
					real := sample(t)
					for i := len(real.page.Transactions); i < 90; i++ {
						real.page.Transactions = append(real.page.Transactions, tuitest.Record(i))
					}
					o = options(t, real)
					onRealChains(t, &o, real)
				}
				s := tuitest.Start(t, New(o), c.cols, c.rows, tea.WithColorProfile(c.profile))
				before := 0
				within := func(what string, n, most int, wait time.Duration) {
					time.Sleep(wait)
					synctest.Wait()
					took := (s.Bytes() - before) / n
					if t.Logf("%s: %d bytes", what, took); took > most {
						t.Errorf("%s: %d bytes, at most %d", what, took, most)
					}
					before = s.Bytes()
				}
				held := func(what, key string, n, most int) {
					for range n {
						s.Type(key)
						time.Sleep(33 * time.Millisecond)
						synctest.Wait()
					}
					within(what, n, most, 0)
				}
				const still = 300 * time.Millisecond
				within("first frames", 1, 90*c.cols, still)
				s.Type(c.tab)
				screen := 60 * c.cols
				if c.real {
					screen = 75 * c.cols
				}
				within("the screen", 1, screen, still)
				if c.tab == "1" {
					held("a move", "j", 4, c.move)
				} else {
					held("a move", "j", c.rows-10, c.move)
					s.Type("G")
					within("the end", 1, 50*c.cols, still)
					held("the way up", "k", c.rows-10, c.move)
					held("a scroll step", "k", 20, c.scroll)
				}
				within("details", 1, c.details, still)
				within("stillness", 1, 0, 5*still)
				s.Type("q")
				if err := s.End(); err != nil {
					t.Error(err)
				}
				time.Sleep(2 * time.Minute)
			})
		})
	}
}

type balancesFunc func() (api.AggregatedBalance, error)

func (f balancesFunc) Balances(context.Context) (api.AggregatedBalance, error) { return f() }

func TestCountdownWakesAtMostFourTimesASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fs := &fieldScreen{field: kit.NewField("to", 0), wake: time.Millisecond}
		o := options(t, sample(t))
		o.Context.Clock = time.Now
		o.Start = screen.Build
		o.beside(func(screen.Context) map[screen.ID]screen.Screen {
			return map[screen.ID]screen.Screen{screen.Build: fs}
		})
		m := &counting{Model: New(o)}
		s := tuitest.Start(t, m, 80, 24)
		time.Sleep(time.Second)
		synctest.Wait()
		start := m.woken.Load()
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if n := m.woken.Load() - start; n > 41 || n < 30 {
			t.Errorf("%d wake-ups in ten seconds", n)
		}
		s.Type("qq")
		if err := s.End(); err != nil {
			t.Error(err)
		}
		time.Sleep(2 * time.Minute)
	})
}

// counting counts wake-ups.
type counting struct {
	*Model
	woken atomic.Int32
}

func (c *counting) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	if _, ok := msg.(wokeMsg); ok {
		c.woken.Add(1)
	}
	_, cmd := c.Model.Update(msg)
	return c, cmd
}

func TestRunDisarmsTracingAndEndsWithItsContext(t *testing.T) {
	file := t.TempDir() + "/trace"
	t.Setenv("TEA_TRACE", file)
	t.Setenv("TEA_DEBUG", "1")
	ctx, cancel := context.WithCancel(context.Background())
	o := options(t, sample(t))
	var out bytes.Buffer
	o.In, o.Out = strings.NewReader(""), &out
	cancel()
	if err := Run(ctx, o); !errors.Is(err, context.Canceled) {
		t.Errorf("Run returned %v", err)
	}
	if _, set := os.LookupEnv("TEA_TRACE"); set {
		t.Error("TEA_TRACE is still set")
	}
	if _, err := os.Stat(file); !errors.Is(err, os.ErrNotExist) {
		t.Error("a trace was written")
	}
}
