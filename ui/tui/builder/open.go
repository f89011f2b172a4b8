package builder

import (
	tea "charm.land/bubbletea/v2"

	"coffer/api"
	"coffer/api/amount"
	"coffer/api/caip"
	"coffer/api/catalog"
	"coffer/ui/compose"
	"coffer/ui/present"
	"coffer/ui/tui/screen"
	"coffer/ui/tui/theme"
	"coffer/wallet/intent"
)

// prefill starts a transfer call, or a form, with an asset that was chosen on another screen.
func (s *Screen) prefill(a screen.AssetArg) tea.Cmd {
	switch {
	case a == screen.AssetArg{Form: screen.FormCalls}:
		s.show(formCalls)
		return nil
	case a.Form != "" && a == screen.AssetArg{Form: a.Form}:
		s.show(a.Form)
		return nil
	case a.Form == intent.KindTransfer || a.Form == intent.KindSwap:
		return s.prefillExchange(a)
	}
	chain, err := caip.ParseChain(a.Chain)
	if _, isEVM := chain.EVMID(); err != nil || !isEVM {
		chain = s.richestOf(a.Aggregate, func(e catalog.Entity) bool {
			_, ok := e.Asset.Chain.EVMID()
			return ok
		}).Chain
	}
	if a.Aggregate == "" && err == nil { // a chain was chosen, no asset
		s.show(formCalls)
		if s.b.Empty() {
			s.b.Chain = chain
		}
		return nil
	}
	e, ok := s.AssetOn(chain, a.Aggregate)
	if !ok {
		return screen.Toast(theme.Warn, "calls cannot send this asset: it is on no EVM chain")
	}
	s.show(formCalls)
	switch {
	case s.b.Empty():
		s.clear()
		s.b = s.NewCalls(chain)
	case s.b.Chain != chain:
		return screen.Toast(theme.Warn, "a call on another chain is being built: clear it first (X)")
	default:
		s.b.Add(len(s.b.Calls) - 1)
	}
	s.touched()
	i := len(s.b.Calls) - 1
	s.b.Calls[i].Pay(e.Asset, "", "")
	s.focus = compose.IDTo(i)
	if _, token := e.Asset.Token(); token {
		s.focus = compose.IDArg(i, []int{0})
	}
	s.edit()
	return nil
}

// prefillExchange opens a transfer or a swap of an asset. U restores the previous content of that form.
func (s *Screen) prefillExchange(a screen.AssetArg) tea.Cmd {
	s.show(a.Form)
	if !s.x[s.form].Empty() {
		s.remember()
	}
	s.touched()
	s.x[s.form] = compose.NewExchange(s.form)
	s.x[s.form].To = a.To
	pay := a.Aggregate
	if chain, err := caip.ParseChain(a.Chain); err == nil {
		if e, ok := s.AssetOn(chain, a.Aggregate); ok {
			pay = e.Asset.String()
		}
	}
	if _, ok := s.Side(pay); !ok {
		s.focus = compose.IDPay
		return nil
	}
	cmd := s.takePay(pay)
	s.focus = compose.IDAmount
	s.edit()
	return cmd
}

// takeRequest fills in the form that pays a pasted payment request. U restores the previous content.
func (s *Screen) takeRequest(text string) tea.Cmd {
	form, note, problem := s.Payment(text)
	if problem != "" {
		return screen.Toast(theme.Warn, present.Clean(problem, 300))
	}
	s.choice.Close()
	s.stopEditing()
	amount := ""
	switch f := form.(type) {
	case *compose.Calls:
		s.show(formCalls)
		if amount = compose.IDValue(0); f.Calls[0].Fn != nil {
			amount = compose.IDArg(0, []int{1})
		}
	case *compose.Exchange:
		s.show(f.What)
		amount = compose.IDAmount
	}
	if !s.empty() {
		s.remember()
	}
	s.touched()
	if open := s.fillForm(form); open {
		s.focus = amount
	} else {
		s.focus = idReview
	}
	if note != "" {
		s.note = remark(compose.Warn, note)
	}
	return screen.Toast(theme.Good, "filled in from the payment request; U brings back what was there")
}

// fillForm puts a form that pays something in the place of the one of its kind; open reports an amount to type.
func (s *Screen) fillForm(form compose.Form) (open bool) {
	s.changes++
	switch f := form.(type) {
	case *compose.Calls:
		s.b = f
		if c := f.Calls[0]; c.Fn != nil {
			return c.Args[1].Text == ""
		}
		return f.Calls[0].Value == ""
	case *compose.Exchange:
		s.x[f.What] = f
		return f.Amount == ""
	}
	return false
}

// richestOf is the asset of an aggregate with the largest balance among the allowed ones; the first one when no balance
// is known.
func (s *Screen) richestOf(aggregate string, may func(catalog.Entity) bool) caip.Asset {
	id, _ := caip.ParseAggregate(aggregate)
	agg, _ := s.Catalog.Aggregate(id)
	var best catalog.Entity
	for _, e := range agg.Entities {
		if !may(e) {
			continue
		}
		v, top := s.Money.Of(e.Asset), s.Money.Of(best.Asset)
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
	if s.frozen == "" || d.ID() != s.frozen {
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
		s.focus = compose.IDTo(0)
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
	s.place = place{}
	switch f := s.FormOf(d).(type) {
	case *compose.Exchange:
		s.form, s.x[f.What] = f.What, f
	case *compose.Calls:
		s.form, s.b = formCalls, f
	}
}

func tokenLabel(s *Screen, asset string) string {
	if e, ok := s.Entity(asset); ok {
		return e.Symbol
	}
	if asset == "" {
		return "choose"
	}
	return present.Clean(asset, 120)
}
