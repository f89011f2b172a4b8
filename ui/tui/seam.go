package tui

import (
	"bytes"
	"os"
	"sync"

	"github.com/charmbracelet/x/ansi"
)

// seam is the terminal over several runs. Between two of them it stays on the alternate screen, so that the last frame
// of one is on it until the first of the next.
type seam struct {
	*os.File
	mu             sync.Mutex
	leaving, inAlt bool // a run is about to end; the terminal was left on the alternate screen
}

// Over makes the runs that share a view write to one terminal. Close the view at the end.
func (v *View) Over(out *os.File) { v.out = &seam{File: out} }

// Close leaves the alternate screen where a run left the terminal on it and none followed.
func (v *View) Close() error {
	if v.out == nil {
		return nil
	}
	v.out.mu.Lock()
	defer v.out.mu.Unlock()
	if !v.out.inAlt {
		return nil
	}
	v.out.inAlt = false
	_, err := v.out.WriteString(ansi.ResetModeAltScreenSaveCursor + ansi.ShowCursor)
	return err
}

// stay notes that another run follows the end of this one.
func (s *seam) stay() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.leaving = true
}

// Write leaves out that one run leaves the alternate screen, and that the next one enters it.
func (s *seam) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.leaving && bytes.Contains(b, []byte(ansi.ResetModeAltScreenSaveCursor)):
		return s.without(b, ansi.ResetModeAltScreenSaveCursor, true)
	case s.inAlt && bytes.Contains(b, []byte(ansi.SetModeAltScreenSaveCursor)):
		return s.without(b, ansi.SetModeAltScreenSaveCursor, false)
	}
	return s.File.Write(b)
}

func (s *seam) without(b []byte, what string, inAlt bool) (int, error) {
	s.leaving, s.inAlt = false, inAlt
	if _, err := s.File.Write(bytes.Replace(b, []byte(what), nil, 1)); err != nil {
		return 0, err
	}
	return len(b), nil
}
