package quote

import (
	"math/big"
	"strings"

	"coffer/api/amount"
	"coffer/api/caip"
)

// all is the most that a source can give, on the grid: everything, or as much as leaves what must stay when the grid is
// too coarse for everything.
func (s source) all(g int) *big.Int {
	v := amount.Scale(s.available, s.decimals, g)
	if s.keep != nil && amount.Scale(v, g, s.decimals).Cmp(s.available) != 0 {
		return s.part(g)
	}
	return v
}

// part is the most that a source can give without giving everything, on the grid.
func (s source) part(g int) *big.Int {
	if s.keep == nil {
		return amount.Scale(s.available, s.decimals, g)
	}
	return amount.Scale(less(s.available, s.keep), s.decimals, g)
}

// fit is the most that a source can give of an amount on the grid: it gives everything, or leaves what must stay.
func (s source) fit(want *big.Int, g int) *big.Int {
	if all := s.all(g); want.Cmp(all) >= 0 {
		return all
	}
	return new(big.Int).Set(minOf(want, s.part(g)))
}

// worthless reports whether a source is worth no more than its own fee.
func (s source) worthless(m market, g int) bool { return s.all(g).Cmp(toUnits(s.own, m.price, g)) <= 0 }

// allocation is how sources cover an amount: the legs, what is still missing, and the source that could give neither
// what was asked of it nor everything.
type allocation struct {
	legs  []leg
	rest  *big.Int
	stuck *source
}

// allocate lets the sources pay want in their order; what is worth no more than its own fee is skipped. With onTop each
// leg bears its own fee beside its part of want, else out of it. A source that cannot give its part without falling
// below what must stay leaves the missing part to later ones; without any it gives everything, and the others less.
func allocate(m market, sources []source, want *big.Int, g int, onTop bool) allocation {
	d := allocateOnce(m, sources, want, g, onTop, nil)
	if d.rest.Sign() == 0 || d.stuck == nil {
		return d
	}
	if other := allocateOnce(m, sources, want, g, onTop, d.stuck); other.rest.Sign() == 0 {
		return other
	}
	return d
}

// allocateOnce is allocate with at most one source, emptied, that gives everything whatever its place.
func allocateOnce(m market, sources []source, want *big.Int, g int, onTop bool, emptied *source) allocation {
	d := allocation{rest: new(big.Int).Set(want)}
	fee := func(s source) *big.Int {
		if onTop {
			return toUnits(s.own, m.price, g)
		}
		return new(big.Int)
	}
	most := MaxLegs
	if emptied != nil {
		d.rest.Sub(d.rest, new(big.Int).Sub(emptied.all(g), fee(*emptied)))
		if most--; d.rest.Sign() < 0 {
			return allocation{rest: want}
		}
	}
	for i, s := range sources {
		own := fee(s)
		part := s.all(g)
		switch {
		case emptied != nil && s.asset == emptied.asset:
			most++
		case d.rest.Sign() == 0 || len(d.legs) == most || s.worthless(m, g):
			continue
		default:
			asked := minOf(part, new(big.Int).Add(d.rest, own))
			if part = s.fit(asked, g); part.Cmp(asked) < 0 {
				d.stuck = &sources[i]
				if part.Cmp(toUnits(s.own, m.price, g)) <= 0 {
					continue
				}
			}
			d.rest.Sub(d.rest, new(big.Int).Sub(part, own))
		}
		d.legs = append(d.legs, leg{s, amount.Scale(part, g, s.decimals), amount.Scale(own, g, s.decimals)})
	}
	return d
}

// withheld is what of the paying asset cannot be spent at the moment, in the aggregate's decimals: what quotes in
// execution will take, and the rent that stays on Solana until they have. Nil is nothing. unserved says in words what
// lies where the account cannot pay as the request names it, say because its session key was replaced there.
type withheld struct {
	pledged, rent *big.Int
	unserved      []string
}

// add counts what is withheld of an asset with the given decimals.
func (w *withheld) add(pledged, rent *big.Int, decimals, to int) {
	for _, part := range []struct {
		sum **big.Int
		v   *big.Int
	}{{&w.pledged, pledged}, {&w.rent, rent}} {
		if part.v == nil || part.v.Sign() == 0 {
			continue
		}
		if *part.sum == nil {
			*part.sum = new(big.Int)
		}
		(*part.sum).Add(*part.sum, amount.Scale(part.v, decimals, to))
	}
}

// spendable is what the sources that are worth more than their own fee can give together, on the grid.
func spendable(m market, sources []source, g int) *big.Int {
	sum := new(big.Int)
	for _, s := range sources {
		if !s.worthless(m, g) {
			sum.Add(sum, s.all(g))
		}
	}
	return sum
}

// reasons tells why more of the paying asset than what is available does not help, or why an amount below it is
// impossible: "" when there is simply no more.
func reasons(m market, sources []source, stuck *source, g int) string {
	words := func(v *big.Int, decimals int) string { return amount.Trim(amount.Format(v, decimals)) + " " + m.symbol }
	var out []string
	if s := stuck; s != nil {
		may := "only all " + words(s.all(g), g) + " can be taken from it"
		if part := s.part(g); part.Sign() > 0 {
			may = "at most " + words(part, g) + " or all " + words(s.all(g), g) + " can be taken from it"
		}
		out = append(out, "an account on "+place(s.asset)+" keeps at least "+words(s.keep, s.decimals)+
			" of rent or nothing, so "+may)
	}
	if m.held.pledged != nil {
		out = append(out, words(m.held.pledged, m.decimals)+" is pledged to quotes in execution")
	}
	if m.held.rent != nil {
		out = append(out, words(m.held.rent, m.decimals)+" stays for rent until they end")
	}
	out = append(out, m.held.unserved...)
	dust := new(big.Int)
	for _, s := range sources {
		if s.worthless(m, g) {
			dust.Add(dust, s.all(g))
		}
	}
	if dust.Sign() > 0 {
		out = append(out, words(dust, g)+" lies in amounts worth no more than their own fee")
	}
	if len(out) == 0 {
		return ""
	}
	return ": " + strings.Join(out, "; ")
}

// place is the chain of an asset in words.
func place(a caip.Asset) string {
	if a.Chain.IsSolana() {
		return "Solana"
	}
	return a.Chain.String()
}
