package builder

import (
	"encoding/hex"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"coffer/api/caip"
	"coffer/api/catalog"
	"coffer/api/op/abicall"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/screen"
	"coffer/ui/tui/theme"
)

// typeIt is the item of a list that goes to the text field instead.
const typeIt = "type"

// The items of the function list that are no function.
const (
	pickRaw  = "raw"
	pickNone = "none"
	pickFn   = "fn:"
)

func (s *Screen) chainItems() []kit.Item {
	var out []kit.Item
	for _, c := range s.ctx.Catalog.Chains() {
		out = append(out, kit.Item{Value: c.Chain.String(), Label: c.Name, Note: c.Chain.String()})
	}
	return out
}

// takeChain changes the chain. Targets that are known tokens move with it when the token exists there too; own lists of tokens do not.
func (s *Screen) takeChain(v string) tea.Cmd {
	chain, err := caip.ParseChain(v)
	if err != nil || chain == s.b.chain {
		return nil
	}
	var moved []caip.AggregateID
	for _, c := range s.b.calls {
		e, _ := s.b.tokenAt(s.ctx.Catalog, c.to.Value())
		moved = append(moved, e.Aggregate)
	}
	s.b.chain = chain
	for i, c := range s.b.calls {
		if moved[i] == "" {
			continue
		}
		if asset, ok := s.tokenOn(chain, moved[i].String()); ok {
			if a, ok := asset.Token(); ok {
				c.to.Set(a.Hex())
			}
		}
	}
	s.b.own, s.b.needs, s.b.allow, s.b.fund = false, nil, nil, ""
	if len(s.b.kept.overrides) > 0 { // they are about addresses of the other chain
		s.b.kept.overrides = nil
		return screen.Toast(theme.Warn, "the assumed state was for the other chain and was taken away")
	}
	return nil
}

func (s *Screen) targetItems() []kit.Item {
	out := []kit.Item{{Value: typeIt, Label: "type an address"}}
	for _, e := range s.b.tokens(s.ctx.Catalog) {
		a, _ := e.Asset.Token()
		out = append(out, kit.Item{Value: a.Hex(), Label: e.Symbol, Note: e.Name})
	}
	return append(out, s.bookItems()...)
}

func (s *Screen) recipientItems() []kit.Item {
	return append([]kit.Item{{Value: typeIt, Label: "type an address"}}, s.bookItems()...)
}

func (s *Screen) spenderItems() []kit.Item {
	out := []kit.Item{{Value: typeIt, Label: "type an address"}}
	for i, c := range s.b.calls {
		if a, err := caip.ParseAddress(trim(c.to.Value())); err == nil {
			if _, token := s.b.tokenAt(s.ctx.Catalog, c.to.Value()); !token {
				out = append(out, kit.Item{Value: a.Hex(), Label: "the target of call " + strconv.Itoa(i+1), Note: a.Hex()})
			}
		}
	}
	return append(out, s.bookItems()...)
}

func (s *Screen) bookItems() []kit.Item {
	var out []kit.Item
	for _, c := range s.deps.Book {
		out = append(out, kit.Item{Value: c.Address, Label: kit.Clean(c.Name, 30), Note: c.Address})
	}
	for _, a := range s.ctx.Accounts {
		if a.IsEVM() {
			out = append(out, kit.Item{Value: kit.Checksummed(a.AccountAddress), Label: "your account", Note: kit.Checksummed(a.AccountAddress)})
		}
	}
	return out
}

func boolItems() []kit.Item {
	return []kit.Item{{Value: "true", Label: "true"}, {Value: "false", Label: "false"}}
}

// setText puts a chosen value into a field; typeIt goes to the field instead.
func (s *Screen) setText(f *kit.Field) func(string) tea.Cmd {
	return func(v string) tea.Cmd {
		if v == typeIt {
			s.edit()
			return nil
		}
		f.Set(v)
		s.changed()
		s.step(1, false)
		return nil
	}
}

// functionItems lists what a call can be: typed, raw, none, a function of a pasted ABI, or a known one. approve is named, and says where it belongs.
func (s *Screen) functionItems(c *call) func() []kit.Item {
	return func() []kit.Item {
		out := []kit.Item{
			{Value: typeIt, Label: "type or paste a signature, ABI JSON or call data"},
			{Value: pickFn + "transfer(address to, uint256 amount)", Label: "transfer", Note: "address to, uint256 amount"},
			{Value: pickFn + "deposit()", Label: "deposit", Note: "wrap the chain's own coin"},
			{Value: pickFn + "approve", Label: "approve", Note: "belongs under allow", Off: "an approval is declared under allow, and ends with your calls"},
			{Value: pickRaw, Label: "raw call data", Note: "0x hex"},
			{Value: pickNone, Label: "no function: send only the value"},
		}
		for _, fn := range append(append([]abicall.Function{}, c.abi...), abicall.Known()...) {
			if sig := fn.Signature(); grants(fn) || sig == "transfer(address,uint256)" || sig == "deposit()" {
				continue
			}
			out = append(out, kit.Item{Value: pickFn + fn.String(), Label: kit.Clean(fn.String(), 300)})
		}
		return out
	}
}

func grants(fn abicall.Function) bool {
	c := call{fn: &fn}
	_, _, name := c.approval(-1)
	return name != ""
}

func (s *Screen) takeFunction(c *call) func(string) tea.Cmd {
	return func(v string) tea.Cmd {
		switch v {
		case typeIt:
			c.raw = false
			s.focusOn(c, "sig")
			s.edit()
			return nil
		case pickRaw:
			data, ok := c.calldata(s.b.decimals(s.ctx.Catalog, c))
			c.raw, c.fn, c.args = true, nil, nil
			if ok {
				c.data.Set(hex0x(data))
			}
			s.focusOn(c, "data")
			s.edit()
			return nil
		case pickNone:
			c.raw = false
			c.sig.Set("")
			c.data.Set("")
		default:
			c.raw = false
			c.sig.Set(v[len(pickFn):])
		}
		s.focusOn(c, "sig")
		s.changed()
		s.step(1, false)
		return nil
	}
}

func (s *Screen) focusOn(c *call, part string) {
	for i, x := range s.b.calls {
		if x == c {
			s.focus = map[string]string{"sig": idSig(i), "data": idData(i)}[part]
		}
	}
}

// assetItems lists the assets of the target chain, with the coin when native.
func (s *Screen) assetItems(native bool) func() []kit.Item {
	return func() []kit.Item {
		var out []kit.Item
		list := s.b.tokens(s.ctx.Catalog)
		if native {
			list = append([]catalog.Entity{s.b.native(s.ctx.Catalog)}, list...)
		}
		for _, e := range list {
			out = append(out, kit.Item{Value: e.Asset.String(), Label: e.Symbol, Note: "you have " + s.held(s.money.of(e.Asset), e.Decimals)})
		}
		return out
	}
}

func (s *Screen) addNeed(v string) tea.Cmd {
	s.b.needs = append(s.b.needs, newNeed(v, ""))
	s.focus = idNeed(len(s.b.needs)-1, "amount")
	s.edit()
	return nil
}

func (s *Screen) addAllowance(v string) tea.Cmd {
	s.b.allow = append(s.b.allow, newAllowance(v, "", ""))
	s.focus = idAllowRow(len(s.b.allow)-1, "spender")
	s.edit()
	return nil
}

func (s *Screen) ownNeeds() tea.Cmd {
	s.b.startOwn(s.ctx.Catalog)
	s.focus = idAddNeed
	if len(s.b.needs) > 0 {
		s.focus = idNeed(0, "amount")
	}
	return nil
}

// fundItems lists the aggregates that are held, largest names first as in the catalogue, each with its chains.
func (s *Screen) fundItems() []kit.Item {
	out := []kit.Item{{Value: "", Label: "automatic", Note: "the same asset, any chain"}}
	for _, agg := range s.ctx.Catalog.Aggregates() {
		total := s.money.total(agg)
		if s.money.known && (total == nil || total.Sign() == 0) {
			continue
		}
		out = append(out, kit.Item{Value: agg.ID.String(), Label: agg.Symbol + " on any chain", Note: s.held(total, agg.Decimals)})
		for _, e := range agg.Entities {
			if v := s.money.of(e.Asset); v != nil && v.Sign() > 0 {
				out = append(out, kit.Item{Value: e.Asset.String(), Label: "  " + e.Symbol + " on " + s.chainName(e.Asset.Chain), Note: s.held(v, e.Decimals)})
			}
		}
	}
	return out
}

func (s *Screen) chainName(c caip.Chain) string {
	if info, ok := s.ctx.Catalog.Chain(c); ok {
		return info.Name
	}
	return c.String()
}

func (s *Screen) fundLabel(v string) string {
	if id, err := caip.ParseAggregate(v); err == nil {
		if agg, ok := s.ctx.Catalog.Aggregate(id); ok {
			return agg.Symbol + " on any chain, you have " + s.held(s.money.total(agg), agg.Decimals)
		}
	}
	if a, err := caip.ParseAsset(v); err == nil {
		if e, ok := s.ctx.Catalog.Entity(a); ok {
			return e.Symbol + " on " + s.chainName(a.Chain) + " only, you have " + s.held(s.money.of(a), e.Decimals)
		}
	}
	return kit.Clean(v, 120)
}

func slipItems() []kit.Item {
	var out []kit.Item
	for _, b := range presets() {
		out = append(out, kit.Item{Value: strconv.Itoa(b), Label: bpsText(b)})
	}
	return append(out, kit.Item{Value: "0", Label: "custom", Note: "in basis points"})
}

func (s *Screen) takeSlip(v string) tea.Cmd {
	s.b.slip, _ = strconv.Atoi(v)
	if s.b.slip == 0 {
		s.focus = idSlipBps
		s.edit()
	}
	return nil
}

// takePaste reads ABI JSON or call data that was pasted into a function field; taken is false for anything else.
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
			return screen.Toast(theme.Warn, "that is not call data: it needs 0x and an even number of hexadecimal digits"), true
		}
		if s.b.chainDecoded(s.ctx.Catalog, c, data) {
			return screen.Toast(theme.Good, "decoded as "+kit.Clean(c.fn.Signature(), 120)+": a match of four bytes suggests it and proves nothing"), true
		}
		return screen.Toast(theme.Warn, "no known function fits: it stays raw call data"), true
	}
	return nil, false
}

func (b *batch) chainDecoded(c *catalog.Catalog, x *call, data []byte) bool {
	return x.takeData(data, b.decimals(c, x))
}

func (s *Screen) takeABI(c *call, text string) tea.Cmd {
	list, err := abicall.ParseJSON([]byte(text))
	if err != nil {
		return screen.Toast(theme.Warn, plain(err))
	}
	c.abi = list
	if len(list) == 1 {
		return s.takeFunction(c)(pickFn + list[0].String())
	}
	var items []kit.Item
	for _, fn := range list {
		it := kit.Item{Value: pickFn + fn.String(), Label: kit.Clean(fn.String(), 300)}
		if grants(fn) {
			it.Off = "an approval is declared under allow, and ends with your calls"
		}
		items = append(items, it)
	}
	s.openList("Function of the pasted ABI", items, "", s.takeFunction(c))
	return nil
}

func (s *Screen) openList(title string, items []kit.Item, current string, take func(string) tea.Cmd) {
	s.stopEditing()
	s.choice.Title = title
	s.take = take
	s.choice.Open(items, current)
}

func hex0x(b []byte) string { return "0x" + hex.EncodeToString(b) }

func unhex(text string) ([]byte, error) { return hex.DecodeString(strings.TrimPrefix(text, "0x")) }
