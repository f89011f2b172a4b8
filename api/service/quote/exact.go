package quote

import (
	"math/big"

	"coffer/api"
	"coffer/api/amount"
)

// exact finds the funding of an exact input: give, in base units of the given decimals, is what leaves the sources,
// which must be in funding order, and to is what the rest buys after all fees (protocol §3.5, §3.7). What the coarsest
// chain cannot express of give stays where it is. The error is an *api.Error named InsufficientBalance or NoRoute.
func exact(m market, give *big.Int, decimals int, to need, sources []source) (plan, error) {
	var p plan
	swapped := to.aggregate != m.aggregate
	for _, known := range []struct {
		name  any
		price *big.Int
	}{{m.aggregate, m.price}, {to.asset.Display(), to.price}} {
		if known.price == nil || known.price.Sign() <= 0 {
			return p, api.NewError(api.ErrNoRoute, "no routes found: %s has no price", known.name)
		}
	}
	g := decimals
	if len(sources) > 0 {
		g = grid(sources)
	}
	if !swapped {
		g = min(g, to.decimals) // what is not delivered must be a fee, to the unit
	}
	total := amount.Scale(give, decimals, g)
	taken := allocate(m, sources, total, g, false)
	if p.legs = taken.legs; taken.rest.Sign() > 0 {
		if len(p.legs) == MaxLegs && len(sources) > MaxLegs {
			return plan{}, tooManyDeposits()
		}
		return plan{}, short(m, total, sources, taken.stuck, g)
	}
	net := p.afterFees(m, total, swapped, g)
	f := fill{need: to, swapped: swapped, amount: new(big.Int)}
	if net.Sign() > 0 {
		f.amount = amount.Scale(net, g, to.decimals)
		if swapped {
			f.amount = worth(net, g, m.price, to.decimals, to.price)
		}
	}
	if f.amount.Sign() == 0 {
		return plan{}, api.NewError(api.ErrNoRoute, "no routes found: %s %s is not more than its fees",
			amount.Trim(amount.Format(total, g)), m.symbol)
	}
	f.required = f.amount
	p.fills = []fill{f}
	return p, nil
}

// afterFees books all fees on the legs and returns what is left of total, which is not positive when the fees eat it
// up: the largest net of which the solver's share (and the spread, for another asset) still fits in. Each leg bears its
// own network fee as far as it goes round, and the first legs the rest.
func (p *plan) afterFees(m market, total *big.Int, swapped bool, g int) *big.Int {
	network := toUnits(m.targetFee, m.price, g)
	for _, l := range p.legs {
		network.Add(network, toUnits(l.own, m.price, g))
	}
	bps := int64(SolverBps)
	if swapped {
		bps += SpreadBps
	}
	net := new(big.Int).Sub(total, network)
	if net.Sign() <= 0 {
		return net
	}
	net.Mul(net, big.NewInt(10_000)).Quo(net, big.NewInt(10_000+bps))
	left := new(big.Int).Sub(total, net)
	for i := range p.legs {
		l := &p.legs[i]
		own := minOf(toUnits(l.own, m.price, g), amount.Scale(l.amount, l.decimals, g)) // both are new
		l.fee = amount.Scale(own, g, l.decimals)
		left.Sub(left, own)
	}
	p.spread(left, g)
	return net
}

// worth is what v of one asset buys of another: floor(v × price).
func worth(v *big.Int, decimals int, price *big.Int, getDecimals int, getPrice *big.Int) *big.Int {
	got := new(big.Int).Mul(v, price)
	got.Mul(got, unit(getDecimals))
	return got.Quo(got, new(big.Int).Mul(getPrice, unit(decimals)))
}

// short is the refusal of an exact input that the sources cannot give.
func short(m market, total *big.Int, sources []source, stuck *source, g int) error {
	return api.NewError(api.ErrInsufficientBalance, "Insufficient balance: needed %s %s, available %s %s%s",
		amount.Trim(amount.Format(total, g)),
		m.symbol, amount.Trim(amount.Format(spendable(m, sources, g), g)), m.symbol, reasons(m, sources, stuck, g))
}

func tooManyDeposits() error {
	return api.NewError(api.ErrNoRoute, "the funds lie on too many chains: a quote takes at most %d deposits", MaxLegs)
}

// least is the smallest delivery that an exact-input quote allows: floor(v × (10000 − bps) / 10000) (protocol §3.7).
func least(v *big.Int, bps int) *big.Int {
	m := new(big.Int).Mul(v, big.NewInt(int64(10_000-bps)))
	return m.Quo(m, big.NewInt(10_000))
}

// SwapDelivery is what the price now gives of an exact-input quote, at most what was quoted: floor(quoted × (pay now /
// get now) / (pay then / get then)). Prices are micro-USD per whole unit of what is got and of what is paid, when the
// quote is filled and when it was made; a price that is missing or not positive gives zero.
func SwapDelivery(quoted, priceGetNow, pricePayNow, priceGetThen, pricePayThen *big.Int) *big.Int {
	for _, v := range []*big.Int{quoted, priceGetNow, pricePayNow, priceGetThen, pricePayThen} {
		if v == nil || v.Sign() <= 0 {
			return new(big.Int)
		}
	}
	now := new(big.Int).Mul(quoted, pricePayNow)
	now.Mul(now, priceGetThen)
	now.Quo(now, new(big.Int).Mul(priceGetNow, pricePayThen))
	return minOf(now, new(big.Int).Set(quoted))
}
