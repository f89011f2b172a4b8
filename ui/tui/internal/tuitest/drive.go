package tuitest

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"

	"coffer/ui/tui/kit"
	"coffer/ui/tui/screen"
	"coffer/ui/tui/theme"
)

// Theme is the dark theme in true colour.
func Theme() theme.Theme { return theme.New(true, colorprofile.TrueColor, false) }

// Text draws a screen at w×h and returns its visible text. It fails the test when the body is not exactly w×h cells.
func Text(t testing.TB, s screen.Screen, w, h int) string {
	t.Helper()
	body, _, _, _ := kit.TakeCursor(s.View(screen.Frame{W: w, H: h, Theme: Theme(), Now: Now()}))
	CheckBox(t, body, w, h)
	lines := strings.Split(ansi.Strip(body), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n") + "\n" + strings.TrimRight(
		ansi.Strip(kit.KeyLine(Theme(), s.Keys(), w, MoreKey(s))), " ") + "\n"
}

// Columns are the panes of a plain body, each with its own lines.
func Columns(body string) []string {
	var out []string
	for l := range strings.SplitSeq(body, "\n") {
		for i, part := range strings.Split(l, "│") {
			if i == len(out) {
				out = append(out, "")
			}
			out[i] += strings.TrimRight(part, " ") + "\n"
		}
	}
	return out
}

// MoreKey is the key that the shell's key line names for listing all keys of the screen.
func MoreKey(s screen.Screen) string {
	if s.Capturing() {
		return kit.HelpTyping
	}
	return kit.Help
}

// CheckBox fails the test when a body is not exactly w×h cells.
func CheckBox(t testing.TB, body string, w, h int) {
	t.Helper()
	lines := strings.Split(body, "\n")
	if len(lines) != h {
		t.Fatalf("%d lines, want %d:\n%s", len(lines), h, body)
	}
	for i, l := range lines {
		if got := ansi.StringWidth(l); got != w {
			t.Fatalf("line %d is %d cells wide, want %d: %q", i, got, w, l)
		}
	}
}

// Keys presses keys in order and returns the command of the last one.
func Keys(s screen.Screen, names ...string) (last tea.Cmd) {
	for _, n := range names {
		last = s.Update(kit.Press(n))
	}
	return last
}
