package kit

import (
	"strings"

	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"

	"coffer/ui/present"
	"coffer/ui/tui/theme"
)

// Field is a one-line text field with a label, a hint and an error of its own. It draws no cursor: CursorMark places
// the terminal's cursor, so nothing blinks. Pastes arrive as one tea.PasteMsg; the clipboard of the machine that runs
// the program is never read. A secret does not belong here.
type Field struct {
	Label string
	Hint  string // shown dim below the field while there is no error
	Error string // shown below the field with its sign; stays when the focus leaves
	Empty string // shown dim in an empty field
	in    textinput.Model
	from  int // first visible cell
}

// NewField makes an empty field without focus. limit is the maximum number of characters; 0: 4096.
func NewField(label string, limit int) *Field {
	f := &Field{Label: label, in: textinput.New()}
	f.in.SetVirtualCursor(false)
	f.in.Prompt = ""
	f.in.CharLimit = limit
	if limit == 0 {
		f.in.CharLimit = 4096
	}
	keys := textinput.DefaultKeyMap()
	keys.Paste.SetEnabled(false)
	keys.AcceptSuggestion.SetEnabled(false)
	keys.NextSuggestion.SetEnabled(false)
	keys.PrevSuggestion.SetEnabled(false)
	f.in.KeyMap = keys
	return f
}

// Value is the text of the field.
func (f *Field) Value() string { return f.in.Value() }

// Set replaces the text and puts the cursor at its end.
func (f *Field) Set(s string) { f.in.SetValue(s); f.in.CursorEnd() }

// End puts the cursor behind the text, so that typing appends.
func (f *Field) End() { f.in.CursorEnd() }

// Focus gives the field the keyboard.
func (f *Field) Focus() { _ = f.in.Focus() }

// Blur takes the keyboard away.
func (f *Field) Blur() { f.in.Blur() }

// Focused reports whether the field has the keyboard.
func (f *Field) Focused() bool { return f.in.Focused() }

// Update handles a key or a paste and reports whether the text changed.
func (f *Field) Update(msg tea.Msg) bool {
	switch msg.(type) {
	case tea.KeyPressMsg, tea.PasteMsg:
	default:
		return false
	}
	before := f.in.Value()
	f.in, _ = f.in.Update(msg)
	return f.in.Value() != before
}

// Narrow handles a key or a paste of a filter and reports whether the list below changes: enter and the arrows leave
// the filter as it is, esc clears it.
func (f *Field) Narrow(msg tea.Msg) bool {
	if key, ok := msg.(tea.KeyPressMsg); ok {
		switch key.String() {
		case "enter", "up", "down":
			f.Blur()
			return false
		case "esc":
			f.Blur()
			f.Set("")
			return true
		}
	}
	return f.Update(msg)
}

// Filter draws a filter for the end of a title line: with the keyboard in w cells, else what it keeps, cut to most
// characters; "" while it keeps nothing.
func (f *Field) Filter(th theme.Theme, w, most int) string {
	switch {
	case f.Focused():
		return th.Dim.Render(FilterPrefix) + f.Text(th, w)
	case f.Value() != "":
		return th.Accent.Render(FilterPrefix + present.Clean(f.Value(), most))
	}
	return ""
}

// View draws label and text in one line of w cells; labelW is the width of the label column.
func (f *Field) View(th theme.Theme, w, labelW int) string {
	label := th.Dim
	if f.Focused() {
		label = th.Accent
	}
	labelW = min(labelW, w)
	return label.Render(Fit(f.Label, labelW)) + f.Text(th, w-labelW)
}

// Text draws the text of the field in exactly w cells, scrolled so that the cursor is visible.
func (f *Field) Text(th theme.Theme, w int) string {
	if w <= 0 {
		return ""
	}
	value := f.in.Value()
	runes := []rune(present.Clean(value, len(value))) // one for each of the value's
	if len(runes) == 0 {
		mark := ""
		if f.Focused() {
			mark = CursorMark
		}
		return mark + th.Disabled.Render(Fit(f.Empty, w))
	}
	cells := make([]string, len(runes))
	widths := make([]int, len(runes))
	pos := 0
	for i, r := range runes {
		cells[i] = string(r)
		widths[i] = present.Width(cells[i])
		if i < f.in.Position() {
			pos += widths[i]
		}
	}
	f.scroll(pos, w)
	return f.draw(th, cells, widths, pos, w)
}

func (f *Field) scroll(pos, w int) {
	if !f.Focused() {
		f.from = 0
		return
	}
	if pos < f.from {
		f.from = pos
	}
	if pos >= f.from+w {
		f.from = pos - w + 1
	}
}

func (f *Field) draw(th theme.Theme, cells []string, widths []int, pos, w int) string {
	var before, after strings.Builder
	at, used := 0, 0
	for i, c := range cells {
		if at >= f.from && used+widths[i] <= w {
			if at < pos {
				before.WriteString(c)
			} else {
				after.WriteString(c)
			}
			used += widths[i]
		} else if used+widths[i] > w && at >= f.from {
			break
		}
		at += widths[i]
	}
	pad := strings.Repeat(" ", max(0, w-used))
	if !f.Focused() {
		return before.String() + after.String() + pad
	}
	return th.Input.Render(before.String()) + CursorMark + th.Input.Render(after.String()) + pad
}

// Note is the line below the field: the error with its sign, else the hint; "" when there is neither. indent is the
// label column.
func (f *Field) Note(th theme.Theme, w, indent int) string {
	switch {
	case f.Error != "":
		return Fit(strings.Repeat(" ", max(0, indent-2))+th.Say(theme.Danger, f.Error), w)
	case f.Hint != "":
		return Fit(strings.Repeat(" ", indent)+th.Dim.Render(f.Hint), w)
	}
	return ""
}
