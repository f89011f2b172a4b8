package act

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"coffer/api/amount"
	"coffer/api/network"
	"coffer/wallet/verify"
)

// page is a review as plain lines: a label and its value. It cuts nothing, and of foreign text it lets only printable
// characters through.
type page struct{ b strings.Builder }

func (p *page) line(s string) { fmt.Fprintln(&p.b, strings.TrimRight(whole(s), " ")) }

// row writes a fact, sub a part of one; without a value they write nothing.
func (p *page) row(label, value string) { p.fact("  ", label, value) }
func (p *page) sub(label, value string) { p.fact("    ", label, value) }

func (p *page) fact(indent, label, value string) {
	if value != "" {
		p.line(fmt.Sprintf("%s%-*s %s", indent, 22-len(indent), label, value))
	}
}

// networkWords describes the kind of money that a network has.
func networkWords(k network.Kind) string {
	switch k {
	case network.Embedded:
		return "EMBEDDED: play money on chains inside this program"
	case network.Lab:
		return "LAB: test chains, no real money"
	case network.Real:
		return "REAL: real money"
	}
	return "of an unknown kind: take it for real money"
}

// figure writes an amount exactly; an unknown asset is counted in its base units.
func figure(a verify.AmountView) string {
	switch {
	case a.Amount == nil:
		return amount.Unknown
	case a.Decimals < 0:
		return amount.Group(a.Amount.String()) + " base units of " + whole(a.Asset.Display())
	}
	return amount.Human(a.Amount, a.Decimals) + " " + clean(a.Symbol)
}

func dollars(micro *big.Int) string {
	if micro == nil {
		return "value unknown"
	}
	return "$" + amount.Group(amount.USD2(micro))
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}
