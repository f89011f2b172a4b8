package kit

import (
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"

	"coffer/api/amount"
	"coffer/ui/present"
	"coffer/ui/tui/theme"
)

func look() theme.Theme { return theme.New(true, colorprofile.TrueColor, false) }

func anyText() *rapid.Generator[string] {
	return rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"", "USDC", "日本語", "e\u0301", "👩‍👩‍👧‍👦", "🇩🇪",
		"\x1b[31m", "\u1100\u1161", "a\u202eb", strings.Repeat("界", 40)}))
}

func press(name string) tea.KeyPressMsg {
	switch name {
	case "backspace":
		return tea.KeyPressMsg{Code: tea.KeyBackspace}
	case "left":
		return tea.KeyPressMsg{Code: tea.KeyLeft}
	case "enter":
		return tea.KeyPressMsg{Code: tea.KeyEnter}
	case "down":
		return tea.KeyPressMsg{Code: tea.KeyDown}
	case "ctrl+v":
		return tea.KeyPressMsg{Code: 'v', Mod: tea.ModCtrl}
	}
	return tea.KeyPressMsg{Code: []rune(name)[0], Text: name}
}

// Terminals count cells in two ways; cleaned text has the same width in both, so it can never shift a figure.
func TestCleanTextHasOneWidth(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := present.Clean(anyText().Draw(rt, "s"), 60)
		if ansi.StringWidth(s) != ansi.StringWidthWc(s) {
			rt.Fatalf("%q is %d or %d cells wide", s, ansi.StringWidth(s), ansi.StringWidthWc(s))
		}
		if strings.ContainsAny(s, "\x1b\n\r\t\u202e") {
			rt.Fatalf("%q has a control character", s)
		}
		if again := present.Clean(s, 61); again != s {
			rt.Fatalf("%q becomes %q", s, again)
		}
	})
}

func TestWidthOfSignsIsOneCell(t *testing.T) {
	for _, th := range []theme.Theme{look(), theme.New(true, colorprofile.TrueColor, true)} {
		s := th.Signs
		for _, sign := range append([]string{s.Good, s.Warn, s.Bad, s.Unknown, s.Open, s.Closed, s.Cursor, s.More,
			s.Dot, s.Rule, s.Divider, s.BarFull, s.Mask}, slices.Concat(s.Sparks, s.BarParts, s.Corners[:])...) {
			if present.Width(sign) != 1 || ansi.StringWidth(sign) != 1 || ansi.StringWidthWc(sign) != 1 {
				t.Errorf("%q is %d cells wide", sign, ansi.StringWidth(sign))
			}
		}
	}
	rapid.Check(t, func(rt *rapid.T) {
		s := rapid.StringOf(rapid.RuneFrom([]rune("ab …→•·›✓✗─│█░▸▾▀◀́️日"))).Draw(rt, "s")
		if present.Width(s) != ansi.StringWidth(s) {
			rt.Fatalf("%q is %d cells wide, not %d", s, ansi.StringWidth(s), present.Width(s))
		}
	})
}

func TestBoxIsExact(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w, h := rapid.IntRange(1, 40).Draw(rt, "w"), rapid.IntRange(1, 12).Draw(rt, "h")
		lines := rapid.SliceOfN(anyText(), 0, 15).Draw(rt, "lines")
		for i := range lines {
			lines[i] = look().Warn.Render(present.Clean(lines[i], 80))
		}
		checkBox(rt, Box(strings.Join(lines, "\n"), w, h), w, h)
	})
}

func checkBox(t interface{ Fatalf(string, ...any) }, body string, w, h int) {
	lines := strings.Split(body, "\n")
	if len(lines) != h {
		t.Fatalf("%d lines, want %d", len(lines), h)
	}
	for i, l := range lines {
		if got := ansi.StringWidth(l); got != w {
			t.Fatalf("line %d is %d cells wide, want %d: %q", i, got, w, l)
		}
	}
}

func TestTableFitsAnyWidth(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		cols := rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) Column {
			return Column{Title: rapid.SampledFrom([]string{"", "amount", "名前"}).Draw(rt, "title"),
				Min:  rapid.IntRange(0, 20).Draw(rt, "min"),
				Grow: rapid.IntRange(0, 3).Draw(rt, "grow"), Hide: rapid.IntRange(0, 3).Draw(rt, "hide"),
				Align: Align(rapid.IntRange(0, 1).Draw(rt, "align"))}
		}), 1, 6).Draw(rt, "columns")
		table := NewTable(cols...)
		n, w, h := rapid.IntRange(0, 30).Draw(rt, "rows"), rapid.IntRange(1, 60).Draw(rt, "w"),
			rapid.IntRange(2, 12).Draw(rt, "h")
		table.Resize(h)
		table.SetRows(n)
		for range rapid.IntRange(0, 9).Draw(rt, "keys") {
			table.Press(rapid.SampledFrom([]string{"j", "k", "g", "G", "pgdown", "pgup", "ctrl+d", "ctrl+u"}).Draw(rt,
				"key"))
		}
		if sel := table.Selected(); n > 0 {
			if from, to := table.Window(); sel < from || sel >= to {
				rt.Fatalf("row %d is selected outside of %d…%d", sel, from, to)
			}
		} else if sel != -1 {
			rt.Fatalf("row %d of none is selected", sel)
		}
		view := table.View(look(), w, func(i int, c []Cell) []Cell {
			for k := range cols {
				c = append(c, Cell{Text: present.Clean(anyText().Draw(rt, "text"), 40), Tail: strings.Repeat("0", k),
					TailStyle: look().Dim, Span: rapid.IntRange(0, 9).Draw(rt, "span") == 0})
			}
			return c
		})
		if !table.titles {
			h = max(1, h)
		}
		checkBox(rt, view, w, h)
	})
}

func TestTableHidesTheLeastNeededColumnFirst(t *testing.T) {
	table := NewTable(Column{Min: 10}, Column{Min: 10, Hide: 1}, Column{Min: 10, Hide: 2})
	if !table.Shows(2, 36) || table.Shows(2, 35) || !table.Shows(1, 24) || table.Shows(1, 23) || !table.Shows(0, 5) {
		t.Error("columns go in the wrong order")
	}
}

func TestTableMarksACutAmount(t *testing.T) {
	table := NewTable(Column{Min: 8, Align: Right})
	table.SetRows(1)
	figure := Exact(big.NewInt(1234567890000000), 6)
	view := ansi.Strip(table.View(look(), 12, func(_ int, c []Cell) []Cell { return append(c, figure.Cell(look())) }))
	if !strings.Contains(view, "…") {
		t.Errorf("%q hides that digits are missing", view)
	}
}

func TestNothingIsSecondaryInTheSelectedRow(t *testing.T) {
	th := look()
	table := NewTable(Column{Min: 8})
	table.Resize(2)
	table.SetRows(2)
	lines := strings.Split(table.View(th, 12, func(_ int, c []Cell) []Cell {
		return append(c, Cell{Text: "1", Style: th.Warn, Tail: ".00", TailStyle: th.Dim})
	}), "\n")
	for i, dim := range []bool{false, true} {
		if got := strings.Contains(lines[i], th.Dim.Render(".00")); got != dim || !strings.Contains(lines[i],
			strings.TrimSuffix(th.Warn.Render("1"), "\x1b[m")) {
			t.Errorf("line %d: %q", i, lines[i])
		}
	}
}

func TestTableKeepsTheLineOfARow(t *testing.T) {
	table := NewTable(Column{Min: 8})
	table.Resize(10)
	table.SetRows(100)
	table.SelectAt(50, 4)
	if from, _ := table.Window(); from != 46 || table.Selected() != 50 {
		t.Errorf("the window starts at %d", from)
	}
}

func TestShortNeverShowsSomethingAsNothing(t *testing.T) {
	cases := []struct {
		units    string
		decimals int
		want     string
	}{
		{"0", 18, "0.000000 "}, {"1", 18, "<0.000001 "}, {"412300000000000001", 18, "0.412300…"},
		{"412300000000000000", 18, "0.412300 "},
		{"250500000", 6, "250.500000 "}, {"1234567", 0, "1,234,567        "}, {"150", 2, "1.50     "},
	}
	for _, c := range cases {
		v, _ := new(big.Int).SetString(c.units, 10)
		if got := Short(v, c.decimals, 6, "…").String(); got != c.want {
			t.Errorf("%s with %d decimals is %q, want %q", c.units, c.decimals, got, c.want)
		}
	}
	if got := Short(nil, 6, 6, "…").Main; strings.TrimSpace(got) != "?" {
		t.Errorf("an unknown amount is %q", got)
	}
	rapid.Check(t, func(rt *rapid.T) {
		v := new(big.Int).SetBytes(rapid.SliceOfN(rapid.Byte(), 0, 20).Draw(rt, "v"))
		d := rapid.IntRange(0, 24).Draw(rt, "decimals")
		s := Short(v, d, 6, "…").String()
		if v.Sign() != 0 && strings.Trim(s, "0., ") == "" {
			rt.Fatalf("%s with %d decimals looks like nothing: %q", v, d, s)
		}
		exact := amount.Format(v, d)
		if !strings.HasSuffix(s, "…") && !strings.HasPrefix(s, "<") &&
			amount.Trim(strings.TrimSpace(strings.ReplaceAll(s, ",", ""))) != amount.Trim(exact) {
			rt.Fatalf("%q is not %s", s, exact)
		}
	})
}

func TestShortPutsPointsInLine(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		v := new(big.Int).SetUint64(rapid.Uint64().Draw(rt, "v"))
		s := Short(v, rapid.IntRange(0, 20).Draw(rt, "decimals"), 6, "…").String()
		if i := strings.IndexByte(s, '.'); i >= 0 && present.Width(s[i:]) != 8 {
			rt.Fatalf("the point of %q is %d cells from the end", s, present.Width(s[i:]))
		}
		if i := strings.IndexByte(s, '.'); i < 0 && !strings.HasSuffix(s, strings.Repeat(" ", 8)) {
			rt.Fatalf("%q has no room for the decimals", s)
		}
	})
}

func TestExactKeepsEveryDigit(t *testing.T) {
	v, _ := new(big.Int).SetString("1234567000000000000000001", 10)
	if f := Exact(v, 18); f.String() != "1,234,567.000000000000000001" || f.Zeros != "" {
		t.Errorf("%+v", f)
	}
	if f := Exact(big.NewInt(250500000), 6); f.Main != "250.5" || f.Zeros != "00000" {
		t.Errorf("%+v", f)
	}
	if f := Exact(nil, 6); f.String() != "?" {
		t.Errorf("%+v", f)
	}
}

func TestMoneyWords(t *testing.T) {
	for micro, want := range map[int64]string{0: "$0.00", 1: "<$0.01", 4_999: "<$0.01", 5_000: "$0.01",
		4_812_070_000: "$4,812.07", -1_500_000: "-$1.50"} {
		if got := present.USD(big.NewInt(micro)); got != want {
			t.Errorf("%d is %q, want %q", micro, got, want)
		}
	}
	if present.USD(nil) != "?" || present.Share(nil, big.NewInt(1)) != "?" ||
		present.Share(big.NewInt(1), new(big.Int)) != "?" {
		t.Error("an unknown figure is not ?")
	}
	if got := present.Share(big.NewInt(459), big.NewInt(1000)); got != "45.9 %" {
		t.Error(got)
	}
}

func TestAddressInFullAndChecksummed(t *testing.T) {
	if got := present.Address("0xfe52613d747e20f2f62e0a5cc36b0dfae771c442"); got !=
		"0xfe52 613d 747E 20F2 f62e 0A5c C36B 0DFA e771 C442" {
		t.Error(got)
	}
	if got := present.Address("5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp"); got != "5eyk t4Us Fv8P 8NJd TREp Y1vz qKqZ Kvdp" {
		t.Error(got)
	}
	if got := present.Address("\x1b[2J"); strings.Contains(got, "\x1b") {
		t.Errorf("%q", got)
	}
}

func TestAgeChangesRarely(t *testing.T) {
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		age     func(now, at time.Time) string
		changes func(now, at time.Time) time.Duration
		most    int
	}{{Age, AgeChanges, 6}, {DataAge, DataAgeChanges, 3}} {
		now, changes := at, 0
		for now.Sub(at) < 90*time.Second {
			text, wait := c.age(now, at), c.changes(now, at)
			if c.age(now.Add(wait-time.Millisecond), at) != text {
				t.Errorf("%q changes sooner than %s", text, wait)
			}
			now = now.Add(wait)
			if c.age(now, at) == text {
				t.Errorf("%q does not change after %s", text, wait)
			}
			changes++
		}
		if changes > c.most {
			t.Errorf("%d changes in 90 seconds", changes)
		}
	}
	if a, b := DataAge(at.Add(29*time.Second), at), DataAge(at.Add(31*time.Second), at); a != "now" || b != "30 s ago" {
		t.Errorf("around half a minute: %q, %q", a, b)
	}
	for d, want := range map[time.Duration]string{0: "now", 3 * time.Second: "2 s ago", 59 * time.Second: "30 s ago",
		3 * time.Minute: "2 min ago", 25 * time.Hour: "1 d ago", 75 * time.Hour: "3 d ago"} {
		if got := Age(at.Add(d), at); got != want {
			t.Errorf("after %s: %q, want %q", d, got, want)
		}
	}
	if Age(at, time.Time{}) != "never" || AgeChanges(at, time.Time{}) != 0 || DataAge(at, time.Time{}) != "never" ||
		DataAgeChanges(at, time.Time{}) != 0 {
		t.Error("a figure that was never read has an age")
	}
	for d := 30 * time.Hour; d < 80*time.Hour; d += 7 * time.Hour {
		if wait := AgeChanges(at.Add(d), at); wait <= 0 || wait > 24*time.Hour {
			t.Errorf("after %s the next change is in %s", d, wait)
		}
	}
}

func TestCountdown(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for left, want := range map[time.Duration]string{47 * time.Second: "0:47", 46100 * time.Millisecond: "0:47",
		0: "0:00", -time.Hour: "0:00", 9*time.Minute + 41*time.Second: "9:41", 3723 * time.Second: "1:02:03"} {
		if got := Countdown(now, now.Add(left)); got != want {
			t.Errorf("%s left: %q, want %q", left, got, want)
		}
	}
	if CountdownChanges(now, now.Add(1300*time.Millisecond)) != 300*time.Millisecond ||
		CountdownChanges(now, now) != 0 {
		t.Error("the countdown changes at other moments")
	}
	if CountdownMeaning(now, now) != theme.Danger || CountdownMeaning(now, now.Add(time.Minute)) != theme.None ||
		CountdownMeaning(now, now.Add(9*time.Second)) != theme.Warn {
		t.Error("the countdown has another meaning")
	}
}

func TestGuardRefusesKeysMeantForTheScreenBelow(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	var g Guard
	g.Open(now)
	for _, c := range []struct {
		at    time.Duration
		allow bool
	}{{0, false}, {499 * time.Millisecond, false}, {900 * time.Millisecond, false}, {1300 * time.Millisecond, false},
		{1500 * time.Millisecond, true}} {
		if got := g.Allow(now.Add(c.at)); got != c.allow {
			t.Errorf("after %s: %v", c.at, got)
		}
	}
	g.Open(now)
	if !g.Waiting(now.Add(400*time.Millisecond)) || !g.Allow(now.Add(501*time.Millisecond)) {
		t.Error("half a second of quiet is not enough")
	}
}

func TestScrollKnowsWhatWasSeen(t *testing.T) {
	var s Scroll
	s.Resize(4)
	s.Set(strings.Split(strings.Repeat("line\n", 9)+"end", "\n"))
	if s.SeenAll() || s.Unseen() != 6 || s.LastSeen() {
		t.Error("lines out of sight count as seen")
	}
	s.Press("G")
	if !s.LastSeen() || s.SeenAll() || s.Unseen() != 2 {
		t.Errorf("%d lines unseen after a jump to the end", s.Unseen())
	}
	s.Press("pgup")
	s.Press("pgup")
	if !s.SeenAll() || s.More(look()) == "" {
		t.Error("everything was on the screen")
	}
	s.Keep([]string{"other", "number", "of lines"})
	if !s.SeenAll() || s.Below() != 0 {
		t.Error("a short text is seen at once")
	}
	s.Set(make([]string, 9))
	if s.SeenAll() {
		t.Error("new lines count as seen")
	}
	checkBox(t, s.View(7), 7, 4)
}

func TestFieldHasARealCursorAndReadsNoClipboard(t *testing.T) {
	f := NewField("amount", 10)
	f.Focus()
	for _, k := range []string{"2", "5", "0", "left"} {
		f.Update(press(k))
	}
	line, x, y, ok := TakeCursor(f.View(look(), 20, 8))
	if !ok || x != 10 || y != 0 || ansi.StringWidth(line) != 20 {
		t.Errorf("cursor at %d,%d (%v) in %q", x, y, ok, line)
	}
	if f.Update(press("ctrl+v")) || f.Value() != "250" {
		t.Errorf("ctrl+v changed the field to %q", f.Value())
	}
	if !f.Update(tea.PasteMsg{Content: "1\n2"}) || f.Value() != "251 20" {
		t.Errorf("a paste gives %q", f.Value())
	}
	f.Error = "too much"
	if note := ansi.Strip(f.Note(look(), 30, 8)); !strings.HasPrefix(note, "      ✗ too much") {
		t.Errorf("%q", note)
	}
}

func TestFieldIsAlwaysAsWideAsAsked(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		f := NewField("", 0)
		if rapid.Bool().Draw(rt, "focus") {
			f.Focus()
		}
		f.Set(anyText().Draw(rt, "text"))
		w := rapid.IntRange(1, 30).Draw(rt, "w")
		for range rapid.IntRange(0, 40).Draw(rt, "left") {
			f.Update(press("left"))
		}
		if got, _, _, _ := TakeCursor(f.Text(look(), w)); ansi.StringWidth(got) != w {
			rt.Fatalf("%q is %d cells wide, want %d", got, ansi.StringWidth(got), w)
		}
	})
}

func TestChoiceRefusesWhatIsOff(t *testing.T) {
	c := NewChoice("Fund with")
	c.Open([]Item{{Value: "ob:usdc", Label: "USDC"}, {Value: "ob:eth", Label: "ETH", Off: "there is none"}}, "ob:eth")
	if _, ok := c.Update(press("enter")); ok || c.Told != "there is none" || !c.IsOpen() {
		t.Error("an item that is off was taken")
	}
	c.Update(press("u"))
	if it, ok := c.Update(press("enter")); !ok || it.Value != "ob:usdc" || c.IsOpen() {
		t.Errorf("took %+v", it)
	}
}

func TestOverlayKeepsTheSize(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w, h := rapid.IntRange(1, 30).Draw(rt, "w"), rapid.IntRange(1, 8).Draw(rt, "h")
		body := Box(strings.Repeat(look().Good.Render("日本")+"ab", 9)+"\n"+present.Clean(anyText().Draw(rt, "text"), 40),
			w, h)
		top := Box(present.Clean(anyText().Draw(rt, "top"), 20), rapid.IntRange(1, 30).Draw(rt, "tw"),
			rapid.IntRange(1, 8).Draw(rt, "th"))
		checkBox(rt, Overlay(body, top, rapid.IntRange(0, 30).Draw(rt, "x"), rapid.IntRange(-3, 9).Draw(rt, "y")), w, h)
	})
}

func TestBarShowsSomethingForSomething(t *testing.T) {
	th := look()
	ascii := theme.New(true, colorprofile.TrueColor, true)
	for _, c := range []struct {
		part        int64 // of 1000
		bar, letter string
	}{{0, "", ""}, {1, "▏", "#"}, {100, "█", "#"}, {150, "█▌", "##"}, {999, "██████████", "##########"},
		{5000, "██████████", "##########"}} {
		part, total := big.NewInt(c.part), big.NewInt(1000)
		if bar, letter := BarCell(th, part, total, 10).Text, BarCell(ascii, part, total, 10).Text; bar != c.bar ||
			letter != c.letter {
			t.Errorf("%d of 1000 is drawn as %q and %q", c.part, bar, letter)
		}
	}
	if c := BarCell(th, nil, big.NewInt(1), 10); c.Text != "" {
		t.Errorf("%+v", c)
	}
	if s := Spark(th, []*big.Int{big.NewInt(1), nil, big.NewInt(9), big.NewInt(5)}, 9); s != "▁ █▄" {
		t.Errorf("%q", s)
	}
}

func TestKeyLineSaysWhenKeysAreLeftOut(t *testing.T) {
	var keys []Key
	for _, k := range strings.Split("abcdefghijklmnop", "") {
		keys = append(keys, NewKey("do something", k))
	}
	line := ansi.Strip(KeyLine(look(), keys, 80, Help))
	if len(line) != 80 || !strings.HasSuffix(strings.TrimSpace(line), "? more") {
		t.Errorf("%q", line)
	}
	if line := ansi.Strip(KeyLine(look(), keys[:2], 80, Help)); strings.Contains(line, "more") {
		t.Errorf("%q", line)
	}
}
