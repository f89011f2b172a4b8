package text

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// TestR1 lists what terminals act on or hide; none of it may pass.
func TestR1AttackStringsAreMadeHarmless(t *testing.T) {
	attacks := map[string]string{
		"CSI": "\x1b[2J", "OSC title": "\x1b]0;pwned\x07", "OSC 52": "\x1b]52;c;aGk=\x07",
		"OSC 8": "\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\",
		"DCS":   "\x1bPq\x1b\\", "C1 CSI": "\u009b31m", "C1 raw": "\x9b31m", "CR": "ok\rNO", "BS": "ok\b\bno",
		"newline": "a\nb", "tab": "a\tb",
		"bell": "\x07", "NUL": "\x00", "DEL": "\x7f", "RLO": "\u202egpj.exe", "LRI": "\u2066x\u2069",
		"zero width space":  "US\u200bDC",
		"zero width joiner": "a\u200db", "word joiner": "a\u2060b", "BOM": "\ufeffa", "line separator": "a\u2028b",
		"paragraph separator": "a\u2029b",
		"tag characters":      "a\U000e0041b", "variation selector": "a\ufe0fb",
		"stacked marks": "a" + strings.Repeat("\u0301", 30), "soft hyphen": "a\u00adb",
		"hangul filler": "a\u3164b", "braille blank": "a\u2800b", "no-break space": "a\u00a0b", "private use": "\ue000",
		"unassigned": "\U000e1000", "bad UTF-8": "\xff\xfe",
	}
	for name, s := range attacks {
		got := Clean(s, 500)
		for _, r := range got {
			if r != ' ' && r != utf8.RuneError && (!unicode.IsGraphic(r) || unicode.Is(unicode.M, r) ||
				unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Zs, r)) {
				t.Errorf("%s: %U passed", name, r)
			}
		}
		if !strings.ContainsRune(got, utf8.RuneError) {
			t.Errorf("%s: %q shows no sign that something was taken out", name, got)
		}
	}
}

func TestCleanKeepsWords(t *testing.T) {
	for _, s := range []string{"USD Coin", "Überweisung 100 %", "日本円", "a-b_c.d (e) $5 ✓"} {
		if got := Clean(s, 100); got != s {
			t.Errorf("%q became %q", s, got)
		}
	}
}

func TestCleanCapsTheLength(t *testing.T) {
	if got := Clean(strings.Repeat("é", 600), 500); utf8.RuneCountInString(got) != 501 || !strings.HasSuffix(got, "…") {
		t.Fatalf("%d runes", utf8.RuneCountInString(got))
	}
}

func FuzzClean(f *testing.F) {
	f.Add("\x1b[31mred\u202e", 10)
	f.Fuzz(func(t *testing.T, s string, max int) {
		max %= 1000
		if max < 0 {
			max = -max
		}
		got := Clean(s, max)
		if !utf8.ValidString(got) || utf8.RuneCountInString(got) > max+1 {
			t.Fatalf("%q", got)
		}
		for _, r := range got {
			if unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, unicode.M) {
				t.Fatalf("%U passed", r)
			}
		}
		if again := Clean(got, max+1); again != got {
			t.Fatalf("cleaning twice: %q, %q", got, again)
		}
	})
}
