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
	e, err := one(ctx, s, title, from, func(e catalog.Entity) string { return e.Symbol + ", " + e.Name })
	if err != nil {
		return asset, "", err
	}
	base, err = s.askAmount(ctx, "How much "+e.Symbol+"? Type an amount:", e.Decimals, e.Symbol)
	return e.Asset, base, err
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
	var m menu
	m.add("Add an allowance", func() error {
		asset, base, err := s.askToken(ctx, "Which token may be taken?", s.AssetsOn(p.chain(), false))
		if err != nil {
			return err
		}
		spender, err := s.askAddress(ctx, p.chain(), "Who may take it?", false)
		if err == nil {
			p.d.Allowances = append(slices.Clone(p.d.Allowances),
				api.AllowanceRequirement{AssetType: asset.String(), Amount: base, Spender: spender})
		}
		return err
	})
	for i, a := range p.d.Allowances {
		m.add("Remove allowance "+itoa(i+1)+": "+present.Figure(s.Catalog, a.AssetType, a.Amount)+" to "+
			present.Address(a.Spender),
			func() error {
				p.d.Allowances = slices.Delete(slices.Clone(p.d.Allowances), i, i+1)
				return nil
			})
	}
	return s.offer(ctx, m)
}

// changeNeeds lets the list of required tokens follow the calls, or makes it the person's own.
func (s *session) changeNeeds(ctx context.Context, p *plan) error {
	var m menu
	m.add("Let the list follow the calls", func() error {
		p.follows, p.d.TokensRequired = true, nil
		return nil
	})
	m.add("Add a token to your own list", func() error {
		asset, base, err := s.askToken(ctx, "Which token do the calls need?", s.AssetsOn(p.chain(), true))
		if err != nil {
			return err
		}
		list := slices.DeleteFunc(slices.Clone(s.needs(p)),
			func(r api.TokenRequirement) bool { return r.AssetType == asset.String() })
		p.follows, p.d.TokensRequired = false, append(list,
			api.TokenRequirement{AssetType: asset.String(), Amount: base})
		return nil
	})
	for i, r := range p.d.TokensRequired {
		if !p.follows {
			m.add("Remove "+present.Figure(s.Catalog, r.AssetType, r.Amount), func() error {
				p.d.TokensRequired = slices.Delete(slices.Clone(p.d.TokensRequired), i, i+1)
				return nil
			})
		}
	}
	return s.offer(ctx, m)
}

// needs are the tokens that a plan requires.
func (s *session) needs(p *plan) []api.TokenRequirement {
	if p.follows {
		return s.Spent(p.d)
	}
	return p.d.TokensRequired
}

// changeFunding asks which asset pays for a call.
func (s *session) changeFunding(ctx context.Context, p *plan) error {
	m := menu{title: "Which asset pays?"}
	m.add("Whatever the service chooses of the needed asset", func() error {
		p.d.FundWith = ""
		return nil
	})
	for _, a := range s.held() {
		m.add(s.heldLine(a)+", from all chains together", func() error {
			asset, _, err := s.askSource(ctx, a)
			if err == nil {
				p.d.FundWith = asset
			}
			return err
		})
	}
	return s.offer(ctx, m)
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
	if v := s.Money.Total(a); v != nil && !s.Hidden {
		line += ": you have " + amount.Human(v, a.Decimals)
	}
	return line
}

// askSource asks for the source of an asset: all chains together, or one. It returns the id of an asset for an intent,
// and its decimals.
func (s *session) askSource(ctx context.Context, a catalog.Aggregate) (asset string, decimals int, err error) {
	m := menu{title: "From where?"}
	take := func(text, id string, n int) {
		m.add(text, func() error {
			asset, decimals = id, n
			return nil
		})
	}
	take("All chains together", a.ID.String(), a.Decimals)
	for _, e := range a.Entities {
		if v := s.Money.Of(e.Asset); v != nil && v.Sign() > 0 {
			line := "Only from " + s.ChainName(e.Asset.Chain)
			if !s.Hidden {
				line += ", where you have " + amount.Human(v, e.Decimals)
			}
			take(line, e.Asset.String(), e.Decimals)
		}
	}
	if len(m.items) == 1 {
		err = m.do[0]()
	} else {
		err = s.offer(ctx, m)
	}
	return asset, decimals, err
}
