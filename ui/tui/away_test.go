package tui

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/vt"

	"coffer/ui/termtest"
	"coffer/ui/tui/balances"
	"coffer/ui/tui/screen"
	"coffer/ui/tui/theme"
)

// far is a terminal that another program provides.
type far struct {
	mu      sync.Mutex
	changed *sync.Cond
	emu     *vt.Emulator
	in      *io.PipeReader
	keys    *io.PipeWriter
}

func newFar(w, h int) *far {
	f := &far{emu: vt.NewEmulator(w, h)}
	f.changed = sync.NewCond(&f.mu)
	f.in, f.keys = io.Pipe()
	go func() { _, _ = io.Copy(io.Discard, f.emu) }()
	return f
}

func (f *far) Write(b []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	defer f.changed.Broadcast()
	_, err := f.emu.Write(bytes.ReplaceAll(b, []byte("\n"), []byte("\r\n")))
	return len(b), err
}

func (f *far) shows(t *testing.T, text string) {
	t.Helper()
	const limit = 10 * time.Second
	deadline := time.Now().Add(limit)
	wake := time.AfterFunc(limit, f.changed.Broadcast)
	defer wake.Stop()
	f.mu.Lock()
	defer f.mu.Unlock()
	for !strings.Contains(f.emu.String(), text) {
		if time.Now().After(deadline) {
			t.Fatalf("%q never came\n%s", text, f.emu.String())
		}
		f.changed.Wait()
	}
}

// fragile is a screen that panics on request.
type fragile struct {
	screen.Screen
	inView bool
}

func (s *fragile) Update(msg tea.Msg) tea.Cmd {
	if k, ok := msg.(tea.KeyPressMsg); ok {
		switch k.String() {
		case "f5":
			panic("in Update")
		case "f6":
			return func() tea.Msg { panic("in a command") }
		case "f7":
			return tea.Batch(func() tea.Msg { return nil }, func() tea.Msg { panic("in a command of several") })
		case "f9":
			return tea.Sequence(func() tea.Msg { return nil }, func() tea.Msg { panic("in a command of a sequence") })
		case "f8":
			s.inView = true
			return nil
		}
	}
	return s.Screen.Update(msg)
}

func (s *fragile) View(f screen.Frame) string {
	if s.inView {
		panic("in View")
	}
	return s.Screen.View(f)
}

func awayOptions(t *testing.T, f *far, a *Away) Options {
	o := options(t, sample(t))
	o.In, o.Out, o.Away = f.in, f, a
	o.Env = []string{"TERM=xterm-256color", "LANG=C.UTF-8", "SSH_TTY=ssh"}
	return o
}

// A panic ends its own program and is reported; this process keeps running.
func TestAPanicEndsAProgramThatIsShownElsewhereAndNothingElse(t *testing.T) {
	for key, want := range map[string]string{"\x1b[15~": "in Update", "\x1b[17~": "in a command",
		"\x1b[18~": "in a command of several", "\x1b[19~": "in View",
		"\x1b[20~": "in a command of a sequence"} {
		t.Run(want, func(t *testing.T) {
			f := newFar(80, 24)
			told := make(chan any, 4)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			o := awayOptions(t, f, &Away{Size: Size{80, 24}, Broken: func(what any, stack []byte) {
				if len(stack) == 0 {
					t.Error("no stack")
				}
				told <- what
				cancel() // as the server does
			}})
			o.beside(func(c screen.Context) map[screen.ID]screen.Screen {
				return map[screen.ID]screen.Screen{screen.Balances: &fragile{Screen: balances.New(c, sample(t))}}
			})
			ended := make(chan error, 1)
			go func() { ended <- Run(ctx, o) }()
			f.shows(t, "Balances")
			if _, err := io.WriteString(f.keys, key); err != nil {
				t.Fatal(err)
			}
			select {
			case err := <-ended:
				if err == nil {
					t.Error("it ended as if it had been left")
				}
			case <-time.After(10 * time.Second):
				t.Fatal("it never ended")
			}
			select {
			case what := <-told:
				if what != want {
					t.Errorf("told %v", what)
				}
			default:
				t.Error("nothing was reported")
			}
		})
	}
}

func TestAProgramThatIsShownElsewhereFollowsItsTerminalAndIsNotSuspended(t *testing.T) {
	f := newFar(80, 24)
	sizes, notes := make(chan Size, 1), make(chan string, 1)
	o := awayOptions(t, f, &Away{Size: Size{80, 24}, Resized: sizes, Notes: notes})
	o.Suspended = func() { t.Error("suspended") }
	ended := make(chan error, 1)
	go func() { ended <- Run(t.Context(), o) }()
	f.shows(t, "Balances")
	f.mu.Lock()
	f.emu.Resize(40, 12)
	f.mu.Unlock()
	sizes <- Size{40, 12}
	f.shows(t, "too small")
	f.mu.Lock()
	f.emu.Resize(100, 30)
	f.mu.Unlock()
	sizes <- Size{100, 30}
	f.shows(t, strings.Repeat("─", 100))
	notes <- "this closes in 1 min"
	f.shows(t, "this closes in 1 min")
	if _, err := io.WriteString(f.keys, "\x1a"); err != nil { // ctrl+z
		t.Fatal(err)
	}
	if _, err := io.WriteString(f.keys, "q"); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-ended:
		if err != nil && !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("it never ended")
	}
}

// A terminal that names its background in time gets no frame in the colours for an unknown one, which would be written
// twice; one that never does gets its frames in them.
func TestTheFirstFrameWaitsForTheBackgroundOfTheTerminal(t *testing.T) {
	anyDim, _, _ := strings.Cut(theme.Make(theme.Look{Name: theme.Auto}, theme.OnAny, colorprofile.TrueColor, false).
		Dim.Render("x"), "x")
	for _, answers := range []bool{true, false} {
		in, keys := io.Pipe()
		drawn, out := io.Pipe()
		o := options(t, sample(t))
		o.In, o.Out, o.Away = in, out, &Away{Size: Size{80, 24}}
		o.Env = []string{"TERM=xterm-256color", "COLORTERM=truecolor", "LANG=C.UTF-8"}
		far := termtest.Far{
			In: io.Discard, Out: drawn, Piped: true,
			Wait: func() error { return errors.Join(Run(t.Context(), o), out.Close()) },
			End:  func(bool) { _ = in.Close() },
		}
		if answers {
			far.In = keys
		}
		term := termtest.Attach(far, 80, 24)
		if err := term.WaitFor(10*time.Second, "$4,952.22"); err != nil {
			t.Fatal(err)
		}
		if drawn := bytes.Contains(term.Raw(), []byte(anyDim)); drawn == answers {
			t.Errorf("the terminal answers: %v, colours for an unknown background: %v", answers, drawn)
		}
		if _, err := io.WriteString(keys, "q"); err != nil {
			t.Fatal(err)
		}
		if err := term.WaitExit(10 * time.Second); err != nil {
			t.Error(err)
		}
		term.Close()
	}
}
