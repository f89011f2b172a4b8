package sshd

import (
	"io"
	"sync"
	"time"

	gossh "golang.org/x/crypto/ssh"
	"golang.org/x/time/rate"
)

// What a guest may send. People stay far below; more ends the visit.
const (
	maxPaste  = 1 << 20 // bytes of one bracketed paste, ended or not
	sustained = 1 << 10 // bytes a second over the whole visit, beyond a first maxPaste and some keys
	someKeys  = 64 << 10
)

// The screen library keeps what it cannot read as a key yet, and reads all of that again with each delivery, until it
// gets nothing for 50 ms. So at most maxHeld bytes are delivered between two such pauses where the library may be
// keeping some, and after the first few deliveries small ones are collected.
const (
	maxHeld = 4 << 10
	quiet   = 100 * time.Millisecond // long enough to be such a pause
	maybe   = 25 * time.Millisecond  // possibly one
	freely  = 64                     // deliveries between two pauses
	gather  = 2 * time.Millisecond
)

// intake sits between a client's input and its reader. It takes everything in at once, so that no layer below keeps
// single packets, and bounds how much of it waits; it passes the bytes on unchanged.
type intake struct {
	budget  *rate.Limiter
	arrived chan struct{} // something changed
	ended   chan struct{} // the reader is gone
	// closed when the client sent something that is refused; from then on the intake drops everything
	refused chan struct{}

	mu   sync.Mutex
	wait []byte
	err  error
	why  error // of refused

	// For the reader only.
	marks marks
	held  int // bytes that the library may be keeping
	quick int // deliveries since the last pause
}

func newIntake(ended chan struct{}) *intake {
	return &intake{
		budget:  rate.NewLimiter(sustained, maxPaste+someKeys),
		arrived: make(chan struct{}, 1), ended: ended, refused: make(chan struct{}),
	}
}

// pump takes in what arrives until the end of input.
func (i *intake) pump(from io.Reader) {
	chunk := make([]byte, 8<<10)
	for {
		n, err := from.Read(chunk)
		if n > 0 {
			i.take(chunk[:n])
		}
		if err != nil {
			i.mu.Lock()
			i.err = err
			i.mu.Unlock()
			i.tell()
			return
		}
	}
}

// take keeps what arrived for the reader.
func (i *intake) take(b []byte) {
	i.mu.Lock()
	defer i.mu.Unlock()
	switch {
	case i.why != nil:
	case !i.budget.AllowN(time.Now(), len(b)):
		i.refuse(errFlood)
	default:
		i.wait = append(i.wait, b...)
		i.tell()
	}
}

// refuse ends the input. The lock is held.
func (i *intake) refuse(why error) {
	if i.why == nil {
		i.why, i.wait = why, nil
		close(i.refused)
	}
}

// reason is why the intake refused input; nil when it did not.
func (i *intake) reason() error {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.why
}

func (i *intake) tell() {
	select {
	case i.arrived <- struct{}{}:
	default:
	}
}

// Read passes on what arrived. After refused input, and after the end of the dashboard, it returns nothing more.
func (i *intake) Read(b []byte) (int, error) {
	asked := time.Now() // the reader has seen everything before this
	switch {
	case i.held >= maxHeld:
		i.pause(quiet)
	case i.quick >= freely:
		i.pause(gather)
	}
	n, err := i.next(b[:min(len(b), maxHeld)])
	if err != nil || n == 0 {
		return 0, err
	}
	waited := time.Since(asked)
	if waited >= quiet {
		i.held, i.quick, i.marks.odd = 0, 0, false
	}
	if waited >= maybe {
		i.marks.gap()
	}
	i.quick++
	if i.marks.look(b[:n]); i.marks.odd {
		i.held += n
	}
	if why := i.marks.refused(); why != nil {
		i.mu.Lock()
		defer i.mu.Unlock()
		i.refuse(why)
		return 0, io.EOF
	}
	return n, nil
}

// next waits for input.
func (i *intake) next(b []byte) (int, error) {
	for len(b) > 0 {
		i.mu.Lock()
		n := copy(b, i.wait)
		if i.wait = i.wait[n:]; len(i.wait) == 0 {
			i.wait = nil
		}
		err := i.err
		i.mu.Unlock()
		if n > 0 {
			return n, nil
		}
		if err != nil {
			return 0, err
		}
		select {
		case <-i.arrived:
		case <-i.refused:
			return 0, io.EOF
		case <-i.ended:
			return 0, io.EOF
		}
	}
	return 0, nil
}

func (i *intake) pause(d time.Duration) {
	select {
	case <-time.After(d):
	case <-i.refused:
	case <-i.ended:
	}
}

// taken is a channel whose input comes through the intake.
type taken struct {
	gossh.Channel
	in *intake
}

// Read implements io.Reader.
func (t taken) Read(b []byte) (int, error) { return t.in.Read(b) }
