package tui

import (
	"strings"
	"testing"

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
