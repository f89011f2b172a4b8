package liar

import (
	"maps"
	"net/http"
	"slices"
)

func sortedNames[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// documents answers prepare, call-quote and quote.
func (a *Attacker) documents(x exchange) exchange {
	if !a.dice.chance(a.manner.documents) || x.at == CallQuote && a.baited(x) && a.dice.chance(70) {
		return a.genuine(x)
	}
	switch n := a.dice.IntN(100); {
	case n < 22:
		return a.changed(x)
	case n < 34:
		return a.replayed(x)
	case n < 50 && x.at == Prepare:
		return a.poorer(x)
	case n < 58 && x.at == Prepare:
		return a.balances(a.genuine(x))
	case n < 68:
		return a.nonce(a.genuine(x))
	case n < 78:
		return a.diverted(a.genuine(x))
	}
	x = a.spoiled(a.genuine(x))
	if a.dice.chance(25) {
		x = a.spoiled(x)
	}
	return x
}

// spoiled changes a genuine answer without understanding it.
func (a *Attacker) spoiled(x exchange) exchange {
	if x.fault != nil {
		return x
	}
	name := string(x.at) + ": "
	switch n := a.dice.IntN(100); {
	case n < 45:
		a.tell(name + "values changed")
		x.raw = mutated(a.dice, x.raw)
	case n < 60:
		a.tell(name + "values changed and sealed anew")
		x.raw = a.sealed(x.at, mutated(a.dice, x.raw))
	case n < 72:
		a.tell(name + "another shape")
		x.raw = restructured(a.dice, x.raw)
	case n < 76:
		a.tell(name + "too large")
		x.raw = huge(a.dice)
	case n < 80:
		a.tell(name + "a redirect")
		x.status, x.header = pick(a.dice, []int{301, 302, 307, 308}),
			http.Header{"Location": {"https://elsewhere.invalid/api"}}
	case n < 84:
		a.tell(name + "1xx or an empty answer")
		x.status, x.raw = pick(a.dice, []int{101, 102, 103, 204, 206}), nil
	case n < 90:
		a.tell(name + "an error")
		return x.refuses(pick(a.dice, []int{400, 401, 403, 404, 409, 422, 429, 500, 503}),
			pick(a.dice, []string{"PrepareAgain", "TamperProof", "NoRoute", "x\x1b[2J"}))
	case n < 95:
		a.tell(name + "the connection breaks")
		x.fault = errCut
	default:
		a.tell(name + "a date far away")
		x.header = x.header.Clone()
		x.header.Set("Date", pick(a.dice, []string{"Thu, 01 Jan 1970 00:00:00 GMT", "Fri, 31 Dec 2100 00:00:00 GMT",
			"Thu, 09 Oct 2025 09:00:00 GMT", "never"}))
	}
	return x
}

// replayed answers with what was answered genuinely before: to this wallet or another, with other balances.
func (a *Attacker) replayed(x exchange) exchange {
	list := a.past.answers[x.at]
	if len(list) == 0 {
		return a.genuine(x)
	}
	a.tell(string(x.at) + ": an older genuine answer")
	y := pick(a.dice, list)
	x.status, x.header, x.raw = y.status, y.header.Clone(), y.raw
	return x
}

// changed asks the genuine service for something else and gives back its genuine, signed answer.
func (a *Attacker) changed(x exchange) exchange {
	body := x.body
	switch a.dice.IntN(5) {
	case 0:
		body = mutated(a.dice, body)
	case 1:
		body = a.assumed(x)
	default:
		body = a.wanted(x)
	}
	if len(body) == 0 {
		return a.genuine(x)
	}
	a.tell(string(x.at) + ": the genuine answer to a changed request")
	a.pass(&x, body)
	if !x.succeeded() {
		a.tell(string(x.at) + ": (the changed request was refused)")
	}
	if a.dice.chance(50) && x.fault == nil {
		x.raw = a.dressed(x)
	}
	return x
}

// reads answers what is only read.
func (a *Attacker) reads(x exchange, share int) exchange {
	if !a.dice.chance(share) {
		return a.genuine(x)
	}
	switch {
	case x.at == History:
		return a.history(x)
	case a.dice.chance(30):
		return a.replayed(x)
	}
	return a.spoiled(a.genuine(x))
}
