package builder

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"coffer/ui/compose"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/screen"
	"coffer/ui/tui/theme"
)

// The name that a list gives to typed text, which enter then takes. Lists without such an item are closed: typing only
// searches them.
const (
	asAmount   = "what you typed, as the amount"
	asAddress  = "what you typed, as the address"
	asFunction = "what you typed, as signature or call data"
	asShare    = "what you typed, in basis points or percent"
	asMinutes  = "what you typed, in minutes"
	asPath     = "the file at the path that you typed"
)

const tooLong = "that is too long for this field"

// typeAmount and typeAddress are the items that open the field, or put the typed text into it.
func typeAmount() kit.Item {
	return kit.Item{Value: typeIt, Label: "type an amount", Typed: asAmount}
}

func typeAddress() kit.Item {
	return kit.Item{Value: typeIt, Label: "type an address", Typed: asAddress}
}

// numeric reports whether a text begins like a number: it means that number, whatever else contains its digits.
func numeric(text string) bool { return text != "" && strings.Contains("0123456789.,+-", text[:1]) }

// fits reports whether a field of a row takes the whole text.
func fits(limit int, text string) bool {
	f := kit.NewField("", limit)
	f.Set(text)
	return f.Value() == text
}

// readFor interprets text typed into the list of a row that does not read it itself: as an address or an amount.
func (s *Screen) readFor(r row) func(string) kit.Reading {
	return func(text string) kit.Reading {
		out := kit.Reading{Own: numeric(text)}
		switch {
		case r.address:
			out.Own = strings.HasPrefix(strings.ToLower(text), "0x") || isSolana(text) || strings.Count(text, ":") == 2
		case r.reads != nil:
			out = r.reads(text)
		}
		if r.field != nil && !fits(r.limit, text) {
			out.Off = tooLong
		}
		return out
	}
}

// typeInto puts text typed into a list into the field of its row, as if it were typed there.
func (s *Screen) typeInto(r row) func(string) tea.Cmd {
	return func(text string) tea.Cmd {
		s.focus = r.id
		s.edit()
		*r.field = text
		s.changed()
		s.step(1, false)
		return nil
	}
}

// minutesOf is the number of a time span such as "5", "5 min" or "5 minutes"; other text stays unchanged.
func minutesOf(text string) string {
	number, unit := compose.SplitUnit(text)
	if slices.Contains([]string{"m", "min", "minute", "minutes"}, strings.ToLower(unit)) {
		return number
	}
	return text
}

// readFunction tells a signature, ABI JSON and call data from a search for a function.
func readFunction(text string) kit.Reading {
	return kit.Reading{Own: strings.ContainsAny(text, "([{") || strings.HasPrefix(strings.ToLower(text), "0x")}
}

// typeFunction takes a typed signature, ABI JSON or call data. Text that cannot be read goes into the field, with its
// mistake.
func (s *Screen) typeFunction(c *compose.Call) func(string) tea.Cmd {
	return func(text string) tea.Cmd {
		_, problem := compose.Bytes(text)
		switch hexed := strings.HasPrefix(text, "0x"); {
		case hexed && (problem != "" || len(text) < 10):
			c.Raw, c.Why, c.Fn, c.Args = true, "", nil, nil
			c.Signature = ""
			c.Data = text
			s.focusOn(c)
			s.changed()
			return nil
		case hexed, isABI(text):
			cmd, _ := s.takePaste(c, text)
			s.tidyFocus(c)
			return cmd
		}
		c.Raw = false
		c.Signature = text
		s.focusOn(c)
		s.changed()
		s.step(1, false)
		return nil
	}
}

func isABI(text string) bool {
	if !strings.HasPrefix(text, "[") && !strings.HasPrefix(text, "{") {
		return false
	}
	_, err := compose.ReadABI([]byte(text))
	return err == nil
}

// pasteList handles a paste into an open list: it goes where typing goes. A document or call data pasted for a function
// is taken at once, as in the field.
func (s *Screen) pasteList(content string) tea.Cmd {
	text, r := trim(content), s.current()
	document := strings.HasPrefix(text, "[") || strings.HasPrefix(text, "{")
	whole := document || strings.HasPrefix(text, "0x") && len(text) >= 10 && len(text) <= compose.MaxText
	if whole && s.typed != nil && s.choice.Text() == "" && r.function() {
		s.choice.Close()
		s.touched()
		if !document {
			return s.typed(text)
		}
		cmd, _ := s.takePaste(r.of, text)
		s.tidyFocus(r.of)
		return cmd
	}
	if len(text)+len(s.choice.Text()) > kit.FilterLimit {
		return screen.Toast(theme.Warn, "that is too long for a list; nothing was pasted")
	}
	s.choice.Update(tea.PasteMsg{Content: text})
	return nil
}
