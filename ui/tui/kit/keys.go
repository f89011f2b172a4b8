package kit

import (
	"cmp"
	"slices"
	"strings"

	"coffer/ui/present"
	"coffer/ui/tui/theme"
)

// Key is one action of a screen: the key line, the help and the refusal of a key that is off all derive from it.
type Key struct {
	Press []string // names as tea.KeyPressMsg.String gives them, such as "enter", "ctrl+r", "j"
	Show  string   // as written on the screen; empty: made from Press
	Label string   // verb first: "copy address"
	More  string   // longer words for the help; empty: Label
	Off   string   // why it does not work now; empty: it works. The shell shows it when the key is pressed
	Quiet bool     // in the help only, not in the key line

	// Action is the name by which the configuration rebinds the key; empty: made from Label. Set it where the label
	// changes.
	Action string
	// Careful marks a key that signs, confirms or opens the vault: only the keyboard presses it, never the mouse or the
	// palette, and it cannot be rebound.
	Careful bool
}

// NewKey is a working key that the key line shows.
func NewKey(label string, press ...string) Key { return Key{Press: press, Label: label} }

// Hidden returns the key for the help only.
func (k Key) Hidden() Key { k.Quiet = true; return k }

// Explain returns the key with longer words for the help.
func (k Key) Explain(more string) Key { k.More = more; return k }

// Named returns the key with a stable name for the configuration, such as "sort".
func (k Key) Named(action string) Key { k.Action = action; return k }

// WithCare marks the key as one that only the keyboard presses: it signs or confirms.
func (k Key) WithCare() Key { k.Careful = true; return k }

// ActionName is the name of the action, unique on its screen: Action, else the label in lower case with dashes.
func (k Key) ActionName() string {
	if k.Action != "" {
		return k.Action
	}
	var b strings.Builder
	gap := false
	for _, r := range strings.ToLower(k.Label) {
		if (r < 'a' || r > 'z') && (r < '0' || r > '9') {
			gap = b.Len() > 0
			continue
		}
		if gap {
			b.WriteByte('-')
		}
		gap = false
		b.WriteRune(r)
	}
	return b.String()
}

// Words is the text of the key in the help.
func (k Key) Words() string { return cmp.Or(k.More, k.Label) }

// OffWhen returns the key switched off with a reason when the condition holds.
func (k Key) OffWhen(off bool, reason string) Key {
	if off {
		k.Off = reason
	}
	return k
}

// Match reports whether the pressed key is this one.
func (k Key) Match(pressed string) bool { return slices.Contains(k.Press, pressed) }

// Name is the name of the key on the screen.
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

// Spot is a stretch of the key line that belongs to one key: Key is an index into the keys, or -1 for the key that
// lists the others. X counts cells from 0.
type Spot struct{ Key, X, W int }

const (
	keyGap  = "  "
	moreTip = " more"
)

// The keys that list all keys of a screen, as the end of a key line names them: Help, or HelpTyping while keys are
// text.
const (
	Help       = "?"
	HelpTyping = "f1"
)

// KeySpots returns the keys that KeyLine writes into w cells, and their places, the first keys first. When some do not
// fit, the last spot is for more, the key that lists them all; "" means that there is no such key.
func KeySpots(th theme.Theme, keys []Key, w int, more string) []Spot {
	var spots []Spot
	used, tail, room := 1, 0, 0
	if more != "" {
		tail = present.Width(more + moreTip)
		room = 2*len(keyGap) + tail
	}
	for i, k := range keys {
		if k.Quiet {
			continue
		}
		n := present.Width(k.Name(th)) + 1 + present.Width(k.Label)
		at := used
		if len(spots) > 0 {
			at += len(keyGap)
		}
		if at+n+room > w {
			if tail > 0 && at+tail <= w {
				spots = append(spots, Spot{Key: -1, X: at, W: tail})
			}
			break
		}
		spots = append(spots, Spot{Key: i, X: at, W: n})
		used = at + n
	}
	return spots
}

// KeyLine writes the keys that fit into w cells, the first ones first; keys that are off are dim. When some do not fit,
// the line ends with the key more.
func KeyLine(th theme.Theme, keys []Key, w int, more string) string {
	var b strings.Builder
	at := 0
	for _, s := range KeySpots(th, keys, w, more) {
		Spaces(&b, s.X-at)
		at = s.X + s.W
		if s.Key < 0 {
			b.WriteString(th.Accent.Render(more) + th.Dim.Render(moreTip))
			continue
		}
		k := keys[s.Key]
		if k.Off != "" {
			b.WriteString(th.Disabled.Render(k.Name(th) + " " + k.Label))
			continue
		}
		b.WriteString(th.Accent.Render(k.Name(th)) + " " + th.Dim.Render(k.Label))
	}
	return Fit(b.String(), w)
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
