package kit

import (
	"slices"
	"strings"

	"coffer/ui/tui/theme"
)

// Key is one action of a screen: the key line, the help and the refusal of keys that are off are all made from it.
type Key struct {
	Press []string // names as tea.KeyPressMsg.String gives them, such as "enter", "ctrl+r", "j"
	Show  string   // how it is written; empty: made from Press
	Label string   // verb first: "copy address"
	More  string   // longer words for the help; empty: Label
	Off   string   // why it does not work now; empty: it works. The shell says it when the key is pressed
	Quiet bool     // in the help only, not in the key line
}

// NewKey is a working key that stands in the key line.
func NewKey(label string, press ...string) Key { return Key{Press: press, Label: label} }

// Hidden returns the key for the help only.
func (k Key) Hidden() Key { k.Quiet = true; return k }

// Explain returns the key with longer words for the help.
func (k Key) Explain(more string) Key { k.More = more; return k }

// Words is what the help says about the key.
func (k Key) Words() string {
	if k.More != "" {
		return k.More
	}
	return k.Label
}

// OffWhen returns the key switched off with a reason when the condition holds.
func (k Key) OffWhen(off bool, reason string) Key {
	if off {
		k.Off = reason
	}
	return k
}

// Match reports whether the pressed key is this one.
func (k Key) Match(pressed string) bool { return slices.Contains(k.Press, pressed) }

// Name is how the key is written on the screen.
func (k Key) Name(th theme.Theme) string {
	if k.Show != "" {
		return k.Show
	}
	names := make([]string, 0, len(k.Press))
	for _, p := range k.Press {
		switch p {
		case "enter":
			p = th.Signs.Enter
		case "up":
			p = th.Signs.Up
		case "down":
			p = th.Signs.Down
		case "right":
			p = th.Signs.Arrow
		case "left":
			p = th.Signs.Back
		case "pgdown":
			p = "pgdn"
		}
		names = append(names, p)
	}
	return strings.Join(names, "/")
}

// KeyLine writes the keys that fit into w cells, the first ones first; keys that are off are dim. When some do not fit, the line ends
// with `? more`.
func KeyLine(th theme.Theme, keys []Key, w int) string {
	const gap = "  "
	more := th.Accent.Render("?") + th.Dim.Render(" more")
	var parts []string
	used, cut := 1, false
	for _, k := range keys {
		if k.Quiet {
			continue
		}
		name := k.Name(th)
		n := len(gap) + Width(name) + 1 + Width(k.Label)
		if used+n+len(gap)+len("? more") > w {
			cut = true
			break
		}
		used += n
		if k.Off != "" {
			parts = append(parts, th.Disabled.Render(name+" "+k.Label))
			continue
		}
		parts = append(parts, th.Accent.Render(name)+" "+th.Dim.Render(k.Label))
	}
	if cut {
		parts = append(parts, more)
	}
	return Fit(" "+strings.Join(parts, gap), w)
}

// FindKey returns the key that was pressed.
func FindKey(keys []Key, pressed string) (Key, bool) {
	for _, k := range keys {
		if k.Match(pressed) {
			return k, true
		}
	}
	return Key{}, false
}
