package settings

import (
	"slices"
	"strings"
	"testing"

	"coffer/ui/tui/internal/tuitest"
	"coffer/ui/tui/screen"
)

// TestD1_TypingOnTheDustRowChangesThatFieldOnly types words on the only text row of the settings, without enter before,
// and into the filter of the keys.
func TestD1_TypingOnTheDustRowChangesThatFieldOnly(t *testing.T) {
	b := newBench(t)
	next := tuitest.NewWords(2)
	b.row(idDust)
	for range 1000 {
		before, sel := b.text(), b.m.sel
		word := next.Next()
		if sent := tuitest.Type(t, b.m, word); len(sent) > 0 {
			t.Fatalf("%q sends %+v", word, sent)
		}
		if got := b.m.field.Value(); !b.m.editing || !strings.HasPrefix(b.m.dust()+word, got) ||
			len(got) <= len(b.m.dust()) {
			t.Fatalf("%q: %q, editing %v", word, got, b.m.editing)
		}
		if b.keys("esc"); b.text() != before || b.m.sel != sel || len(b.saved) > 0 {
			t.Fatalf("%q changes more than the field:\n%s", word, b.text())
		}
	}
	for _, k := range b.m.Keys() {
		if slices.ContainsFunc(k.Press, func(p string) bool { return len(p) == 1 }) {
			t.Errorf("%v is a key of a row that takes text", k.Press)
		}
	}
	b.row(idKeys)
	b.keys("enter")
	before := b.text()
	for range 300 {
		b.keys("/")
		word := next.Next()
		if sent := tuitest.Type(t, b.m, word); len(sent) > 0 || b.m.filter.Value() != word {
			t.Fatalf("%q: %q, sends %+v", word, b.m.filter.Value(), sent)
		}
		if b.keys("esc"); b.text() != before {
			t.Fatalf("%q changes more than the filter:\n%s", word, b.text())
		}
	}
}

// TestD1_OtherRowsOfTheSettingsKeepTheirKeys expects hotkeys where no text is typed.
func TestD1_OtherRowsOfTheSettingsKeepTheirKeys(t *testing.T) {
	b := newBench(t)
	b.row(idTheme)
	if b.m.Capturing() {
		t.Fatal("a row without text takes the keys of the shell")
	}
	b.row(idDust)
	b.keys("up", "d")
	if b.m.page != pageDoctor {
		t.Error("d does not open the doctor above the dust row")
	}
	b.give(screen.OpenedMsg{})
	b.row(idDust)
	if b.keys("d"); b.m.page != pageMain || !b.m.editing {
		t.Error("d on the dust row is no text")
	}
}
