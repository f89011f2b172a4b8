//go:build unix

package main

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
	"coffer/ui/termtest"
)

// Paths of the interface, below its base.
const (
	pathPrepare   = "/v3/quote/prepare-call-quote"
	pathCallQuote = "/v3/quote/call-quote"
	pathExecute   = "/v3/quote/execute-quote"
	pathBalances  = "/v3/balances/aggregated-balance"
	pathStatus    = "/v3/status/get-execution-status"
)

// attack is a change of one value of an answer: new is made of the old JSON text.
type attack struct {
	name, pointer string
	change        func(old string) string
}

func to(text string) func(string) string { return func(string) string { return text } }

// nibble changes the last hexadecimal digit of a string.
func nibble(old string) string {
	b := []byte(old)
	for i := len(b) - 1; i > 2; i-- {
		if b[i] >= '0' && b[i] <= '9' || b[i] >= 'a' && b[i] <= 'f' || b[i] >= 'A' && b[i] <= 'F' {
			if b[i] == '1' {
				b[i] = '2'
			} else {
				b[i] = '1'
			}
			break
		}
	}
	return string(b)
}

const thief = `"0x000000000000000000000000000000000000dEaD"`

// preparedAttacks lie about the operation that is to be signed first.
func preparedAttacks() []attack {
	const u, td = "/chainOperation/userOp", "/chainOperation/typedDataToSign"
	return []attack{
		{"another sender", u + "/sender", to(thief)},
		{"another nonce", u + "/nonce", to(`"1"`)},
		{"other calls", u + "/callData", nibble},
		{"no calls", u + "/callData", to(`"0x"`)},
		{"calls cut off", u + "/callData", func(old string) string { return old[:len(old)-65] + `"` }},
		{"a foreign paymaster", u + "/paymaster", to(thief)},
		{"other data of the paymaster", u + "/paymasterData", to(`"0x00"`)},
		{"a signature already there", u + "/signature", to(`"0x01"`)},
		{"gas without bounds", u + "/callGasLimit", to(`"99999999999999"`)},
		{"verification gas without bounds", u + "/verificationGasLimit", to(`"99999999999999"`)},
		{"a fee beyond measure", u + "/maxFeePerGas", to(`"999999999999999999"`)},
		{"a foreign factory", u + "/factory", to(thief)},
		{"other deployment data", u + "/factoryData", nibble},
		{"another chain in the typed data", td + "/domain/chainId", to("1")},
		{"another contract in the typed data", td + "/domain/verifyingContract", to(thief)},
		{"another name in the typed data", td + "/domain/name", to(`"Permit2"`)},
		{"another primary type", td + "/primaryType", to(`"Permit"`)},
		{"another message", td + "/message", to(`{"owner":` + thief + `}`)},
		{"other types", td + "/types", to(`{"Permit":[{"name":"owner","type":"address"}]}`)},
		{"another asset", "/chainOperation/assetType", to(`"eip155:1/slip44:60"`)},
		{"another amount", "/chainOperation/amount", to(`"1"`)},
		{"another account", "/accounts/0/accountAddress", to(thief)},
		{"another signer", "/accounts/0/signerAddress", to(thief)},
		{"another kind of account", "/accounts/0/type", to(`"role-based"`)},
		{"no operation", "/chainOperation", to("null")},
		{"an operation twice", "/chainOperation/userOp", func(old string) string { return old + `,"userOp":` + old }},
		{"a list for an answer", "/chainOperation", to("[]")},
		{"a number for an address", u + "/sender", to("1")},
	}
}

// TestTerminalF3_AHostileServiceGetsNoSignature walks the call up to review 1 for each attack: what comes is refused in words, `y` does nothing, and no request
// with a signature leaves the wallet.
func TestTerminalF3_AHostileServiceGetsNoSignature(t *testing.T) {
	t.Parallel()
	env, b := team(t)
	p := opens(t, env, 100, 30)
	p.fillsIn()
	for _, a := range preparedAttacks() {
		hit := false
		b.behaves(func(r request, status int, answer []byte) (int, []byte) {
			if r.path != pathPrepare || status/100 != 2 {
				return status, answer
			}
			changed := splice(answer, a)
			hit = string(changed) != string(answer)
			return status, changed
		})
		asked := len(b.saw(pathPrepare))
		p.types("r")
		p.waits(a.name+" to be refused", func(s string) bool {
			return len(b.saw(pathPrepare)) > asked && (strings.Contains(s, "Refused") || strings.Contains(s, "cannot be accepted"))
		})
		b.with(func() {
			if !hit {
				t.Errorf("%s: nothing was changed at %s", a.name, a.pointer)
			}
		})
		p.types("y")
		p.types("\x1b")
		p.waits("the form again", func(s string) bool { return strings.Contains(s, "fund with") && !strings.Contains(s, "Review 1") })
	}
	if n := len(b.saw(pathCallQuote)) + len(b.saw(pathExecute)); n != 0 {
		t.Errorf("%d requests with a signature", n)
	}
	b.behaves(nil)
	p.types("r")
	p.sees("Review 1 of 2", "y sign")
}

// splice makes the change in a JSON text. A text that is no longer JSON is what an attacker may send as well.
func splice(answer []byte, a attack) []byte {
	doc, err := api.ParseDocument(answer, api.DefaultLimits())
	if err != nil {
		return answer
	}
	old, ok := doc.At(a.pointer)
	if !ok {
		return answer
	}
	new := a.change(string(old))
	if d, err := doc.Splice(api.Edit{Pointer: a.pointer, Value: []byte(new)}); err == nil {
		return d.Raw()
	}
	return []byte(strings.Replace(string(answer), string(old), new, 1))
}

// quoteAttacks lie about what it costs and about the payments.
func quoteAttacks() []attack {
	const o = "/originChainsOperations/0"
	return []attack{
		{"a payment to somebody else", o + "/userOp/callData", nibble},
		{"another sender", o + "/userOp/sender", to(thief)},
		{"a greater payment", o + "/amount", to(`"999999999999"`)},
		{"another id", "/id", nibble},
		{"already over", "/expirationTimestamp", to(`"1"`)},
		{"good for ever", "/expirationTimestamp", to(`"99999999999"`)},
		{"another recipient", "/destinationToken/recipientAccount", nibble},
		{"less delivered", "/destinationToken/amount", to(`"1"`)},
	}
}

// TestTerminalF3_AHostileQuoteIsNeverExecuted signs the call and lies about the quote: the payments are not signed, nothing is executed, and the person is told
// that the first signature lives on. Each attack has a home of its own, as a signature that lives on counts for the next call.
func TestTerminalF3_AHostileQuoteIsNeverExecuted(t *testing.T) {
	attacks := quoteAttacks()
	if testing.Short() {
		attacks = attacks[:2]
	}
	for _, a := range attacks {
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			env, b := team(t)
			p := opens(t, env, 100, 30)
			hit := false
			b.behaves(func(r request, status int, answer []byte) (int, []byte) {
				if r.path != pathCallQuote || status/100 != 2 {
					return status, answer
				}
				changed := splice(answer, a)
				hit = string(changed) != string(answer)
				return status, changed
			})
			p.builds()
			p.sees("Review 1 of 2", "y sign")
			p.reads(`closes in (\d+:\d\d)`)
			p.types("y")
			p.waits("the lie to be refused", func(s string) bool { return strings.Contains(s, "Refused") || strings.Contains(s, "expired") })
			b.with(func() {
				if !hit {
					t.Errorf("nothing was changed at %s", a.pointer)
				}
			})
			p.types("y\r")
			p.types("\x1b")
			p.types("3")
			p.sees("Activity")
			if n := len(b.saw(pathExecute)); n != 0 {
				t.Errorf("%d requests to execute", n)
			}
		})
	}
}

// attackStrings is what terminals act on or hide (TH-R1).
func attackStrings() map[string]string {
	return map[string]string{
		"CSI clear": "\x1b[2J", "CSI colour": "\x1b[31m", "OSC title": "\x1b]0;pwned\x07", "OSC 52": "\x1b]52;c;cHduZWQ=\x07", "OSC 8": "\x1b]8;;http://pwned\x1b\\link\x1b]8;;\x1b\\",
		"OSC 9": "\x1b]9;pwned\x07", "OSC 777": "\x1b]777;notify;pwned;x\x07", "OSC 1337": "\x1b]1337;File=inline=1:AAAA\x07", "DCS": "\x1bPq\x1b\\", "APC": "\x1b_Gpwned\x1b\\", "mode off": "\x1b[?1049l",
		"mouse on": "\x1b[?1003h", "report": "\x1b[6n", "reset": "\x1bc", "C1 CSI": "\u009b31m", "C1 OSC": "\u009d0;pwned\u009c", "CR": "ok\rNO", "BS": "ok\b\bno", "newline": "a\nb", "tab": "a\tb", "bell": "\x07",
		"DEL": "\x7f", "RLO": "\u202egpj.exe", "LRI": "\u2066x\u2069", "zero width space": "US\u200bDC", "zero width joiner": "a\u200db", "word joiner": "a\u2060b", "BOM": "\ufeffa",
		"line separator": "a\u2028b", "tag characters": "a\U000e0041b", "stacked marks": "a" + strings.Repeat("\u0301", 30), "soft hyphen": "a\u00adb", "hangul filler": "a\u3164b",
		"braille blank": "a\u2800b",
	}
}

// TestTerminalF11_StringsOfTheServiceLeaveTheTerminalAlone puts every attack string into string values of every answer and walks over the screens. The program
// writes no kind of control sequence that it does not write to an honest service, and no character that hides or turns text.
func TestTerminalF11_StringsOfTheServiceLeaveTheTerminalAlone(t *testing.T) {
	t.Parallel()
	env, b := team(t)
	walk := func() person {
		p := unlocks(t, startUntabbed(t, env, 100, 30))
		for _, keys := range []string{"\r", "j", "\r", "i", "\x1b", "v", "v", "4", "\r", "j", "\r", "\x1b", "3", "6", "2", "d", "r", "c", "i", "\x1b", "\x1b", "1"} {
			p.types(keys)
			if err := p.term.Still(80*time.Millisecond, limit); err != nil {
				t.Fatal(err)
			}
		}
		p.types("qq")
		_ = p.ends()
		return p
	}
	honest, _ := written(walk().term.Raw())
	names := make([]string, 0, len(attackStrings()))
	for name := range attackStrings() {
		names = append(names, name)
	}
	slices.Sort(names)
	next := 0
	b.behaves(func(r request, status int, answer []byte) (int, []byte) {
		doc, err := api.ParseDocument(answer, api.DefaultLimits())
		if err != nil || r.path == pathBalances && next == 0 {
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
		kinds, text := written(walk().term.Raw())
		for kind := range kinds {
			if !honest[kind] {
				t.Errorf("a control sequence that an honest service does not lead to: %q", kind)
			}
		}
		for _, r := range text {
			if r != utf8.RuneError && (unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp) || unicode.Is(unicode.M, r) && r != '\ufe0f') {
				t.Errorf("%U reached the terminal", r)
			}
		}
	}
	b.with(func() {
		if next < len(names) {
			t.Errorf("only %d values were changed", next)
		}
	})
}

// startUntabbed runs the program in a terminal that says it has no tab stops. So the cursor is never moved by a tab, and one that is written was in a text.
func startUntabbed(t *testing.T, env []string, cols, rows int) *termtest.Terminal {
	t.Helper()
	cmd := exec.Command("/bin/sh", "-c", `stty tab3 && exec "$0"`, program)
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

// written takes the output of a program apart: the kinds of its control sequences (numbers of CSI left out, those of modes and of OSC kept, titles in full; those that
// only move, erase, shift and colour are what any screen is drawn with), and its text.
func written(raw []byte) (kinds map[string]bool, text string) {
	drawing := map[string]bool{}
	for _, final := range "ABCDEFGHJKLMPSTXZ@bdfmr" {
		drawing["\x1b["+string(final)] = true
	}
	for _, cursorOrFrame := range []string{ // of a field that has the keyboard, around a frame, and what moves by one cell or line
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
