package linear

import (
	"context"
	"math/big"
	"slices"
	"strings"
	"time"

	"coffer/api"
	"coffer/api/amount"
	"coffer/api/caip"
	"coffer/api/catalog"
	"coffer/api/network"
	"coffer/ui/compose"
	"coffer/ui/present"
)

// money is the last reading of the balances. at is its time; zero: never.
type money struct {
	at     time.Time
	assets []holding
	total  *big.Int // micro USD of everything that has a price; nil: unknown
}

// holding is an asset over all chains, or on one. amount is in base units, nil when unknown; micro is nil without a
// price; decimals is -1 for an asset that the catalogue does not know.
type holding struct {
	id       string
	symbol   string
	name     string
	decimals int
	amount   *big.Int
	micro    *big.Int
	parts    []holding
}

// readMoney takes ids, amounts and values from an answer, and everything else from the catalogue.
func readMoney(c *catalog.Catalog, b api.AggregatedBalance, at time.Time) money {
	m := money{at: at}
	for _, a := range b.BalanceByAggregatedAsset {
		h := holding{id: clean(a.AggregatedAssetID, 80), decimals: -1, micro: micro(a.FiatValue)}
		h.symbol, h.name = strings.TrimPrefix(h.id, "ob:"), "not in this program's catalogue"
		if known, ok := c.Aggregate(caip.AggregateID(a.AggregatedAssetID)); ok {
			h.symbol, h.name, h.decimals = known.Symbol, known.Name, known.Decimals
			h.amount = units(a.Balance)
		}
		for _, p := range a.IndividualAssetBalances {
			h.parts = append(h.parts, part(c, p, h))
		}
		if h.micro != nil {
			if m.total == nil {
				m.total = new(big.Int)
			}
			m.total.Add(m.total, h.micro)
		}
		m.assets = append(m.assets, h)
	}
	if says := micro(b.TotalBalance.FiatValue); m.total == nil && says != nil && says.Sign() == 0 {
		m.total = says
	}
	return m
}

// part converts the balance on one chain; decimals count only when the catalogue has the asset under the same aggregate
// (TH-B2).
func part(c *catalog.Catalog, p api.AssetBalance, of holding) holding {
	h := holding{id: clean(p.AssetType, 200), name: "unknown chain", symbol: of.symbol, decimals: -1,
		micro: micro(p.FiatValue)}
	id, err := caip.ParseAsset(p.AssetType)
	if err != nil {
		return h
	}
	h.id, h.name = id.Display(), present.ChainName(c, id.Chain.String())
	if e, ok := c.Entity(id); ok && string(e.Aggregate) == of.id {
		h.decimals, h.symbol, h.amount = e.Decimals, e.Symbol, units(p.Balance)
	}
	return h
}

func units(text string) *big.Int {
	v, err := amount.ParseBase(text)
	if err != nil {
		return nil
	}
	return v
}

func micro(n api.Number) *big.Int {
	v, ok := n.Micro()
	if !ok || v.Sign() < 0 {
		return nil
	}
	return v
}

// refresh reads the balances; after a failure the last known ones stay.
func (s *session) refresh(ctx context.Context) {
	b, err := s.deps.Balances(ctx)
	switch {
	case err == nil:
		s.money, s.Money = readMoney(s.Catalog, b, s.now()), compose.ReadMoney(s.Catalog, b)
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
		m := menu{title: "Total " + s.masked(value(s.money.total)) + ", read at " + s.clock(s.money.at) + ".",
			brief: brief}
		brief = false
		for _, h := range listed {
			m.items = append(m.items, s.assetLine(h))
		}
		m.words = []word{{"r", "read again"}, {"h", map[bool]string{true: "say the amounts",
			false: "do not say the amounts"}[s.hidden]}}
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
			s.hidden = !s.hidden
		case key == "all":
			all = true
		case i >= 0:
			s.expand(listed[i])
			brief = true
		}
	}
}

// listed sorts the list: the most valuable first, assets without a price last.
func (s *session) listed(all bool) (out []holding, left int) {
	for _, h := range s.money.assets {
		nothing := h.amount != nil && h.amount.Sign() == 0
		dust := h.micro != nil && s.ctx.Dust != nil && h.micro.Cmp(s.ctx.Dust) < 0
		if !all && (nothing || dust) {
			left++
			continue
		}
		out = append(out, h)
	}
	slices.SortStableFunc(out, func(a, b holding) int {
		switch {
		case a.micro != nil && b.micro != nil:
			return b.micro.Cmp(a.micro)
		case a.micro != nil:
			return -1
		case b.micro != nil:
			return 1
		}
		return 0
	})
	return out, left
}

// masked replaces a figure while amounts are hidden.
func (s *session) masked(text string) string {
	if s.hidden {
		return "hidden"
	}
	return text
}

func (s *session) assetLine(h holding) string {
	on := 0
	for _, p := range h.parts {
		if p.amount == nil || p.amount.Sign() > 0 {
			on++
		}
	}
	line := h.symbol + ", " + h.name + ": " + s.masked(h.figure()+", "+value(h.micro))
	if on > 0 {
		line += ", on " + present.Plural(on, "chain", "chains")
	}
	return line
}

func (h holding) figure() string {
	if h.amount == nil || h.decimals < 0 {
		return amount.Unknown
	}
	return amount.Human(h.amount, h.decimals)
}

// expand says where an asset is.
func (s *session) expand(h holding) {
	s.out.say(s.assetLine(h))
	for _, p := range h.parts {
		if p.amount != nil && p.amount.Sign() == 0 {
			continue
		}
		s.out.note(p.name + ": " + s.masked(p.figure()+" "+p.symbol+", "+value(p.micro)))
	}
}

// receive prints an address in full: in groups, spelled, and in one piece.
func (s *session) receive(ctx context.Context) error {
	accounts := s.ctx.Accounts
	if len(accounts) == 0 {
		s.out.say("This profile has no account.")
		return errBack
	}
	i := 0
	if len(accounts) > 1 {
		m := menu{title: "Which account receives?"}
		for _, a := range accounts {
			m.items = append(m.items, accountName(a))
		}
		var err error
		if i, _, err = s.choose(ctx, m); err != nil {
			return err
		}
	}
	a := accounts[i]
	s.out.fact(0, "Your address, "+present.AccountType(a.Type), address(a.AccountAddress))
	for _, l := range spelled(a.AccountAddress) {
		s.out.note(l)
	}
	s.out.say("In one piece:")
	s.out.raw(present.Checksummed(a.AccountAddress))
	where := "It is a Solana address."
	if a.IsEVM() {
		names := make([]string, 0, 8)
		for _, c := range s.ctx.Catalog.Chains() {
			names = append(names, c.Name)
		}
		where = "It is the same on " + strings.Join(names, ", ") + "."
	}
	s.out.say(where)
	switch s.ctx.Network.Kind {
	case network.Embedded:
		s.out.say("Warning: these chains live inside this program. Real coins sent to this address are lost.")
	case network.Lab:
		s.out.say("Warning: these are test chains of a lab. Real coins sent to this address are lost.")
	default:
		s.out.say("Compare the whole address before you send to it.")
	}
	return nil
}

// accountName identifies an account in a list.
func accountName(a api.Account) string {
	return present.AccountType(a.Type) + ", " + present.Address(a.AccountAddress)
}
