package quotelab

import (
	"math/big"

	"coffer/ui/present"
)

// Stage is a part of the way of the money.
type Stage string

// The stages of a route, in their order.
const (
	Leaves  Stage = "Leaves"
	Escrow  Stage = "Escrow"
	Arrives Stage = "Arrives"
	Costs   Stage = "Cost"
)

// Lane is one bar of a route: Micro is its length, nil when it is unknown. Of is its amount, nil for an escrow and the
// cost; Share is what the cost has in its place.
type Lane struct {
	Stage Stage
	Name  string
	Micro *big.Int
	Of    *Money
	Share string
}

// Text is the amount of a lane in full, with its symbol.
func (l Lane) Text() string {
	switch {
	case l.Of == nil:
		return l.Share
	case l.Of.Decimals < 0:
		return l.Of.Figure() + " base units"
	}
	return l.Of.Figure() + " " + present.Clean(l.Of.Symbol, 20)
}

// Route is the way of the money of an answer: what leaves each chain, the escrow that holds it, what arrives, and what
// is lost on the way. Nothing without payments. Where a value is unknown, no bar is.
func Route(a Answer) []Lane {
	if !a.Figures() || len(a.Legs) == 0 {
		return nil
	}
	var out []Lane
	for _, l := range a.Legs {
		name := l.Pays.Chain
		if l.New {
			name += ", new account"
		}
		out = append(out, lane(Leaves, name, l.Pays))
	}
	escrows := map[string]bool{}
	for _, l := range a.Legs {
		if !escrows[l.Escrow] {
			escrows[l.Escrow] = true
			held := Lane{Stage: Escrow, Name: present.ShortID(l.Escrow), Micro: new(big.Int)}
			for _, x := range a.Legs {
				if x.Escrow == l.Escrow {
					held.Micro = sum(held.Micro, x.Pays.Micro)
				}
			}
			out = append(out, held)
		}
	}
	for _, m := range a.Arriving {
		out = append(out, lane(Arrives, m.Chain, m))
	}
	return append(out, Lane{Stage: Costs, Micro: a.CostMicro, Share: a.Share()})
}

func lane(s Stage, name string, m Money) Lane {
	return Lane{Stage: s, Name: present.Clean(name, 60), Micro: m.Micro, Of: &m}
}

// Longest is the value of the longest bar; nil without one.
func Longest(all []Lane) (top *big.Int) {
	for _, l := range all {
		if l.Micro != nil && (top == nil || l.Micro.Cmp(top) > 0) {
			top = l.Micro
		}
	}
	return top
}
