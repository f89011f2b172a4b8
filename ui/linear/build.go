package linear

import (
	"context"
	"errors"

	"coffer/api"
	"coffer/api/amount"
	"coffer/api/caip"
	"coffer/api/catalog"
	"coffer/ui/compose"
	"coffer/ui/present"
	"coffer/wallet/intent"
)

// plan is the request under construction. follows: the list of required tokens follows the calls. minutes is the
// validity of the request; 0: as the draft says.
type plan struct {
	d       intent.Draft
	follows bool
	minutes int
}

func (p *plan) exchange() bool {
	return p.d.Kind == intent.KindSwap || p.d.Kind == intent.KindTransfer
}

// chain is the target chain of the calls.
func (p *plan) chain() caip.Chain {
	c, _ := caip.ParseChain(p.d.TargetChain)
	return c
}

// buildCall asks for a chain and a first call, and continues with the plan.
func (s *session) buildCall(ctx context.Context) error {
	s.refresh(ctx)
	var p *plan
	err := s.steps(ctx, func(ctx context.Context) error {
		on, err := one(ctx, s, "On which chain does the call run?", s.Catalog.Chains(),
			func(c catalog.ChainInfo) string { return c.Name })
		p = &plan{follows: true, minutes: compose.DefaultMinutes, d: intent.Draft{Version: intent.Version,
			TargetChain: on.Chain.String(), SlippageBps: intent.DefaultSlippageBps}}
		return err
	}, func(ctx context.Context) error { return s.addCall(ctx, p, -1) })
	if err != nil {
		return err
	}
	return s.planned(ctx, p, nil)
}

// afterwards returns to the plan of an operation that the person wants to change.
func (s *session) afterwards(ctx context.Context, change *edit, err error) error {
	if err != nil || change == nil {
		return err
	}
	s.refresh(ctx)
	d := change.draft
	return s.planned(ctx, &plan{d: d, follows: d.Kind == "" && len(d.TokensRequired) == 0}, change.failures)
}

// planned prints a plan and changes it until it is reviewed or discarded.
func (s *session) planned(ctx context.Context, p *plan, failures []api.Failure) error {
	if ask := s.deps.WatchOnly; ask != nil {
		if words := ask(ctx); words != "" {
			s.out.say("You can build and hear a review, but not sign: " + sentence(clean(words, 400)))
		}
	}
	s.failures(failures)
	for {
		s.readPlan(p)
		var m menu
		finished := false
		m.add("Review it: the service is asked, nothing is signed yet", func() error {
			var err error
			finished, err = s.submit(ctx, p)
			return err
		})
		if p.exchange() {
			s.exchangeChoices(ctx, p, m.add)
		} else {
			s.callChoices(ctx, p, m.add)
		}
		m.add("Slippage: "+present.Percent(p.d.SlippageBps), func() error { return s.askSlippage(ctx, p) })
		if s.ctx.Export != nil {
			m.add("Save it as an intent file", func() error { s.save(p); return nil })
		}
		m.items = append(m.items, "Discard it")
		i, _, err := s.choose(ctx, m)
		if err == nil && i < len(m.do) {
			if err = m.do[i](); !errors.Is(err, errBack) && (err != nil || finished) {
				return err
			}
			continue
		}
		if err != nil && !errors.Is(err, errBack) {
			return err
		}
		if gone, err := s.yes(ctx, "Discard this draft? It will be lost."); gone ||
			err != nil && !errors.Is(err, errBack) {
			return err
		}
	}
}

// submit freezes the plan and takes it through the reviews. It reports whether nothing is left to build.
func (s *session) submit(ctx context.Context, p *plan) (finished bool, err error) {
	in, err := s.freeze(p)
	if err != nil {
		s.cannot(err)
		return false, nil
	}
	change, err := s.operate(ctx, in)
	if change != nil {
		s.failures(change.failures)
		return false, err
	}
	return true, err
}

// freeze makes the intent of a plan.
func (s *session) freeze(p *plan) (intent.Intent, error) {
	d := p.d
	d.TokensRequired = s.needs(p)
	if !p.exchange() && p.minutes != 0 {
		d.ValidUntil = compose.Until(p.minutes, s.now())
	}
	return s.Freeze(d)
}

// cannot says why a plan cannot be sent or saved.
func (s *session) cannot(err error) {
	list := present.Failures(err)
	s.failures(list)
	if len(list) == 0 {
		s.out.say(why(err))
	}
}

// failures prints what is wrong with a plan, place by place.
func (s *session) failures(list []api.Failure) {
	if len(list) == 0 {
		return
	}
	s.out.say("It cannot be sent as it is:")
	for i, f := range list {
		s.out.put(2, plain(itoa(i+1)+". "+sentence(clean(f.String(), 400))))
	}
}

// readPlan prints the plan.
func (s *session) readPlan(p *plan) {
	d := p.d
	if p.exchange() {
		s.readExchange(d)
		return
	}
	s.out.say(capital(plural(len(d.Calls), "call", "calls")) + " on " +
		present.ChainName(s.Catalog, d.TargetChain) +
		".")
	for i, c := range d.Calls {
		s.readCall(i+1, p.chain(), c)
	}
	for i, a := range d.Allowances {
		s.out.put(2, plain("Allowance "+itoa(i+1)+": "+present.Figure(s.Catalog, a.AssetType, a.Amount)+" to "),
			address(a.Spender))
	}
	needs := s.needs(p)
	for _, r := range needs {
		s.out.fact(2, "Needs", present.Figure(s.Catalog, r.AssetType, r.Amount)+s.there(r.AssetType))
	}
	if len(needs) == 0 {
		s.out.note("Needs no token, as far as it can be seen.")
	}
	for _, a := range d.Accounts {
		s.out.where(2, "Account of the file", address(a.AccountAddress))
	}
	if n := len(d.Overrides); n > 0 {
		s.out.note("Carries " + plural(n, "state override", "state overrides") + " for the simulation.")
	}
}

// there gives the balance of a required token, on the chain and elsewhere.
func (s *session) there(asset string) string {
	if !s.Money.Known || s.Hidden {
		return "."
	}
	x, ok := s.Side(asset)
	if !ok || !x.Exact {
		return "."
	}
	here := amount.Unknown
	if v := s.Money.Of(x.Entity.Asset); v != nil {
		here = amount.Human(v, x.Decimals)
	}
	return "; you have " + here + " there and " +
		amount.Human(s.Money.Elsewhere(x.Agg, x.Entity.Asset), x.Agg.Decimals) + " elsewhere."
}

// wrong prints a mistake.
func (s *session) wrong(problem string) { s.out.say(capital(sentence(problem))) }

// read asks until the text of an answer can be read.
func (s *session) read(ctx context.Context, text string, read func(string) (problem string)) error {
	for {
		a, err := s.ask(ctx, question{text: text})
		if err != nil {
			return err
		}
		problem := read(a)
		if problem == "" {
			return nil
		}
		s.wrong(problem)
	}
}

// askSlippage asks for the tolerance.
func (s *session) askSlippage(ctx context.Context, p *plan) error {
	return s.read(ctx, "How far may the price move, in percent? Type a number such as 0.5, from 0.01 to 100:",
		func(a string) string {
			bps, problem := compose.Percent(a)
			if problem == "" {
				p.d.SlippageBps = bps
			}
			return problem
		})
}

// save writes the plan as an intent file.
func (s *session) save(p *plan) {
	in, err := s.freeze(p)
	if err != nil {
		s.cannot(err)
		return
	}
	path := ""
	raw, err := in.MarshalJSON()
	if err == nil {
		path, err = s.ctx.Export("intent.json", raw)
	}
	if err != nil {
		s.out.say("It was not saved: " + why(err))
		return
	}
	s.out.fact(0, "Saved to", present.Whole(path))
}
