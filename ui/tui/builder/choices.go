package builder

import (
	"slices"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"coffer/api/caip"
	"coffer/api/catalog"
	"coffer/api/op/abicall"
	"coffer/ui/compose"
	"coffer/ui/present"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/screen"
	"coffer/ui/tui/theme"
)

// typeIt is the list item that opens the text field instead.
const typeIt = "type"

// The items of the function list that are not functions.
const (
	pickRaw  = "raw"
	pickNone = "none"
	pickFn   = "fn:"
)

func (s *Screen) chainItems() []kit.Item {
	var out []kit.Item
	for _, c := range s.Catalog.Chains() {
		out = append(out, kit.Item{Value: c.Chain.String(), Label: c.Name, Note: c.Chain.String()})
	}
	return out
}

// takeChain changes the chain. Targets that are known tokens move with it when the token exists there too; the person's
// own lists of tokens do not.
func (s *Screen) takeChain(v string) tea.Cmd {
	chain, err := caip.ParseChain(v)
	if err != nil || chain == s.b.Chain {
		return nil
	}
	var moved []caip.AggregateID
	for _, c := range s.b.Calls {
		moved = append(moved, s.target(c).Token.Aggregate)
	}
	s.b.Chain = chain
	for i, c := range s.b.Calls {
		if moved[i] == "" {
			continue
		}
		if e, ok := s.AssetOn(chain, moved[i].String()); ok {
			if a, ok := e.Asset.Token(); ok {
				c.To = a.Hex()
			}
		}
	}
	s.b.Own, s.b.Needs, s.b.Allow, s.b.Fund = false, nil, nil, ""
	if len(s.b.Overrides) > 0 { // they refer to addresses of the other chain
		s.b.Overrides = nil
		return screen.Toast(theme.Warn, "the assumed state was for the other chain and was taken away")
	}
	return nil
}

func (s *Screen) targetItems() []kit.Item {
	return append(append([]kit.Item{typeAddress()}, s.tokenItems()...), s.bookItems(false)...)
}

// tokenItems offers the known tokens of the target chain.
func (s *Screen) tokenItems() []kit.Item {
	var out []kit.Item
	for _, e := range s.AssetsOn(s.b.Chain, false) {
		a, _ := e.Asset.Token()
		out = append(out, kit.Item{Value: a.Hex(), Label: e.Symbol, Note: e.Name})
	}
	return out
}

// bookItems offers the named addresses of a chain's kind.
func (s *Screen) bookItems(solana bool) []kit.Item {
	var out []kit.Item
	seen := map[string]bool{}
	for _, c := range s.People() {
		if strings.HasPrefix(c.Address, "0x") == solana || seen[strings.ToLower(c.Address)] {
			continue
		}
		seen[strings.ToLower(c.Address)] = true
		address := present.Checksummed(c.Address)
		out = append(out, kit.Item{Value: address, Label: present.Clean(c.Name, 30), Note: address})
	}
	return out
}

// addressItems offers the named addresses, and the known tokens unless the argument is a recipient: what is sent to a
// token is mostly lost.
func (s *Screen) addressItems(paid bool) func() []kit.Item {
	return func() []kit.Item {
		out := append([]kit.Item{typeAddress()}, s.bookItems(false)...)
		if paid {
			return out
		}
		return append(out, s.tokenItems()...)
	}
}

func (s *Screen) spenderItems() []kit.Item {
	out := []kit.Item{typeAddress()}
	for i, c := range s.b.Calls {
		if a, err := caip.ParseAddress(trim(c.To)); err == nil {
			if !s.target(c).Known {
				out = append(out, kit.Item{Value: a.Hex(), Label: "the target of call " + strconv.Itoa(i+1),
					Note: a.Hex()})
			}
		}
	}
	return append(out, s.bookItems(false)...)
}

func boolItems() []kit.Item {
	return []kit.Item{{Value: "true", Label: "true"}, {Value: "false", Label: "false"}}
}

// setText puts a chosen value into a field; typeIt opens the field instead.
func (s *Screen) setText(f *string) func(string) tea.Cmd {
	return func(v string) tea.Cmd {
		if v == typeIt {
			s.edit()
			return nil
		}
		*f = v
		s.changed()
		s.step(1, false)
		return nil
	}
}

// functionItems lists what a call can be: typed, raw, none, a function of an ABI, or a known one; token functions
// come first at a token. approve is listed, and says where it belongs.
func (s *Screen) functionItems(c *compose.Call) func() []kit.Item {
	return func() []kit.Item {
		out := []kit.Item{{Value: typeIt, Label: "type or paste a signature, ABI JSON or call data", Typed: asFunction}}
		seen := map[string]bool{}
		add := func(fn abicall.Function, note string) {
			if sig := fn.Signature(); seen[sig] || compose.Grants(fn) != "" {
				return
			}
			seen[fn.Signature()] = true
			out = append(out, kit.Item{Value: pickFn + fn.String(), Label: present.Clean(fn.String(), 300), Note: note})
		}
		for _, o := range c.ABI {
			add(o.Fn, "of the ABI")
		}
		for _, fn := range s.target(c).Usual() {
			add(fn, "")
		}
		out = append(out,
			kit.Item{Value: pickFn + "approve", Label: "approve", Note: "belongs under allow",
				Off: "an approval is declared under allow, and ends with your calls"},
			kit.Item{Value: pickRaw, Label: "raw call data", Note: "0x hex"},
			kit.Item{Value: pickNone, Label: "no function: send only the value"})
		for _, fn := range abicall.Known() {
			add(fn, "")
		}
		return out
	}
}

func (s *Screen) takeFunction(c *compose.Call) func(string) tea.Cmd {
	return func(v string) tea.Cmd {
		switch v {
		case typeIt:
			c.Raw = false
			s.focusOn(c)
			s.edit()
			return nil
		case pickRaw:
			data, ok := c.Calldata(s.target(c))
			c.Raw, c.Fn, c.Args = true, nil, nil
			if ok {
				c.Data = compose.Hex(data)
			}
			s.focusOn(c)
			s.edit()
			return nil
		case pickNone:
			c.Raw = false
			c.Signature = ""
			c.Data = ""
		default:
			c.Raw = false
			c.Signature = v[len(pickFn):]
		}
		s.focusOn(c)
		s.changed()
		s.step(1, false)
		return nil
	}
}

// focusOn moves the focus to the function of a call, or to its raw data.
func (s *Screen) focusOn(c *compose.Call) {
	i := slices.Index(s.b.Calls, c)
	if s.focus = compose.IDSig(i); c.Raw {
		s.focus = compose.IDData(i)
	}
}

// assetItems lists the assets of the target chain, with the coin when native.
func (s *Screen) assetItems(native bool) func() []kit.Item {
	return func() []kit.Item {
		var out []kit.Item
		list := s.AssetsOn(s.b.Chain, false)
		if native {
			list = append([]catalog.Entity{s.Coin(s.b.Chain)}, list...)
		}
		for _, e := range list {
			out = append(out, kit.Item{Value: e.Asset.String(), Label: e.Symbol,
				Note: "you have " + s.held(s.Money.Of(e.Asset), e.Decimals)})
		}
		return out
	}
}

func (s *Screen) addNeed(v string) tea.Cmd {
	s.b.Needs = append(s.b.Needs, &compose.Need{Asset: v})
	s.focus = compose.IDNeed(len(s.b.Needs)-1, "amount")
	s.edit()
	return nil
}

func (s *Screen) addAllowance(v string) tea.Cmd {
	s.b.Allow = append(s.b.Allow, &compose.Allowance{Asset: v})
	s.focus = compose.IDAllowance(len(s.b.Allow)-1, "spender")
	s.edit()
	return nil
}

func (s *Screen) ownNeeds() tea.Cmd {
	s.b.StartOwn(&s.World)
	s.focus = idAddNeed
	if len(s.b.Needs) > 0 {
		s.focus = compose.IDNeed(0, "amount")
	}
	return nil
}

// fundItems lists what can pay, and that the service chooses.
func (s *Screen) fundItems() []kit.Item {
	return append([]kit.Item{{Value: "", Label: "automatic", Note: "the same asset, any chain"}}, s.payItems()...)
}

func (s *Screen) fundLabel(v string) string {
	text := s.sideText(v, "")
	switch x, ok := s.Side(v); {
	case ok && x.Exact:
		text += " only, you have " + s.held(s.Money.Of(x.Entity.Asset), x.Decimals)
	case ok:
		text += ", you have " + s.held(s.Money.Total(x.Agg), x.Decimals)
	}
	return text
}

func (s *Screen) openList(title string, items []kit.Item, current string, take func(string) tea.Cmd) {
	s.stopEditing()
	s.looks = false
	s.choice.Title = title
	s.take, s.typed, s.choice.Reads = take, nil, nil
	s.choice.Open(items, current)
}
