package tui

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"coffer/config"
	"coffer/ui/tui/kit"
)

// shellOwner comes before the dot in the names of the shell's own actions.
const shellOwner = "shell"

// keymap holds the keys that the person assigned to actions. Screens do not see it: a pressed key becomes the screen's
// own key before it reaches the screen, and a listed key becomes the person's key before it is shown.
type keymap struct {
	want    map[string]map[string]string // owner -> action -> key
	met     map[string]bool              // owner.action that some key has had
	refused map[string]string            // owner.action -> why its key is not used
}

func newKeymap(keys map[string]string) *keymap {
	k := &keymap{want: map[string]map[string]string{}, met: map[string]bool{}, refused: map[string]string{}}
	for name, key := range keys {
		owner, action, ok := strings.Cut(name, ".")
		if !ok {
			continue
		}
		if k.want[owner] == nil {
			k.want[owner] = map[string]string{}
		}
		k.want[owner][action] = key
	}
	return k
}

// back maps a pressed key to the key that the screen knows: "" for one that the person took away from its action.
type back map[string]string

// translate returns the keys as the person has configured them, in the same order, and the map back. Without settings
// for the owner it returns the keys themselves.
func (k *keymap) translate(owner string, keys []kit.Key) ([]kit.Key, back) {
	want := k.want[owner]
	if len(want) == 0 {
		return keys, nil
	}
	given := k.find(owner, keys)
	k.settle(owner, keys, given)
	out, to := slices.Clone(keys), back{}
	for _, i := range given {
		if first := keys[i].Press[0]; !slices.Contains(config.FixedKeys(), first) {
			to[first] = ""
		}
	}
	for action, i := range given {
		out[i].Press = append([]string{want[action]}, remaining(keys[i].Press)...)
		out[i].Show = ""
		to[want[action]] = keys[i].Press[0]
	}
	for _, key := range out {
		for _, p := range key.Press {
			if orig, ok := to[p]; ok && orig == "" { // taken from one action, but the key of another one
				delete(to, p)
			}
		}
	}
	return out, to
}

// find looks for the keys whose actions the person has configured. A key that signs stays as it is.
func (k *keymap) find(owner string, keys []kit.Key) map[string]int {
	given := map[string]int{}
	for i, key := range keys {
		action := key.ActionName()
		if _, twice := given[action]; twice || k.want[owner][action] == "" || len(key.Press) == 0 {
			continue
		}
		k.met[owner+"."+action] = true
		if key.Careful {
			k.refused[owner+"."+action] = "it signs or confirms, and keeps its key"
			continue
		}
		given[action] = i
	}
	return given
}

// settle removes from given the actions whose new key another action already has.
func (k *keymap) settle(owner string, keys []kit.Key, given map[string]int) {
	for again := true; again; {
		again = false
		for _, action := range slices.Sorted(maps.Keys(given)) {
			if other := k.holder(owner, keys, given, action); other != "" {
				k.refused[owner+"."+action] = fmt.Sprintf("%s is the key of %s already", k.want[owner][action], other)
				delete(given, action)
				again = true
			}
		}
	}
}

// holder names the action that already has the key that the person wants for this one.
func (k *keymap) holder(owner string, keys []kit.Key, given map[string]int, action string) string {
	wanted := k.want[owner][action]
	for i, key := range keys {
		press := key.Press
		if j, ok := given[key.ActionName()]; ok && j == i {
			press = remaining(key.Press)
		}
		if i == given[action] {
			continue
		}
		if slices.Contains(press, wanted) {
			return key.ActionName()
		}
		other := key.ActionName()
		if j, ok := given[other]; ok && j == i && other < action && k.want[owner][other] == wanted {
			return other
		}
	}
	return ""
}

// remaining lists the keys that an action keeps beside its new one: all but the first, and the first too when it is one
// that moves.
func remaining(press []string) []string {
	if slices.Contains(config.FixedKeys(), press[0]) {
		return press
	}
	return press[1:]
}

// unmet lists the names that the person configured for an owner and that no key has had so far.
func (k *keymap) unmet(owner string) []string {
	var out []string
	for _, action := range slices.Sorted(maps.Keys(k.want[owner])) {
		if !k.met[owner+"."+action] {
			out = append(out, action)
		}
	}
	return out
}

// nearest is the name that differs from the given one by two letters at most; "" without one.
func nearest(name string, names []string) string {
	best, at := "", 3
	for _, n := range names {
		if d := distance(name, n); d < at {
			best, at = n, d
		}
	}
	return best
}

// distance is the number of letters to add, remove or replace to turn a into b.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := before
			if a[i] != b[j] {
				cost = 1 + min(before, row[j], row[j+1])
			}
			before, row[j+1] = row[j+1], cost
		}
	}
	return row[len(b)]
}
