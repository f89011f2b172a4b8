package kit

import (
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/sahilm/fuzzy"

	"coffer/ui/tui/theme"
)

// Item is one line of a Choice: Value is what it means, Label what is shown, Note stands dim on the right. A non-empty Off says why it
// cannot be chosen.
type Item struct{ Value, Label, Note, Off string }

// Choice is a dropdown list with a filter: typing narrows it, enter chooses, esc leaves it. It is drawn over the body with Overlay.
type Choice struct {
	Title string
	Fuzzy bool // letters in order are enough to match, best match first; else the text must occur as typed
	// Reasons writes why an item cannot be chosen beside it, not only when somebody tries.
	Reasons bool
	items   []Item
	shown   []int
	filter  *Field
	sel     int
	open    bool
	Told    string // why the last choice was refused
}

// NewChoice makes a closed list.
func NewChoice(title string) *Choice { return &Choice{Title: title, filter: NewField("", 60)} }

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

// Update handles a key or paste. chosen is true when an item was taken; the list is closed then.
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

// Click takes the item on line y of the list's own view of at most h lines, as enter does. A click beside the items does nothing.
func (c *Choice) Click(y, h int) (item Item, chosen bool) {
	rows, top := c.window(h)
	i := y - choiceHead
	if !c.open || i < 0 || i >= rows {
		return Item{}, false
	}
	c.sel = top + i
	return c.take()
}

// choiceHead is the lines of the view above the first item: the frame, the title, the filter.
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
	it := c.items[c.shown[c.sel]]
	if it.Off != "" {
		c.Told = it.Off
		return Item{}, false
	}
	c.Close()
	return it, true
}

func (c *Choice) narrow() {
	c.shown, c.sel, c.Told = c.shown[:0], 0, ""
	want := strings.ToLower(c.filter.Value())
	if c.Fuzzy && want != "" {
		labels := make([]string, len(c.items))
		for i, it := range c.items {
			labels[i] = it.Label
		}
		for _, m := range fuzzy.Find(want, labels) {
			c.shown = append(c.shown, m.Index)
		}
		return
	}
	for i, it := range c.items {
		if want == "" || strings.Contains(strings.ToLower(it.Label+" "+it.Note+" "+it.Value), want) {
			c.shown = append(c.shown, i)
		}
	}
}

// View draws the open list as a panel of w cells and at most h lines.
func (c *Choice) View(th theme.Theme, w, h int) string {
	inner := w - 4
	if inner < 4 || h < 5 {
		return ""
	}
	lines := []string{Sides(th.Strong.Render(c.Title), "", inner), th.Dim.Render(FilterPrefix) + c.filter.Text(th, inner-len(FilterPrefix))}
	rows, top := c.window(h)
	for i := top; i < top+rows; i++ {
		lines = append(lines, c.line(th, i, inner))
	}
	switch {
	case len(c.shown) == 0:
		lines = append(lines, Fit(th.Dim.Render("nothing matches"), inner))
	case c.Told != "":
		lines = append(lines, Fit(th.Mark(theme.Warn)+" "+c.Told, inner))
	case rows < len(c.shown):
		lines = append(lines, Fit(th.Dim.Render(Count(c.sel+1, len(c.shown))), inner))
	}
	return Panel(th, lines, w)
}

// FilterPrefix stands before the text of a filter.
const FilterPrefix = "/ "

func (c *Choice) line(th theme.Theme, i, w int) string {
	it := c.items[c.shown[i]]
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
