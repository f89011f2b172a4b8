package tuitest

import (
	"fmt"
	"testing"
	"time"

	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/exp/golden"

	"coffer/ui/tui/kit"
	"coffer/ui/tui/screen"
	"coffer/ui/tui/theme"
)

// Looks compares a screen with golden files that hold its styles as well: on a dark and on a light background in true colour, and without colour, each in
// the bodies of an 80×24 and of a 120×40 terminal. Prepare, when it is not nil, is called before each drawing, after the size was told.
func Looks(t *testing.T, s screen.Screen, now time.Time, prepare func()) {
	t.Helper()
	looks := []struct {
		name    string
		dark    bool
		profile colorprofile.Profile
	}{{"dark", true, colorprofile.TrueColor}, {"light", false, colorprofile.TrueColor}, {"nocolor", true, colorprofile.ASCII}}
	for _, size := range [][2]int{{80, 24}, {120, 40}} {
		w, h := size[0], size[1]-5
		s.Update(screen.ResizedMsg{W: w, H: h})
		for _, l := range looks {
			t.Run(fmt.Sprintf("%dx%d_%s", size[0], size[1], l.name), func(t *testing.T) {
				if prepare != nil {
					prepare()
				}
				body, _, _, _ := kit.TakeCursor(s.View(screen.Frame{W: w, H: h, Theme: theme.New(l.dark, l.profile, false), Now: now}))
				golden.RequireEqual(t, []byte(body))
			})
		}
	}
}
