package journal

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// The errors of what stands beside or after a signature.
var (
	ErrVoid = errors.New("this signature cannot be voided")
	ErrPaid = errors.New("an earlier payment of this operation was sent and is still open in another place")
)

// Void records that a person declares a signature dead although nothing proves it: hash is the OpHash of a signature of
// operation op that no time ends (Signature.Voidable) and whose nonce is not known to be used; note says in plain words
// how that was confirmed. It stands in the way of no later signature any more (TH-U3) and does not count as a live
// nonce, but stays on the list of Outstanding with VoidedAt set, counts against the caps for its day, and comes back to
// life when the same operation is signed again. Nothing that the service says may lead here. An operation that has
// ended can be given too, its state stays.
//
// Errors: ErrVoid for any other signature; those of Append. Programs from before this record open a file with one
// read-only.
func (j *Journal) Void(op, hash, note string) error {
	return j.Append(op, Voided, Entry{Void: hash, Note: note})
}

// checkVoid demands what a VOID record needs.
func (o *Operation) checkVoid(hash string) error {
	if !slices.ContainsFunc(o.Signatures, func(s Signature) bool { return s.OpHash == hash && s.endless() }) {
		return fmt.Errorf("journal: %w: the operation has no signature without an end and with this hash", ErrVoid)
	}
	return nil
}

// void takes a VOID record in.
func (o *Operation) void(e Entry) {
	for i, s := range o.Signatures {
		if s.OpHash == e.Void && s.endless() {
			o.Signatures[i].VoidedAt, o.Signatures[i].VoidNote = e.At, e.Note
		}
	}
}

// PaidElsewhere lists the payments of an operation's earlier quotes that were sent and are open although the payments
// of a new quote, next, do not take exactly their places: both could then be taken, and only one is wanted (TH-U3).
// open is Outstanding, quoteID the new quote. It is empty when next may be signed.
func PaidElsewhere(op string, open []Outstanding, quoteID string, next []Signature) []Outstanding {
	var earlier []Outstanding
	for _, x := range open {
		if x.Op == op && x.Sent && x.QuoteID != "" && x.Role != RoleDelegation && x.VoidedAt.IsZero() &&
			!strings.EqualFold(x.QuoteID, quoteID) {
			earlier = append(earlier, x)
		}
	}
	if len(earlier) == 0 {
		return nil
	}
	taken := func(s Signature) bool {
		return slices.ContainsFunc(earlier, func(x Outstanding) bool { return x.slot() == s.slot() })
	}
	reused := func(x Outstanding) bool {
		return slices.ContainsFunc(next, func(s Signature) bool { return s.slot() == x.slot() })
	}
	for _, s := range next {
		if !taken(s) {
			return earlier
		}
	}
	if slices.ContainsFunc(earlier, func(x Outstanding) bool { return !reused(x) }) {
		return earlier
	}
	return nil
}
