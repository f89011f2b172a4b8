package history

import (
	"testing"

	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/exp/golden"

	"coffer/ui/tui/internal/tuitest"
	"coffer/ui/tui/screen"
	"coffer/ui/tui/theme"
)

func TestGoldenLooks(t *testing.T) {
	for name, th := range map[string]theme.Theme{
		"dark":      theme.New(true, colorprofile.TrueColor, false),
		"light":     theme.New(false, colorprofile.TrueColor, false),
		"no colour": theme.New(true, colorprofile.ASCII, false),
		"ascii":     theme.New(true, colorprofile.ASCII, true),
	} {
		for _, size := range []struct {
			name string
			w, h int
		}{{"80x24", 80, 19}, {"120x40", 120, 35}} {
			t.Run(name+" "+size.name, func(t *testing.T) {
				m := opened(t, records(60), size.w, size.h)
				pressed(m, "down", "down", "enter", "down")
				body := m.View(screen.Frame{W: size.w, H: size.h, Theme: th, Now: tuitest.Now()})
				tuitest.CheckBox(t, body, size.w, size.h)
				golden.RequireEqual(t, body)
			})
		}
	}
}
