package linear

import (
	"context"
	"slices"

	"coffer/api"
	"coffer/api/amount"
	"coffer/api/caip"
	"coffer/api/catalog"
	"coffer/ui/compose"
	"coffer/ui/present"
)

// askToken asks for an asset of a chain and its amount.
func (s *session) askToken(ctx context.Context, title string, from []catalog.Entity) (asset caip.Asset, base string,
	err error) {
	m := menu{title: title}
	for _, e := range from {
		m.items = append(m.items, e.Symbol+", "+e.Name)
	}
	i, _, err := s.choose(ctx, m)
	if err != nil {
		return asset, "", err
	}
	base, err = s.askAmount(ctx, "How much "+from[i].Symbol+"? Type an amount:", from[i].Decimals, from[i].Symbol)
	return from[i].Asset, base, err
}

// askAmount asks for an amount in whole units; the answer is in base units.
func (s *session) askAmount(ctx context.Context, text string, decimals int, symbol string) (base string, err error) {
	err = s.read(ctx, text, func(a string) string {
		v, problem := compose.Positive(a, decimals, symbol)
		if problem == "" {
			base = v.String()
		}
		return problem
	})
	return base, err
}

// changeAllowances adds or removes an allowance, which contracts may use while the calls run.
func (s *session) changeAllowances(ctx context.Context, p *plan) error {
	m := menu{items: []string{"Add an allowance"}}
	for i, a := range p.d.Allowances {
		m.items = append(m.items, "Remove allowance "+itoa(i+1)+": "+s.asked(a.AssetType, a.Amount)+" to "+
			present.Address(a.Spender))
	}
	i, _, err := s.choose(ctx, m)
	if err != nil {
		return err
	}
	if i > 0 {
		p.d.Allowances = slices.Delete(slices.Clone(p.d.Allowances), i-1, i)
		return nil
	}
	asset, base, err := s.askToken(ctx, "Which token may be taken?", s.AssetsOn(p.chain(), false))
	if err != nil {
		return err
	}
	spender, err := s.askAddress(ctx, p.chain(), "Who may take it?", false)
	if err != nil {
		return err
	}
	p.d.Allowances = append(slices.Clone(p.d.Allowances),
		api.AllowanceRequirement{AssetType: asset.String(), Amount: base, Spender: spender})
	return nil
}

// changeNeeds lets the list of required tokens follow the calls, or makes it the person's own.
func (s *session) changeNeeds(ctx context.Context, p *plan) error {
	m := menu{items: []string{"Let the list follow the calls", "Add a token to a list of your own"}}
	for _, r := range p.d.TokensRequired {
		if !p.follows {
			m.items = append(m.items, "Remove "+s.asked(r.AssetType, r.Amount))
		}
	}
	i, _, err := s.choose(ctx, m)
	switch {
	case err != nil:
		return err
	case i == 0:
		p.follows, p.d.TokensRequired = true, nil
		return nil
	case i > 1:
		p.d.TokensRequired = slices.Delete(slices.Clone(p.d.TokensRequired), i-2, i-1)
		return nil
	}
	asset, base, err := s.askToken(ctx, "Which token do the calls need?", s.AssetsOn(p.chain(), true))
	if err != nil {
		return err
	}
	list := slices.Clone(p.d.TokensRequired)
	if p.follows {
		list = s.Spent(p.d)
	}
	list = slices.DeleteFunc(list, func(r api.TokenRequirement) bool { return r.AssetType == asset.String() })
	p.follows, p.d.TokensRequired = false, append(list, api.TokenRequirement{AssetType: asset.String(), Amount: base})
	return nil
}

// changeFunding asks which asset pays for a call.
func (s *session) changeFunding(ctx context.Context, p *plan) error {
	m := menu{title: "Which asset pays?", items: []string{"Whatever the service chooses of the needed asset"}}
	aggs := s.held()
	for _, a := range aggs {
		m.items = append(m.items, s.heldLine(a)+", from all chains together")
	}
	i, _, err := s.choose(ctx, m)
	switch {
	case err != nil:
		return err
	case i == 0:
		p.d.FundWith = ""
		return nil
	}
	p.d.FundWith, _, err = s.askSource(ctx, aggs[i-1])
	return err
}

// held lists the assets with a balance, or all when no balance is known.
func (s *session) held() []catalog.Aggregate {
	var out []catalog.Aggregate
	for _, a := range s.Catalog.Aggregates() {
		if v := s.Money.Total(a); v == nil || v.Sign() > 0 {
			out = append(out, a)
		}
	}
	return out
}

func (s *session) heldLine(a catalog.Aggregate) string {
	line := a.Symbol + ", " + a.Name
	if v := s.Money.Total(a); v != nil && !s.hidden {
		line += ": you have " + amount.Human(v, a.Decimals)
	}
	return line
}

// askSource asks for the source of an asset: all chains together, or one. It returns the id of an asset for an intent,
// and its decimals.
func (s *session) askSource(ctx context.Context, a catalog.Aggregate) (asset string, decimals int, err error) {
	m := menu{title: "From where?", items: []string{"All chains together"}}
	var from []catalog.Entity
	for _, e := range a.Entities {
		if v := s.Money.Of(e.Asset); v != nil && v.Sign() > 0 {
			from = append(from, e)
			line := "Only from " + s.ChainName(e.Asset.Chain)
			if !s.hidden {
				line += ", where you have " + amount.Human(v, e.Decimals)
			}
			m.items = append(m.items, line)
		}
	}
	if len(from) == 0 {
		return a.ID.String(), a.Decimals, nil
	}
	i, _, err := s.choose(ctx, m)
	switch {
	case err != nil:
		return "", 0, err
	case i == 0:
		return a.ID.String(), a.Decimals, nil
	}
	return from[i-1].Asset.String(), from[i-1].Decimals, nil
}
