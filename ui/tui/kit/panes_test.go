package kit

import (
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/colorprofile"

	"coffer/ui/present"
	"coffer/ui/tui/theme"
)

func TestD12PanesComeWithTheWidth(t *testing.T) {
	for w, want := range map[int]int{60: 1, 119: 1, 120: 2, 159: 2, 160: 3, 200: 3, 400: 3} {
		got := PaneWidths(w, 4, 3, 3)
		all := paneGap * (len(got) - 1)
		for _, x := range got {
			all += x
		}
		if len(got) != want || all != w {
			t.Errorf("%d cells give %v, %d cells in all; want %d panes", w, got, all, want)
		}
	}
	if got := PaneWidths(200, 1); !slices.Equal(got, []int{200}) {
		t.Errorf("a screen with one pane has %v", got)
	}
	if got := PaneWidths(200, 7, 5); len(got) != 2 {
		t.Errorf("a screen with two panes has %v", got)
	}
}

func TestD12TabMovesTheKeyboardAmongPanes(t *testing.T) {
	var f Focus
	for _, step := range []struct {
		key  string
		n    int
		want Focus
		took bool
	}{
		{"tab", 1, 0, false}, {"tab", 3, 1, true}, {"tab", 3, 2, true}, {"tab", 3, 0, true}, {"shift+tab", 3, 2, true},
		{"j", 3, 2, false}, {"esc", 3, 0, true}, {"esc", 3, 0, false}, {"tab", 2, 1, true},
	} {
		if took := f.Press(step.key, step.n); took != step.took || f != step.want {
			t.Errorf("%s of %d: pane %d, %v; want %d, %v", step.key, step.n, f, took, step.want, step.took)
		}
	}
	f = 2
	if f.In(2) != 1 || f.In(1) != 0 || f.In(3) != 2 {
		t.Error("a pane that has no room any more keeps the keyboard")
	}
}

// The mark of the pane with the keyboard does not depend on styles. A rule ends where the panes beside it end.
func TestD12PanesBesideEachOther(t *testing.T) {
	plain := theme.New(true, colorprofile.NoTTY, false)
	panes := func() []Pane {
		return []Pane{{W: 12, Title: "List", Note: "3 rows", Body: "one\ntwo is too long\nthree\nfour"},
			{W: 12, Title: "Detail", State: "now", Body: "x"}, {W: 6, Body: ""}}
	}
	want := []string{
		" List  3 ro… │ ›Detail now  │",
		"one          │ x            │",
		"two is too … │",
		"three        │",
	}
	got := strings.Split(Beside(plain, 4, 1, panes()...), "\n")
	for i := range got {
		if strings.TrimRight(got[i], " ") != want[i] {
			t.Errorf("line %d\n got %q\nwant %q", i, got[i], want[i])
		}
		if n := present.Width(got[i]); n != 12+12+6+2*paneGap {
			t.Errorf("line %d has %d cells", i, n)
		}
	}
	for focus, mark := range map[Focus]bool{0: false, 1: true} {
		if first := strings.Split(Beside(plain, 1, focus, panes()...), "\n")[0]; strings.Contains(first, "›") != mark {
			t.Errorf("pane %d: %q", focus, first)
		}
	}
	bold := Beside(look(), 4, 0, panes()...)
	if !strings.Contains(bold, look().Strong.Render("List")) || !strings.Contains(bold, look().Dim.Render("Detail")) {
		t.Errorf("titles do not show where the keyboard is: %q", bold)
	}
}

func TestD12AClickFindsItsPane(t *testing.T) {
	widths := []int{12, 10, 6}
	for x, want := range map[int][2]int{0: {0, 0}, 14: {0, 14}, 15: {1, 0}, 27: {1, 12}, 28: {2, 0}, 90: {2, 62}} {
		if pane, at := PaneAt(widths, x); pane != want[0] || at != want[1] {
			t.Errorf("cell %d is %d of pane %d, want %v", x, at, pane, want)
		}
	}
}
