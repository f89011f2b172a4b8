package theme

import (
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/colorprofile"
)

func all(t Theme) []Style {
	return []Style{t.Text, t.Strong, t.Dim, t.Rule, t.Accent, t.Good, t.Warn, t.Danger, t.Unknown, t.Selected,
		t.Disabled, t.Input, t.BadgeEmbedded, t.BadgeLab, t.BadgeTest, t.BadgeReal}
}

func TestProfilesUseOnlyTheirColours(t *testing.T) {
	for _, dark := range []bool{true, false} {
		for profile, banned := range map[colorprofile.Profile][]string{
			colorprofile.NoTTY: {"\x1b"}, colorprofile.ASCII: {"38;", "48;", "\x1b[3"},
			colorprofile.ANSI: {"38;", "48;"}, colorprofile.ANSI256: {"38;2", "48;2"},
			colorprofile.TrueColor: {"\x1b[31", "\x1b[32", "\x1b[33", "\x1b[34", "\x1b[35", "\x1b[36"},
		} {
			for i, s := range all(New(dark, profile, false)) {
				for _, b := range banned {
					if strings.Contains(s.Render("x"), b) {
						t.Errorf("style %d of %s is %q", i, profile, s.Render("x"))
					}
				}
			}
		}
	}
}

// Secondary text, rules and the accent are on every line of a screen.
func TestTheLooksOfEveryLineAreShort(t *testing.T) {
	for _, dark := range []bool{true, false} {
		th := New(dark, colorprofile.TrueColor, false)
		for name, s := range map[string]Style{"dim": th.Dim, "rule": th.Rule, "accent": th.Accent} {
			if len(s.open) > len("\x1b[38;5;255m") {
				t.Errorf("%s, dark %t: %q", name, dark, s.open)
			}
		}
	}
}

func TestMeaningsDifferWithoutColour(t *testing.T) {
	for _, ascii := range []bool{false, true} {
		th := New(true, colorprofile.ASCII, ascii)
		seen := map[string]bool{}
		for _, m := range []Meaning{Good, Warn, Danger, Unknown} {
			if s := th.Sign(m); seen[s] || s == " " {
				t.Errorf("sign %q is used twice or empty", s)
			}
			seen[th.Sign(m)] = true
		}
	}
}

func TestASCIISignsAreASCII(t *testing.T) {
	s := asciiSigns()
	for _, sign := range append([]string{s.Good, s.Warn, s.Bad, s.Unknown, s.Open, s.Closed, s.Cursor, s.Arrow, s.Back,
		s.More, s.Dot, s.Rule, s.Divider, s.BarFull, s.Up, s.Down, s.Enter, s.Mask},
		slices.Concat(s.Sparks, s.BarParts, s.Corners[:])...) {
		for _, r := range sign {
			if r < 0x20 || r > 0x7e {
				t.Errorf("%q", sign)
			}
		}
	}
}

func TestSelectionGoesUnderEverySegment(t *testing.T) {
	th := New(true, colorprofile.TrueColor, false)
	line := th.Selected.Over("a" + th.Good.Render("b") + "c")
	if strings.Count(line, th.Selected.open) != 2 || !strings.HasSuffix(line, reset) {
		t.Errorf("%q", line)
	}
}

func TestD15TheSelectedLineIsOnePatchWhereTheBackgroundIsUnknown(t *testing.T) {
	const cursor = "\x1b[7770z"
	for _, profile := range []colorprofile.Profile{colorprofile.ANSI, colorprofile.ANSI256, colorprofile.TrueColor} {
		th := Make(Look{}, OnAny, profile, false)
		line := th.Accent.Render("›") + " USDC " + th.Dim.Render("USD Coin") + cursor + th.Warn.Render("!") + " 5"
		if got, want := th.Selected.Over(line), "\x1b[7m› USDC USD Coin"+cursor+"! 5\x1b[m"; got != want {
			t.Errorf("%s: %q, want %q", profile, got, want)
		}
	}
	dark := Make(Look{}, OnDark, colorprofile.TrueColor, false)
	if line := dark.Selected.Over(dark.Warn.Render("!")); !strings.Contains(line, dark.Warn.Render("!")[:8]) {
		t.Errorf("a selected line on a known background lost its colours: %q", line)
	}
}

// What cannot be seen is not written: blanks have no look, unless they would show it.
func TestBlanksAreWrittenWithoutALookThatDoesNotShow(t *testing.T) {
	th := Make(Look{}, OnDark, colorprofile.TrueColor, false)
	for name, s := range map[string]Style{"dim": th.Dim, "strong": th.Strong, "accent": th.Accent} {
		var b strings.Builder
		s.Write(&b, "   ")
		if got := s.Render("   ") + b.String(); got != "      " {
			t.Errorf("%s: %q", name, got)
		}
		if got := s.Render(" x"); got != s.open+" x"+reset {
			t.Errorf("%s: %q", name, got)
		}
	}
	if got := th.BadgeEmbedded.Render("  "); got != th.BadgeEmbedded.open+"  "+reset {
		t.Errorf("a badge has lost its blanks: %q", got)
	}
}
