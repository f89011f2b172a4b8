//go:build unix

package flows

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"coffer/ui/e2e/rig"
)

// stray presses keys that no one meant, one after the other, and pastes.
type stray struct {
	rig.Person
	random *rand.Rand
	keys   []string
	trail  *[]string // what was pressed, for a failure
}

// strayKeys is everything on a keyboard but what ends or suspends the program.
func strayKeys() []string {
	return append(strings.Split("abcdefghijklmnoprstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"+
		" .,:;/?!#%&()[]{}<>=+*-_~^'\"\\|@$é世🙂", ""),
		"\r", "\t", "\x1b[Z", "\x7f", "\x1b[A", "\x1b[B", "\x1b[C", "\x1b[D", "\x1b[H", "\x1b[F", "\x1b[5~", "\x1b[6~",
		"\x1b[3~", "\x1bOP", "\x1b[24~", "\x01", "\x05", "\x0b", "\x10", "\x12", "\x15", "\x17", "\x1bx", "\x1b[I",
		"\x1b[O", paste("y"), paste("1400.5\r"), paste("651"), paste("0x93DBD23b6b71b82E3A19aD8d51DdEBbB13aF7BC0"),
		paste("line\nline\ny\n"), paste(strings.Repeat("y", 300)), paste("250.5 USDC"), paste(`{"calls":[]}`),
		paste("\x07\x1b]0;title\x07"))
}

func paste(text string) string { return "\x1b[200~" + text + "\x1b[201~" }

var (
	onTheForm = regexp.MustCompile(`›2 Build +3|Fill in|paste`)
	oneKey    = regexp.MustCompile(`(?m)^ y `) // what the screen offers to confirm with
)

// presses n keys at random on whatever screen they lead to, but on the form and but the key that a review asks for.
func (s stray) presses(n int) {
	s.Helper()
	for range n {
		screen := s.Term.Screen()
		key := s.keys[s.random.IntN(len(s.keys))]
		switch {
		case onTheForm.MatchString(screen):
			s.leavesTheForm()
			continue
		case key == "y" && oneKey.MatchString(screen):
			continue
		}
		*s.trail = append(*s.trail, fmt.Sprintf("%q on %s", key, head(screen)))
		s.Types(key)
		s.Settles() // so that the next key meets the screen that this one led to
	}
}

// leavesTheForm goes to another screen without editing what is filled in.
func (s stray) leavesTheForm() {
	s.Helper()
	for range 3 { // a list in a field of a dialog
		s.Escapes()
	}
	s.Types("1")
	s.Sees("›1 Balances")
}

// head is the part of a screen that says where the person is.
func head(screen string) string {
	var out []string
	for line := range strings.Lines(screen) {
		if line = strings.Trim(line, "─ \n"); line != "" {
			out = append(out, line)
		}
	}
	return strings.Join(out[min(len(out), 1):min(len(out), 3)], " | ")
}

// comesBack goes to the form of the call from any screen. Calls that a key added behind it on purpose are removed.
func (s stray) comesBack(needs string) {
	s.Helper()
	for range 20 {
		screen := s.Term.Screen()
		if strings.Contains(screen, "›2 Build  3") && strings.Contains(screen, "Call 1 of") {
			break
		}
		s.Escapes() // a field
		s.Escapes() // a list, or what is open on top of a tab
		s.Types("2")
		s.Rests(100 * time.Millisecond)
		if strings.Contains(s.Term.Screen(), " c calls ") {
			s.Types("c")
		}
	}
	s.Sees("›2 Build  3", needs)
	if added := regexp.MustCompile(` ([2-9]|\d\d) calls on `); added.MatchString(s.Term.Screen()) {
		s.Types("n") // the last one, so that x removes it and then what b on Balances added
		s.Rests(100 * time.Millisecond)
		s.Escapes()
		for range 50 {
			if !added.MatchString(s.Term.Screen()) {
				break
			}
			s.Types("x")
			s.Rests(100 * time.Millisecond)
		}
		s.Sees(" 1 call on Base", needs)
	}
}

// TestStrayKeysNeitherSignNorLoseAForm presses keys that no one meant over every screen and over both reviews, while
// quotes renew. Nothing is signed but review 1, which the person signs on purpose, nothing is sent, and the form is as
// it was filled in.
func TestStrayKeysNeitherSignNorLoseAForm(t *testing.T) {
	t.Parallel()
	total := 1000
	if rig.Whole() {
		total = 5000 // in each size
	}
	for _, size := range [][2]int{{80, 24}, {120, 40}} {
		t.Run(fmt.Sprintf("%dx%d", size[0], size[1]), func(t *testing.T) {
			t.Parallel()
			_, env := rig.Home(t)
			s := stray{rig.At(t, rig.Start(t, env, size[0], size[1])),
				rand.New(rand.NewPCG(7, uint64(size[0]))), strayKeys(), new([]string)} //nolint:gosec // repeats itself
			t.Cleanup(func() {
				if t.Failed() {
					t.Logf("the last keys:\n%s", strings.Join((*s.trail)[max(0, len(*s.trail)-60):], "\n"))
				}
			})
			s.Sees("EMBEDDED", "USDC")
			needs := s.FillsIn()
			for _, tab := range []string{"1", "3", "4", "5", "6", "1,", "1W", "1?", "1:"} {
				s.comesBack(needs)
				s.Escapes()
				s.Types(tab)
				s.Rests(100 * time.Millisecond)
				s.presses(total / 15)
			}
			for range 3 {
				s.comesBack(needs)
				s.Types("r")
				s.Sees("Review 1 of 2")
				s.presses(total / 15)
			}
			s.comesBack(needs)
			s.Types("r")
			s.Sees("Review 1 of 2", "y sign")
			s.Reads(`closes in (\d+:\d\d)`)
			s.Types("y")
			s.Sees("Review 2 of 2")
			s.presses(total / 5)
			s.comesBack(needs)
			s.Escapes()
			s.Types("4")
			s.Sees("›4 History")
			s.Types("\x12")
			s.Rests(200 * time.Millisecond)
			if screen := s.Term.Screen(); slices.ContainsFunc([]string{"completed", "pending", "failed", "refunded"},
				func(word string) bool { return strings.Contains(strings.ToLower(screen), word) }) {
				t.Errorf("something was sent:\n%s", screen)
			}
		})
	}
}
