//go:build unix

package cli

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/charmbracelet/x/term"
	"golang.org/x/sys/unix"
)

// contTime is how long to wait for the signal that continues, twice: a stopped process does not run its timers.
const contTime = 200 * time.Millisecond

// reader is empty: keys are read when they are there.
type reader struct{} //nolint:unused // other systems keep a read that is under way in it

// apply gives a terminal a mode.
func apply(fd uintptr, before *term.State, m mode) error {
	if m == modeRaw {
		_, err := term.MakeRaw(fd)
		return err
	}
	state := *before
	if m != modeOwn {
		state.Iflag |= unix.ICRNL
		state.Lflag |= unix.ICANON | unix.ISIG
		state.Lflag &^= unix.ECHO | unix.ECHONL
		if m == modeShown {
			state.Lflag |= unix.ECHO | unix.ECHOE
		}
	}
	return term.SetState(fd, &state)
}

// next reads keys that arrive within pollTime. It does not read while the program is in the background, where a read
// would stop it half-way.
func (s *session) next(ctx context.Context, buf []byte) (int, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	fd := int(s.file.Fd())
	if _, err := readable(fd, pollTime); err != nil {
		return 0, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.seen != s.stops {
		s.seen = s.stops
		return 0, errAgain
	}
	// Asked again: before the lock was taken, the program may have been suspended and the keys discarded.
	if ready, err := readable(fd, 0); err != nil || !ready || !foreground(fd) {
		return 0, err
	}
	return s.file.Read(buf)
}

// readable waits until there is input. A signal ends the wait.
func readable(fd int, wait time.Duration) (bool, error) {
	if fd >= unix.FD_SETSIZE {
		return false, unix.EBADF
	}
	var set unix.FdSet
	set.Set(fd)
	left := unix.NsecToTimeval(wait.Nanoseconds())
	n, err := unix.Select(fd+1, &set, nil, nil, &left)
	if err == unix.EINTR { //nolint:errorlint // a bare errno
		return false, nil
	}
	return n > 0, err
}

// foreground reports whether the terminal listens to this program; true for a terminal without jobs.
func foreground(fd int) bool {
	group, err := unix.IoctlGetInt(fd, unix.TIOCGPGRP)
	return err != nil || group == 0 || group == unix.Getpgrp()
}

// watch answers the signals that stop, continue and break the program, until stop is called.
func (s *session) watch() (stop func()) {
	signals, done := make(chan os.Signal, 4), make(chan struct{})
	signal.Notify(signals, syscall.SIGTSTP, syscall.SIGCONT, syscall.SIGQUIT)
	go func() {
		for {
			select {
			case <-done:
				return
			case got := <-signals:
				switch got {
				case syscall.SIGTSTP:
					s.suspend()
				case syscall.SIGQUIT:
					s.end()
					signal.Reset(syscall.SIGQUIT)
					_ = syscall.Kill(os.Getpid(), syscall.SIGQUIT)
				case syscall.SIGCONT: // after a stop that could not be seen: the shell may have changed the terminal
					s.mu.Lock()
					if !s.ended {
						_ = apply(s.file.Fd(), s.before, s.mode)
					}
					s.mu.Unlock()
				}
			}
		}
	}()
	return func() { signal.Stop(signals); close(done) }
}

// suspend gives the terminal back, stops this process and takes the terminal again when the process continues. It uses
// SIGSTOP, because a signal that is handled here never goes back to the system.
func (s *session) suspend() {
	s.mu.Lock()
	defer s.mu.Unlock()
	cont := make(chan os.Signal, 1)
	signal.Notify(cont, syscall.SIGCONT)
	defer signal.Stop(cont)
	s.stops++
	for _, lock := range s.locks { // the functions of OnSuspend
		lock()
	}
	s.swallow()
	s.leave()
	_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP)
	for range 2 { // the first wait may end together with the stop, before the signal is delivered
		t := time.NewTimer(contTime)
		select {
		case <-cont:
			t.Stop()
			s.again()
			return
		case <-t.C:
		}
	}
	s.again() // the system did not stop it
}

// swallow discards pending input, so that the shell gets nothing of an abandoned answer; s.mu is held.
func (s *session) swallow() {
	fd := int(s.file.Fd())
	if s.mode == modeOwn || !foreground(fd) {
		return
	}
	if s.asking && s.mode == modeRaw {
		var buf [256]byte
		defer clear(buf[:])
		for quiet, over := 0, time.After(drainTime); quiet < 2; quiet++ {
			if ready, err := readable(fd, pollTime); err != nil {
				break
			} else if ready {
				quiet = -1
				if _, err := s.file.Read(buf[:]); err != nil {
					break
				}
			}
			select {
			case <-over:
				quiet = 2
			default:
			}
		}
	}
	flushInput(s.file.Fd())
}
