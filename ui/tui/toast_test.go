package tui

import (
	"math/big"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"coffer/ui/tui/internal/tuitest"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/review"
	"coffer/ui/tui/screen"
	"coffer/ui/tui/theme"
)

func TestAToastIsReadToItsEnd(t *testing.T) {
	bubble(func(t *testing.T) {
		const said = "11 holdings written to /home/somebody/.local/share/coffer/data/demo/exports/holdings-2.csv and " +
			"/home/somebody/holdings-2.json"
		for _, w := range []int{60, 80, 120} {
			m := started(t, options(t, sample(t)), w, 24)
			drive(m, screen.ToastMsg{Meaning: theme.Good, Text: said})
			if got := strings.Join(strings.Fields(text(t, m)), ""); !strings.Contains(got,
				strings.ReplaceAll(said, " ", "")) {
				t.Errorf("at %d columns:\n%s", w, text(t, m))
			}
		}
	})(t)
}

func TestAToastNeverCoversWhatAReviewShows(t *testing.T) {
	bubble(func(t *testing.T) {
		o := options(t, sample(t))
		o.beside(func(c screen.Context) map[screen.ID]screen.Screen {
			return map[screen.ID]screen.Screen{screen.Review: review.New(c, review.Deps{})}
		})
		m := started(t, o, 60, 24)
		drive(m, screen.OpenMsg{Screen: screen.Review})
		before := strings.Split(text(t, m), "\n")
		drive(m, screen.ToastMsg{Meaning: theme.Warn, Text: strings.Repeat("many words ", 30)})
		after := strings.Split(text(t, m), "\n")
		const at = 24 - chromeBottom
		for i := range before {
			if i != at && before[i] != after[i] {
				t.Errorf("line %d is covered: %q", i, after[i])
			}
		}
		if !strings.Contains(after[at], "…") {
			t.Errorf("the cut is not marked: %q", after[at])
		}
	})(t)
}

func TestARemarkOfOneScreenDoesNotStandOnTheNext(t *testing.T) {
	bubble(func(t *testing.T) {
		now, o := tuitest.Now(), options(t, sample(t))
		o.Context.Clock = func() time.Time { return now }
		m := started(t, o, 80, 24)
		drive(m, screen.ToastMsg{Text: "about balances"})
		now = now.Add(toastOwn)
		drive(m, kit.Press("4"))
		if strings.Contains(text(t, m), "about balances") {
			t.Error("a remark went along to another screen")
		}
		drive(m, screen.ToastMsg{Meaning: theme.Warn, Text: "something is wrong"})
		now = now.Add(toastOwn)
		drive(m, kit.Press("1"))
		if !strings.Contains(text(t, m), "something is wrong") {
			t.Error("a warning was lost on the way")
		}
	})(t)
}

func TestWhyAKeyIsOffStaysWithItsScreen(t *testing.T) {
	bubble(func(t *testing.T) {
		m, _, _ := withPad(t, nil)
		drive(m, kit.Press("x"))
		if !strings.Contains(text(t, m), "x is off today") {
			t.Fatal(text(t, m))
		}
		drive(m, kit.Press("1"))
		if strings.Contains(text(t, m), "x is off today") {
			t.Error("a key of another screen is explained")
		}
	})(t)
}

func TestWhatIsOpenOnTopLeavesTheWayToThePalette(t *testing.T) {
	bubble(func(t *testing.T) {
		m, _, _ := withPad(t, nil)
		for _, w := range []int{60, 66, 72, 80, 100} {
			drive(m, tea.WindowSizeMsg{Width: w, Height: 24})
			drive(m, screen.OpenMsg{Screen: screen.Review})
			if line := strings.Split(text(t, m), "\n")[1]; strings.Contains(line, "…") ||
				!strings.Contains(line, ": act") {
				t.Errorf("at %d columns: %q", w, line)
			}
		}
	})(t)
}

func TestTheFirstLineSaysThatTheTotalIsScrambled(t *testing.T) {
	bubble(func(t *testing.T) {
		for _, w := range []int{60, 80, 120} {
			m := started(t, options(t, sample(t)), w, 24)
			head := func() string { first, _, _ := strings.Cut(text(t, m), "\n"); return first }
			drive(m, screen.TotalChangedMsg{Micro: big.NewInt(14_878_730_000), At: tuitest.Now(), Scrambled: true})
			if !strings.Contains(head(), "! scrambled $14,878.73") || !strings.Contains(head(), "EMBEDDED") {
				t.Errorf("at %d columns: %q", w, head())
			}
			drive(m, screen.TotalChangedMsg{Micro: big.NewInt(14_878_730_000), At: tuitest.Now()})
			if strings.Contains(head(), "scrambled") {
				t.Errorf("at %d columns: %q", w, head())
			}
		}
	})(t)
}
