package present

import (
	"strconv"

	"coffer/api"
	"coffer/wallet/verify"
)

// Seen is what the person's own node saw of a part of an operation that was sent, in a line.
type Seen struct {
	Text    string
	Meaning Meaning
}

// Became says what own nodes saw of an operation, with a warning first where they contradict the status of the service.
func Became(list []verify.Became, status string) []Seen {
	var out []Seen
	for _, b := range list {
		if status == api.StatusCompleted && denies(b) {
			out = append(out, Seen{"The service says " + status + ", and your node does not see that. What you " +
				"signed may still run; ask the operator.", Warn})
			break
		}
	}
	for _, b := range list {
		out = append(out, seenOf(b))
	}
	return out
}

// denies reports whether what was seen is not what a completed operation leads to.
func denies(b verify.Became) bool {
	switch b.Outcome {
	case verify.Absent, verify.OtherFill, verify.Reverted, verify.Refunded:
		return true
	}
	return false
}

// shows reports whether an end was seen.
func shows(b verify.Became) bool { return b.Outcome == verify.Filled || b.Outcome == verify.Ran }

func seenOf(b verify.Became) Seen {
	on, in := " on "+Clean(b.Chain.Name, 40), " in block "+strconv.FormatUint(b.Block, 10)
	at := ", at block " + strconv.FormatUint(b.Block, 10)
	by := SeenByNode + ": "
	switch b.Outcome {
	case verify.Held:
		return Seen{by + "payment" + on + " in escrow" + at, Good}
	case verify.Released:
		return Seen{by + "payment" + on + " released" + at, Good}
	case verify.Refunded:
		return Seen{by + "payment" + on + " refunded" + at, Warn}
	case verify.Filled:
		return Seen{by + "filled" + on + in, Good}
	case verify.AnyFill:
		return Seen{by + "filled" + on + in + "; no node of yours could tell for which payment", Unknown}
	case verify.OtherFill:
		return Seen{by + "filled" + on + in + ", but not on the terms of your payment", Danger}
	case verify.Ran:
		return Seen{by + "your call ran" + on + in, Good}
	case verify.Reverted:
		return Seen{by + "your call failed" + on + in, Danger}
	case verify.Absent:
		what := map[string]string{verify.PartDeposit: "no payment in escrow", verify.PartDelivery: "not filled"}[b.Part]
		if what == "" {
			what = "your call has not run"
		}
		return Seen{by + what + on + at, Warn}
	}
	return Seen{"could not be checked with your node" + on + ": " + Clean(b.Trouble, 200), Unknown}
}
