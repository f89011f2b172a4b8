package builder

import (
	"encoding/hex"
	"strings"

	tea "charm.land/bubbletea/v2"

	"coffer/api/catalog"
	"coffer/ui/present"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/screen"
	"coffer/ui/tui/theme"
)

// takePaste reads ABI JSON or call data pasted into a function field; taken is false for anything else.
func (s *Screen) takePaste(c *call, text string) (cmd tea.Cmd, taken bool) {
	text = trim(text)
	switch {
	case text == "":
		return nil, false
	case text[0] == '[' || text[0] == '{':
		return s.takeABI(c, text), true
	case len(text) >= 10 && text[:2] == "0x" && text[2:] != "":
		data, err := unhex(text)
		if err != nil {
			return screen.Toast(theme.Warn,
				"that is not call data: it needs 0x and an even number of hexadecimal digits"), true
		}
		if s.b.chainDecoded(s.ctx.Catalog, c, data) {
			return screen.Toast(theme.Good, "decoded as "+present.Clean(c.fn.Signature(), 120)+
				": a match of four bytes suggests it and proves nothing"), true
		}
		return screen.Toast(theme.Warn, "it stays raw call data: "+c.why), true
	}
	return nil, false
}

func (b *batch) chainDecoded(c *catalog.Catalog, x *call, data []byte) bool {
	return x.takeData(data, b.decimals(c, x))
}

func (s *Screen) takeABI(c *call, text string) tea.Cmd {
	list, err := readABI([]byte(text))
	if err != nil {
		return screen.Toast(theme.Warn, plain(err)+"; o reads an intent or a Safe batch")
	}
	c.abi = list
	if len(list) == 1 {
		return s.takeFunction(c)(pickFn + list[0].fn.String())
	}
	var items []kit.Item
	for _, o := range list {
		fn := o.fn
		it := kit.Item{Value: pickFn + fn.String(), Label: present.Clean(fn.String(), 300)}
		if grants(fn) {
			it.Off = "an approval is declared under allow, and ends with your calls"
		}
		items = append(items, it)
	}
	s.openList("Function of the pasted ABI", items, "", s.takeFunction(c))
	return nil
}

func hex0x(b []byte) string { return "0x" + hex.EncodeToString(b) }

func unhex(text string) ([]byte, error) { return hex.DecodeString(strings.TrimPrefix(text, "0x")) }
