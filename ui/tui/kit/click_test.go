package kit

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"

	"coffer/ui/present"
	"coffer/ui/tui/theme"
)

func TestAKeyIsNamedByItsLabelUnlessItHasAName(t *testing.T) {
	for label, want := range map[string]string{"copy address": "copy-address", "sign 1 of 3": "sign-1-of-3",
		"  Expand, collapse!": "expand-collapse", "日本語": "", "é b": "b"} {
		if got := NewKey(label, "x").ActionName(); got != want {
			t.Errorf("%q is %q, want %q", label, got, want)
		}
	}
	if got := NewKey("by chain", "v").Named("view").ActionName(); got != "view" {
		t.Errorf("a name is %q", got)
	}
	if k := NewKey("sign", "y").WithCare(); !k.Careful {
		t.Error("care is lost")
	}
}

func TestSpotsAreWhereTheKeyLineWritesTheKeys(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var keys []Key
		for range rapid.IntRange(0, 9).Draw(rt, "keys") {
			k := NewKey(present.Clean(anyText().Draw(rt, "label"), 30),
				rapid.SampledFrom([]string{"enter", "s", "界", "ctrl+r", "up"}).Draw(rt, "press"))
			k.Quiet = rapid.IntRange(0, 4).Draw(rt, "quiet") == 0
			keys = append(keys, k.OffWhen(rapid.Bool().Draw(rt, "off"), "why"))
		}
		w := rapid.IntRange(1, 120).Draw(rt, "w")
		line := KeyLine(look(), keys, w, Help)
		checkBox(rt, line, w, 1)
		end := 0
		for _, s := range KeySpots(look(), keys, w, Help) {
			if s.X < end || s.X+s.W > w {
				rt.Fatalf("%+v after %d in %d cells", s, end, w)
			}
			end = s.X + s.W
			want := "? more"
			if s.Key >= 0 {
				want = keys[s.Key].Name(look()) + " " + keys[s.Key].Label
			}
			if got := ansi.Cut(ansi.Strip(line), s.X, end); got != want {
				rt.Fatalf("%q stands where %q should: %q", got, want, ansi.Strip(line))
			}
		}
	})
}

func TestAClickSelectsTheRowThatIsDrawnThere(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		table := NewTable(Column{Title: rapid.SampledFrom([]string{"", "row"}).Draw(rt, "title"), Min: 8})
		n, h := rapid.IntRange(0, 30).Draw(rt, "rows"), rapid.IntRange(2, 12).Draw(rt, "h")
		table.Resize(h)
		table.SetRows(n)
		table.Select(rapid.IntRange(0, 30).Draw(rt, "selected"))
		view := func() []string {
			return strings.Split(ansi.Strip(table.View(look(), 14,
				func(i int, c []Cell) []Cell { return append(c, Text("#"+strings.Repeat("i", i))) })), "\n")
		}
		lines, before := view(), table.Selected()
		y := rapid.IntRange(-1, 14).Draw(rt, "y")
		hit := table.Click(y)
		if want := y >= 0 && y < len(lines) && strings.Contains(lines[y], "#"); hit != want {
			rt.Fatalf("line %d of %q: %v", y, lines, hit)
		}
		if !hit {
			if table.Selected() != before {
				rt.Fatalf("a click beside the rows selects row %d", table.Selected())
			}
			return
		}
		if after := view(); strings.TrimLeft(after[y], "› ") != strings.TrimLeft(lines[y], "› ") ||
			!strings.HasPrefix(after[y], "› ") {
			rt.Fatalf("line %d was %q and is %q", y, lines[y], after[y])
		}
	})
}

func TestAClickTakesTheItemThatIsDrawnThere(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		c := NewChoice("title")
		var items []Item
		for i := range rapid.IntRange(0, 20).Draw(rt, "items") {
			it := Item{Value: string(rune('a' + i)), Label: "#" + string(rune('a'+i))}
			if rapid.IntRange(0, 3).Draw(rt, "off") == 0 {
				it.Off = "not now"
			}
			items = append(items, it)
		}
		c.Open(items, rapid.SampledFrom([]string{"", "c", "s"}).Draw(rt, "current"))
		h, y := rapid.IntRange(6, 16).Draw(rt, "h"), rapid.IntRange(-1, 18).Draw(rt, "y")
		lines := strings.Split(ansi.Strip(c.View(look(), 30, h)), "\n")
		want := ""
		if y >= 0 && y < len(lines) {
			_, want, _ = strings.Cut(strings.TrimRight(lines[y], " │"), "#")
		}
		it, ok := c.Click(y, h)
		switch {
		case want == "":
			if ok || c.Told != "" {
				rt.Fatalf("line %d of %q takes %+v", y, lines, it)
			}
		case items[want[0]-'a'].Off != "":
			if ok || c.Told != "not now" || !c.IsOpen() {
				rt.Fatalf("%q is taken although it is off", want)
			}
		case !ok || it.Value != want || c.IsOpen():
			rt.Fatalf("line %d of %q takes %+v, %v", y, lines, it, ok)
		}
	})
}

func TestAPlaceholderIsReadable(t *testing.T) {
	f := NewField("to", 0)
	f.Empty = "0x…"
	if got := f.Text(look(), 6); !strings.Contains(got, look().Disabled.Render("0x…   ")) ||
		look().Disabled == (theme.Style{}) {
		t.Errorf("%q", got)
	}
}
