package linear

import (
	"context"
	"math/big"
	"slices"
	"time"

	"coffer/api"
	"coffer/api/amount"
	"coffer/ui/compose"
	"coffer/ui/present"
	"coffer/wallet/verify"
)

// money is the last reading of the balances. at is its time; zero: never.
type money struct {
	at  time.Time
	all *present.Holdings
}

// readMoney interprets an answer; it fails for one about another account.
func readMoney(c Context, b api.AggregatedBalance, at time.Time) (money, error) {
	r := present.BalanceReader{Catalog: c.Catalog, Symbols: verify.NewSymbols(c.Catalog), Accounts: c.Accounts}
	all, err := r.Read(b)
	if err != nil {
		return money{}, err
	}
	return money{at: at, all: all}, nil
}

// refresh reads the balances; after a failure the last known ones stay.
func (s *session) refresh(ctx context.Context) {
	b, err := s.deps.Balances(ctx)
	var read money
	if err == nil {
		read, err = readMoney(s.ctx, b, s.now())
	}
	switch {
	case err == nil:
		s.money, s.Money = read, compose.ReadMoney(s.Catalog, b)
	case s.money.at.IsZero():
		s.out.say("The balances are not known: " + sentence(present.ErrorText(err)))
	default:
		s.out.say("Reading failed: " + present.ErrorText(err) + ". These are the balances of " + s.clock(s.money.at) +
			".")
	}
}

// balances lists the assets and opens one.
func (s *session) balances(ctx context.Context) error {
	s.refresh(ctx)
	all, brief := false, false
	for {
		if s.money.at.IsZero() {
			return errBack
		}
		listed, left := s.listed(all)
		if !brief {
			s.doubts()
		}
		m := menu{title: "Total " + s.masked(present.Value(s.money.all.Total)) + ", read at " + s.clock(s.money.at) +
			".",
			brief: brief}
		brief = false
		for _, h := range listed {
			m.items = append(m.items, s.assetLine(h))
		}
		m.words = []word{{"r", "read again"}, {"h", map[bool]string{true: "say the amounts",
			false: "do not say the amounts"}[s.Hidden]}}
		if left > 0 {
			m.words = append(m.words, word{"all", "list " + present.Plural(left, "more asset", "more assets") +
				": nothing held, or next to nothing"})
		}
		i, key, err := s.choose(ctx, m)
		switch {
		case err != nil:
			return err
		case key == "r":
			s.refresh(ctx)
		case key == "h":
			s.Hidden = !s.Hidden
		case key == "all":
			all = true
		case i >= 0:
			s.expand(listed[i])
			brief = true
		}
	}
}

// doubts prints what the checks of the answer found.
func (s *session) doubts() {
	of := func(name string, list []verify.Reason) {
		for _, x := range list {
			word := "Warning"
			if x.Level == verify.Unknown {
				word = "Remark"
			}
			s.out.note(word + name + ": " + sentence(present.Title(x)))
		}
	}
	if words := s.money.all.Doubt(); words != "" && !s.Hidden {
		s.out.note("Warning: " + words + ".")
	}
	of("", s.money.all.Reasons)
	for _, a := range s.money.all.Assets {
		of(", "+a.Symbol, a.Reasons)
		for _, p := range a.Parts {
			of(", "+a.Symbol+" on "+p.ChainName, p.Reasons)
		}
	}
}

// listed sorts the list: the most valuable first, assets without a price last.
func (s *session) listed(all bool) (out []present.Holding, left int) {
	for _, h := range s.money.all.Assets {
		nothing := h.Amount != nil && h.Amount.Sign() == 0
		dust := h.Micro != nil && s.ctx.Dust != nil && h.Micro.Cmp(s.ctx.Dust) < 0
		if !all && (nothing || dust) {
			left++
			continue
		}
		out = append(out, h)
	}
	slices.SortStableFunc(out, func(a, b present.Holding) int {
		switch {
		case a.Micro != nil && b.Micro != nil:
			return b.Micro.Cmp(a.Micro)
		case a.Micro != nil:
			return -1
		case b.Micro != nil:
			return 1
		}
		return 0
	})
	return out, left
}

// masked replaces a figure while amounts are hidden.
func (s *session) masked(text string) string {
	if s.Hidden {
		return "hidden"
	}
	return text
}

func (s *session) assetLine(h present.Holding) string {
	on := 0
	for _, p := range h.Parts {
		if p.Amount == nil || p.Amount.Sign() > 0 {
			on++
		}
	}
	line := h.Symbol + ", " + h.Name + ": " + s.masked(held(h.Amount, h.Decimals)+", "+present.Value(h.Micro))
	if on > 0 {
		line += ", on " + present.Plural(on, "chain", "chains")
	}
	return line
}

func held(v *big.Int, decimals int) string {
	if v == nil || decimals < 0 {
		return amount.Unknown
	}
	return amount.Human(v, decimals)
}

// expand says where an asset is.
func (s *session) expand(h present.Holding) {
	s.out.say(s.assetLine(h))
	for _, p := range h.Parts {
		if p.Amount != nil && p.Amount.Sign() == 0 {
			continue
		}
		s.out.note(p.ChainName + ": " + s.masked(held(p.Amount, p.Decimals)+" "+p.Symbol+", "+present.Value(p.Micro)))
	}
}

// receive prints an address in full: in groups, spelled, and in one piece; then a payment request, if one is wanted.
func (s *session) receive(ctx context.Context) error {
	accounts := s.Accounts
	if len(accounts) == 0 {
		s.out.say("This profile has no account.")
		return errBack
	}
	a := accounts[0]
	if len(accounts) > 1 {
		var err error
		if a, err = one(ctx, s, "Which account receives?", accounts, accountName); err != nil {
			return err
		}
	}
	s.out.where(0, "Your address, "+present.AccountType(a.Type), address(a.AccountAddress))
	for _, l := range spelled(a.AccountAddress) {
		s.out.note(l)
	}
	s.out.say("In one piece:")
	s.out.raw(present.Checksummed(a.AccountAddress))
	s.out.say(present.ReceiveOn(s.Catalog, s.ctx.Network, a))
	s.care()
	return s.askFor(ctx, a)
}

// care says what a payer has to know.
func (s *session) care() {
	care, lost := present.ReceiveCare(s.ctx.Network.Kind)
	if lost {
		care = "Warning: " + care
	}
	s.out.say(care)
}

// askFor prints a payment request to the account, or to the one on the chain that is named.
func (s *session) askFor(ctx context.Context, a api.Account) error {
	accounts := append([]api.Account{a}, s.Accounts...)
	var asked compose.Asked
	err := s.read(ctx, "To ask for a payment, type amount, asset and chain, such as 25 usdc on base:",
		func(text string) (problem string) {
			wanted, problem := compose.ReadAsking(text)
			if problem == "" {
				asked, problem = s.Ask(s.ctx.Network, accounts, wanted)
			}
			return problem
		})
	if err != nil {
		return err
	}
	s.out.where(0, "Payment request: "+asked.Says()+", to your account", address(asked.Account.AccountAddress))
	s.out.say("In one piece:")
	s.out.raw(asked.URI)
	s.out.say(present.Requests(asked.Account))
	s.care()
	return nil
}

// accountName identifies an account in a list.
func accountName(a api.Account) string {
	return present.AccountType(a.Type) + ", " + present.Address(a.AccountAddress)
}
