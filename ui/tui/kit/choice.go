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
	Title  string
	Fuzzy  bool // letters in order are enough to match, best match first; else the text must occur as typed
	items  []Item
	shown  []int
	filter *Field
	sel    int
	open   bool
	Told   string // why the last choice was refused
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
	rows := min(len(c.shown), h-len(lines)-3)
	top := 0
	if c.sel >= rows {
		top = c.sel - rows + 1
	}
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
	style := th.Text
	if it.Off != "" {
		style = th.Disabled
	}
	if i != c.sel {
		return Sides("  "+style.Render(it.Label), th.Dim.Render(it.Note), w)
	}
	return th.Selected.Over(Sides(th.Accent.Render(th.Signs.Cursor)+" "+style.Render(it.Label), th.Dim.Render(it.Note), w))
}
