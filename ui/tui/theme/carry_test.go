package theme

import (
	"strings"
	"testing"

	"github.com/charmbracelet/colorprofile"
	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"
)

func TestBlanksKeepTheLookBeforeThem(t *testing.T) {
	for in, want := range map[string]string{
		"":                              "",
		"a b":                           "a b",
		"DaR Db":                        "Da b", // one look
		"DaR    Db":                     "Da    b",
		"DaR  Ab":                       "Da  RAb",  // one change instead of two
		"DaR   Ab":                      "DaR   Ab", // a column
		"DaRAb":                         "DaRAb",
		"DaR b":                         "DaR b",
		"DaR  \nDb":                     "DaR  \nDb", // the blank end of a line
		"DaR  ":                         "DaR  ",
		"SaR SbR Sc":                    "SaR SbR Sc", // a background shows on a blank
		"UaR Ub":                        "UaR Ub",
		"VaR Vb":                        "VaR Vb",
		"BDaR BDb":                      "BDa RBDb",
		"BDaR Db":                       "BDa RDb",
		"DaR CDb":                       "DaR CDb", // the cursor of the terminal
		"DaR DbR Dc":                    "Da b c",
		"\x1b[38;5;9maR \x1b[38;5;9mbR": "\x1b[38;5;9ma bR",
		"\x1b[38;2maR \x1b[38;2mb":      "\x1b[38;2maR \x1b[38;2mb", // no colour
	} {
		names := strings.NewReplacer("D", "\x1b[38;2;1;2;3m", "A", "\x1b[36m", "R", reset, "S", "\x1b[48;5;17m",
			"U", "\x1b[4m", "V", "\x1b[7m", "B", "\x1b[1m", "C", "\x1b[7770z")
		if got, want := Carry(names.Replace(in)), names.Replace(want); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// Whatever a screen writes, a person sees the same: each character keeps its look, and a blank what shows on a blank.
func TestCarryChangesNothingThatShows(t *testing.T) {
	th := New(true, colorprofile.TrueColor, false)
	th.Links = true
	styles := append(all(th), Style{}, th.Strong.And(th.Accent), th.Link(th.Dim, "https://a/b"))
	rapid.Check(t, func(t *rapid.T) {
		var b strings.Builder
		for range rapid.IntRange(1, 12).Draw(t, "segments") {
			text := rapid.SampledFrom([]string{"a", "b c", " d ", "", "  ", "ä"}).Draw(t, "text")
			segment := rapid.SampledFrom(styles).Draw(t, "style").Render(text)
			if rapid.IntRange(0, 4).Draw(t, "selected") == 0 {
				segment = th.Selected.Over(segment + " " + segment)
			}
			b.WriteString(segment + rapid.SampledFrom([]string{"", " ", "  ", "     ", "\n", " \n "}).Draw(t, "gap"))
		}
		want, got := cells(b.String()), cells(Carry(b.String()))
		for i, w := range want {
			g := got[i]
			if w.Content == " " {
				w.Style.Fg, g.Style.Fg = nil, nil
				w.Style.Attrs &^= uv.AttrBold | uv.AttrFaint
				g.Style.Attrs &^= uv.AttrBold | uv.AttrFaint
			}
			if !w.Equal(&g) {
				t.Fatalf("cell %d of %q is %+v, want %+v", i, b.String(), g, w)
			}
		}
	})
}

func cells(content string) (out []uv.Cell) {
	const w, h = 120, 12
	buf := uv.NewScreenBuffer(w, h)
	buf.Method = ansi.GraphemeWidth
	uv.NewStyledString(content).Draw(buf, buf.Bounds())
	for y := range h {
		for x := range w {
			out = append(out, *buf.CellAt(x, y))
		}
	}
	return out
}
