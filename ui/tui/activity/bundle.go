package activity

import (
	"strings"
	"time"

	"coffer/api"
	"coffer/ui/present"
	"coffer/ui/tui/kit"
	"coffer/wallet/flow"
)

// bundle is the support bundle of an operation: ids, states and times, and the words of the service. It has no amount,
// no account, no signature and no key.
func (s *Screen) bundle(it *item) string {
	snap, now := it.snap, s.ctx.Clock()
	var b strings.Builder
	line := func(label, text string) {
		if text != "" {
			b.WriteString(label + ": " + text + "\n")
		}
	}
	line("coffer support bundle", moment(now))
	line("network", present.Clean(string(s.ctx.Network.Kind)+" "+s.ctx.Network.ID, 200))
	line("operation", present.Clean(snap.ID, 100))
	line("kind", present.Noun(snap))
	line("state", string(snap.State))
	line("started", moment(snap.Started))
	line("signatures", kit.Count(snap.SignaturesDone, max(snap.SignaturesTotal, snap.SignaturesDone)))
	line("quote", present.Clean(snap.QuoteID, 200))
	line("sent body, SHA-256", present.Clean(snap.BodyHash, 100))
	line("status", present.Clean(snap.Status.Status, 80))
	line("reason", present.Clean(snap.Status.FailReason, 200))
	line("asked", moment(snap.StatusAt))
	line("clock of the service minus ours", skew(snap))
	line("problem", present.Clean(snap.Problem, 500))
	line("last reading", it.err)
	for _, r := range snap.Status.OriginChainOperations {
		line("paid on", transaction(r))
	}
	for _, r := range snap.Status.DestinationChainOperations {
		line("ran on", transaction(r))
	}
	for _, o := range s.live {
		if o.Operation == snap.ID {
			line("live signature", present.Clean(o.Summary.Role+" on "+o.Summary.Chain+" "+o.Hash+" until "+
				moment(o.Until),
				300))
		}
	}
	return b.String()
}

// moment writes a time that reads the same everywhere; a zero time is "unknown".
func moment(t time.Time) string {
	if t.IsZero() {
		return "unknown"
	}
	return t.UTC().Format("2006-01-02 15:04:05 UTC")
}

func skew(snap flow.Snapshot) string {
	if snap.Skew == 0 {
		return ""
	}
	return snap.Skew.Round(time.Second).String()
}

func transaction(r api.OperationRef) string { return present.Clean(r.Chain+" "+r.Hash, 300) }
