package builder

import (
	tea "charm.land/bubbletea/v2"

	"coffer/ui/compose"
	"coffer/ui/present"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/screen"
	"coffer/ui/tui/theme"
)

// takePaste reads ABI JSON or call data pasted into a function field; taken is false for anything else.
func (s *Screen) takePaste(c *compose.Call, text string) (cmd tea.Cmd, taken bool) {
	text = trim(text)
	switch {
	case text == "":
		return nil, false
	case text[0] == '[' || text[0] == '{':
		return s.takeABI(c, text), true
	case len(text) >= 10 && text[:2] == "0x" && text[2:] != "":
		data, problem := compose.Bytes(text)
		if problem != "" {
			return screen.Toast(theme.Warn,
				"that is not call data: it needs "+problem), true
		}
		if c.TakeData(data, s.target(c)) {
			return screen.Toast(theme.Good, "decoded as "+present.Clean(c.Fn.Signature(), 120)+
				": a match of four bytes suggests it and proves nothing"), true
		}
		return screen.Toast(theme.Warn, "it stays raw call data: "+c.Why), true
	}
	return nil, false
}

func (s *Screen) takeABI(c *compose.Call, text string) tea.Cmd {
	list, err := compose.ReadABI([]byte(text))
	if err != nil {
		return screen.Toast(theme.Warn, plain(err)+"; o reads an intent or a Safe batch")
	}
	c.ABI = list
	if len(list) == 1 {
		return s.takeFunction(c)(pickFn + list[0].Fn.String())
	}
	var items []kit.Item
	for _, o := range list {
		fn := o.Fn
		it := kit.Item{Value: pickFn + fn.String(), Label: present.Clean(fn.String(), 300)}
		if compose.Grants(fn) != "" {
			it.Off = "an approval is declared under allow, and ends with your calls"
		}
		items = append(items, it)
	}
	s.openList("Function of the ABI", items, "", s.takeFunction(c))
	return nil
}
