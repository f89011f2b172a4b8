// Package tuitest is the test bench of the terminal interface: an in-process terminal that holds the visible screen,
// and sample data with a fixed clock. Only tests import it.
package tuitest

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"coffer/ui/termtest"
)

// Terminal runs a program of this process in an emulated terminal. Input goes through an unbounded queue so that
// sending never waits for the renderer.
type Terminal struct {
	*termtest.Terminal
	t testing.TB
}

// patience bounds each wait.
const patience = 10 * time.Second

// Start runs the program at w×h cells.
func Start(t testing.TB, m tea.Model, w, h int, opts ...tea.ProgramOption) *Terminal {
	keys := newQueue()
	drawn, out := io.Pipe()
	p := tea.NewProgram(m, append([]tea.ProgramOption{
		tea.WithInput(keys), tea.WithOutput(out), tea.WithWindowSize(w, h), tea.WithoutSignalHandler(),
		tea.WithColorProfile(colorprofile.TrueColor),
		tea.WithEnvironment([]string{"TERM=xterm-256color", "COLORTERM=truecolor", "LANG=C.UTF-8"}),
	}, opts...)...)
	return &Terminal{t: t, Terminal: termtest.Attach(termtest.Far{
		In: keys, Out: drawn, Piped: true,
		Resize: func(w, h int) error { p.Send(tea.WindowSizeMsg{Width: w, Height: h}); return nil },
		Wait: func() error {
			_, err := p.Run()
			return errors.Join(err, out.Close())
		},
		End: func(bool) { keys.close() },
	}, w, h)}
}

// Bytes is the number of bytes that the program has written so far.
func (s *Terminal) Bytes() int {
	n, _ := s.Written()
	return n
}

// Raw is everything that the program has written so far.
func (s *Terminal) Raw() string { return string(s.Terminal.Raw()) }

// Wait waits until cond holds for the screen and returns it.
func (s *Terminal) Wait(what string, cond func(screen string) bool) (shown string) {
	s.t.Helper()
	err := s.WaitUntil(what, patience, func(screen string) bool { shown = screen; return cond(screen) })
	if err != nil {
		s.t.Fatal(err)
	}
	return shown
}

// WaitRaw waits until the program has written the bytes, which may come after what they go with is on the screen.
func (s *Terminal) WaitRaw(text string) {
	s.t.Helper()
	if err := s.Terminal.WaitRaw(text, patience); err != nil {
		s.t.Fatal(err)
	}
}

// WaitText waits until the screen contains the text.
func (s *Terminal) WaitText(text string) string {
	s.t.Helper()
	return s.Wait(text, func(v string) bool { return strings.Contains(v, text) })
}

// End waits for the program to end by itself and returns its error.
func (s *Terminal) End() error {
	defer s.Close()
	return s.WaitExit(patience)
}

type queue struct {
	mu   sync.Mutex
	cond *sync.Cond
	buf  bytes.Buffer
	eof  bool
}

func newQueue() *queue { q := &queue{}; q.cond = sync.NewCond(&q.mu); return q }

func (q *queue) Write(b []byte) (int, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	defer q.cond.Broadcast()
	return q.buf.Write(b)
}

func (q *queue) close() { q.mu.Lock(); q.eof = true; q.mu.Unlock(); q.cond.Broadcast() }

func (q *queue) Read(b []byte) (int, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for q.buf.Len() == 0 && !q.eof {
		q.cond.Wait()
	}
	if q.buf.Len() == 0 {
		return 0, io.EOF
	}
	return q.buf.Read(b)
}
