package present

import (
	"slices"
	"strings"

	"coffer/wallet/consent"
	"coffer/wallet/intent"
	"coffer/wallet/verify"
)

// The words about a payment in escrow and about the caller of the calls.
const (
	SolanaHolds  = "the service's own account holds it; only the service can return it"
	CreditsWords = "Where several chains pay, some services let the solver make the calls instead of your account: " +
		"a contract that credits its caller, as for a deposit, could then credit the solver."
	onTopWords     = "If other chains have to pay for this, their payments come on top; review 2 gives the sum."
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
	case consent.Codeless:
		return "the service says there is no code where it goes"
	}
	return ""
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
