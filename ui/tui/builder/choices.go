package builder

import (
	"strconv"

	tea "charm.land/bubbletea/v2"

	"coffer/api/caip"
	"coffer/api/catalog"
	"coffer/api/op/abicall"
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
	for _, c := range s.ctx.Catalog.Chains() {
		out = append(out, kit.Item{Value: c.Chain.String(), Label: c.Name, Note: c.Chain.String()})
	}
	return out
}

// takeChain changes the chain. Targets that are known tokens move with it when the token exists there too; the person's
// own lists of tokens do not.
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
	if len(s.b.over) > 0 { // they refer to addresses of the other chain
		s.b.over = nil
		return screen.Toast(theme.Warn, "the assumed state was for the other chain and was taken away")
	}
	return nil
}

func (s *Screen) targetItems() []kit.Item {
	out := []kit.Item{typeAddress()}
	for _, e := range s.b.tokens(s.ctx.Catalog) {
		a, _ := e.Asset.Token()
		out = append(out, kit.Item{Value: a.Hex(), Label: e.Symbol, Note: e.Name})
	}
	return append(out, s.bookItems(false)...)
}

// addressItems offers the named addresses, and the known tokens unless the argument is a recipient: what is sent to a
// token is mostly lost.
func (s *Screen) addressItems(paid bool) func() []kit.Item {
	return func() []kit.Item {
		out := append([]kit.Item{typeAddress()}, s.bookItems(false)...)
		if paid {
			return out
		}
		for _, e := range s.b.tokens(s.ctx.Catalog) {
			a, _ := e.Asset.Token()
			out = append(out, kit.Item{Value: a.Hex(), Label: e.Symbol, Note: e.Name})
		}
		return out
	}
}

func (s *Screen) spenderItems() []kit.Item {
	out := []kit.Item{typeAddress()}
	for i, c := range s.b.calls {
		if a, err := caip.ParseAddress(trim(c.to.Value())); err == nil {
			if _, token := s.b.tokenAt(s.ctx.Catalog, c.to.Value()); !token {
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

// functionItems lists what a call can be: typed, raw, none, a function of a pasted ABI, or a known one; token functions
// come first at a token. approve is listed, and says where it belongs.
func (s *Screen) functionItems(c *call) func() []kit.Item {
	return func() []kit.Item {
		out := []kit.Item{{Value: typeIt, Label: "type or paste a signature, ABI JSON or call data", Typed: asFunction}}
		seen := map[string]bool{}
		add := func(fn abicall.Function, note string) {
			if sig := fn.Signature(); seen[sig] || grants(fn) {
				return
			}
			seen[fn.Signature()] = true
			out = append(out, kit.Item{Value: pickFn + fn.String(), Label: present.Clean(fn.String(), 300), Note: note})
		}
		for _, o := range c.abi {
			add(o.fn, "pasted ABI")
		}
		for _, fn := range s.usual(c) {
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

// usual are the functions that the target of a call most likely has.
func (s *Screen) usual(c *call) []abicall.Function {
	list := []string{"transfer(address,uint256)", "transferFrom(address,address,uint256)"}
	token, known := s.b.tokenAt(s.ctx.Catalog, c.to.Value())
	switch {
	case known && token.Symbol == "W"+s.b.native(s.ctx.Catalog).Symbol:
		list = append([]string{"deposit()", "withdraw(uint256)"}, list...)
	case !known:
		list = append(list, "deposit()", "withdraw(uint256)")
	}
	all := abicall.Known()
	var out []abicall.Function
	for _, want := range list {
		for _, fn := range all {
			if fn.Signature() == want {
				out = append(out, fn)
			}
		}
	}
	return out
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
			out = append(out, kit.Item{Value: e.Asset.String(), Label: e.Symbol,
				Note: "you have " + s.held(s.money.of(e.Asset), e.Decimals)})
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

// fundItems lists the aggregates with a balance, in the order of the catalogue, each with its chains.
func (s *Screen) fundItems() []kit.Item {
	out := []kit.Item{{Value: "", Label: "automatic", Note: "the same asset, any chain"}}
	for _, agg := range s.ctx.Catalog.Aggregates() {
		total := s.money.total(agg)
		if s.money.known && (total == nil || total.Sign() == 0) {
			continue
		}
		out = append(out, kit.Item{Value: agg.ID.String(), Label: agg.Symbol + " on any chain",
			Note: s.held(total, agg.Decimals)})
		for _, e := range agg.Entities {
			if v := s.money.of(e.Asset); s.holds(e.Asset.Chain) && (!s.money.known || v != nil && v.Sign() > 0) {
				out = append(out, kit.Item{Value: e.Asset.String(),
					Label: "  " + e.Symbol + " on " + s.chainName(e.Asset.Chain), Note: s.held(v, e.Decimals)})
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
	return present.Clean(v, 120)
}

func slipItems() []kit.Item {
	var out []kit.Item
	for _, b := range presets() {
		out = append(out, kit.Item{Value: strconv.Itoa(b), Label: bpsText(b)})
	}
	return append(out, kit.Item{Value: "0", Label: "your own", Note: "basis points or percent", Typed: asShare})
}

func (s *Screen) takeSlip(v string) tea.Cmd {
	t := s.slip()
	if t.preset != 0 && t.own.Value() == "" {
		t.own.Set(strconv.Itoa(t.preset))
	}
	t.preset, _ = strconv.Atoi(v)
	if t.preset == 0 {
		s.focus = idSlipBps
		s.edit()
	}
	return nil
}

func (s *Screen) spanItems(words func(int) string, presets []int) func() []kit.Item {
	return func() []kit.Item {
		var out []kit.Item
		for _, n := range presets {
			out = append(out, kit.Item{Value: strconv.Itoa(n), Label: words(n)})
		}
		return append(out, kit.Item{Value: strconv.Itoa(ownPreset), Label: "your own", Note: "in minutes",
			Typed: asMinutes})
	}
}

// takeSpan takes a preset of minutes, or opens the field for another number.
func (s *Screen) takeSpan(id string, m *minutes) func(string) tea.Cmd {
	return func(v string) tea.Cmd {
		if id == idAfter {
			s.b.after = ""
		}
		m.preset, _ = strconv.Atoi(v)
		if m.preset == ownPreset {
			s.focus = id + ownSuffix
			s.edit()
		}
		return nil
	}
}

func (s *Screen) openList(title string, items []kit.Item, current string, take func(string) tea.Cmd) {
	s.stopEditing()
	s.looks = false
	s.choice.Title = title
	s.take, s.typed, s.choice.Reads = take, nil, nil
	s.choice.Open(items, current)
}
