package builder

import (
	"strconv"
	"time"

	"coffer/api"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/theme"
	"coffer/wallet/intent"
)

// kept is what a draft from elsewhere can carry although the form has no field for it. It goes with the calls, is named in the form, and can be
// taken away.
type kept struct {
	after     string              // not to run before, Unix seconds; "": at once
	overrides []api.StateOverride // the state that the service assumes when it tries the calls out
}

func keptOf(d intent.Draft) kept { return kept{after: d.ValidAfter, overrides: d.Overrides} }

func (k kept) empty() bool { return k.after == "" && len(k.overrides) == 0 }

// keptRows say that something without a field is there.
func (s *Screen) keptRows() []row {
	var out []row
	if after := s.b.kept.after; after != "" {
		text := kit.Clean(after, 80) + " (Unix seconds)"
		if n, err := strconv.ParseInt(after, 10, 64); err == nil {
			text = time.Unix(n, 0).In(s.ctx.Clock().Location()).Format("2006-01-02 15:04:05")
		}
		out = append(out, row{id: idAfter, label: "not before", text: text, call: -1, help: "it runs from this moment on; x lets it run at once"})
	}
	list := s.b.kept.overrides
	if len(list) == 0 {
		return out
	}
	text := "another state at " + kit.Plural(len(list), "address", "addresses") + ", only when the service tries it out"
	out = append(out, row{id: idOverrides, label: "assumes", text: text, aside: "on the chain the call may fail", mean: theme.Warn, call: -1, help: "it came with this call; x takes it away"})
	for _, o := range list {
		out = append(out, row{label: "", depth: 1, text: kit.Address(o.Address), aside: overrideWords(o), call: -1})
	}
	return out
}

// overrideWords names what is assumed of an address.
func overrideWords(o api.StateOverride) string {
	var parts []string
	if o.Balance != "" {
		parts = append(parts, "balance")
	}
	if o.Code != "" {
		parts = append(parts, "code")
	}
	if n := len(o.StateDiff); n > 0 {
		parts = append(parts, kit.Plural(n, "storage slot", "storage slots"))
	}
	if len(parts) == 0 {
		return "nothing"
	}
	words := parts[0]
	for _, p := range parts[1:] {
		words += ", " + p
	}
	return words
}

// removeKept takes away what the focused row is about; false when it is about something else.
func (s *Screen) removeKept(id string) bool {
	switch id {
	case idAfter:
		s.b.kept.after = ""
	case idOverrides:
		s.b.kept.overrides = nil
	default:
		return false
	}
	s.focus = idValid
	return true
}

// minutesLeft is the validity of a draft as the form has it: what is left of it when that can be asked for, else the usual one.
func minutesLeft(validUntil string, now time.Time) int {
	n, err := strconv.ParseInt(validUntil, 10, 64)
	if err != nil {
		return defaultMinutes
	}
	left := time.Unix(n, 0).Sub(now).Round(time.Minute)
	if m := int(left / time.Minute); m >= minMinutes && m <= maxMinutes {
		return m
	}
	return defaultMinutes
}
