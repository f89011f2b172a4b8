package tui

import (
	"reflect"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"coffer/ui/tui/kit"
	"coffer/ui/tui/screen"
)

func TestAScreenThatWasLeftBehindClosesItselfAndNoOther(t *testing.T) {
	bubble(aScreenThatWasLeftBehindClosesItselfAndNoOther)(t)
}

func aScreenThatWasLeftBehindClosesItselfAndNoOther(t *testing.T) {
	o := options(t, sample(t))
	o.beside(func(screen.Context) map[screen.ID]screen.Screen {
		return map[screen.ID]screen.Screen{screen.Review: &fieldScreen{field: kit.NewField("to", 0)},
			screen.Settings: &fieldScreen{field: kit.NewField("x", 0), title: "Settings"}}
	})
	m := started(t, o, 80, 24)
	drive(m, screen.OpenMsg{Screen: screen.Review})
	press(m, "4")
	drive(m, screen.OpenMsg{Screen: screen.Settings})
	drive(m, screen.BackMsg{From: screen.Review}) // its answer came while the person was elsewhere
	if m.activeID() != screen.Settings {
		t.Errorf("active %q", m.activeID())
	}
	press(m, "1")
	if m.activeID() != screen.Balances {
		t.Errorf("the review is still open: %q", m.activeID())
	}
	drive(m, screen.BackMsg{From: screen.Review})
	if m.activeID() != screen.Balances {
		t.Errorf("active %q", m.activeID())
	}
}

func TestQuittingIsAskedAgainForAnotherReason(t *testing.T) {
	bubble(quittingIsAskedAgainForAnotherReason)(t)
}

func quittingIsAskedAgainForAnotherReason(t *testing.T) {
	o := options(t, sample(t))
	pad := &padScreen{keep: "a call is being built"}
	o.beside(func(screen.Context) map[screen.ID]screen.Screen {
		return map[screen.ID]screen.Screen{screen.Build: pad}
	})
	m := started(t, o, 80, 24)
	if m.quit() != nil {
		t.Fatal("it quit at once")
	}
	pad.keep = "an operation is under way"
	if m.quit() != nil {
		t.Fatal("the answer to one question was taken for another's")
	}
	if m.quit() == nil {
		t.Fatal("asked and answered")
	}
}

// TestQuittingTwiceIsEnoughHoweverManyScreensAreUnfinished: one question names all unfinished work.
func TestQuittingTwiceIsEnoughHoweverManyScreensAreUnfinished(t *testing.T) {
	bubble(func(t *testing.T) {
		o := options(t, sample(t))
		o.beside(func(screen.Context) map[screen.ID]screen.Screen {
			return map[screen.ID]screen.Screen{
				screen.Build:    &padScreen{keep: "a call is being built"},
				screen.Activity: &padScreen{keep: "an operation is under way"},
			}
		})
		m := started(t, o, 80, 24)
		const question = "a call is being built; an operation is under way; press again to quit"
		if m.quit() != nil || !strings.Contains(text(t, m), question) {
			t.Fatalf("not everything is said:\n%s", text(t, m))
		}
		if m.quit() == nil {
			t.Fatal("asked and answered")
		}
	})(t)
}

// TestLeavingSavesFirst: what can be saved is saved, then the program ends without a question. A second request does
// not wait for a save that hangs, and what could not be saved is asked about.
func TestLeavingSavesFirst(t *testing.T) {
	bubble(func(t *testing.T) {
		o := options(t, sample(t))
		pad := &savingPad{padScreen: padScreen{keep: "a call is being built"}}
		o.beside(func(screen.Context) map[screen.ID]screen.Screen {
			return map[screen.ID]screen.Screen{screen.Build: pad}
		})
		m := started(t, o, 80, 24)
		for _, leave := range []func() tea.Cmd{m.quit, func() tea.Cmd {
			m.opt.Switch = func(screen.SwitchMsg) {}
			return m.leaveFor(screen.SwitchMsg{Setup: true})
		}} {
			pad.keep, pad.saves = "a call is being built", 0
			if !leavesAfter(m, leave()) || pad.saves != 1 {
				t.Errorf("%d saves, and then it stayed", pad.saves)
			}
		}
		pad.keep, pad.stuck = "a call is being built", true
		if leavesAfter(m, m.quit()) || !strings.Contains(text(t, m), "a call is being built; press again to quit") {
			t.Errorf("unsaved work is left without a question:\n%s", text(t, m))
		}
		m.quitWhy, pad.stuck = nil, false
		waits := m.quit() // a save that takes a while
		if m.quit() != nil {
			t.Error("it left without a question, before the work was saved")
		}
		if !leavesAfter(m, waits) {
			t.Error("asked for twice and saved, and it stays")
		}
		m.quitWhy, pad.keep = nil, "a call is being built"
		if waits = m.quit(); m.quit() != nil || m.quit() == nil {
			t.Error("a save that hangs holds the program up, or the question was not asked")
		}
		later := m.ctx.Clock().Add(quitTime)
		m.ctx.Clock = func() time.Time { return later }
		if leavesAfter(m, waits) {
			t.Error("it leaves long after the person thought better of it")
		}
	})(t)
}

// savingPad is a screen that saves its work on request, unless it is stuck.
type savingPad struct {
	padScreen
	saves int
	stuck bool
}

func (p *savingPad) Save() tea.Cmd {
	if p.keep == "" {
		return nil
	}
	return func() tea.Msg {
		if p.saves++; !p.stuck {
			p.keep = ""
		}
		return nil
	}
}

// leavesAfter runs a command and what follows from it, and reports whether it ended the program.
func leavesAfter(m *Model, cmd tea.Cmd) bool {
	if cmd == nil {
		return false
	}
	msg := cmd()
	if v := reflect.ValueOf(msg); v.Kind() == reflect.Slice { // a sequence
		for i := range v.Len() {
			if leavesAfter(m, v.Index(i).Interface().(tea.Cmd)) {
				return true
			}
		}
		return false
	}
	switch msg := msg.(type) {
	case tea.QuitMsg:
		return true
	case leaveMsg:
		return leavesAfter(m, m.leave(msg))
	}
	return false
}
