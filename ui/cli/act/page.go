package act

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"coffer/api/amount"
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
