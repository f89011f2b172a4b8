package builder

import (
	"math/big"
	"strconv"
	"time"

	tea "charm.land/bubbletea/v2"

	"coffer/api"
	"coffer/api/amount"
	"coffer/api/caip"
	"coffer/api/catalog"
	"coffer/api/op/abicall"
	"coffer/ui/present"
	"coffer/ui/tui/screen"
	"coffer/ui/tui/theme"
	"coffer/wallet/intent"
)

// prefill starts a transfer call, or a form, with an asset that was chosen on another screen.
func (s *Screen) prefill(a screen.AssetArg) tea.Cmd {
	if a.Form == formTransfer || a.Form == formSwap {
		return s.prefillExchange(a)
	}
	chain, err := caip.ParseChain(a.Chain)
	if _, isEVM := chain.EVMID(); err != nil || !isEVM {
		chain = s.richestOf(a.Aggregate, func(e catalog.Entity) bool {
			_, ok :=
				e.Asset.Chain.EVMID()
			return ok
		}).Chain
	}
	if a.Aggregate == "" && err == nil { // a chain was chosen, no asset
		s.show(formCalls)
		if s.b.empty() {
			s.b.chain = chain
		}
		return nil
	}
	asset, ok := s.tokenOn(chain, a.Aggregate)
	if !ok {
		return screen.Toast(theme.Warn, "calls cannot send this asset: it is on no EVM chain")
	}
	s.show(formCalls)
	switch {
	case s.b.empty() || s.frozen != "":
		s.clear()
		s.b = newBatch(s.ctx.Catalog, chain)
	case s.b.chain != chain:
		return screen.Toast(theme.Warn, "a call on another chain is being built: clear it first (X)")
	default:
		s.b.addCall(len(s.b.calls) - 1)
	}
	s.touched()
	i := len(s.b.calls) - 1
	s.transfer(s.b.calls[i], asset, "", "")
	s.focus = idTo(i)
	if _, token := asset.Token(); token {
		s.focus = idArg(i, []int{0})
	}
	s.edit()
	return nil
}

// prefillExchange opens a transfer or a swap of an asset. U restores the previous content of that form.
func (s *Screen) prefillExchange(a screen.AssetArg) tea.Cmd {
	s.show(a.Form)
	if !s.x[s.form].empty() {
		s.remember()
	}
	s.touched()
	s.x[s.form] = newExchange(s.form)
	pay := a.Aggregate
	if chain, err := caip.ParseChain(a.Chain); err == nil {
		if asset, ok := s.tokenOn(chain, a.Aggregate); ok {
			pay = asset.String()
		}
	}
	if _, ok := s.side(pay); !ok {
		s.focus = idPay
		return nil
	}
	cmd := s.takePay(pay)
	s.focus = idAmount
	s.edit()
	return cmd
}

// richestOf is the asset of an aggregate with the largest balance among the allowed ones; the first one when no balance
// is known.
func (s *Screen) richestOf(aggregate string, may func(catalog.Entity) bool) caip.Asset {
	id, _ := caip.ParseAggregate(aggregate)
	agg, _ := s.ctx.Catalog.Aggregate(id)
	var best catalog.Entity
	for _, e := range agg.Entities {
		if !may(e) {
			continue
		}
		v, top := s.money.of(e.Asset), s.money.of(best.Asset)
		if best.Asset == (caip.Asset{}) || v != nil && (top == nil ||
			amount.Scale(v, e.Decimals, agg.Decimals).Cmp(amount.Scale(top, best.Decimals, agg.Decimals)) > 0) {
			best = e
		}
	}
	return best.Asset
}

// restore shows a draft that returns from a review: the typed form if it is still here, else a form made from the
// draft.
func (s *Screen) restore(d intent.Draft, fs []api.Failure) {
	if in, err := intent.Freeze(d, s.rules()); err != nil || in.ID() != s.frozen || s.frozen == "" {
		if len(d.Calls) > 0 || d.Pay != nil {
			s.remember()
			s.fill(d)
		}
	}
	s.frozen = ""
	s.changes++
	s.fieldErrors, s.general = nil, nil
	if len(fs) > 0 {
		s.refuse(fs, nil)
	}
	s.focus, s.editing = "", false
	if s.form == formCalls {
		s.focus = idTo(0)
	}
	for _, r := range s.rows() {
		if s.fieldErrors[r.id] != "" {
			s.focus = r.id
			break
		}
	}
}

// fill fills the form from a draft.
func (s *Screen) fill(d intent.Draft) {
	s.touched()
	s.focus, s.editing, s.tried, s.top = "", false, false, 0
	if d.Pay != nil || d.Receive != nil {
		s.form = formTransfer
		if d.Kind == formSwap {
			s.form = formSwap
		}
		s.x[s.form] = s.fillExchange(d)
		return
	}
	s.form = formCalls
	s.b = s.batchOf(d)
}

// batchOf makes the form of calls from a draft.
func (s *Screen) batchOf(d intent.Draft) batch {
	chain, _ := caip.ParseChain(d.TargetChain)
	b := newBatch(s.ctx.Catalog, chain)
	cat := s.ctx.Catalog
	b.calls = nil
	var plain []api.Call
	for _, x := range d.Calls {
		b.calls = append(b.calls, b.callOf(x, cat))
		plain = append(plain, api.Call{To: x.To})
	}
	if len(b.calls) == 0 {
		b.calls = []*call{newCall()}
	}
	b.own, b.fund = true, d.FundWith
	for _, r := range d.TokensRequired {
		b.needs = append(b.needs, newNeed(r.AssetType, s.whole(r.AssetType, r.Amount)))
	}
	for _, a := range d.Allowances {
		if spender, ok := api.SpenderOf(a, plain); ok && a.Spender == "" {
			a.Spender = present.Checksummed(spender)
		}
		b.allow = append(b.allow, newAllowance(a.AssetType, a.Spender, s.whole(a.AssetType, a.Amount)))
	}
	b.slip.set(d.SlippageBps)
	b.valid.set(minutesLeft(d.ValidUntil, s.ctx.Clock()), validPresets())
	b.after, b.v1 = d.ValidAfter, d.Interface == intent.InterfaceV1
	for _, o := range d.Overrides {
		b.over = append(b.over, overrideOf(o, b.native(cat)))
	}
	return b
}

// callOf makes the form of one call.
func (b *batch) callOf(x intent.Call, cat *catalog.Catalog) *call {
	c := newCall()
	c.to.Set(x.To)
	if v, ok := api.ParseWei(x.Value); !ok {
		c.value.Set(x.Value) // shows as a mistake at its field
	} else if v.Sign() > 0 {
		c.value.Set(amount.Trim(amount.Format(v, b.native(cat).Decimals)))
	}
	if fn, err := abicall.ParseSignature(x.Function); err == nil {
		c.fn = &fn
	}
	data, err := unhex(x.Data)
	switch {
	case err != nil || x.Data != "" && x.Data[:min(2, len(x.Data))] != "0x":
		c.raw, c.fn = true, nil
		c.data.Set(x.Data)
	case len(data) > 0:
		c.takeData(data, b.decimals(cat, c))
	default:
		c.fn = nil
	}
	return c
}

// minutesLeft converts the validity of a draft for the form: the time that is left when the form can ask for that, else
// the default.
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

// whole writes base units of a known asset in whole units; "" for anything that cannot be converted, which becomes a
// mistake at its field.
func (s *Screen) whole(asset, base string) string {
	e, ok := s.entity(asset)
	if !ok {
		return ""
	}
	return wholeOf(base, e.Decimals)
}

func bpsText(bps int) string { return amount.Format(big.NewInt(int64(bps)), 2) + " %" }

func tokenLabel(s *Screen, asset string) string {
	if e, ok := s.entity(asset); ok {
		return e.Symbol
	}
	if asset == "" {
		return "choose"
	}
	return present.Clean(asset, 120)
}
