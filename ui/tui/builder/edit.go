package builder

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"coffer/api"
	"coffer/api/amount"
	"coffer/api/caip"
	"coffer/ui/tui/screen"
	"coffer/ui/tui/theme"
)

// addCall inserts an empty call after call i.
func (b *batch) addCall(i int) int {
	if len(b.calls) >= api.MaxListed {
		return i
	}
	b.calls = slices.Insert(b.calls, i+1, newCall())
	return i + 1
}

// duplicate inserts a copy of call i after it.
func (b *batch) duplicate(i int) int {
	if len(b.calls) >= api.MaxListed {
		return i
	}
	old, c := b.calls[i], newCall()
	c.to.Set(old.to.Value())
	c.sig.Set(old.sig.Value())
	c.data.Set(old.data.Value())
	c.value.Set(old.value.Value())
	c.raw, c.why, c.fn, c.sigErr, c.abi, c.args = old.raw, old.why, old.fn, old.sigErr, old.abi, cloneNodes(old.args)
	b.calls = slices.Insert(b.calls, i+1, c)
	return i + 1
}

// remove removes call i; the only call is emptied instead.
func (b *batch) remove(i int) int {
	b.calls = slices.Delete(b.calls, i, i+1)
	if len(b.calls) == 0 {
		b.calls = []*call{newCall()}
	}
	return min(i, len(b.calls)-1)
}

// move swaps the call at i with its neighbour.
func (b *batch) move(i, d int) int {
	j := i + d
	if j < 0 || j >= len(b.calls) {
		return i
	}
	b.calls[i], b.calls[j] = b.calls[j], b.calls[i]
	return j
}

// toAllowance turns an approve() that was typed as a call into an allowance. It removes the call, or empties the only
// one.
func (s *Screen) toAllowance(i int) tea.Cmd {
	c := s.b.calls[i]
	token, known := s.b.tokenAt(s.ctx.Catalog, c.to.Value())
	spender, v, name := c.approval(s.b.decimals(s.ctx.Catalog, c))
	switch {
	case name != "approve":
		return screen.Toast(theme.Warn, "only an approve() can be moved to the allowances")
	case !known:
		return screen.Toast(theme.Warn, "choose a known token as the target first: the allowance needs its decimals")
	case v == nil:
		return screen.Toast(theme.Warn, "fill in spender and amount first")
	}
	s.b.allow = append(s.b.allow, newAllowance(token.Asset.String(), spender,
		amount.Trim(amount.Format(v, token.Decimals))))
	s.b.remove(i)
	s.focus = idAllowRow(len(s.b.allow)-1, "asset")
	return screen.Toast(theme.Good, "moved to the allowances: it holds only while your calls run")
}

// tokenOn finds the entity of an aggregate on a chain.
func (s *Screen) tokenOn(chain caip.Chain, aggregate string) (caip.Asset, bool) {
	id, err := caip.ParseAggregate(aggregate)
	if err != nil {
		return caip.Asset{}, false
	}
	agg, ok := s.ctx.Catalog.Aggregate(id)
	if !ok {
		return caip.Asset{}, false
	}
	for _, e := range agg.Entities {
		if e.Asset.Chain == chain {
			return e.Asset, true
		}
	}
	return caip.Asset{}, false
}

// transfer fills a call with the transfer of a token, or with a plain payment in the chain's coin.
func (s *Screen) transfer(c *call, asset caip.Asset, to, whole string) {
	token, ok := asset.Token()
	if !ok {
		c.to.Set(to)
		c.value.Set(whole)
		return
	}
	c.to.Set(token.Hex())
	c.sig.Set("transfer(address to, uint256 amount)")
	c.readSignature(true)
	c.args[0].field.Set(to)
	c.args[1].field.Set(whole)
}
