package present

import (
	"slices"
	"strings"
	"time"

	"coffer/api"
	"coffer/wallet/flow"
)

// Live describes the live signatures of an operation: their number, and the end of the last one (zero: no time ends all
// of them). Seen tells that own nodes closed some of its signatures. Known is false until the journal is read.
type Live struct {
	Known bool
	Seen  bool
	N     int
	Until time.Time
}

// Words says until when they can be used; at writes a moment.
func (l Live) Words(at func(time.Time) string) string {
	what := Plural(l.N, "signature", "signatures")
	switch {
	case !l.Known:
		return "What was signed is listed under outstanding signatures until it ends."
	case l.N == 0 && l.Seen:
		return "Its signatures can no longer be used (" + SeenByNode + ")."
	case l.N == 0:
		return "Its signatures can no longer be used."
	case l.Until.IsZero() && l.N == 1:
		return what + " can still be used; it never expires."
	case l.Until.IsZero():
		return what + " can still be used; some never expire."
	}
	return what + " can still be used until " + at(l.Until) + "."
}

// Said describes an end that only the service vouches for (flow.Snapshot.Said): its word, whose word it is, the
// signatures that still live, and what building the operation again would mean.
func Said(x flow.Snapshot, l Live, at func(time.Time) string) string {
	became := "this did not run and nothing was paid"
	switch {
	case x.State == flow.StateDone && x.Intent.Exchanges():
		became = "it was delivered"
	case x.State == flow.StateDone:
		became = "it ran"
	case x.State == flow.StateNotExecuted:
		became = "it never ran this"
	case x.Status.Status == api.StatusFailed && len(x.Status.DestinationChainOperations) > 0 &&
		x.Intent.Receive != nil && strings.HasPrefix(x.Intent.Receive.Account, "solana:"):
		became = "this failed on Solana and moved nothing, and its fee was paid"
	case x.Status.Status == api.StatusRefunded:
		became = "this was refunded: it did not run, and what had been paid came back"
	}
	words := "The service says " + became + proof(x) + l.Words(at)
	switch {
	case x.State == flow.StateDone:
	case l.Known && l.N == 0:
		words += " It may have run before that: look at the chain before you build it again."
	default:
		words += " If you build it again before that, you could pay twice."
	}
	return words
}

// proof is what shows how an operation ended, apart from the service's word.
func proof(x flow.Snapshot) string {
	switch {
	case slices.ContainsFunc(x.Became, denies) && x.State == flow.StateDone:
		return "; your node does not see that. "
	case slices.ContainsFunc(x.Became, shows) && x.State == flow.StateDone:
		return ", and your node sees it. "
	}
	return "; nothing on this machine proves it. "
}

// Signed describes a call of which nothing was sent: whether its signatures still live, and what can be done.
func Signed(x flow.Snapshot, l Live, at func(time.Time) string, k Keys) string {
	words := strings.Replace(l.Words(at), "Its signatures can", "The first signature can", 1) +
		" No payment is signed"
	switch {
	case x.Stuck:
		return words + ". What was signed cannot be checked again; you can only abandon it" + k.Abandon + "."
	case x.Over:
		return words + ", and there is no time left for a quote. Prepare it again" + k.Go + ", or abandon it" +
			k.Abandon + "."
	case x.State == flow.StateReview2:
		return words + "; it goes on when you review the costs."
	}
	return words + "; ask for a quote" + k.Go + ", or abandon it" + k.Abandon + "."
}
