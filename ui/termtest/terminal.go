// Package termtest drives a real program through a pseudo-terminal, for tests and measurements: an emulated terminal
// shows what a user would see and answers the program's queries. It waits for the contents of the screen and never
// sleeps. Coffer does not link it.
package termtest

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"
)

// Terminal is a program behind an emulated terminal. Its methods are safe for concurrent use.
type Terminal struct {
	cmd   *exec.Cmd // nil when the program runs elsewhere
	far   Far
	began time.Time

	mu       sync.Mutex
	changed  *sync.Cond
	emu      *vt.Emulator
	raw      []byte
	reads    []reading // of raw, in their order
	exited   bool
	exitErr  error
	drained  bool
	lastByte time.Time
}

// reading says when raw had so many bytes.
type reading struct {
	upTo int
	at   time.Time
}

// ErrTimeout means that the screen never showed the expected text; the error's text holds the screen.
var ErrTimeout = errors.New("the terminal never showed it")

// Start runs cmd in a terminal of the given size in cells. The environment of cmd should set TERM.
func Start(cmd *exec.Cmd, cols, rows int) (*Terminal, error) {
	began := time.Now()
	f, err := pty.StartWithSize(cmd, &pty.Winsize{Cols: uint16(cols), Rows: uint16(rows)}) //nolint:gosec // small
	if err != nil {
		return nil, fmt.Errorf("start in a pseudo-terminal: %w", err)
	}
	t := Attach(Far{
		In: f, Out: f, Wait: cmd.Wait,
		Resize: func(cols, rows int) error {
			return pty.Setsize(f, &pty.Winsize{Cols: uint16(cols), Rows: uint16(rows)}) //nolint:gosec // small
		},
		End: func(running bool) {
			if running {
				_ = cmd.Process.Kill()
			}
			_ = f.Close()
		},
	}, cols, rows)
	t.cmd, t.began = cmd, began
	return t, nil
}

// Far is a program that runs elsewhere, such as behind an SSH client of a test: what it reads and writes, how to
// resize its terminal, its end, and how to release it. Piped: its lines end with a line feed alone, as those of a
// program do that takes its output for a pipe.
type Far struct {
	In     io.Writer
	Out    io.Reader
	Piped  bool
	Resize func(cols, rows int) error
	Wait   func() error
	End    func(running bool)
}

// Attach shows a program that runs elsewhere.
func Attach(far Far, cols, rows int) *Terminal {
	t := &Terminal{far: far, emu: vt.NewEmulator(cols, rows), began: time.Now()}
	t.changed = sync.NewCond(&t.mu)
	// Margins of a larger screen come in after a resize. The emulator would scroll rows that are gone.
	t.emu.RegisterCsiHandler('r', func(margins ansi.Params) bool {
		bottom, _, _ := margins.Param(1, 0)
		return bottom > t.emu.Height()
	})
	go func() { _, _ = io.Copy(far.In, t.emu) }() // answers to the program's queries
	go t.read()
	go t.wait()
	return t
}

func (t *Terminal) read() {
	buf := make([]byte, 1<<16)
	for {
		n, err := t.far.Out.Read(buf)
		t.mu.Lock()
		if n > 0 {
			t.raw = append(t.raw, buf[:n]...)
			t.lastByte = time.Now()
			t.reads = append(t.reads, reading{len(t.raw), t.lastByte})
			shown := buf[:n]
			if t.far.Piped {
				shown = bytes.ReplaceAll(shown, []byte("\n"), []byte("\r\n"))
			}
			_, _ = t.emu.Write(shown)
		}
		if err != nil {
			t.drained = true
		}
		t.changed.Broadcast()
		t.mu.Unlock()
		if err != nil {
			return
		}
	}
}

func (t *Terminal) wait() {
	err := t.far.Wait()
	t.mu.Lock()
	t.exited, t.exitErr = true, err
	t.changed.Broadcast()
	t.mu.Unlock()
}

// until waits until done is true, or returns an error with the screen when the time is over first. The lock is held
// while done runs.
func (t *Terminal) until(what string, limit time.Duration, done func() bool) error {
	deadline := time.Now().Add(limit)
	over := make(chan struct{})
	defer close(over)
	go func() { // the time passes, and done may look at more than the screen
		for tick := time.Tick(50 * time.Millisecond); ; {
			select {
			case <-over:
				return
			case <-tick:
				t.changed.Broadcast()
			}
		}
	}()
	t.mu.Lock()
	defer t.mu.Unlock()
	for !done() {
		if time.Now().After(deadline) {
			return fmt.Errorf("%w: %s\n%s", ErrTimeout, what, t.emu.String())
		}
		t.changed.Wait()
	}
	return nil
}

// WaitFor waits until the screen shows every text.
func (t *Terminal) WaitFor(limit time.Duration, texts ...string) error {
	return t.WaitUntil(fmt.Sprintf("%q", texts), limit, func(screen string) bool {
		for _, s := range texts {
			if !strings.Contains(screen, s) {
				return false
			}
		}
		return true
	})
}

// WaitUntil waits until ok is true for the screen.
func (t *Terminal) WaitUntil(what string, limit time.Duration, ok func(screen string) bool) error {
	ended := false
	err := t.until(what, limit, func() bool {
		if ok(t.emu.String()) {
			return true
		}
		ended = t.exited && t.drained
		return ended
	})
	if err == nil && ended {
		return fmt.Errorf("the program ended (%w) before the terminal showed %s\n%s", t.exitErr, what, t.Screen())
	}
	return err
}

// Find waits until the pattern is on the screen and returns its first group.
func (t *Terminal) Find(limit time.Duration, pattern string) (found string, err error) {
	re := regexp.MustCompile(pattern)
	err = t.WaitUntil(pattern, limit, func(screen string) bool {
		m := re.FindStringSubmatch(screen)
		if m != nil {
			found = m[1]
		}
		return m != nil
	})
	return found, err
}

// ReadReview scrolls to the end of a review of Coffer, then lets its countdown, whose time is the first group of the
// pattern, move twice: the first moments of a screen confirm nothing.
func (t *Terminal) ReadReview(limit time.Duration, countdown string) error {
	for more := regexp.MustCompile(`\d+ more lines? below`); ; {
		if err := t.Still(100*time.Millisecond, limit); err != nil { // the whole of the last frame is there
			return err
		}
		m := more.FindString(t.Screen())
		if m == "" {
			break
		}
		err := errors.Join(t.Type(" "), t.WaitUntil("less than "+m, limit,
			func(screen string) bool { return more.FindString(screen) != m }))
		if err != nil {
			return err
		}
	}
	left := regexp.MustCompile(countdown)
	for range 2 {
		now, err := t.Find(limit, countdown)
		if err != nil {
			return err
		}
		err = t.WaitUntil("the countdown to move on from "+now, limit, func(screen string) bool {
			m := left.FindStringSubmatch(screen)
			return m != nil && m[1] != now
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// WaitExit waits until the program has ended and its output is drained, and returns its error.
func (t *Terminal) WaitExit(limit time.Duration) error {
	if err := t.until("the end of the program", limit, func() bool { return t.exited && t.drained }); err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.exitErr
}

// Type writes keys to the program as a keyboard would: plain text, "\r" for enter, "\x1b" for escape.
func (t *Terminal) Type(keys string) error {
	_, err := io.WriteString(t.far.In, keys)
	return err
}

// Paste sends text as a bracketed paste.
func (t *Terminal) Paste(text string) error { return t.Type("\x1b[200~" + text + "\x1b[201~") }

// Resize changes the size of the terminal.
func (t *Terminal) Resize(cols, rows int) error {
	t.Do(func(e *vt.Emulator) { e.Resize(cols, rows) })
	return t.far.Resize(cols, rows)
}

// Do calls f with the emulated terminal, while nothing else uses it.
func (t *Terminal) Do(f func(*vt.Emulator)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	f(t.emu)
}

// Screen returns the text on the screen.
func (t *Terminal) Screen() (text string) {
	t.Do(func(e *vt.Emulator) { text = e.String() })
	return text
}

// AltScreen reports whether the program uses the alternate screen.
func (t *Terminal) AltScreen() (is bool) {
	t.Do(func(e *vt.Emulator) { is = e.IsAltScreen() })
	return is
}

// Raw returns everything that the program has written.
func (t *Terminal) Raw() []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	return append([]byte(nil), t.raw...)
}

// Written returns how many bytes the program has written, and when it wrote the last of them.
func (t *Terminal) Written() (bytes int, last time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.raw), t.lastByte
}

// WaitWritten waits until the program has written more than so many bytes.
func (t *Terminal) WaitWritten(bytes int, limit time.Duration) error {
	return t.until(fmt.Sprintf("more than %d bytes", bytes), limit, func() bool { return len(t.raw) > bytes })
}

// Passed is the moment at which the program had written more than so many bytes, before the emulated terminal showed
// them; zero when it has not.
func (t *Terminal) Passed(bytes int) time.Time {
	t.mu.Lock()
	defer t.mu.Unlock()
	i, _ := slices.BinarySearchFunc(t.reads, bytes+1, func(r reading, n int) int { return cmp.Compare(r.upTo, n) })
	if i < len(t.reads) {
		return t.reads[i].at
	}
	return time.Time{}
}

// WaitRaw waits until the program has written the bytes, which need not show on the screen.
func (t *Terminal) WaitRaw(text string, limit time.Duration) error {
	return t.until(fmt.Sprintf("%q written", text), limit, func() bool { return bytes.Contains(t.raw, []byte(text)) })
}

// Still waits until the program has written nothing for a while.
func (t *Terminal) Still(quiet, limit time.Duration) error {
	deadline := time.Now().Add(limit)
	for began := time.Now(); ; {
		_, last := t.Written()
		if last.Before(began) {
			last = began
		}
		left := quiet - time.Since(last)
		if left <= 0 {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%w: it never held still for %s\n%s", ErrTimeout, quiet, t.Screen())
		}
		time.Sleep(left)
	}
}

// Settled waits until the program has written nothing for a while and has nothing left to do: on a busy machine it may
// not have had the processor yet. Only Linux says so; elsewhere it is Still.
func (t *Terminal) Settled(quiet, limit time.Duration) error {
	for deadline := time.Now().Add(limit); ; {
		if err := t.Still(quiet, limit); err != nil || !t.runs() {
			return err
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%w: it was never idle\n%s", ErrTimeout, t.Screen())
		}
	}
}

// runs reports whether a thread of the program runs or waits for a processor.
func (t *Terminal) runs() bool {
	stats, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", t.cmd.Process.Pid))
	for _, name := range stats {
		b, err := os.ReadFile(name)
		if _, state, ok := bytes.Cut(b, []byte(") ")); err == nil && ok && bytes.HasPrefix(state, []byte("R")) {
			return true
		}
	}
	return false
}

// Began is the moment before the program was started.
func (t *Terminal) Began() time.Time { return t.began }

// Process is the running program, if Start started it.
func (t *Terminal) Process() *os.Process { return t.cmd.Process }

// Close kills the program if it still runs and frees the terminal.
func (t *Terminal) Close() {
	t.mu.Lock()
	running := !t.exited
	t.mu.Unlock()
	t.far.End(running)
	if c, ok := t.emu.InputPipe().(io.Closer); ok {
		_ = c.Close()
	}
}
