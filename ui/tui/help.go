package tui

import (
	"strings"

	"coffer/ui/present"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/theme"
)

// help is the list of keys over the screen, made from the keys of the screen and of the shell, and the list of terms.
type help struct {
	open   bool
	names  bool // show the names of the keys in the configuration
	terms  bool // show what the words mean instead of the keys
	scroll kit.Scroll
	title  string
	owner  string
	keys   []kit.Key
	shell  []kit.Key
	bad    []string // configured keys that are not used here
}

func (h *help) show(m *Model) {
	h.open, h.names, h.terms, h.shell = true, false, false, nil
	h.title, h.owner = "Keys on "+m.active().Title(), string(m.activeID())
	h.keys, _ = m.screenKeys()
	for _, k := range m.shellKeys() {
		if _, own := kit.FindKey(h.keys, k.Press[0]); !own {
			h.shell = append(h.shell, k)
		}
	}
	h.bad = m.keys.problems()
	for _, action := range m.keys.unmet(h.owner) {
		if name := h.owner + "." + action; m.keys.refused[name] == "" {
			h.bad = append(h.bad, name+": no key of this screen has had this name so far")
		}
	}
	h.scroll = kit.Scroll{}
}

func (h *help) press(key string) {
	switch key {
	case "esc", "?", "f1", "q", "enter":
		h.open = false
	case "n":
		h.names, h.terms = !h.names, false
	case "t":
		h.terms, h.scroll = !h.terms, kit.Scroll{}
	default:
		h.scroll.Press(key)
	}
}

// view draws the panel over the body of w×h cells.
func (h *help) view(th theme.Theme, body string, w, height int) string {
	title, lines := h.title, h.all
	if h.terms {
		title, lines = "Terms", kit.Terms
	}
	return kit.HelpPanel(th, &h.scroll, title, func(w int) []string { return lines(th, w) }, body, w, height)
}

// all lists the keys of the screen and those that work everywhere.
func (h *help) all(th theme.Theme, w int) []string {
	lines := h.lines(th, h.owner, h.keys, w)
	lines = append(lines, "", th.Dim.Render("everywhere"))
	lines = append(lines, h.lines(th, shellOwner, h.shell, w)...)
	if h.names {
		lines = append(lines, h.notes(th, w)...)
	}
	return lines
}

// other names what the key t leads to.
func (h *help) other() string {
	if h.terms {
		return "keys"
	}
	return "terms"
}

func (h *help) lines(th theme.Theme, owner string, keys []kit.Key, w int) []string {
	lines := make([]string, 0, len(keys))
	for _, k := range keys {
		lines = append(lines, kit.KeyHelp(th, k, w)...)
		if h.names {
			lines = append(lines, strings.Repeat(" ", kit.KeyNameW)+th.Dim.Render(actionWords(owner, k)))
		}
	}
	return lines
}

// actionWords is the name of a key in the configuration.
func actionWords(owner string, k kit.Key) string {
	name := owner + "." + k.ActionName()
	switch {
	case k.ActionName() == "":
		return "cannot be changed"
	case k.Careful:
		return name + " (fixed: it signs or confirms)"
	}
	return name
}

// notes explain how to rebind a key, and list configured keys that are not used.
func (h *help) notes(th theme.Theme, w int) []string {
	lines := []string{"", th.Dim.Render("in the configuration")}
	lines = append(lines, kit.Prose(w, 0, kit.Plain(`Under [ui.keys], "name" = "key" gives an action another key.`))...)
	for _, b := range h.bad {
		lines = append(lines, kit.Prose(w, 2, th.Warn.Span(th.Signs.Warn),
			kit.Plain(" "+present.Clean(b, 200)))...)
	}
	return lines
}
