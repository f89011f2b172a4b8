package kit

import (
	"strings"

	"coffer/ui/present"
	"coffer/ui/tui/theme"
)

// Scroll is a window on lines of text. It knows which lines were on the screen; a review checks that before it lets the
// person confirm.
type Scroll struct {
	lines  []string
	seen   []bool // of the lines that have to be seen
	top    int
	height int
}

// Set replaces the lines and forgets which ones were seen. Use Keep when only the look of the same lines changes.
func (s *Scroll) Set(lines []string) {
	s.lines, s.seen, s.top = lines, make([]bool, len(lines)), 0
	s.note()
}

// Keep replaces the lines and keeps the place; it forgets which lines were seen when their number changes.
func (s *Scroll) Keep(lines []string) { s.KeepFirst(lines, len(lines)) }

// KeepFirst is Keep where only the first n lines have to be seen.
func (s *Scroll) KeepFirst(lines []string, n int) {
	if n != len(s.seen) {
		s.seen = make([]bool, n)
	}
	s.lines = lines
	s.clamp()
}

// Resize sets the height of the window in lines.
func (s *Scroll) Resize(h int) { s.height = max(0, h); s.clamp() }

func (s *Scroll) clamp() {
	s.top = max(0, min(s.top, len(s.lines)-s.height))
	s.note()
}

func (s *Scroll) note() {
	for i := s.top; i < min(len(s.seen), s.top+s.height); i++ {
		s.seen[i] = true
	}
}

// Unseen is the number of lines that were never on the screen.
func (s *Scroll) Unseen() int {
	n := 0
	for _, ok := range s.seen {
		if !ok {
			n++
		}
	}
	return n
}

// SeenAll reports whether every line was on the screen at some time, in a window of at least one line.
func (s *Scroll) SeenAll() bool { return s.height > 0 && s.Unseen() == 0 }

// LastSeen reports whether the last line was on the screen at some time.
func (s *Scroll) LastSeen() bool {
	return s.height > 0 && (len(s.seen) == 0 || s.seen[len(s.seen)-1])
}

// Below is the number of lines below the window.
func (s *Scroll) Below() int { return max(0, len(s.lines)-s.top-s.height) }

// Top is the first visible line.
func (s *Scroll) Top() int { return s.top }

// Move scrolls by d lines.
func (s *Scroll) Move(d int) { s.top += d; s.clamp() }

// Press handles the keys that scroll and reports whether the key was one. Two pages share one line.
func (s *Scroll) Press(key string) bool {
	switch key {
	case "j", "down":
		s.Move(1)
	case "k", "up":
		s.Move(-1)
	case "pgdown", "space", "ctrl+f":
		s.Move(max(1, s.height-1))
	case "pgup", "ctrl+b":
		s.Move(-max(1, s.height-1))
	case "ctrl+d":
		s.Move(max(1, s.height/2))
	case "ctrl+u":
		s.Move(-max(1, s.height/2))
	case "g", "home":
		s.Move(-len(s.lines))
	case "G", "end":
		s.Move(len(s.lines))
	default:
		return false
	}
	return true
}

// View draws the window: exactly the height of Resize, lines of exactly w cells.
func (s *Scroll) View(w int) string {
	end := min(len(s.lines), s.top+s.height)
	return Box(strings.Join(s.lines[min(s.top, end):end], "\n"), w, s.height)
}

// Fill takes the lines of a Body of h lines and returns the height of the window: when not all lines fit, the last one
// is left for More.
func (s *Scroll) Fill(lines []string, h int) int {
	if len(lines) > h {
		h = max(1, h-1)
	}
	s.Resize(h)
	s.Keep(lines)
	return s.height
}

// Body draws lines in a body of w×h cells, which ends with More when not all of them fit.
func (s *Scroll) Body(th theme.Theme, lines []string, w, h int) string {
	if s.Fill(lines, h) == h {
		return s.View(w)
	}
	return Lines(s.View(w), Fit("  "+th.Dim.Render(s.More(th)), w))
}

// Reveal scrolls so that the lines from up to to are on the screen, the first of them in any case.
func (s *Scroll) Reveal(from, to int) {
	s.Move(max(0, to-s.top-s.height))
	s.Move(min(0, from-s.top))
}

// More counts the lines out of sight: "12 more lines below", or "" when the end is visible.
func (s *Scroll) More(th theme.Theme) string {
	if n := s.Below(); n > 0 {
		return th.Signs.Down + " " + present.Plural(n, "more line below", "more lines below")
	}
	return ""
}

// MoreBy is More with the key that shows them.
func (s *Scroll) MoreBy(th theme.Theme, key string) string {
	if more := s.More(th); more != "" {
		return more + "  (" + key + ")"
	}
	return ""
}
