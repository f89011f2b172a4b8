package linear

import (
	"context"
	"slices"

	"coffer/api/caip"
	"coffer/api/catalog"
	"coffer/ui/compose"
	"coffer/ui/present"
	"coffer/wallet/intent"
)

// buildTransfer asks for an asset, an amount, a recipient and a chain.
func (s *session) buildTransfer(ctx context.Context) error {
	return s.exchange(ctx, intent.KindTransfer, "Which asset do you transfer?",
		func(ctx context.Context, p *plan, paid catalog.Aggregate) error { return s.askReceiver(ctx, p, paid) })
}

// buildSwap asks for the payment and the asset to get for it.
func (s *session) buildSwap(ctx context.Context) error {
	return s.exchange(ctx, intent.KindSwap, "Which asset do you give?",
		func(ctx context.Context, p *plan, paid catalog.Aggregate) error { return s.askGot(ctx, p, paid.ID) })
}

// exchange asks for the asset and the amount to pay, then for the other side.
func (s *session) exchange(ctx context.Context, kind, title string,
	other func(context.Context, *plan, catalog.Aggregate) error) error {
	if s.OwnNodes && kind == intent.KindSwap {
		s.out.say(capital(compose.NoSolver) + ", so nothing is swapped here: call an exchange, or use an operator.")
		return errBack
	}
	s.refresh(ctx)
	aggs := s.held()
	if len(aggs) == 0 {
		s.out.say("Your accounts hold nothing.")
		return errBack
	}
	p := &plan{d: intent.Draft{Version: intent.Version, Kind: kind, SlippageBps: intent.DefaultSlippageBps,
		Pay: &intent.Pay{}}}
	var agg catalog.Aggregate
	var decimals int
	err := s.steps(ctx, func(ctx context.Context) (err error) {
		agg, err = one(ctx, s, title, aggs, s.heldLine)
		return err
	}, func(ctx context.Context) (err error) {
		if s.OwnNodes { // it is paid on the chain of arrival
			p.d.Pay.Asset, decimals = agg.ID.String(), agg.Decimals
			return nil
		}
		p.d.Pay.Asset, decimals, err = s.askSource(ctx, agg)
		return err
	}, func(ctx context.Context) (err error) {
		cost := "; what it costs is taken out of it:"
		if s.OwnNodes {
			cost = ":"
		}
		p.d.Pay.Amount, err = s.askAmount(ctx, "How much "+agg.Symbol+"? Type an amount"+cost, decimals, agg.Symbol)
		return err
	}, func(ctx context.Context) error { return other(ctx, p, agg) })
	if err == nil && s.OwnNodes {
		err = s.paidThere(p)
	}
	if err != nil {
		return err
	}
	return s.planned(ctx, p, nil)
}

// askReceiver asks for the chain and the account that receive a transfer.
func (s *session) askReceiver(ctx context.Context, p *plan, agg catalog.Aggregate) error {
	var e catalog.Entity
	var to string
	err := s.steps(ctx, func(ctx context.Context) (err error) {
		e, err = s.askEntity(ctx, "On which chain does it arrive?", agg.Entities)
		return err
	}, func(ctx context.Context) (err error) {
		to, err = s.askAddress(ctx, e.Asset.Chain, "Who gets it on "+s.ChainName(e.Asset.Chain)+"?", true)
		return err
	})
	if err == nil {
		p.d.Receive = &intent.Receive{Asset: e.Asset.String(), Account: compose.AccountOn(e.Asset.Chain, to)}
	}
	return err
}

// askGot asks for the asset that a swap delivers, and where; for its recipient when none of the accounts is there.
func (s *session) askGot(ctx context.Context, p *plan, but caip.AggregateID) error {
	aggs := slices.DeleteFunc(slices.Clone(s.Catalog.Aggregates()),
		func(a catalog.Aggregate) bool { return a.ID == but })
	var agg catalog.Aggregate
	got := &intent.Receive{}
	err := s.steps(ctx, func(ctx context.Context) (err error) {
		agg, err = one(ctx, s, "Which asset do you get?", aggs,
			func(a catalog.Aggregate) string { return a.Symbol + ", " + a.Name })
		return err
	}, func(ctx context.Context) error {
		e, err := s.askEntity(ctx, "On which chain do you get it?", agg.Entities)
		got = &intent.Receive{Asset: e.Asset.String()}
		return err
	}, func(ctx context.Context) error {
		at := s.Arrives(&compose.Exchange{Receive: got.Asset})
		if s.Holds(at) {
			return nil
		}
		return s.askSwapReceiver(ctx, got, "None of your accounts is on "+s.ChainName(at)+". ")
	})
	if err == nil {
		p.d.Receive = got
	}
	return err
}

// askSwapReceiver asks for the account that gets what a swap delivers on its chain.
func (s *session) askSwapReceiver(ctx context.Context, r *intent.Receive, because string) error {
	at := s.Arrives(&compose.Exchange{Receive: r.Asset})
	to, err := s.askAddress(ctx, at, because+"Who gets it on "+s.ChainName(at)+"?", true)
	if err == nil {
		r.Account = compose.AccountOn(at, to)
	}
	return err
}

func (s *session) askEntity(ctx context.Context, title string, from []catalog.Entity) (catalog.Entity, error) {
	if len(from) == 1 {
		return from[0], nil
	}
	return one(ctx, s, title, from,
		func(e catalog.Entity) string { return s.ChainName(e.Asset.Chain) + ": " + e.Symbol })
}

// exchangeChoices lists the changes to a swap or a transfer.
func (s *session) exchangeChoices(ctx context.Context, p *plan, add func(string, func() error)) {
	if p.d.Pay == nil || p.d.Receive == nil { // a file left it out
		return
	}
	add("Change the amount", func() error {
		a, ok := s.Side(p.d.Pay.Asset)
		if !ok {
			s.out.say("The units of this asset are not known here.")
			return nil
		}
		base, err := s.askAmount(ctx, "How much "+a.Symbol+"? Type an amount:", a.Decimals, a.Symbol)
		if err == nil {
			p.d.Pay = &intent.Pay{Asset: p.d.Pay.Asset, Amount: base}
		}
		return err
	})
	if p.d.Kind == intent.KindTransfer {
		add("Change who gets it, and where", func() error {
			from, ok := s.Side(p.d.Pay.Asset)
			if !ok {
				s.out.say("This asset is not known here.")
				return nil
			}
			return s.askReceiver(ctx, p, from.Agg)
		})
		if !s.OwnNodes { // where it does anyway
			add("Let exactly the amount arrive; what it costs comes on top", func() error { return s.exactly(p) })
		}
		return
	}
	add("Change what you get, and where", func() error {
		from, _ := s.Side(p.d.Pay.Asset)
		return s.askGot(ctx, p, from.Agg.ID)
	})
	add("Set the minimum received", func() error {
		a, ok := s.Side(p.d.Receive.Asset)
		if !ok || !a.Exact {
			s.out.say("That needs an asset on one chain: its units differ by chain.")
			return nil
		}
		base, err := s.askAmount(ctx, "What is the minimum of "+a.Symbol+" that you take? Type an amount:",
			a.Decimals, a.Symbol)
		if err == nil {
			p.d.Receive = &intent.Receive{Asset: p.d.Receive.Asset, Account: p.d.Receive.Account, Minimum: base}
		}
		return err
	})
	add("Change who gets it", func() error {
		if s.Arrives(&compose.Exchange{Receive: p.d.Receive.Asset}) == (caip.Chain{}) {
			s.out.say("That needs an asset on one chain: change what you get first.")
			return nil
		}
		got := *p.d.Receive
		err := s.askSwapReceiver(ctx, &got, "")
		if err == nil {
			p.d.Receive = &got
		}
		return err
	})
}

// paidThere turns a transfer into what sends it on the chain on which it arrives: a call, or on Solana a message.
func (s *session) paidThere(p *plan) error {
	x := s.ExchangeOf(p.d)
	if !s.Itself(x) {
		return s.exactly(p)
	}
	p.d = x.Draft(&s.World)
	return nil
}

// exactly turns a transfer into the call that delivers its amount.
func (s *session) exactly(p *plan) error {
	x := s.ExchangeOf(p.d)
	x.Exactly = true
	if problem := s.Mistakes(x, true)[compose.IDExact]; problem != "" {
		s.out.say(capital(problem) + ".")
		return nil
	}
	*p = plan{d: x.Draft(&s.World), follows: true, minutes: compose.DefaultMinutes}
	return nil
}

// readExchange prints a swap or a transfer as it will be requested.
func (s *session) readExchange(d intent.Draft) {
	if d.Pay == nil || d.Receive == nil {
		s.out.say("It does not say what is paid and what is received.")
		return
	}
	from := ", from all chains together"
	if on := chainIn(d.Pay.Asset); on != "" {
		from = ", from " + present.ChainName(s.Catalog, on)
	}
	s.out.say(capital(d.Kind) + ": you pay " + present.Figure(s.Catalog, d.Pay.Asset, d.Pay.Amount) + from + ".")
	s.out.fact(2, "Arrives as", s.assetWords(d.Receive.Asset)+".")
	if d.Receive.Minimum != "" {
		s.out.fact(2, "At least", present.Figure(s.Catalog, d.Receive.Asset, d.Receive.Minimum)+".")
	}
	if a := accountIn(d.Receive.Account); a != "" {
		s.out.where(2, "To", address(a))
	} else {
		s.out.note("To " + s.OwnReceiver(s.ExchangeOf(d)) + ".")
	}
	for _, a := range d.Accounts {
		s.out.where(2, "Account of the file", address(a.AccountAddress))
	}
}
