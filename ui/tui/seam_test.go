package tui

import (
	"io"
	"os"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"coffer/ui/tui/screen"
)

const enters, leaves = ansi.SetModeAltScreenSaveCursor, ansi.ResetModeAltScreenSaveCursor

// written gives what reaches the terminal.
func written(t *testing.T, run func(out *os.File)) string {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	run(w)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	raw, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// TestTheTerminalStaysBetweenTwoAccounts: a switch of accounts leaves the alternate screen on, a quit does not, and a
// run that never comes leaves nothing behind.
func TestTheTerminalStaysBetweenTwoAccounts(t *testing.T) {
	for name, c := range map[string]struct {
		runs  []string
		stays []bool
		want  string
	}{
		"quit": {[]string{enters + "a", "b" + leaves}, []bool{false, false}, enters + "ab" + leaves},
		"switch": {[]string{"a" + leaves + "x", "y" + enters + "b", "c" + leaves}, []bool{true, false, false},
			"axybc" + leaves},
		"no other": {[]string{"a" + leaves}, []bool{true}, "a" + leaves + ansi.ShowCursor},
	} {
		var v View
		got := written(t, func(out *os.File) {
			v.Over(out)
			for i, text := range c.runs {
				if c.stays[i] {
					v.out.stay()
				}
				if n, err := v.out.Write([]byte(text)); err != nil || n != len(text) {
					t.Error(n, err)
				}
			}
			if err := v.Close(); err != nil {
				t.Error(err)
			}
		})
		if got != c.want {
			t.Errorf("%s: %q, expected %q", name, got, c.want)
		}
	}
}

// TestTheFirstFrameOfAnotherAccountIsAWholeOne: nothing has to be asked of the terminal for it.
func TestTheFirstFrameOfAnotherAccountIsAWholeOne(t *testing.T) {
	bubble(func(t *testing.T) {
		m, _, _, _ := withAccounts(t, 80, 24)
		v := m.opt.View
		_ = written(t, func(out *os.File) {
			v.Over(out)
			m.handle(screen.SwitchMsg{Account: savings})
		})
		if !v.out.leaving {
			t.Error("the terminal is left")
		}
		o := m.opt
		if next := New(o); next.w != 80 || next.h != 24 || next.View().Content == "" || next.ground != m.ground {
			t.Errorf("%d by %d: %q", next.w, next.h, next.View().Content)
		}
	})(t)
}
