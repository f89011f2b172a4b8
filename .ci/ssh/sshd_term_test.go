//go:build linux

package sshci

import (
	"regexp"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
)

var (
	reColour = regexp.MustCompile(
		`\x1b\[(?:[0-9;:]*;)?(?:3[0-79]|4[0-79]|9[0-7]|10[0-7]|[34]8[;:][0-9;:]+)(?:;[0-9;:]*)?m`)
	re256        = regexp.MustCompile(`\x1b\[[0-9;:]*[34]8[;:]5[;:]`)
	reTrueColour = regexp.MustCompile(`\x1b\[[0-9;:]*[34]8[;:]2[;:]`)
)

// look is what a terminal shows of the dashboard.
type look struct {
	ascii      bool
	colours    int // 0, 16 or 256
	cols, rows int
}

// whole reports whether the frame is there in this size: both rules, and the keys below the second.
func (l look) whole(screen string) bool {
	lines, rule := strings.Split(screen, "\n"), strings.Repeat("─", l.cols)
	if l.ascii {
		rule = strings.Repeat("-", l.cols)
	}
	return len(lines) == l.rows && strings.TrimRight(lines[2], " ") == rule &&
		strings.TrimRight(lines[l.rows-2], " ") == rule && strings.Contains(lines[l.rows-1], "sort")
}

// checks compares the screen of balances with how it has to look.
func (p person) checks(l look) {
	p.Helper()
	p.waits("the whole frame", l.whole)
	p.settles()
	screen := p.term.Screen()
	lines := strings.Split(screen, "\n")
	if first := lines[0]; !strings.HasPrefix(first, " coffer  EMBEDDED  demo") || !strings.Contains(first, "$") ||
		!strings.Contains(lines[1], "1 Balances") {
		p.Errorf("it begins with\n%s\n%s", first, lines[1])
	}
	for i, line := range lines {
		if w := ansi.StringWidth(line); w > l.cols {
			p.Errorf("line %d has %d cells", i+1, w)
		}
	}
	if other := strings.IndexFunc(screen, func(r rune) bool { return r > 126 || r < 32 && r != '\n' }); l.ascii &&
		other >= 0 {
		p.Errorf("not ASCII: %q\n%s", screen[other:min(len(screen), other+8)], screen)
	}
	raw := p.term.Raw()
	if any, many, all := reColour.Match(raw), re256.Match(raw), reTrueColour.Match(raw); any != (l.colours > 0) ||
		many != (l.colours == 256) || all {
		p.Errorf("colours %v, 256 colours %v, true colour %v; expected %d", any, many, all, l.colours)
	}
}

// Z2: whatever the terminal calls itself, and with what ssh hands over of the person's environment, the first frame is
// right, and so it is after each change of the size. COLORTERM never arrives, so 256 colours are the most there is;
// without a locale the terminal is taken to speak UTF-8.
func TestSSHTheFirstFrameIsRightOnEveryTerminal(t *testing.T) {
	for _, term := range []struct {
		name    string
		colours int
	}{{"xterm", 16}, {"xterm-256color", 256}, {"tmux-256color", 256}} {
		for name, c := range map[string]struct {
			env       []string
			ascii, no bool
		}{
			"plain": {}, "NO_COLOR": {env: []string{"NO_COLOR=1"}, no: true},
			"LANG=C":              {env: []string{"LANG=C"}, ascii: true},
			"NO_COLOR and LANG=C": {env: []string{"NO_COLOR=1", "LANG=C"}, ascii: true, no: true},
			"UTF-8":               {env: []string{"LANG=C.UTF-8", "COLORTERM=truecolor"}},
		} {
			t.Run(term.name+" "+name, func(t *testing.T) {
				t.Parallel()
				h := newHost(t, hostOptions{})
				p := h.opens(at{Term: term.name, Env: c.env}, "coffer")
				l := look{ascii: c.ascii, colours: term.colours, cols: 80, rows: 24}
				if c.no {
					l.colours = 0
				}
				p.sees("EMBEDDED", "demo", "USDC", "$", "USD Coin", "hidden (z)")
				p.checks(l)
				must(t, p.term.Resize(120, 40))
				l.cols, l.rows = 120, 40
				p.checks(l)
				must(t, p.term.Resize(40, 12))
				p.sees("60", "20", "40", "12")
				p.types("j") // what it says stays, and nothing else happens
				p.settles()
				p.sees("60", "20")
				must(t, p.term.Resize(80, 24))
				l.cols, l.rows = 80, 24
				p.checks(l)
				p.leaves()
			})
		}
	}
}

// A terminal that cannot move its cursor is told in one line what to run, and that works there, without any sequence.
func TestSSHADumbTerminalIsToldOfTheLinearMode(t *testing.T) {
	t.Parallel()
	h := newHost(t, hostOptions{})
	p := h.opens(at{Term: "dumb"}, "coffer")
	if err := p.ends(); err == nil || err.Error() != "exit status 2" {
		t.Errorf("%v", err)
	}
	if s := p.term.Screen(); !strings.Contains(s, "cannot move the cursor") || !strings.Contains(s, "coffer --linear") {
		t.Errorf("it says\n%s", s)
	}
	line := h.opens(at{Term: "dumb"}, "coffer", "--linear")
	line.sees("Type a number")
	line.settles() // what is typed before a question can be read does not count
	line.types("1\r")
	line.sees("USDC")
	line.types("\x04") // the end of the input
	if err := line.ends(); err != nil {
		t.Errorf("%v\n%s", err, line.term.Screen())
	}
	for _, one := range []person{p, line} {
		if strings.ContainsRune(string(one.term.Raw()), '\x1b') {
			t.Errorf("a sequence for a terminal that knows none: %q", one.term.Raw())
		}
	}
}
