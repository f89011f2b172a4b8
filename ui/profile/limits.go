package profile

import (
	"fmt"
	"math/big"
	"strings"

	"coffer/api/amount"
	"coffer/api/catalog"
	"coffer/ui/present"
	"coffer/wallet/verify"
)

// LimitWords describes the limits of a policy, one to a line; no line for a policy that limits nothing. Amounts are
// USD at catalogue prices.
func LimitWords(l verify.Limits, cat *catalog.Catalog) []string {
	var out []string
	say := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	if len(l.Chains) > 0 {
		var names []string
		for _, c := range l.Chains {
			names = append(names, present.ChainName(cat, c.String()))
		}
		say("only %s pay or run a call", strings.Join(names, ", "))
	}
	if len(l.Recipients) > 0 {
		say("only your own accounts and these receive: %s", strings.Join(l.Recipients, ", "))
	}
	if len(l.Contracts) > 0 {
		var names []string
		for _, c := range l.Contracts {
			names = append(names, c.Hex())
		}
		say("only these contracts are called: %s", strings.Join(names, ", "))
	}
	if l.MaxSpend != nil {
		say("one operation spends at most %s", dollars(l.MaxSpend))
	}
	if l.MaxSpendPerDay != nil {
		say("within 24 hours at most %s are signed for", dollars(l.MaxSpendPerDay))
	}
	if l.MaxCostBps > 0 {
		say("at most %s of a payment is lost on the way", present.Percent(l.MaxCostBps))
	}
	if l.MaxSlippageBps > 0 {
		say("the price may move by at most %s", present.Percent(l.MaxSlippageBps))
	}
	if l.NeverDelegate {
		say("no EIP-7702 delegation is signed")
	}
	if len(l.Gates) > 0 {
		say("open gates, each with a sentence to type: %s", strings.Join(l.Gates, ", "))
	}
	pins := len(l.EntryPoints) + len(l.Validators) + len(l.Factories) + len(l.Delegates) + len(l.Paymasters) +
		len(l.Escrows) + len(l.Programs)
	switch {
	case pins == 1:
		say("one address is trusted on this network beside the shipped ones")
	case pins > 1:
		say("%d addresses are trusted on this network beside the shipped ones", pins)
	}
	return out
}

const microDecimals = 6

func dollars(micro *big.Int) string {
	return "$" + amount.Group(amount.Plain(micro, microDecimals))
}
