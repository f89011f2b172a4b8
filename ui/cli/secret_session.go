package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/charmbracelet/x/term"
)

// mode is how a terminal treats keys.
type mode int

const (
	modeOwn    mode = iota // as it was before the session
	modeSilent             // lines that are not shown
	modeShown              // lines that are shown
	modeRaw                // every key at once, none shown, none acted upon
)

// The sequences that ask a terminal to mark pastes, and to stop it.
const (
	markPastes  = "\x1b[?2004h"
	plainPastes = "\x1b[?2004l"
)

const (
	// one wait for keys; input within two of them after an answer belongs to the same paste
	pollTime  = 50 * time.Millisecond
	drainTime = 3 * time.Second // for an answer that never ends
)

// session has the terminal exclusively, for one question or for a whole command. Between two questions and at its end
// it discards input. It is safe for concurrent use; mu is held whenever the terminal is read or its mode changes, and
// while the program is suspended.
type session struct {
	file   term.File
	out    io.Writer
	before *term.State
	rest   mode // between questions
	stop   func()

	mu       sync.Mutex
	mode     mode
	asking   bool
	question string
	locks    []func() // before the program is suspended
	stops    int      // how often it was suspended
	seen     int      // of stops, by the reader
	ended    bool
	reader   reader //nolint:unused // of Windows
}

type sessionKey struct{}

// sessionOf is the session that a command holds on the terminal, or nil.
func sessionOf(ctx context.Context, terminal any) *session {
	if s, _ := ctx.Value(sessionKey{}).(*session); s != nil && any(s.file) == terminal {
		return s
	}
	return nil
}

// Hold keeps the terminal from showing input, except the answers of Line and Confirm, until end is called or ctx ends.
// Questions asked with the returned context belong to it. A suspended program gives the terminal back as it was, and
// takes it again when it continues. Without a terminal Hold does nothing.
func (p Prompt) Hold(ctx context.Context) (held context.Context, end func()) {
	if !p.Terminal {
		return ctx, func() {}
	}
	s, err := openSession(p.In, p.Out, modeSilent)
	if err != nil {
		return ctx, func() {} // a question reports why
	}
	detach := context.AfterFunc(ctx, s.abandon)
	return context.WithValue(ctx, sessionKey{}, s), func() {
		detach()
		s.end()
	}
}

// OnSuspend has fn called before the program is suspended, from another goroutine, as long as the command of ctx holds
// the terminal.
func OnSuspend(ctx context.Context, fn func()) {
	if s, _ := ctx.Value(sessionKey{}).(*session); s != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.locks = append(s.locks, fn)
	}
}

func openSession(file term.File, out io.Writer, rest mode) (*session, error) {
	before, err := term.GetState(file.Fd())
	if err != nil {
		return nil, fmt.Errorf("ask on the terminal: %w", err)
	}
	s := &session{file: file, out: out, before: before, rest: rest}
	s.stop = s.watch() // from here on a signal finds the state to restore
	s.mu.Lock()
	err = s.set(rest)
	s.mu.Unlock()
	if err != nil {
		s.end()
		return nil, err
	}
	return s, nil
}

// set changes the mode; s.mu is held.
func (s *session) set(m mode) error {
	s.mode = m
	if err := apply(s.file.Fd(), s.before, m); err != nil {
		return fmt.Errorf("ask on the terminal: %w", err)
	}
	return nil
}

// begin asks a question: first it sets the mode, then it discards earlier input, then the question appears.
func (s *session) begin(m mode, question string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return errors.New("ask on the terminal: the session has ended")
	}
	if err := s.set(m); err != nil {
		return err
	}
	flushInput(s.file.Fd())
	s.asking, s.question, s.seen = true, question, s.stops
	s.ask()
	return nil
}

// ask writes the question; s.mu is held.
func (s *session) ask() {
	if s.mode == modeRaw {
		fmt.Fprint(s.out, markPastes)
	}
	fmt.Fprint(s.out, s.question)
}

// finish discards what follows the answer until the terminal is quiet, and returns to the mode between questions; once
// ctx has ended, to the terminal's own.
func (s *session) finish(ctx context.Context) {
	s.mu.Lock()
	raw := s.mode == modeRaw
	_ = s.set(modeRaw) // only this mode reads the rest of a line that has no end yet
	s.mu.Unlock()
	s.drain()
	s.mu.Lock()
	defer s.mu.Unlock()
	flushInput(s.file.Fd())
	s.asking = false
	rest := s.rest
	if ctx.Err() != nil {
		rest = modeOwn
	}
	_ = s.set(rest)
	if raw {
		fmt.Fprint(s.out, plainPastes+"\n")
	}
}

// drain reads until no key came for two waits.
func (s *session) drain() {
	ctx, cancel := context.WithTimeout(context.Background(), drainTime)
	defer cancel()
	var buf [256]byte
	defer clear(buf[:])
	for quiet := 0; quiet < 2; quiet++ {
		n, err := s.next(ctx, buf[:])
		if n > 0 {
			quiet = -1
		} else if err != nil && !errors.Is(err, errAgain) {
			return
		}
	}
}

// abandon restores the terminal when the context of a command has ended: the next signal may end the program at once.
// An open question does so itself.
func (s *session) abandon() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.asking && !s.ended {
		_ = s.set(modeOwn)
	}
}

// end restores the terminal for good.
func (s *session) end() {
	s.mu.Lock()
	if s.ended {
		s.mu.Unlock()
		return
	}
	s.ended = true
	if s.mode != modeOwn {
		flushInput(s.file.Fd())
	}
	_ = s.set(modeOwn)
	s.mu.Unlock()
	s.stop()
}

// leave gives the terminal back before the program stops; s.mu is held.
func (s *session) leave() {
	_ = apply(s.file.Fd(), s.before, modeOwn)
	if s.asking && s.mode == modeRaw {
		fmt.Fprint(s.out, plainPastes+"\n")
	}
}

// again takes the terminal after the program continued; s.mu is held.
func (s *session) again() {
	if s.ended {
		return
	}
	_ = apply(s.file.Fd(), s.before, s.mode)
	if s.asking {
		flushInput(s.file.Fd())
		s.ask()
	}
}

// sessionLines reads the terminal of a session as a stream.
type sessionLines struct {
	ctx context.Context
	s   *session
}

// Read returns one byte.
func (r sessionLines) Read(p []byte) (int, error) {
	for {
		n, err := r.s.next(r.ctx, p[:min(len(p), 1)])
		if n > 0 || err != nil && !errors.Is(err, errAgain) {
			return n, err
		}
	}
}
