package kit

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"pgregory.net/rapid"
)

// amounts is a list of amounts that also takes a typed one.
func amounts() []Item {
	return []Item{
		{Value: "type", Label: "type an amount", Typed: "what you typed"},
		{Value: "2265.334292", Label: "everything", Note: "2,265.334292 USDC"},
		{Value: "1132.667146", Label: "a half", Note: "1,132.667146 USDC"},
		{Value: "10", Label: "less 10 %"},
	}
}

func typed(c *Choice, text string) {
	for _, r := range text {
		c.Update(tea.KeyPressMsg{Code: r, Text: string(r)})
	}
}

func TestTypedDigitsAreNeverAnItemsNoteOrValue(t *testing.T) {
	for text, want := range map[string]string{
		"2": "type", "1,132.667146": "type", "10": "type", "usdc": "type", "rything": "type", "a max": "type",
		"type":  "type",
		"every": "2265.334292", "HALF": "1132.667146", "less 10 %": "10", " ": "type",
	} {
		c := NewChoice("How much")
		c.Reads = func(text string) Reading { return Reading{Own: strings.Contains("0123456789", text[:1])} }
		c.Open(amounts(), "")
		typed(c, text)
		it, ok := c.Update(press("enter"))
		if !ok || it.Value != want || c.Text() != strings.TrimSpace(text) || c.IsOpen() {
			t.Errorf("%q took %+v with the text %q", text, it, c.Text())
		}
	}
}

func TestWhatWasTypedCanBeTakenBesideItemsThatItNames(t *testing.T) {
	c := NewChoice("Which function")
	c.Open([]Item{{Value: "type", Label: "type it", Typed: "what you typed"},
		{Value: "1", Label: "transferFrom(address from)"}, {Value: "2", Label: "from"}, {Value: "3", Label: "afrom"}},
		"")
	typed(c, "From")
	if it, ok := c.Update(press("enter")); !ok || it.Value != "2" {
		t.Errorf("the item of exactly that label does not come first: %+v", it)
	}
	c.Open(c.items, "")
	typed(c, "From")
	c.Update(press("up"))
	if it, ok := c.Update(press("enter")); !ok || it.Value != "1" {
		t.Errorf("a part of a name is no word of it: %+v", it)
	}
	c.Open(c.items, "")
	typed(c, "From")
	for range 3 {
		c.Update(press("down"))
	}
	if !strings.Contains(c.View(look(), 40, 10), "enter takes what you typed") {
		t.Error(c.View(look(), 40, 10))
	}
	if it, ok := c.Update(press("enter")); !ok || it.Typed == "" || c.Text() != "From" {
		t.Errorf("%+v, %q", it, c.Text())
	}
}

func TestAListWithoutTextOfOnesOwnSaysThatNothingMatches(t *testing.T) {
	c := NewChoice("Run the calls on")
	c.Open([]Item{{Value: "eip155:8453", Label: "Base", Note: "eip155:8453"}}, "")
	typed(c, "84531")
	if _, ok := c.Update(press("enter")); ok || !c.IsOpen() ||
		!strings.Contains(c.View(look(), 40, 10), "nothing matches") {
		t.Error(c.View(look(), 40, 10))
	}
	c.Update(press("backspace"))
	if it, ok := c.Update(press("enter")); !ok || it.Value != "eip155:8453" {
		t.Errorf("a closed list is not found by its notes any more: %+v", it)
	}
}

func TestTextThatCannotBeTakenSaysWhyAndStays(t *testing.T) {
	c := NewChoice("How much")
	c.Reads = func(text string) Reading {
		if len(text) > 3 {
			return Reading{Own: true, Off: "too long"}
		}
		return Reading{Own: true, Note: "= " + text + "0"}
	}
	c.Open(amounts(), "")
	typed(c, "123")
	if v := c.View(look(), 40, 10); !strings.Contains(v, "= 1230") || !strings.Contains(v, "what you typed") ||
		strings.Contains(v, "type an amount") {
		t.Error(v)
	}
	typed(c, "4")
	if _, ok := c.Update(press("enter")); ok || !c.IsOpen() || c.Told != "too long" || c.Text() != "1234" {
		t.Errorf("%q, %q", c.Told, c.Text())
	}
}

func TestAListLosesNothingThatIsTypedIntoIt(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		text := rapid.StringMatching(`[ -~äé]{0,300}`).Draw(rt, "text")
		c := NewChoice("How much")
		c.Open(amounts(), "")
		c.Update(tea.PasteMsg{Content: text})
		last := len(c.shown) - 1
		if c.Text() != strings.TrimSpace(text) || c.Text() != "" && (last < 0 || c.at(last).Typed == "") {
			rt.Fatalf("%q became %q, with %d items", text, c.Text(), len(c.shown))
		}
		w, h := rapid.IntRange(10, 40).Draw(rt, "w"), rapid.IntRange(5, 12).Draw(rt, "h")
		if n := len(strings.Split(c.View(look(), w, h), "\n")); n > h {
			rt.Fatalf("%d lines of %d", n, h)
		}
	})
}
