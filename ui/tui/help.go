package tui

import (
	"coffer/ui/tui/kit"
	"coffer/ui/tui/theme"
)

// help is the list of keys over the screen, made from the screen's own keys and those of the shell.
type help struct {
	open   bool
	scroll kit.Scroll
	title  string
	keys   []kit.Key
	shell  []kit.Key
}

func (h *help) show(m *Model) {
	h.open, h.title, h.keys, h.shell = true, m.active().Title(), m.active().Keys(), nil
	for _, k := range m.shellKeys() {
		if _, own := kit.FindKey(h.keys, k.Press[0]); !own {
			h.shell = append(h.shell, k)
		}
	}
	h.scroll = kit.Scroll{}
}

func (h *help) press(key string) {
	switch key {
	case "esc", "?", "f1", "q", "enter":
		h.open = false
		return
	}
	h.scroll.Press(key)
}

// view draws the panel over the body of w×h cells.
func (h *help) view(th theme.Theme, body string, w, height int) string {
	panel := min(w-4, 64)
	inner := panel - 4
	lines := helpLines(th, h.keys, inner)
	lines = append(lines, "", th.Dim.Render("everywhere"))
	lines = append(lines, helpLines(th, h.shell, inner)...)
	h.scroll.Resize(min(len(lines), height-6))
	h.scroll.Keep(lines)
	foot := h.scroll.More(th)
	if foot != "" {
		foot += "   "
	}
	out := []string{kit.Sides(th.Strong.Render("Keys on "+h.title), th.Dim.Render(foot+"esc close"), inner), ""}
	from := h.scroll.Top()
	out = append(out, lines[from:min(len(lines), from+height-6)]...)
	return kit.Dialog(th, body, out, panel, w, height)
}

func helpLines(th theme.Theme, keys []kit.Key, w int) []string {
	const nameW = 14
	lines := make([]string, 0, len(keys))
	for _, k := range keys {
		name, spans := th.Accent.Render(kit.Fit(k.Name(th), nameW)), []kit.Span{kit.Plain(k.Words())}
		if k.Off != "" {
			spans = []kit.Span{{Text: k.Words(), Style: th.Disabled}, {Text: ": " + k.Off, Style: th.Dim}}
			name = th.Disabled.Render(kit.Fit(k.Name(th), nameW))
		}
		words := kit.Prose(w, nameW, spans...)
		words[0] = name + words[0][nameW:]
		lines = append(lines, words...)
	}
	return lines
}
