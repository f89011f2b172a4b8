package present

import (
	"strconv"

	"coffer/api/text"
	"coffer/wallet/verify"
)

// Who saw a figure: the person's own node, in a simulation or on the chain, or the service alone.
const (
	SeenByNode      = verify.SeenByNode
	SimulatedByNode = "by your node"
	ServiceSays     = verify.ServiceSays
)

// mostSeen is how many balances the row of what own nodes see names; the checks name every other one that differs.
const mostSeen = 2

// seen is what the person's own nodes see of the balances that pay. What differs from the service's word, or could not
// be read, is a finding and stands above.
func (p *Page) seen(list []verify.SeenView) {
	var has []string
	as, at := true, ""
	for _, s := range list {
		for _, a := range s.Has {
			if a.Amount.Sign() > 0 {
				has = append(has, Human(a)+" on "+Clean(s.Chain.Name, 40))
			}
		}
		as, at = as && s.As, " at block "+strconv.FormatUint(s.Block, 10)
	}
	if len(list) == 0 {
		return
	}
	if len(has) == 0 {
		has = []string{"nothing there"}
	}
	if len(list) > 1 {
		at = ""
	}
	by := SeenByNode + at
	if as {
		by += ", as " + ServiceSays
	}
	p.row(TableMoves, 0, "Balance", nil, say(text.Few(has, mostSeen)), gap(), aside(by))
}

// simulated is what the operations do in the simulation of the person's own nodes. Where that is not what the review
// states, a warning says so.
func (p *Page) simulated(list []verify.SimulationView) {
	var moves []string
	as, at := true, ""
	for _, s := range list {
		chain := Clean(s.Chain.Name, 40)
		for _, a := range s.Out {
			moves = append(moves, Human(a)+" leaves "+chain)
		}
		for _, a := range s.In {
			moves = append(moves, Human(a)+" arrives on "+chain)
		}
		as, at = as && s.As, " after block "+strconv.FormatUint(s.Block, 10)
	}
	if len(list) == 0 {
		return
	}
	if len(moves) == 0 {
		moves = []string{"no balance changes"}
	}
	if len(list) > 1 {
		at = ""
	}
	by := SimulatedByNode + at
	if as {
		by += ", as stated"
	}
	p.row(TableMoves, 0, "Simulated", nil, say(text.Few(moves, mostSeen)), gap(), aside(by))
}
