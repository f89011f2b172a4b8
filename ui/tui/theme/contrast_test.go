package theme

import (
	"image/color"
	"math"
	"slices"
	"testing"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/colorprofile"
)

// luminance is the relative luminance of WCAG 2.
func luminance(c color.Color) float64 {
	r, g, b, _ := c.RGBA()
	channel := func(v uint32) float64 {
		f := float64(v) / 0xffff
		if f <= 0.03928 {
			return f / 12.92
		}
		return math.Pow((f+0.055)/1.055, 2.4)
	}
	return 0.2126*channel(r) + 0.7152*channel(g) + 0.0722*channel(b)
}

// ratio is the contrast ratio of WCAG 2, from 1 to 21.
func ratio(a, b color.Color) float64 {
	x, y := luminance(a), luminance(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

func textHues() map[string]hue {
	out := hueNames()
	delete(out, "rule")
	delete(out, "selected")
	return out
}

func TestTextHasContrastOnEveryBackground(t *testing.T) {
	black, white := lipgloss.Color("#000000"), lipgloss.Color("#ffffff")
	grounds := map[Ground][]color.Color{OnDark: {black, lipgloss.Color("#1e1e1e")},
		OnLight: {white, lipgloss.Color("#fdf6e3")}, OnAny: {black, white}}
	for _, profile := range []colorprofile.Profile{colorprofile.TrueColor, colorprofile.ANSI256} {
		for ground, behind := range grounds {
			for _, contrast := range []bool{false, true} {
				p := palette{ground: ground, profile: profile, contrast: contrast}
				least := 4.5
				switch {
				case contrast:
					least = 7
				case profile == colorprofile.ANSI256 && ground == OnAny:
					least = 4.4 // no orange of the 256 does better on both
				}
				under := behind
				if selected := p.pick(selectedHue); selected != nil {
					under = append(slices.Clone(behind), selected)
				}
				for name, h := range textHues() {
					c := p.pick(h)
					if c == nil {
						continue // the terminal's own colour
					}
					for _, b := range under {
						if got := ratio(c, b); got < least {
							t.Errorf("%s on %v (ground %d, contrast %v, %s): %.2f : 1, want %.1f", name, b, ground,
								contrast, profile, got, least)
						}
					}
				}
			}
		}
	}
}

// Rules and bars carry no words, but must be visible.
func TestRulesAreVisibleOnEveryBackground(t *testing.T) {
	black, white := lipgloss.Color("#000000"), lipgloss.Color("#ffffff")
	for ground, behind := range map[Ground][]color.Color{OnDark: {black}, OnLight: {white}, OnAny: {black, white}} {
		c := palette{ground: ground, profile: colorprofile.TrueColor}.pick(ruleHue)
		for _, b := range behind {
			if got := ratio(c, b); got < 1.8 {
				t.Errorf("ground %d: %.2f : 1", ground, got)
			}
		}
	}
}

// Of the 16 basic colours only red reads on both; green, yellow and cyan vanish on white.
func TestSixteenColoursStayReadableOnLight(t *testing.T) {
	for _, ground := range []Ground{OnLight, OnAny} {
		for name, h := range textHues() {
			for _, contrast := range []bool{false, true} {
				switch basic := shadeOf(h, ground, contrast).basic; basic {
				case "", "1":
				case "4", "5":
					if ground == OnAny {
						t.Errorf("%s is colour %s on an unknown background", name, basic)
					}
				default:
					t.Errorf("%s is colour %s on a light background", name, basic)
				}
			}
		}
	}
}

func TestMeaningsKeepAStyleWithSixteenColours(t *testing.T) {
	for _, ground := range []Ground{OnAny, OnDark, OnLight} {
		th := Make(Look{}, ground, colorprofile.ANSI, false)
		for name, s := range map[string]Style{"accent": th.Accent, "warn": th.Warn, "danger": th.Danger,
			"dim": th.Dim} {
			if s.open == "" {
				t.Errorf("%s looks like plain text on ground %d", name, ground)
			}
		}
	}
}

func TestLookDecidesOverTheTerminal(t *testing.T) {
	light := Make(Look{Name: Light}, OnDark, colorprofile.TrueColor, false)
	if light.Dark || light.Accent != New(false, colorprofile.TrueColor, false).Accent {
		t.Error("the light theme follows the terminal")
	}
	if auto := Make(Look{Name: Auto}, OnLight, colorprofile.TrueColor, false); auto.Accent != light.Accent {
		t.Error("the automatic theme does not follow the terminal")
	}
	if unknown := Make(Look{}, OnAny, colorprofile.TrueColor, false); unknown.Accent == light.Accent ||
		unknown.Accent == New(true, colorprofile.TrueColor, false).Accent {
		t.Error("an unknown background is taken for a known one")
	}
}

func TestOwnColoursHoldInEveryProfileThatHasColours(t *testing.T) {
	look := Look{Name: Dark, Colors: map[string]string{"accent": "#ff8700", "dim": "250", "selected": "17",
		"nothing": "#123456"}}
	for profile, want := range map[colorprofile.Profile][2]string{
		colorprofile.TrueColor: {"\x1b[38;2;255;135;0mx\x1b[m", "\x1b[38;5;250mx\x1b[m"},
		colorprofile.ANSI256:   {"\x1b[38;5;208mx\x1b[m", "\x1b[38;5;250mx\x1b[m"},
		colorprofile.ASCII:     {"x", "\x1b[2mx\x1b[m"},
		colorprofile.NoTTY:     {"x", "x"},
	} {
		th := Make(look, OnAny, profile, false)
		if got := [2]string{th.Accent.Render("x"), th.Dim.Render("x")}; got != want {
			t.Errorf("%s: %q, want %q", profile, got, want)
		}
	}
	if got := Make(look, OnAny, colorprofile.TrueColor, false).Selected.open; got != "\x1b[48;5;17m" {
		t.Errorf("the selected line is %q", got)
	}
}

func TestNoColourHasNoColour(t *testing.T) {
	for _, name := range Names() {
		for _, ground := range []Ground{OnAny, OnDark, OnLight} {
			p := palette{ground: ground, profile: colorprofile.ASCII, contrast: name == Contrast}
			for n, h := range hueNames() {
				if c := p.pick(h); c != nil {
					t.Errorf("%s of %s is %v", n, name, c)
				}
			}
		}
	}
}
