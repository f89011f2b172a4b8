package kit

import (
	"slices"
	"strings"
	"unicode"

	tea "charm.land/bubbletea/v2"

	"coffer/ui/tui/theme"
)

// Item is one line of a Choice: Value is what it means, Label what is shown, Note is dim on the right. A non-empty Off
// says why it cannot be chosen. A non-empty Typed makes the item take free text: Typed is its label once there is text,
// and the list ends with it whatever the text is. Also are further words that find it and are not shown.
type Item struct{ Value, Label, Note, Off, Typed, Also string }

// Reading is what a list knows about typed text. Own: the text is meant literally and never as an item, such as a
// number. Note: what it amounts to, beside the item that takes it. Off: why it cannot be taken.
type Reading struct {
	Own       bool
	Note, Off string
}

// FilterLimit is the maximum number of characters typed into a list.
const FilterLimit = 8192

// Choice is a dropdown list with a filter: typed words narrow it, each found anywhere, the best match first; enter
// chooses, esc closes it. It is drawn over the body with Overlay.
//
// With an item that takes free text, only the words of an item's label find it, never its note or value; any other
// typed text is taken literally, and Text returns it.
type Choice struct {
	Title  string
	Labels bool // only labels and Also find an item, not notes and values
	Wide   bool // for addresses in full beside labels
	// Reasons shows beside an item why it cannot be chosen, not only on an attempt.
	Reasons bool
	// Reads interprets typed text where an item takes free text; nil: nothing is known about it.
	Reads  func(text string) Reading
	items  []Item
	shown  []int
	filter *Field
	sel    int
	open   bool
	Told   string // why the last choice was refused
}

// NewChoice makes a closed list.
func NewChoice(title string) *Choice { return &Choice{Title: title, filter: NewField("", FilterLimit)} }

// Open shows the list with current selected.
func (c *Choice) Open(items []Item, current string) {
	c.items, c.open, c.Told = items, true, ""
	c.filter.Set("")
	c.filter.Focus()
	c.narrow()
	for i, at := range c.shown {
		if items[at].Value == current {
			c.sel = i
		}
	}
}

// IsOpen reports whether the list has the keyboard.
func (c *Choice) IsOpen() bool { return c.open }

// Close hides the list.
func (c *Choice) Close() { c.open = false; c.filter.Blur() }

// Text is the typed text, without spaces around it. After an item was taken it is the text that was typed for it.
func (c *Choice) Text() string { return strings.TrimSpace(c.filter.Value()) }

// Update handles a key or paste. chosen is true when an item is taken; the list is closed then.
func (c *Choice) Update(msg tea.Msg) (item Item, chosen bool) {
	if k, ok := msg.(tea.KeyPressMsg); ok {
		switch k.String() {
		case "esc":
			c.Close()
			return Item{}, false
		case "up", "ctrl+p", "shift+tab":
			c.sel = max(0, c.sel-1)
			return Item{}, false
		case "down", "ctrl+n", "tab":
			c.sel = max(0, min(len(c.shown)-1, c.sel+1))
			return Item{}, false
		case "enter":
			return c.take()
		}
	}
	if c.filter.Update(msg) {
		c.narrow()
	}
	return Item{}, false
}

// Over draws the open list in the middle of a body of w×h cells, one line below its top. Only the list has a cursor.
func (c *Choice) Over(th theme.Theme, body string, w, h int) string {
	body, _, _, _ = TakeCursor(body)
	_, panel := c.across(w)
	return Over(body, c.View(th, panel, h-2*choiceTop), panel, w, choiceTop)
}

// ClickOver takes the item at x, y of a body of w×h cells over which Over draws the list.
func (c *Choice) ClickOver(x, y, w, h int) (item Item, chosen bool) {
	if at, panel := c.across(w); x < at || x >= at+panel {
		return Item{}, false
	}
	return c.Click(y-choiceTop, h-2*choiceTop)
}

// choiceTop is the line of a body on which Over begins.
const choiceTop = 1

// across is the first column of the list over a body of w cells, and its width.
func (c *Choice) across(w int) (x, panel int) {
	panel = 60
	if c.Wide {
		panel = 78
	}
	panel = min(w-4, panel)
	return (w - panel) / 2, panel
}

// Click takes the item on line y of the list's own view of at most h lines, as enter does. A click beside the items
// does nothing.
func (c *Choice) Click(y, h int) (item Item, chosen bool) {
	rows, top := c.window(h)
	i := y - choiceHead
	if !c.open || i < 0 || i >= rows {
		return Item{}, false
	}
	c.sel = top + i
	return c.take()
}

// choiceHead is the number of lines above the first item: the frame, the title, the filter.
const choiceHead = 3

// window is the number of items that a view of h lines shows, and the first of them.
func (c *Choice) window(h int) (rows, top int) {
	rows = max(0, min(len(c.shown), h-choiceHead-2))
	return rows, max(0, min(len(c.shown)-rows, c.sel-rows+1))
}

func (c *Choice) take() (Item, bool) {
	if c.sel >= len(c.shown) {
		return Item{}, false
	}
	it := c.at(c.sel)
	if it.Off != "" {
		c.Told = it.Off
		return Item{}, false
	}
	c.Close()
	return it, true
}

// at is item i of those shown; the one for free text carries the text.
func (c *Choice) at(i int) Item {
	it, text := c.items[c.shown[i]], c.Text()
	if it.Typed == "" || text == "" {
		return it
	}
	read := c.read(text)
	it.Label, it.Note, it.Off = it.Typed, read.Note, read.Off
	return it
}

func (c *Choice) read(text string) Reading {
	if c.Reads == nil {
		return Reading{}
	}
	return c.Reads(text)
}

// takes reports whether enter takes the typed text.
func (c *Choice) takes() bool {
	return c.sel < len(c.shown) && c.items[c.shown[c.sel]].Typed != "" && c.Text() != ""
}

func (c *Choice) narrow() {
	c.shown, c.sel, c.Told = c.shown[:0], 0, ""
	if own := slices.IndexFunc(c.items, func(it Item) bool { return it.Typed != "" }); own >= 0 {
		c.narrowTyped(own)
		return
	}
	c.shown = ranked(c.items, c.filter.Value(), c.Labels)
}

// narrowTyped shows the items that the text names, and after them the item for the text itself. It selects the item
// whose whole label is the text.
func (c *Choice) narrowTyped(own int) {
	text := c.Text()
	if text == "" {
		for i := range c.items {
			c.shown = append(c.shown, i)
		}
		return
	}
	found, itself := false, c.read(text).Own
	for i, it := range c.items {
		whole := strings.EqualFold(strings.TrimSpace(it.Label), text)
		if i == own || !whole && (itself || !named(it.Label, text)) {
			continue
		}
		if whole && !found {
			c.sel, found = len(c.shown), true
		}
		c.shown = append(c.shown, i)
	}
	c.shown = append(c.shown, own)
}

// named reports whether every word of a text starts a word of a label; the parts of transferFrom count as words.
func named(label, text string) bool {
	for _, word := range strings.Fields(text) {
		if !begins(label, word) {
			return false
		}
	}
	return true
}

func begins(label, word string) bool {
	before := ' '
	for i, r := range label {
		start := !alnum(before) || unicode.IsLower(before) && unicode.IsUpper(r)
		if start && strings.HasPrefix(strings.ToLower(label[i:]), strings.ToLower(word)) {
			return true
		}
		before = r
	}
	return false
}

func alnum(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// View draws the open list as a panel of w cells and at most h lines.
func (c *Choice) View(th theme.Theme, w, h int) string {
	inner := w - 4
	if inner < 4 || h < 5 {
		return ""
	}
	lines := []string{Sides(th.Strong.Render(c.Title), "", inner),
		th.Dim.Render(FilterPrefix) + c.filter.Text(th, inner-len(FilterPrefix))}
	rows, top := c.window(h)
	for i := top; i < top+rows; i++ {
		lines = append(lines, c.line(th, i, inner))
	}
	switch {
	case len(c.shown) == 0:
		lines = append(lines, Fit(th.Dim.Render("nothing matches"), inner))
	case c.Told != "":
		lines = append(lines, Fit(th.Mark(theme.Warn)+" "+c.Told, inner))
	case c.takes():
		lines = append(lines, Fit(th.Dim.Render("enter takes what you typed"), inner))
	case rows < len(c.shown):
		lines = append(lines, Fit(th.Dim.Render(Count(c.sel+1, len(c.shown))), inner))
	}
	return Panel(th, lines, w)
}

// FilterPrefix comes before the text of a filter.
const FilterPrefix = "/ "

func (c *Choice) line(th theme.Theme, i, w int) string {
	it := c.at(i)
	label := th.Text.Render(it.Label)
	if it.Off != "" {
		label = th.Disabled.Render(it.Label)
		if c.Reasons {
			label += th.Dim.Render(": " + it.Off)
		}
	}
	if i != c.sel {
		return Sides("  "+label, th.Dim.Render(it.Note), w)
	}
	return th.Selected.Over(Sides(th.Accent.Render(th.Signs.Cursor)+" "+label, th.Dim.Render(it.Note), w))
}
