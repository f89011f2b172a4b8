//go:build unix

package hostile

import (
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"coffer/api"
	"coffer/ui/e2e/rig"
	"coffer/ui/termtest"
)

// TestTerminalF3_AHostileServiceGetsNoSignature walks the call up to review 1 for each attack: what comes is refused in
// words, `y` does nothing, and no request with a signature leaves the wallet.
func TestTerminalF3_AHostileServiceGetsNoSignature(t *testing.T) {
	t.Parallel()
	env, b := rig.Team(t)
	p := rig.Opens(t, env, 100, 30)
	p.FillsIn()
	for _, a := range rig.PreparedAttacks() {
		hit := false
		b.Behaves(func(r rig.Request, status int, answer []byte) (int, []byte) {
			if r.Path != rig.PathPrepare || status/100 != 2 {
				return status, answer
			}
			changed := rig.Splice(answer, a)
			hit = string(changed) != string(answer)
			return status, changed
		})
		asked := len(b.Saw(rig.PathPrepare))
		p.Types("r")
		p.Waits(a.Name+" to be refused", func(s string) bool {
			return len(b.Saw(rig.PathPrepare)) > asked &&
				(strings.Contains(s, "Refused") || strings.Contains(s, "cannot be accepted"))
		})
		b.With(func() {
			if !hit {
				t.Errorf("%s: nothing was changed at %s", a.Name, a.Pointer)
			}
		})
		p.Types("y")
		p.Types("\x1b")
		p.Waits("the form again", func(s string) bool {
			return strings.Contains(s, "fund with") &&
				!strings.Contains(s, "Review 1")
		})
	}
	if n := len(b.Saw(rig.PathCallQuote)) + len(b.Saw(rig.PathExecute)); n != 0 {
		t.Errorf("%d requests with a signature", n)
	}
	b.Behaves(nil)
	p.Types("r")
	p.Sees("Review 1 of 2", "y sign")
}

// quoteAttacks lie about what it costs and about the payments.
func quoteAttacks() []rig.Attack {
	const o = "/originChainsOperations/0"
	return []rig.Attack{
		{Name: "a payment to somebody else", Pointer: o + "/userOp/callData", Change: rig.Nibble},
		{Name: "another sender", Pointer: o + "/userOp/sender", Change: rig.To(rig.Thief)},
		{Name: "a greater payment", Pointer: o + "/amount", Change: rig.To(`"999999999999"`)},
		{Name: "another id", Pointer: "/id", Change: rig.Nibble},
		{Name: "already over", Pointer: "/expirationTimestamp", Change: rig.To(`"1"`)},
		{Name: "good for ever", Pointer: "/expirationTimestamp", Change: rig.To(`"99999999999"`)},
		{Name: "another recipient", Pointer: "/destinationToken/recipientAccount", Change: rig.Nibble},
		{Name: "less delivered", Pointer: "/destinationToken/amount", Change: rig.To(`"1"`)},
	}
}

// TestTerminalF3_AHostileQuoteIsNeverExecuted signs the call and lies about the quote: the payments are not signed,
// nothing is executed, and the person is told that the first signature lives on. Each attack has a home of its own, as
// a signature that lives on counts for the next call.
func TestTerminalF3_AHostileQuoteIsNeverExecuted(t *testing.T) {
	attacks := quoteAttacks()
	if testing.Short() {
		attacks = attacks[:2]
	}
	for _, a := range attacks {
		t.Run(a.Name, func(t *testing.T) {
			t.Parallel()
			env, b := rig.Team(t)
			p := rig.Opens(t, env, 100, 30)
			hit := false
			b.Behaves(func(r rig.Request, status int, answer []byte) (int, []byte) {
				if r.Path != rig.PathCallQuote || status/100 != 2 {
					return status, answer
				}
				changed := rig.Splice(answer, a)
				hit = string(changed) != string(answer)
				return status, changed
			})
			p.Builds()
			p.Sees("Review 1 of 2", "y sign")
			p.Reads(`closes in (\d+:\d\d)`)
			p.Types("y")
			p.Waits("the lie to be refused", func(s string) bool {
				return strings.Contains(s, "Refused") ||
					strings.Contains(s, "expired")
			})
			b.With(func() {
				if !hit {
					t.Errorf("nothing was changed at %s", a.Pointer)
				}
			})
			p.Types("y\r")
			p.Types("\x1b")
			p.Types("3")
			p.Sees("Activity")
			if n := len(b.Saw(rig.PathExecute)); n != 0 {
				t.Errorf("%d requests to execute", n)
			}
		})
	}
}

// attackStrings is what terminals act on or hide (TH-R1).
func attackStrings() map[string]string {
	return map[string]string{
		"CSI clear": "\x1b[2J", "CSI colour": "\x1b[31m", "OSC title": "\x1b]0;pwned\x07",
		"OSC 52": "\x1b]52;c;cHduZWQ=\x07", "OSC 8": "\x1b]8;;http://pwned\x1b\\link\x1b]8;;\x1b\\",
		"OSC 9": "\x1b]9;pwned\x07", "OSC 777": "\x1b]777;notify;pwned;x\x07",
		"OSC 1337": "\x1b]1337;File=inline=1:AAAA\x07", "DCS": "\x1bPq\x1b\\", "APC": "\x1b_Gpwned\x1b\\",
		"mode off": "\x1b[?1049l",
		"mouse on": "\x1b[?1003h", "report": "\x1b[6n", "reset": "\x1bc", "C1 CSI": "\u009b31m",
		"C1 OSC": "\u009d0;pwned\u009c", "CR": "ok\rNO", "BS": "ok\b\bno", "newline": "a\nb", "tab": "a\tb",
		"bell": "\x07",
		"DEL":  "\x7f", "RLO": "\u202egpj.exe", "LRI": "\u2066x\u2069", "zero width space": "US\u200bDC",
		"zero width joiner": "a\u200db", "word joiner": "a\u2060b", "BOM": "\ufeffa",
		"line separator": "a\u2028b", "tag characters": "a\U000e0041b",
		"stacked marks": "a" + strings.Repeat("\u0301", 30), "soft hyphen": "a\u00adb", "hangul filler": "a\u3164b",
		"braille blank": "a\u2800b",
	}
}

// TestTerminalF11_StringsOfTheServiceLeaveTheTerminalAlone puts every attack string into string values of every answer
// and walks over the screens. The program writes no kind of control sequence that it does not write to an honest
// service, and no character that hides or turns text.
func TestTerminalF11_StringsOfTheServiceLeaveTheTerminalAlone(t *testing.T) {
	t.Parallel()
	env, b := rig.Team(t)
	walk := func() rig.Person {
		p := rig.Unlocks(t, startUntabbed(t, env, 100, 30))
		for _, keys := range []string{"\r", "j", "\r", "i", "\x1b", "v", "v", "4", "\r", "j", "\r", "\x1b", "3", "6",
			"2", "d", "r", "c", "i", "\x1b", "\x1b", "1"} {
			p.Types(keys)
			if err := p.Term.Still(80*time.Millisecond, rig.Limit); err != nil {
				t.Fatal(err)
			}
		}
		p.Types("qq")
		_ = p.Ends()
		return p
	}
	honest, _ := written(walk().Term.Raw())
	names := make([]string, 0, len(attackStrings()))
	for name := range attackStrings() {
		names = append(names, name)
	}
	slices.Sort(names)
	next := 0
	b.Behaves(func(r rig.Request, status int, answer []byte) (int, []byte) {
		doc, err := api.ParseDocument(answer, api.DefaultLimits())
		if err != nil || r.Path == rig.PathBalances && next == 0 {
			next++
			return status, answer // the first answer is honest: the screens have something to show
		}
		var edits []api.Edit
		doc.Leaves(func(pointer string, raw []byte) {
			if len(raw) > 1 && raw[0] == '"' && next%3 != 0 || strings.HasSuffix(pointer, "message") {
				evil, _ := jsonString(attackStrings()[names[next%len(names)]] + string(raw[1:len(raw)-1]))
				edits = append(edits, api.Edit{Pointer: pointer, Value: evil})
			}
			next++
		})
		if changed, err := doc.Splice(edits...); err == nil {
			return status, changed.Raw()
		}
		return status, answer
	})
	for range 3 {
		kinds, text := written(walk().Term.Raw())
		for kind := range kinds {
			if !honest[kind] {
				t.Errorf("a control sequence that an honest service does not lead to: %q", kind)
			}
		}
		for _, r := range text {
			if r != utf8.RuneError && (unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp) ||
				unicode.Is(unicode.M, r) && r != '\ufe0f') {
				t.Errorf("%U reached the terminal", r)
			}
		}
	}
	b.With(func() {
		if next < len(names) {
			t.Errorf("only %d values were changed", next)
		}
	})
}

// startUntabbed runs the program in a terminal that says it has no tab stops. So the cursor is never moved by a tab,
// and one that is written was in a text.
func startUntabbed(t *testing.T, env []string, cols, rows int) *termtest.Terminal {
	t.Helper()
	cmd := exec.Command("/bin/sh", "-c", `stty tab3 && exec "$0"`, rig.Program())
	cmd.Env, cmd.Dir = env, t.TempDir()
	term, err := termtest.Start(cmd, cols, rows)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(term.Close)
	return term
}

func jsonString(s string) ([]byte, error) {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r < 0x20 || r >= 0x7f && r < 0xa0:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return []byte(b.String()), nil
}

var numbers = regexp.MustCompile(`[0-9]+`)

// written takes the output of a program apart: the kinds of its control sequences (numbers of CSI left out, those of
// modes and of OSC kept, titles in full; those that only move, erase, shift and colour are what any screen is drawn
// with), and its text.
func written(raw []byte) (kinds map[string]bool, text string) {
	drawing := map[string]bool{}
	for _, final := range "ABCDEFGHJKLMPSTXZ@bdfmr" {
		drawing["\x1b["+string(final)] = true
	}
	// of a field that has the keyboard, around a frame, and what moves by one cell or line
	for _, cursorOrFrame := range []string{
		"\x1b[?25h", "\x1b[?25l", "\x1b[?2026h", "\x1b[?2026l", "\x1b[ q", "\b", "\r", "\n", "\x1bM",
	} {
		drawing[cursorOrFrame] = true
	}
	kinds = map[string]bool{}
	var b strings.Builder
	var state byte
	for len(raw) > 0 {
		seq, width, n, next := ansi.DecodeSequence(raw, state, nil)
		state, raw = next, raw[n:]
		s := string(seq)
		switch {
		case width > 0 || s == "":
			b.WriteString(s)
		case strings.HasPrefix(s, "\x1b[?"), strings.HasPrefix(s, "\x1b]"), strings.HasPrefix(s, "\x1bP"):
			if !drawing[s] {
				kinds[s] = true
			}
		case strings.HasPrefix(s, "\x1b["):
			if kind := numbers.ReplaceAllString(strings.NewReplacer(";", "", ":", "").Replace(s), ""); !drawing[kind] {
				kinds[kind] = true
			}
		case s[0] < 0x20 || s[0] == 0x7f || s[0] == 0x1b:
			if !drawing[s] {
				kinds[s] = true
			}
		default:
			b.WriteString(s)
		}
	}
	return kinds, b.String()
}
