package cli

import (
	"context"
	"time"

	"github.com/charmbracelet/x/term"
	"golang.org/x/sys/windows"
)

// reader is the one read of the console that is under way; nil without one. Windows cannot cancel it, so the next
// question gets its result.
type reader struct{ got chan read }

type read struct {
	buf []byte
	err error
}

// apply gives a console a mode.
func apply(fd uintptr, before *term.State, m mode) error {
	if m == modeRaw {
		_, err := term.MakeRaw(fd)
		return err
	}
	state := *before
	if m != modeOwn {
		state.Mode |= windows.ENABLE_LINE_INPUT | windows.ENABLE_PROCESSED_INPUT
		state.Mode &^= windows.ENABLE_ECHO_INPUT
		if m == modeShown {
			state.Mode |= windows.ENABLE_ECHO_INPUT
		}
	}
	return term.SetState(fd, &state)
}

// next reads keys that arrive within pollTime.
func (s *session) next(ctx context.Context, buf []byte) (int, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	s.mu.Lock()
	if s.reader.got == nil {
		got, size := make(chan read, 1), len(buf)
		s.reader.got = got
		go func() {
			b := make([]byte, size)
			n, err := s.file.Read(b)
			got <- read{b[:n], err}
		}()
	}
	got := s.reader.got
	s.mu.Unlock()
	t := time.NewTimer(pollTime)
	defer t.Stop()
	select {
	case r := <-got:
		n := copy(buf, r.buf)
		rest := append([]byte(nil), r.buf[n:]...)
		clear(r.buf)
		s.mu.Lock()
		defer s.mu.Unlock()
		s.reader.got = nil
		if len(rest) > 0 { // requested with a larger buffer
			s.reader.got = make(chan read, 1)
			s.reader.got <- read{rest, r.err}
			return n, nil
		}
		if n > 0 {
			return n, nil
		}
		return 0, r.err
	case <-t.C:
		return 0, nil
	}
}

// watch does nothing: this system does not suspend programs.
func (*session) watch() (stop func()) { return func() {} }

// flushInput discards input that was typed and not read yet.
func flushInput(fd uintptr) { _ = windows.FlushConsoleInputBuffer(windows.Handle(fd)) }
