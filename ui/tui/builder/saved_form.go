package builder

import (
	"errors"

	"coffer/api/caip"
	"coffer/api/catalog"
	"coffer/api/op/abicall"
)

func loadNodes(params []abicall.Param, saved []savedNode) ([]*node, error) {
	if len(params) != len(saved) {
		return nil, errors.New("arguments that do not fit their signature")
	}
	out := make([]*node, len(params))
	for i, p := range params {
		n, err := loadNode(p, saved[i])
		if err != nil {
			return nil, err
		}
		out[i] = n
	}
	return out, nil
}

func loadNode(p abicall.Param, s savedNode) (*node, error) {
	var err error
	n := &node{param: p}
	switch {
	case p.IsTuple():
		n.items, err = loadNodes(p.Components, s.Items)
	case p.IsArray():
		if p.Length >= 0 && len(s.Items) != p.Length {
			return nil, errors.New("arguments that do not fit their signature")
		}
		for _, it := range s.Items {
			var item *node
			if item, err = loadNode(*p.Elem, it); err != nil {
				return nil, err
			}
			n.items = append(n.items, item)
		}
	default:
		if len(s.Items) > 0 {
			return nil, errors.New("arguments that do not fit their signature")
		}
		n = newNode(p)
		n.field.Set(s.Text)
		n.units = s.Units && n.canUnits()
	}
	return n, err
}

func saveNodes(nodes []*node) []savedNode {
	out := make([]savedNode, len(nodes))
	for i, n := range nodes {
		if n.field != nil {
			out[i] = savedNode{Text: n.field.Value(), Units: n.units}
			continue
		}
		out[i].Items = saveNodes(n.items)
	}
	return out
}

func (t tolerance) save() savedChoice { return savedChoice{t.preset, t.own.Value()} }
func (m minutes) save() savedChoice   { return savedChoice{m.preset, m.field.Value()} }

func (t *tolerance) load(s savedChoice) {
	t.preset = 0
	for _, p := range presets() {
		if p == s.Preset {
			t.preset = p
		}
	}
	t.own.Set(s.Text)
}

func (m *minutes) load(s savedChoice, presets []int) {
	m.preset = ownPreset
	for _, p := range presets {
		if p == s.Preset {
			m.preset = p
		}
	}
	m.field.Set(s.Text)
}

// save turns the form into a document without anything of this network and these accounts.
func (b *batch) save() *savedBatch {
	out := &savedBatch{
		Chain: b.chain.String(), Own: b.own, Fund: b.fund, Slip: b.slip.save(), Valid: b.valid.save(),
		Start: b.start.save(), After: b.after, V1: b.v1,
	}
	for _, c := range b.calls {
		out.Calls = append(out.Calls, c.save())
	}
	for _, n := range b.needs {
		out.Needs = append(out.Needs, savedNeed{n.asset, n.amount.Value()})
	}
	for _, a := range b.allow {
		out.Allow = append(out.Allow, savedAllowance{a.asset, a.spender.Value(), a.amount.Value()})
	}
	for _, o := range b.over {
		one := savedOverride{Address: o.address.Value(), Balance: o.balance.Value(), Code: o.code.Value()}
		for _, x := range o.slots {
			one.Slots = append(one.Slots, savedSlot{x.key.Value(), x.value.Value()})
		}
		out.Overrides = append(out.Overrides, one)
	}
	return out
}

func (c *call) save() savedCall {
	out := savedCall{To: c.to.Value(), Signature: c.sig.Value(), Raw: c.raw, Data: c.data.Value(),
		Value: c.value.Value()}
	if !c.raw && c.fn != nil && c.sigErr == "" {
		out.Args = saveNodes(c.args)
	}
	for _, o := range c.abi {
		out.ABI = append(out.ABI, o.fn.String())
	}
	return out
}

// load makes the form of a saved batch; checkBatch has accepted the document.
func (s *savedBatch) load(c *catalog.Catalog) batch {
	chain, _ := caip.ParseChain(s.Chain)
	b := newBatch(c, chain)
	b.own, b.fund, b.after, b.v1 = s.Own, s.Fund, s.After, s.V1
	b.slip.load(s.Slip)
	b.valid.load(s.Valid, validPresets())
	b.start.load(s.Start, startPresets())
	b.calls = nil
	for _, x := range s.Calls {
		b.calls = append(b.calls, x.load())
	}
	for _, n := range s.Needs {
		b.needs = append(b.needs, newNeed(n.Asset, n.Amount))
	}
	for _, a := range s.Allow {
		b.allow = append(b.allow, newAllowance(a.Asset, a.Spender, a.Amount))
	}
	for _, o := range s.Overrides {
		one := newOverride(o.Address)
		one.balance.Set(o.Balance)
		one.code.Set(o.Code)
		for _, x := range o.Slots {
			one.slots = append(one.slots, newSlot(x.Key, x.Value))
		}
		b.over = append(b.over, one)
	}
	return b
}

func (s savedCall) load() *call {
	c := newCall()
	c.to.Set(s.To)
	c.sig.Set(s.Signature)
	c.data.Set(s.Data)
	c.value.Set(s.Value)
	for _, text := range s.ABI {
		if fn, err := abicall.ParseSignature(text); err == nil {
			c.abi = append(c.abi, offered{fn: fn})
		}
	}
	if c.raw = s.Raw; c.raw {
		return c
	}
	c.readSignature(false)
	if nodes, err := s.nodes(); err == nil && nodes != nil && c.fn != nil {
		c.args = nodes
	}
	return c
}

func (x *exchange) save() *savedExchange {
	out := &savedExchange{
		Kind: x.kind, Pay: x.pay, Amount: x.amount.Value(), Receive: x.receive, To: x.to.Value(),
		Minimum: x.min.Value(), Slip: x.slip.save(), V1: x.v1,
	}
	if x.at != (caip.Chain{}) {
		out.At = x.at.String()
	}
	return out
}

func (s *savedExchange) load() *exchange {
	x := newExchange(s.Kind)
	x.pay, x.receive, x.v1 = s.Pay, s.Receive, s.V1
	x.at, _ = caip.ParseChain(s.At)
	x.amount.Set(s.Amount)
	x.to.Set(s.To)
	x.min.Set(s.Minimum)
	x.slip.load(s.Slip)
	return x
}
