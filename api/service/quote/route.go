package quote

import (
	"math/big"
	"slices"
	"strings"

	"coffer/api"
	"coffer/api/amount"
	"coffer/api/caip"
	"coffer/api/service/quote/smartaccount"
)

// need is one required token: what the calls take, what is there already, what is missing. Price is nil when unknown,
// which is only allowed when nothing is missing.
type need struct {
	asset     caip.Asset
	aggregate caip.AggregateID
	decimals  int
	price     *big.Int
	required  *big.Int
	have      *big.Int
}

func (n need) short() *big.Int {
	d := new(big.Int).Sub(n.required, n.have)
	if d.Sign() < 0 {
		d.SetInt64(0)
	}
	return d
}

// missing reports whether anything has to be funded.
func missing(needs []need) bool {
	return slices.ContainsFunc(needs, func(n need) bool { return n.short().Sign() > 0 })
}

// source is one balance that could pay. Own is the network fee of taking it, in micro-USD. Keep is what must stay
// unless all of available is taken, nil when nothing must. ChainID is 0 on Solana; state is how the account stands
// on an EVM chain.
type source struct {
	asset     caip.Asset
	chainID   uint64
	decimals  int
	available *big.Int
	keep      *big.Int
	rent      *big.Int // that is held back on Solana while something is pledged there, nil for none
	own       *big.Int
	state     smartaccount.State
}

// market is the aggregate that pays, its price, the fixed fee of the target chain (0 for Solana) in micro-USD, and what
// of the aggregate cannot be spent at the moment.
type market struct {
	aggregate   caip.AggregateID
	symbol      string
	decimals    int
	price       *big.Int
	targetChain uint64
	targetFee   *big.Int
	held        withheld
}

// leg is one deposit: amount = net + fee, in the source's base units.
type leg struct {
	source
	amount, fee *big.Int
}

// fill is what the solver delivers for a need.
type fill struct {
	need
	amount  *big.Int
	swapped bool
}

// plan is a complete funding: of a call, or of a swap or transfer, which has one fill and no call type. Gas is what the
// target chain's costs an operator on chains of others, in micro-USD.
type plan struct {
	callType string
	legs     []leg
	fills    []fill
	gas      *big.Int
}

// order puts sources in funding order: largest value first, ties by CAIP-19 (protocol §3.1). All sources belong to one
// aggregate, so the scaled balance decides.
func order(sources []source) {
	digits := 0
	for _, s := range sources {
		digits = max(digits, s.decimals)
	}
	slices.SortFunc(sources, func(a, b source) int {
		if c := amount.Scale(b.available, b.decimals, digits).Cmp(amount.Scale(a.available, a.decimals, digits)); c !=
			0 {
			return c
		}
		return strings.Compare(a.asset.String(), b.asset.String())
	})
}

// grid is the number of decimals in which one plan is computed: that of the coarsest source, so that every share is a
// whole number of base units on every chain.
func grid(sources []source) int {
	g := amount.MaxDecimals
	for _, s := range sources {
		g = min(g, s.decimals)
	}
	return g
}

// route finds the funding of all needs out of the sources, which must be in funding order. The error is an *api.Error
// named InsufficientBalance or NoRoute.
func route(m market, needs []need, sources []source) (plan, error) {
	p := plan{callType: api.CallSameChainExcludeSolver}
	if !missing(needs) {
		return p, nil
	}
	if m.price == nil || m.price.Sign() <= 0 {
		return p, api.NewError(api.ErrNoRoute, "%s has no price, so it cannot pay", m.aggregate)
	}
	if len(sources) == 0 {
		return plan{}, insufficient(m, needs, nil, m.decimals, allocation{})
	}
	g := grid(sources)
	cost, rest, err := p.deliver(m, needs, g)
	if err != nil {
		return plan{}, err
	}
	rest.Add(rest, toUnits(m.targetFee, m.price, g))
	extra := new(big.Int).Sub(rest, cost) // fees beside those of the legs
	taken := allocate(m, sources, rest, g, true)
	if p.legs = taken.legs; taken.rest.Sign() > 0 {
		if len(p.legs) == MaxLegs && len(sources) > MaxLegs {
			return plan{}, tooManyDeposits()
		}
		return plan{}, insufficient(m, needs, sources, g, taken)
	}
	p.spread(extra, g)
	p.callType = p.kind(m)
	return p, nil
}

// deliver fixes what the solver delivers for each missing amount. It returns the cost in the paid asset, and that cost
// plus the solver's share and the spread, both on the grid.
func (p *plan) deliver(m market, needs []need, g int) (cost, rest *big.Int, err error) {
	cost, swapped := new(big.Int), new(big.Int)
	for _, n := range needs {
		short := n.short()
		if short.Sign() == 0 {
			continue
		}
		f := fill{need: n, swapped: n.aggregate != m.aggregate}
		var c *big.Int
		if f.swapped {
			if n.price == nil || n.price.Sign() <= 0 {
				return nil, nil, api.NewError(api.ErrNoRoute, "%s has no price, so it cannot be delivered",
					n.asset.Display())
			}
			c, f.amount = exchange(short, n.decimals, n.price, g, m.price)
			swapped.Add(swapped, c)
		} else {
			c = amount.ScaleUp(short, n.decimals, g)
			f.amount = amount.Scale(c, g, n.decimals)
		}
		cost.Add(cost, c)
		p.fills = append(p.fills, f)
	}
	rest = new(big.Int).Add(cost, share(cost, SolverBps))
	return cost, rest.Add(rest, share(swapped, SpreadBps)), nil
}

// exchange returns the smallest cost on the grid of the paid asset that buys at least want, and what that cost buys:
// floor(cost × price).
func exchange(want *big.Int, decimals int, price *big.Int, g int, payPrice *big.Int) (cost, got *big.Int) {
	wantUnit, payUnit := unit(decimals), unit(g)
	num := new(big.Int).Mul(want, price)
	num.Mul(num, payUnit)
	den := new(big.Int).Mul(payPrice, wantUnit)
	cost = ceilDiv(num, den)
	got = new(big.Int).Mul(cost, den)
	return cost, got.Quo(got, new(big.Int).Mul(price, payUnit))
}

// spread books the fees that belong to no single chain on the first legs.
func (p *plan) spread(extra *big.Int, g int) {
	left := new(big.Int).Set(extra)
	for i := range p.legs {
		l := &p.legs[i]
		net := amount.Scale(new(big.Int).Sub(l.amount, l.fee), l.decimals, g)
		part := net
		if part.Cmp(left) > 0 {
			part = left
		}
		l.fee = new(big.Int).Add(l.fee, amount.Scale(part, g, l.decimals))
		left = new(big.Int).Sub(left, part)
	}
}

// kind is the call type of a plan with legs (protocol §3.1).
func (p *plan) kind(m market) string {
	elsewhere := slices.ContainsFunc(p.legs, func(l leg) bool { return l.chainID != m.targetChain })
	swaps := slices.ContainsFunc(p.fills, func(f fill) bool { return f.swapped })
	switch {
	case !elsewhere:
		return api.CallSameChainWithSolver
	case swaps:
		return api.CallCrossChainSwaps
	}
	return api.CallCrossChain
}

// feeMicro is the worth of all fees in micro-USD.
func (p *plan) feeMicro(price *big.Int) *big.Int {
	sum := new(big.Int)
	for _, l := range p.legs {
		sum.Add(sum, amount.Value(l.fee, l.decimals, price))
	}
	return sum
}

// paid is Σ deposits in the given decimals, rounded up.
func (p *plan) paid(decimals int) *big.Int {
	sum := new(big.Int)
	for _, l := range p.legs {
		sum.Add(sum, amount.Scale(l.amount, l.decimals, amount.MaxDecimals))
	}
	return amount.ScaleUp(sum, amount.MaxDecimals, decimals)
}

// insufficient tells what is needed and available of the paying asset. What the required token on the target chain
// already holds is counted on both sides when it is the same asset. taken is how far the sources went, on the grid; its
// rest is nil when there is no source.
func insufficient(m market, needs []need, sources []source, g int, taken allocation) error {
	available, needed := spendable(m, sources, g), new(big.Int)
	if taken.rest != nil {
		needed.Set(taken.rest)
		for _, l := range taken.legs {
			needed.Add(needed, amount.Scale(l.amount, l.decimals, g))
		}
	} else {
		for _, n := range needs {
			c, _ := exchange(n.short(), n.decimals, orOne(n.price), g, m.price)
			if n.aggregate == m.aggregate {
				c = amount.ScaleUp(n.short(), n.decimals, g)
			}
			needed.Add(needed, c)
		}
	}
	for _, n := range needs {
		if n.aggregate == m.aggregate {
			here := amount.Scale(minOf(n.have, n.required), n.decimals, g)
			needed.Add(needed, here)
			available.Add(available, here)
		}
	}
	return api.NewError(api.ErrInsufficientBalance, "Insufficient balance: needed %s %s with fees, available %s %s%s",
		amount.Trim(amount.Format(needed, g)),
		m.symbol, amount.Trim(amount.Format(available, g)), m.symbol, reasons(m, sources, taken.stuck, g))
}

func orOne(v *big.Int) *big.Int {
	if v == nil || v.Sign() <= 0 {
		return big.NewInt(1)
	}
	return v
}

func minOf(a, b *big.Int) *big.Int {
	if a.Cmp(b) < 0 {
		return a
	}
	return b
}

// toUnits is an amount of money in base units of an asset, rounded up.
func toUnits(micro, price *big.Int, decimals int) *big.Int {
	return ceilDiv(new(big.Int).Mul(micro, unit(decimals)), price)
}

// share is bps of v, rounded up.
func share(v *big.Int, bps int64) *big.Int {
	return ceilDiv(new(big.Int).Mul(v, big.NewInt(bps)), big.NewInt(10_000))
}

func ceilDiv(a, b *big.Int) *big.Int {
	q, r := new(big.Int).QuoRem(a, b, new(big.Int))
	if r.Sign() > 0 {
		q.Add(q, big.NewInt(1))
	}
	return q
}

func unit(decimals int) *big.Int {
	return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(decimals)), nil)
}
