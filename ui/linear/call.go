package linear

import (
	"context"
	"slices"
	"strings"

	"coffer/api"
	"coffer/api/caip"
	"coffer/ui/compose"
	"coffer/ui/present"
	"coffer/wallet/intent"
)

// callChoices lists the changes to a plan of calls.
func (s *session) callChoices(ctx context.Context, p *plan, add func(string, func() error)) {
	add("Add a call", func() error { return s.addCall(ctx, p, -1) })
	add("Change or remove a call", func() error { return s.changeCall(ctx, p) })
	add("Allowances: "+itoa(len(p.d.Allowances)), func() error { return s.changeAllowances(ctx, p) })
	needs := "as the calls say"
	if !p.follows {
		needs = "your own list"
	}
	add("Needed tokens: "+needs, func() error { return s.changeNeeds(ctx, p) })
	pays := "whatever the service chooses of the needed asset"
	if p.d.FundWith != "" {
		pays = s.assetWords(p.d.FundWith)
	}
	add("Pays with: "+pays, func() error { return s.changeFunding(ctx, p) })
	valid := plural(p.minutes, "minute", "minutes")
	if p.minutes == 0 {
		valid = "as the file says"
	}
	add("Valid for: "+valid, func() error { return s.askMinutes(ctx, p) })
}

// addCall asks for a call and appends it, or replaces call i with it.
func (s *session) addCall(ctx context.Context, p *plan, i int) error {
	if i < 0 && len(p.d.Calls) >= api.MaxListed {
		s.out.say("A request has at most " + itoa(api.MaxListed) + " calls.")
		return nil
	}
	c, err := s.askCall(ctx, p.chain())
	if err != nil {
		return err
	}
	at := s.Target(p.chain(), c.To)
	if problem := c.Granted(at); problem != "" {
		return s.approval(ctx, p, c, problem)
	}
	if i < 0 {
		p.d.Calls = append(p.d.Calls, c.Intent(at))
	} else {
		p.d.Calls[i] = c.Intent(at)
	}
	return nil
}

// askCall asks for the contract, the function with its arguments, and the value.
func (s *session) askCall(ctx context.Context, chain caip.Chain) (*compose.Call, error) {
	c, at, typed := &compose.Call{}, compose.Target{}, false
	err := s.steps(ctx, func(ctx context.Context) error {
		to, err := s.askAddress(ctx, chain, "Which contract is called on "+s.ChainName(chain)+"?", false)
		c, at = &compose.Call{To: to}, s.Target(chain, to)
		return err
	}, func(ctx context.Context) (err error) {
		c = &compose.Call{To: c.To}
		typed, err = s.askFunction(ctx, at, c)
		return err
	}, func(ctx context.Context) error {
		if !typed {
			return nil
		}
		return s.askArgs(ctx, at, c)
	}, func(ctx context.Context) error {
		if typed && at.Known {
			return nil // a token accepts no coin with a call
		}
		coin := at.Coin()
		return s.read(ctx, "How much "+coin.Symbol+" goes with the call? Type an amount, or 0 for none:",
			func(a string) string {
				c.Value = a
				_, problem := compose.Amount(a, coin.Decimals, coin.Symbol)
				return problem
			})
	})
	return c, err
}

// askFunction asks for a function by its signature, for call data, or for neither. typed: its arguments come next.
func (s *session) askFunction(ctx context.Context, at compose.Target, c *compose.Call) (typed bool, err error) {
	data := false
	err = s.read(ctx, "Which function? Type a signature such as transfer(address to, uint256 amount), data to give "+
		"call data in hex, or none to send only the chain's own coin:", func(a string) string {
		switch strings.ToLower(a) {
		case "none":
			return ""
		case "data":
			data = true
			return ""
		}
		c.Signature = a
		c.ReadSignature(at.Known)
		return c.SigErr
	})
	if err != nil || !data {
		return c.Fn != nil, err
	}
	return false, s.read(ctx, "Type the call data, 0x and hexadecimal digits:", func(a string) string {
		b, problem := compose.Bytes(a)
		if problem == "" {
			c.TakeData(b, at)
		}
		return problem
	})
}

// askAddress asks for an address on a chain: in full, or by a name that it then prints in full. With paid, a token is
// no answer.
func (s *session) askAddress(ctx context.Context, chain caip.Chain, text string, paid bool) (found string, err error) {
	find := s.Address
	if paid {
		find = s.Recipient
	}
	err = s.read(ctx, text+" Type "+s.addresses(chain, paid)+":", func(a string) (problem string) {
		found, problem = find(chain, a)
		return problem
	})
	if err == nil {
		s.out.where(2, "That is", address(found))
	}
	return found, err
}

// addresses names what is read as an address of a chain: paid, a token's symbol is none.
func (s *session) addresses(chain caip.Chain, paid bool) string {
	kinds := []string{"an address"}
	if chain.IsSolana() {
		kinds[0] = "a Solana address"
	}
	if !paid {
		kinds = append(kinds, "the symbol of a token there")
	}
	if slices.ContainsFunc(s.Book, func(c compose.Contact) bool {
		return strings.HasPrefix(c.Address, "0x") != chain.IsSolana()
	}) {
		kinds = append(kinds, "a name of your address book")
	}
	return either(kinds)
}

// approval turns an approve of a known token into an allowance, when the person agrees.
func (s *session) approval(ctx context.Context, p *plan, c *compose.Call, problem string) error {
	at := s.Target(p.chain(), c.To)
	spender, v, _ := c.Approval(at)
	if v == nil || !at.Known {
		s.wrong(problem)
		return errBack
	}
	yes, err := s.yes(ctx, "An approve is no call here: it belongs to the allowances, which are taken back after the "+
		"calls. Make it an allowance?")
	if err == nil && yes {
		p.d.Allowances = append(p.d.Allowances, api.AllowanceRequirement{AssetType: at.Token.Asset.String(),
			Amount: v.String(), Spender: spender})
	}
	return err
}

// changeCall changes or removes one call.
func (s *session) changeCall(ctx context.Context, p *plan) error {
	if len(p.d.Calls) == 0 {
		s.out.say("There is no call yet.")
		return nil
	}
	var m menu
	for i := range p.d.Calls {
		m.add("Change call "+itoa(i+1), func() error { return s.addCall(ctx, p, i) })
	}
	for i := range p.d.Calls {
		m.add("Remove call "+itoa(i+1), func() error {
			p.d.Calls = slices.Delete(slices.Clone(p.d.Calls), i, i+1)
			return nil
		})
	}
	return s.offer(ctx, m)
}

// readCall prints one call of the plan.
func (s *session) readCall(n int, chain caip.Chain, c intent.Call) {
	at := "an unknown contract"
	token, known := s.TokenAt(chain, c.To)
	if known {
		at = token.Symbol
	}
	s.out.put(2, plain("Call "+itoa(n)+": "+present.CallName(c)+", on "+at+", "), address(c.To))
	if fn, values, ok := compose.Decode(c.Data); ok {
		s.readArgs(fn, values, token, known)
	}
	if c.Value != "" {
		id, _ := chain.EVMID()
		s.out.put(4, plain("with "+present.Figure(s.Catalog, caip.Native(id).String(), c.Value)))
	}
	if c.Note != "" {
		s.out.fact(4, "Note", clean(c.Note, intent.MaxNote)+".")
	}
}

// askMinutes asks for the validity of the request.
func (s *session) askMinutes(ctx context.Context, p *plan) error {
	return s.read(ctx, "For how many minutes may it run? Type a number from "+itoa(compose.MinMinutes)+" to "+
		itoa(compose.MaxMinutes)+":", func(a string) string {
		n, problem := compose.Choice{Preset: compose.OwnMinutes, Text: a}.Minutes(compose.MinMinutes,
			compose.MaxMinutes)
		if problem == "" {
			p.minutes = n
		}
		return problem
	})
}
