package linear

import (
	"context"

	"coffer/ui/present"
)

// allowances lists what calls of this wallet let contracts take, and makes the revocation of one an order.
func (s *session) allowances(ctx context.Context) error {
	if s.deps.Allowances == nil {
		return nil
	}
	list := s.deps.Allowances()
	if len(list) == 0 {
		return nil
	}
	s.out.say(plural(len(list), "allowance", "allowances") + " of calls of this wallet. " + present.AllowancesUnknown)
	m := menu{title: "Revoke one of them? You review the order before anything is signed:"}
	for i, x := range list {
		figure := x.Figure(s.Catalog)
		if s.Hidden {
			figure = "amount hidden"
		}
		s.out.say("Allowance " + itoa(i+1) + ": " + figure + ".")
		for _, r := range x.Rows(s.NameOf, s.date) {
			if r.Address == "" {
				s.out.fact(2, capital(r.Label), r.Text)
				continue
			}
			s.out.where(2, capital(r.Label), plain(r.Name+" "), address(r.Address))
		}
		m.add("Revoke allowance "+itoa(i+1), func() error { return s.revoke(ctx, x) })
	}
	return s.offer(ctx, m)
}

// revoke lets the person review the order that sets an allowance to 0.
func (s *session) revoke(ctx context.Context, x present.Allowance) error {
	d, problem := s.Revocation(x.Asset, x.Spender)
	if problem != "" {
		s.wrong(problem)
		return nil
	}
	return s.planned(ctx, &plan{d: d}, nil)
}
