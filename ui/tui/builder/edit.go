package builder

import (
	"slices"
	"strconv"

	tea "charm.land/bubbletea/v2"
	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/amount"
	"coffer/api/caip"
	"coffer/api/op/abicall"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/screen"
	"coffer/ui/tui/theme"
	"coffer/wallet/intent"
)

// addCall puts an empty call behind the one at i.
func (b *batch) addCall(i int) int {
	if len(b.calls) >= api.MaxListed {
		return i
	}
	b.calls = slices.Insert(b.calls, i+1, newCall())
	return i + 1
}

// duplicate copies the call at i behind itself.
func (b *batch) duplicate(i int) int {
	if len(b.calls) >= api.MaxListed {
		return i
	}
	old, c := b.calls[i], newCall()
	c.to.Set(old.to.Value())
	c.sig.Set(old.sig.Value())
	c.data.Set(old.data.Value())
	c.value.Set(old.value.Value())
	c.raw, c.fn, c.sigErr, c.abi, c.args = old.raw, old.fn, old.sigErr, old.abi, cloneNodes(old.args)
	b.calls = slices.Insert(b.calls, i+1, c)
	return i + 1
}

// remove takes the call at i away; the last one is emptied.
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

// toAllowance turns an approve() typed as a call into an allowance. The call goes away unless it is the only one, which is emptied.
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
	s.b.allow = append(s.b.allow, newAllowance(token.Asset.String(), spender, amount.Trim(amount.Format(v, token.Decimals))))
	s.b.remove(i)
	s.focus = idAllowRow(len(s.b.allow)-1, "amount")
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

// transfer fills a call with the transfer of a token, or with a plain sending of the chain's coin.
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

// prefill starts a transfer of an asset that was chosen on another screen.
func (s *Screen) prefill(a screen.AssetArg) tea.Cmd {
	chain, err := caip.ParseChain(a.Chain)
	if _, isEVM := chain.EVMID(); err != nil || !isEVM {
		chain = s.richest(a.Aggregate)
	}
	asset, ok := s.tokenOn(chain, a.Aggregate)
	switch {
	case !ok:
		return screen.Toast(theme.Warn, "calls cannot send this asset: it is on no EVM chain")
	case s.b.empty() || s.frozen != "":
		s.clear()
		s.frozen = ""
		s.b.chain = chain
	case s.b.chain != chain:
		return screen.Toast(theme.Warn, "a call on another chain is being built: clear it first (X)")
	default:
		s.b.addCall(len(s.b.calls) - 1)
	}
	i := len(s.b.calls) - 1
	s.transfer(s.b.calls[i], asset, "", "")
	s.focus = idTo(i)
	if _, token := asset.Token(); token {
		s.focus = idArg(i, []int{0})
	}
	s.edit()
	return nil
}

// richest is the EVM chain on which most of an aggregate is held; its first one when nothing is known.
func (s *Screen) richest(aggregate string) caip.Chain {
	id, _ := caip.ParseAggregate(aggregate)
	agg, _ := s.ctx.Catalog.Aggregate(id)
	var best caip.Asset
	for _, e := range agg.Entities {
		if _, ok := e.Asset.Chain.EVMID(); !ok {
			continue
		}
		v, top := s.money.of(e.Asset), s.money.of(best)
		if best == (caip.Asset{}) || v != nil && (top == nil || v.Cmp(top) > 0) {
			best = e.Asset
		}
	}
	return best.Chain
}

// restore shows a draft that comes back from a review: what was typed, if it is still here, else a form made from the draft.
func (s *Screen) restore(d intent.Draft, fs []api.Failure) {
	if in, err := intent.Freeze(d, s.rules()); err != nil || in.ID() != s.frozen || s.frozen == "" {
		if len(d.Calls) > 0 {
			s.fill(d)
		}
	}
	s.frozen = ""
	s.told, s.general = nil, nil
	if len(fs) > 0 {
		s.refuse(fs, nil)
	}
	s.focus, s.editing = idTo(0), false
	for _, r := range s.rows() {
		if s.told[r.id] != "" {
			s.focus = r.id
			break
		}
	}
}

// fill makes the form of a draft.
func (s *Screen) fill(d intent.Draft) {
	s.clear()
	if chain, err := caip.ParseChain(d.TargetChain); err == nil {
		s.b.chain = chain
	}
	cat := s.ctx.Catalog
	s.b.calls = nil
	for _, x := range d.Calls {
		c := newCall()
		c.to.Set(x.To)
		if v, ok := api.ParseWei(x.Value); ok && v.Sign() > 0 {
			c.value.Set(amount.Trim(amount.Format(v, s.b.native(cat).Decimals)))
		}
		if fn, err := abicall.ParseSignature(x.Function); err == nil {
			c.fn = &fn
		}
		if data := common.FromHex(x.Data); len(data) > 0 {
			c.takeData(data, s.b.decimals(cat, c))
		} else {
			c.fn = nil
		}
		s.b.calls = append(s.b.calls, c)
	}
	s.b.own, s.b.fund = true, d.FundWith
	for _, r := range d.TokensRequired {
		s.b.needs = append(s.b.needs, newNeed(r.AssetType, s.whole(r.AssetType, r.Amount)))
	}
	for _, a := range d.Allowances {
		s.b.allow = append(s.b.allow, newAllowance(a.AssetType, a.Spender, s.whole(a.AssetType, a.Amount)))
	}
	s.b.slip = 0
	if slices.Contains(presets(), d.SlippageBps) {
		s.b.slip = d.SlippageBps
	}
	s.b.slipField.Set(strconv.Itoa(d.SlippageBps))
	s.b.valid.Set(strconv.Itoa(minutesLeft(d.ValidUntil, s.ctx.Clock())))
	s.b.kept = keptOf(d)
}

// whole writes base units of a known asset in whole units; what cannot be converted is left out and becomes a mistake at its field.
func (s *Screen) whole(asset, base string) string {
	a, err := caip.ParseAsset(asset)
	v, bad := amount.ParseBase(base)
	e, ok := s.ctx.Catalog.Entity(a)
	if err != nil || bad != nil || !ok {
		return ""
	}
	return amount.Trim(amount.Format(v, e.Decimals))
}

func presets() []int { return []int{10, 50, 100, 200} }

func bpsText(bps int) string { return amount.Format(newInt(bps), 2) + " %" }

func tokenLabel(s *Screen, asset string) string {
	a, err := caip.ParseAsset(asset)
	if err != nil {
		return "choose"
	}
	if e, ok := s.ctx.Catalog.Entity(a); ok {
		return e.Symbol
	}
	return kit.Clean(asset, 120)
}
