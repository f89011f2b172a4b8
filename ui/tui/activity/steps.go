package activity

import (
	"strconv"

	"coffer/api"
	"coffer/ui/present"
	"coffer/ui/tui/theme"
	"coffer/wallet/flow"
)

// signatures makes one step per signature. After a restart, without the reviews, the journal's list of live signatures
// names them.
func (s *Screen) signatures(snap flow.Snapshot) []step {
	names := present.SignatureNames(snap)
	total := max(snap.SignaturesTotal, snap.SignaturesDone)
	if snap.Review2 == nil && total != len(names) {
		var known []string
		for _, o := range s.live {
			if o.Operation == snap.ID {
				known = append(known, o.Name(s.ctx.Catalog))
			}
		}
		names = nil
		if len(known) == total {
			names = known
		}
	}
	total = max(total, len(names))
	out := make([]step, total)
	for i := range out {
		out[i] = step{text: "signature " + strconv.Itoa(i+1) + " of " + strconv.Itoa(total),
			meaning: done(i < snap.SignaturesDone)}
		if i < len(names) {
			out[i].text += ": " + names[i]
		}
	}
	return out
}

// steps is the checklist of an operation: each signature, each payment, the fill, the target, the settlement. Where
// only the service vouches for the end, the steps that it reports say so themselves.
func (s *Screen) steps(snap flow.Snapshot) []step {
	out := s.signatures(snap)
	if !tracked(snap.State) && !ended(snap) || snap.State == flow.StateRefused || snap.State == flow.StateAbandoned {
		return out
	}
	accepted := done(snap.Status.Status != "")
	if snap.State == flow.StateUnknown {
		accepted = theme.Unknown
	}
	out = append(out, step{text: "accepted by the service", meaning: accepted})
	for _, x := range s.course(snap) {
		if snap.Said && x.meaning != theme.None {
			x.text += ", says the service"
		}
		out = append(out, x)
	}
	return out
}

// course lists what became of an accepted operation, as the service reports it.
func (s *Screen) course(snap flow.Snapshot) []step {
	out := append(s.deposits(snap), s.target(snap)...)
	switch status := snap.Status.Status; {
	case status == api.StatusRefunded:
		return append(out, step{text: "refunded", meaning: theme.Warn})
	case status == api.StatusFailed:
		return append(out, step{text: "ended without a payment", meaning: theme.Danger})
	case paysNothing(snap):
		return out
	default:
		return append(out, step{text: "finished", meaning: done(status == api.StatusCompleted)})
	}
}

// paysNothing reports whether an operation certainly needs no payment, because the target chain holds enough.
func paysNothing(snap flow.Snapshot) bool { return snap.Review2 != nil && len(snap.Review2.Legs) == 0 }

// target makes two steps: the solver lends what is missing, and the calls or the delivery happen.
func (s *Screen) target(snap flow.Snapshot) []step {
	refs := snap.Status.DestinationChainOperations
	ran := done(snap.Status.Status == api.StatusExecuted || snap.Status.Status == api.StatusCompleted)
	if snap.Intent.Exchanges() {
		text := "delivered"
		if q := snap.Review2; q != nil && q.Delivered.Amount != nil {
			text += " on " + present.ChainName(s.ctx.Catalog, q.Delivered.Asset.Chain.String())
		}
		return []step{{text: text, meaning: ran, ref: refs}}
	}
	where := present.ChainName(s.ctx.Catalog, snap.Intent.TargetChain)
	out := []step{{text: "your call ran on " + where, meaning: ran, ref: refs}}
	if paysNothing(snap) {
		return out
	}
	return append([]step{{text: "solver advanced the tokens on " + where, meaning: ran}}, out...)
}

// deposits makes one step per payment of the quote; without a quote it lists those that the service names.
func (s *Screen) deposits(snap flow.Snapshot) []step {
	var out []step
	byChain := map[string][]api.OperationRef{}
	for _, r := range snap.Status.OriginChainOperations {
		byChain[r.Chain] = append(byChain[r.Chain], r)
	}
	if q := snap.Review2; q != nil {
		if q.SameChainOnly {
			return nil
		}
		for _, l := range q.Legs {
			refs := byChain[l.Chain.CAIP]
			delete(byChain, l.Chain.CAIP)
			settled := snap.Status.Status == api.StatusExecuted || snap.Status.Status == api.StatusCompleted
			out = append(out, step{text: present.Clean(l.Chain.Name, 40) + " deposit",
				meaning: done(len(refs) > 0 || settled), ref: refs})
		}
	}
	for _, r := range snap.Status.OriginChainOperations {
		if refs, ok := byChain[r.Chain]; ok {
			out = append(out, step{text: present.ChainName(s.ctx.Catalog, r.Chain) + " deposit", meaning: theme.Good,
				ref: refs})
			delete(byChain, r.Chain)
		}
	}
	return out
}
