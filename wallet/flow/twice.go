package flow

import (
	"fmt"
	"strings"

	"coffer/wallet/journal"
	"coffer/wallet/verify"
)

// paysTwice refuses a quote that would pay beside a payment that was sent for an earlier quote of the same operation
// and is still open: the service's word that it did not take that quote does not end the signatures. Only payments in
// exactly the same places can stand for the earlier ones (TH-U3). The reason says when another quote becomes possible,
// by the local clock.
func (o *Operation) paysTwice(q *verify.VerifiedQuote) (verify.Reason, bool) {
	var next []journal.Signature
	for _, v := range q.Operations() {
		next = append(next, signatureRecord(v, verify.Signatures{}, q.ID()))
	}
	open := journal.PaidElsewhere(o.ID(), o.f.d.Journal.Outstanding(o.f.earliest()), q.ID(), next)
	if len(open) == 0 {
		return verify.Reason{}, false
	}
	var places []string
	for _, x := range open {
		places = append(places, place(x.Signature))
	}
	return verify.Reason{
		Code: "U3", Level: verify.Refuse,
		Title: "An earlier payment of this operation was sent and is still open; this quote pays from another place, " +
			"so both could be taken. " + o.untilWhen(open),
		Want: "a payment from " + strings.Join(places, ", "), Got: paidFrom(next),
	}, true
}

// untilWhen says when the last of the open payments has ended.
func (o *Operation) untilWhen(open []journal.Outstanding) string {
	last, ends := o.lastEnd(open)
	if !ends {
		return "It never expires: another quote becomes possible when its nonce was used or you void " +
			"it. You can also abandon this operation."
	}
	return fmt.Sprintf("Ask again after %s, when it has ended, or abandon this operation.",
		last.Format("2 January 2006, 15:04:05 UTC"))
}

func paidFrom(list []journal.Signature) string {
	if len(list) == 0 {
		return "no payment"
	}
	var out []string
	for _, s := range list {
		out = append(out, place(s))
	}
	return strings.Join(out, ", ")
}

// place names what only one operation can take.
func place(s journal.Signature) string {
	if s.BlockHash != "" {
		return fmt.Sprintf("%s (message %.10s…)", s.Chain, s.OpHash)
	}
	return fmt.Sprintf("%s (lane %d, nonce %s)", s.Chain, s.Lane, s.Nonce)
}
