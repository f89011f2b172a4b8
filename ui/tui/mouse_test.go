package tui

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"coffer/ui/present"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/screen"
)

// padScreen records its messages. Its key y signs.
type padScreen struct {
	title     string
	keys      []kit.Key
	got       []string
	clicks    []screen.ClickMsg
	capturing bool
	keep      string
	line      string
	shown     int // how often it came back to the terminal
}

func (s *padScreen) Title() string              { return s.title }
func (s *padScreen) Init() tea.Cmd              { return nil }
func (s *padScreen) Close()                     {}
func (s *padScreen) Capturing() bool            { return s.capturing }
func (s *padScreen) KeepOpen() string           { return s.keep }
func (s *padScreen) Keys() []kit.Key            { return s.keys }
func (s *padScreen) View(f screen.Frame) string { return kit.Box(s.line, f.W, f.H) }
func (s *padScreen) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		name := msg.String()
		if msg.IsRepeat {
			name += " again"
		}
		s.got = append(s.got, name)
	case screen.ShownMsg:
		s.shown++
	case screen.ClickMsg:
		s.clicks = append(s.clicks, msg)
	}
	return nil
}

func (s *padScreen) take() string { out := strings.Join(s.got, " "); s.got = nil; return out }

// padKeys are keys of every kind.
func padKeys() []kit.Key {
	return []kit.Key{
		kit.NewKey("open", "enter"), kit.NewKey("sort", "s"), kit.NewKey("sign", "y").WithCare(),
		kit.NewKey("off today", "x").OffWhen(true, "x is off today"),
		kit.NewKey("refresh", "ctrl+r"), kit.NewKey("filter", "/").Hidden(), kit.NewKey("down", "down", "j").Hidden(),
		kit.NewKey("last", "G", "end").Hidden(),
	}
}

// withPad starts the program with a pad as the first screen and another one on top as the review.
func withPad(t testing.TB, change func(*Options)) (m *Model, pad, review *padScreen) {
	pad, review = &padScreen{title: "Build", keys: padKeys()},
		&padScreen{title: "Review", keys: []kit.Key{kit.NewKey("sign 1 of 3", "y"), kit.NewKey("edit", "e")}}
	o := options(t, sample(t))
	o.Start = screen.Build
	o.beside(func(screen.Context) map[screen.ID]screen.Screen {
		return map[screen.ID]screen.Screen{screen.Build: pad, screen.Review: review}
	})
	if change != nil {
		change(&o)
	}
	return started(t, o, 100, 30), pad, review
}

// at finds text on a line of the terminal.
func at(t testing.TB, m *Model, line int, words string) tea.MouseClickMsg {
	t.Helper()
	lines := strings.Split(ansi.Strip(m.View().Content), "\n")
	before, _, found := strings.Cut(lines[line], words)
	if !found {
		t.Fatalf("%q is not on line %d: %q", words, line, lines[line])
	}
	return tea.MouseClickMsg{X: present.Width(before), Y: line, Button: tea.MouseLeft}
}

func TestAClickOnATabOpensIt(t *testing.T) { bubble(aClickOnATabOpensIt)(t) }

func aClickOnATabOpensIt(t *testing.T) {
	m, _, review := withPad(t, nil)
	for _, c := range []struct {
		words string
		want  screen.ID
	}{{"4 History", screen.History}, {"1 Balances", screen.Balances}, {"6 Accounts", screen.Accounts},
		{"2 Build", screen.Build}} {
		if drive(m, at(t, m, 1, c.words)); m.activeID() != c.want {
			t.Errorf("%s: %s is active", c.words, m.activeID())
		}
	}
	drive(m, at(t, m, 1, "? help"))
	if !m.help.open {
		t.Error("the hint does not open the help")
	}
	press(m, "esc")
	if drive(m, at(t, m, 1, ": act")); !m.palette.IsOpen() {
		t.Error("the hint does not open the palette")
	}
	press(m, "esc")
	drive(m, at(t, m, 1, "/ filter"))
	drive(m, screen.OpenMsg{Screen: screen.Review})
	review.capturing = true
	if drive(m, at(t, m, 1, "4 History")); m.activeID() != screen.Review {
		t.Error("a click leaves a review that somebody types into")
	}
}

func TestAClickOnTheKeyLinePressesThatKey(t *testing.T) { bubble(aClickOnTheKeyLinePressesThatKey)(t) }

func aClickOnTheKeyLinePressesThatKey(t *testing.T) {
	m, pad, _ := withPad(t, nil)
	for words, want := range map[string]string{"s sort": "s", "refresh": "ctrl+r", "↵ open": "enter"} {
		if drive(m, at(t, m, m.h-1, words)); pad.take() != want {
			t.Errorf("%s does not press %s", words, want)
		}
	}
	drive(m, at(t, m, m.h-1, "x off"))
	if got := pad.take(); got != "" || !strings.Contains(text(t, m), "x is off today") {
		t.Errorf("a key that is off: %q\n%s", got, text(t, m))
	}
	drive(m, tea.WindowSizeMsg{Width: 60, Height: 20})
	drive(m, at(t, m, m.h-1, "? more"))
	if !m.help.open {
		t.Error("? more does not open the help")
	}
	drive(m, at(t, m, m.h-1, "esc close"))
	if m.help.open {
		t.Error("the help stays open")
	}
}

func TestAClickNeverSigns(t *testing.T) { bubble(aClickNeverSigns)(t) }

func aClickNeverSigns(t *testing.T) {
	m, pad, review := withPad(t, nil)
	drive(m, at(t, m, m.h-1, "y sign"))
	if got := pad.take(); got != "" || !strings.Contains(text(t, m), "a click never signs: press y on the keyboard") {
		t.Errorf("a careful key is pressed: %q\n%s", got, text(t, m))
	}
	drive(m, screen.OpenMsg{Screen: screen.Review})
	drive(m, at(t, m, m.h-1, "y sign 1 of 3")) // not marked by its screen
	if got := review.take(); got != "" {
		t.Errorf("the review gets %q", got)
	}
	review.capturing, review.keys = true, append([]kit.Key{kit.NewKey("confirm what you typed", "enter")},
		review.keys...)
	if drive(m, at(t, m, m.h-1, "↵ confirm")); review.take() != "" {
		t.Error("a click ends what is typed")
	}
	review.capturing = false
	drive(m, at(t, m, m.h-1, "e edit"))
	if got := review.take(); got != "e" {
		t.Errorf("the review gets %q", got)
	}
	press(m, "y")
	if got := review.take(); got != "y" {
		t.Errorf("the keyboard presses %q", got)
	}
}

func TestAClickInTheBodyGoesToTheScreenInItsCells(t *testing.T) {
	bubble(func(t *testing.T) {
		m, pad, review := withPad(t, nil)
		drive(m, tea.MouseClickMsg{X: 7, Y: chromeTop, Button: tea.MouseLeft})
		drive(m, tea.MouseClickMsg{X: 99, Y: m.h - chromeBottom - 1, Button: tea.MouseLeft})
		drive(m, tea.MouseClickMsg{X: 7, Y: m.h - chromeBottom, Button: tea.MouseLeft}) // the rule
		drive(m, tea.MouseClickMsg{X: 7, Y: 0, Button: tea.MouseLeft})
		drive(m, tea.MouseClickMsg{X: 7, Y: 9, Button: tea.MouseRight})
		drive(m, tea.MouseReleaseMsg{X: 7, Y: 9, Button: tea.MouseLeft})
		drive(m, tea.MouseMotionMsg{X: 7, Y: 9, Button: tea.MouseLeft})
		want := []screen.ClickMsg{{X: 7, Y: 0}, {X: 99, Y: 24}}
		if len(pad.clicks) != 2 || pad.clicks[0] != want[0] || pad.clicks[1] != want[1] || len(review.clicks) != 0 {
			t.Errorf("the screens got %v and %v", pad.clicks, review.clicks)
		}
		press(m, "?")
		drive(m, tea.MouseClickMsg{X: 7, Y: 9, Button: tea.MouseLeft})
		if len(pad.clicks) != 2 {
			t.Error("a click goes through the help")
		}
	})(t)
}

func TestTheWheelMovesThreeLines(t *testing.T) { bubble(theWheelMovesThreeLines)(t) }

func theWheelMovesThreeLines(t *testing.T) {
	m, pad, _ := withPad(t, nil)
	drive(m, tea.MouseWheelMsg{Button: tea.MouseWheelDown})
	drive(m, tea.MouseWheelMsg{Button: tea.MouseWheelUp})
	drive(m, tea.MouseWheelMsg{Button: tea.MouseWheelLeft})
	if got := pad.take(); got != "down down down up up up" {
		t.Errorf("the screen gets %q", got)
	}
	drive(m, tea.WindowSizeMsg{Width: 60, Height: 20})
	press(m, "?")
	_ = text(t, m)
	drive(m, tea.MouseWheelMsg{Button: tea.MouseWheelDown})
	if m.help.scroll.Top() != wheelLines || pad.take() != "" {
		t.Errorf("the help is at line %d", m.help.scroll.Top())
	}
}

func TestAClickInThePaletteTakesALine(t *testing.T) { bubble(aClickInThePaletteTakesALine)(t) }

func aClickInThePaletteTakesALine(t *testing.T) {
	m, pad, _ := withPad(t, nil)
	find := func(words string) int {
		for y, line := range strings.Split(text(t, m), "\n") {
			if strings.Contains(line, words) {
				return y
			}
		}
		t.Fatalf("%q is not there:\n%s", words, text(t, m))
		return 0
	}
	press(m, ":")
	drive(m, tea.MouseClickMsg{X: 2, Y: find("open History"), Button: tea.MouseLeft}) // beside the panel
	if !m.palette.IsOpen() {
		t.Fatal("a click beside the palette does something")
	}
	drive(m, tea.MouseClickMsg{X: 50, Y: find("› open Balances"), Button: tea.MouseLeft})
	if m.palette.IsOpen() || m.activeID() != screen.Balances {
		t.Errorf("active %s", m.activeID())
	}
	press(m, "2", ":", "s", "i", "g", "n")
	drive(m, tea.MouseClickMsg{X: 50, Y: find("› sign"), Button: tea.MouseLeft})
	if got := pad.take(); got != "" || !strings.Contains(text(t, m), "a list never signs") {
		t.Errorf("%q:\n%s", got, text(t, m))
	}
}

func TestTheMouseIsOnHereAndOffOverSSHUnlessTheFileSaysOtherwise(t *testing.T) {
	yes, no := true, false
	bubble(func(t *testing.T) {
		for _, c := range []struct {
			env  string
			set  *bool
			want bool
		}{{"", nil, true}, {"SSH_TTY=/dev/pts/1", nil, false}, {"SSH_CONNECTION=a 1 b 2", nil, false},
			{"SSH_TTY=/dev/pts/1", &yes, true}, {"", &no, false}} {
			m, pad, _ := withPad(t, func(o *Options) { o.Env, o.UI.Mouse = append(o.Env, c.env), c.set })
			if got := m.View().MouseMode != tea.MouseModeNone; got != c.want {
				t.Errorf("%q, %v: the mouse is on: %v", c.env, c.set, got)
			}
			drive(m, tea.MouseWheelMsg{Button: tea.MouseWheelDown})
			if got := pad.take() != ""; got != c.want {
				t.Errorf("%q, %v: the wheel moves: %v", c.env, c.set, got)
			}
			press(m, "M")
			if got := m.View().MouseMode != tea.MouseModeNone; got == c.want {
				t.Errorf("%q, %v: M changes nothing", c.env, c.set)
			}
		}
	})(t)
}
