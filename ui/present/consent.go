package present

import (
	"slices"
	"strings"

	"coffer/api/catalog"
	"coffer/wallet/consent"
	"coffer/wallet/intent"
	"coffer/wallet/verify"
)

// The words about a payment in escrow and about the caller of the calls.
const (
	SolanaHolds  = "the service's own account holds it; only its word brings it back"
	CreditsWords = "Where several chains pay, some services let the solver make the calls instead of your account: " +
		"a contract that credits its caller, as for a deposit, could then credit the solver."
	OnTopWords     = "If other chains have to pay for this, their payments come on top; review 2 gives the sum."
	unreadableMore = " A call that cannot be decoded may take more."
)

// Because says why something has to be typed; "" when one key or one word is enough.
func Because(d consent.Demand) string {
	switch d.Cause {
	case consent.NoValue:
		return "its value is unknown"
	case consent.Valuable:
		return "it is worth " + USD(d.From) + " or more"
	case consent.Costly:
		return "it costs " + Percent(d.CostBps) + " of what you pay"
	case consent.WorstCase:
		return "up to " + USD(d.Worst) + " can leave"
	case consent.Unreadable:
		return "what it does is unknown"
	}
	return ""
}

// WorstCase says what can leave in the worst case: every signature of the operation runs and nothing that was promised
// arrives (TH-P6; docs/security.md). first is review 1, nil for a swap or a transfer.
func WorstCase(c *catalog.Catalog, v *verify.QuoteView, first *verify.PreparedView) string {
	worst := consent.ByAsset(c, v.Worst)
	if len(worst) == 0 {
		return "As far as the bytes show, nothing can leave." + unreadable(first)
	}
	var parts []string
	for _, a := range worst {
		parts = append(parts, Amount(a))
	}
	when := "."
	if first != nil && len(v.Legs) > 0 {
		when = " if the balances that the service states are false."
	}
	return "Up to " + strings.Join(parts, " and ") + " (" + Value(verify.Sum(worst)) + ") can leave" + when +
		unreadable(first)
}

func unreadable(first *verify.PreparedView) string {
	if first != nil {
		for _, l := range first.Lines {
			if !l.Decoded {
				return unreadableMore
			}
		}
	}
	return ""
}

// Credits reports whether a service could let its solver make the calls of a quote: several chains pay for them.
func Credits(v *verify.QuoteView) bool {
	seen := map[string]bool{}
	for _, l := range v.Legs {
		seen[l.Chain.CAIP] = true
	}
	return len(seen) > 1 && v.CallType != ""
}

// Assumed lists the addresses whose state an intent overrides for the simulation, each once, in checksum form.
func Assumed(d intent.Draft) []string {
	var out []string
	for _, o := range d.Overrides {
		if a := Checksummed(o.Address); !slices.Contains(out, a) {
			out = append(out, a)
		}
	}
	return out
}

// Nested splits the name of a decoded argument into its depth, 0 for an argument of the function itself, and its own
// name.
func Nested(name string) (depth int, own string) {
	own = strings.TrimLeft(name, " ")
	return (len(name) - len(own)) / 2, own
}
