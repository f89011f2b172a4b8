package theme

import (
	"strings"
	"testing"

	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
)

func TestALinkKeepsItsTextAndItsLook(t *testing.T) {
	th := New(true, colorprofile.TrueColor, false)
	const page = "https://basescan.org/tx/0x12"
	if got := th.Link(th.Dim, page).Render("x"); got != th.Dim.Render("x") {
		t.Errorf("a link where the terminal has none: %q", got)
	}
	th.Links = true
	for _, s := range []Style{th.Text, th.Dim, th.Danger} {
		linked := th.Link(s, page)
		var b strings.Builder
		linked.Write(&b, "x")
		got := linked.Render("x")
		if got != b.String() || ansi.Strip(got) != "x" || !strings.Contains(got, s.Render("x")) ||
			!strings.HasPrefix(got, "\x1b]8;id=") || !strings.Contains(got, ";"+page+"\a") ||
			!strings.HasSuffix(got, "\x1b]8;;\a") {
			t.Errorf("%q", got)
		}
		if over := th.Selected.Over(got); ansi.Strip(over) != "x" || strings.Count(over, "\x1b]8;") != 2 {
			t.Errorf("the selected line: %q", over)
		}
		if linked.Render("") != "" {
			t.Error("a link of nothing")
		}
	}
	if th.Link(th.Text, page).Render("a")[:20] != th.Link(th.Text, page).Render("b")[:20] {
		t.Error("two lines of one link are two links")
	}
	for _, evil := range []string{"", "https://a/\x1b]52;c;AA\a", "https://a/ b", "https://a/;b", "https://a/\u009c",
		"https://a/ä", "https://a/\n"} {
		if got := th.Link(th.Dim, evil).Render("x"); got != th.Dim.Render("x") {
			t.Errorf("%q: %q", evil, got)
		}
	}
}
