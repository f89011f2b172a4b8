// Package tuitest is the test bench of the terminal interface: an in-process terminal that holds the visible screen,
// and sample data with a fixed clock. Only tests import it.
package tuitest

import (
	"bytes"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/vt"
)

// Terminal runs a program in an emulated terminal. One mutex guards every call of the emulator, input goes through an
// unbounded queue so that sending never waits for the renderer, and LF becomes CRLF because the program sees its input
// as a pipe.
type Terminal struct {
	t     testing.TB
	mu    sync.Mutex
	emu   *vt.Emulator
	raw   bytes.Buffer
	queue *queue
	prog  *tea.Program
	ended chan error
}

// Write takes the program's output.
func (s *Terminal) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.raw.Write(b)
	_, err := s.emu.Write(bytes.ReplaceAll(b, []byte("\n"), []byte("\r\n")))
	return len(b), err
}

// Do calls fn with the emulator.
func (s *Terminal) Do(fn func(*vt.Emulator)) { s.mu.Lock(); defer s.mu.Unlock(); fn(s.emu) }

// Screen is the text on the screen, trailing spaces cut.
func (s *Terminal) Screen() (out string) {
	s.Do(func(e *vt.Emulator) { out = e.String() })
	lines := strings.Split(out, "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}

// Bytes is the number of bytes that the program has written so far.
func (s *Terminal) Bytes() (n int) { s.Do(func(*vt.Emulator) { n = s.raw.Len() }); return n }

// Raw is everything that the program has written so far.
func (s *Terminal) Raw() (out string) { s.Do(func(*vt.Emulator) { out = s.raw.String() }); return out }

// Start runs the program at w×h cells.
func Start(t testing.TB, m tea.Model, w, h int, opts ...tea.ProgramOption) *Terminal {
	s := &Terminal{t: t, emu: vt.NewEmulator(w, h), queue: newQueue(), ended: make(chan error, 1)}
	go func() { _, _ = io.Copy(s.queue, s.emu) }()
	all := append([]tea.ProgramOption{
		tea.WithInput(s.queue), tea.WithOutput(s), tea.WithWindowSize(w, h), tea.WithoutSignalHandler(),
		tea.WithColorProfile(colorprofile.TrueColor),
		tea.WithEnvironment([]string{"TERM=xterm-256color", "COLORTERM=truecolor", "LANG=C.UTF-8"}),
	}, opts...)
	s.prog = tea.NewProgram(m, all...)
	go func() { _, err := s.prog.Run(); s.ended <- err }()
	return s
}

// Type sends characters as key presses.
func (s *Terminal) Type(text string) { s.Do(func(e *vt.Emulator) { e.SendText(text) }) }

// Key sends one key.
func (s *Terminal) Key(code rune, mod tea.KeyMod) {
	s.Do(func(e *vt.Emulator) { e.SendKey(vt.KeyPressEvent{Code: code, Mod: mod}) })
}

// Resize changes the size of the terminal.
func (s *Terminal) Resize(w, h int) {
	s.Do(func(e *vt.Emulator) { e.Resize(w, h) })
	s.prog.Send(tea.WindowSizeMsg{Width: w, Height: h})
}

// Send gives the program a message.
func (s *Terminal) Send(msg tea.Msg) { s.prog.Send(msg) }

// Wait waits until cond holds for the screen and returns it.
func (s *Terminal) Wait(what string, cond func(screen string) bool) string {
	s.t.Helper()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); <-tick.C {
		if v := s.Screen(); cond(v) {
			return v
		}
	}
	s.t.Fatalf("no %s; the screen:\n%s", what, s.Screen())
	return ""
}

// WaitText waits until the screen contains the text.
func (s *Terminal) WaitText(text string) string {
	s.t.Helper()
	return s.Wait(text, func(v string) bool { return strings.Contains(v, text) })
}

// End waits for the program to end by itself and returns its error.
func (s *Terminal) End() error {
	s.t.Helper()
	var err error
	select {
	case err = <-s.ended:
	case <-time.After(10 * time.Second):
		s.t.Fatalf("the program did not end; the screen:\n%s", s.Screen())
	}
	s.queue.close()
	_ = s.emu.InputPipe().(io.Closer).Close() // Emulator.Close would race with its Read
	return err
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
