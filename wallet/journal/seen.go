package journal

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// ErrSeen says that a signature cannot have been seen used.
var ErrSeen = errors.New("this signature has no nonce that a node can see used")

// closedFor is how long a signature that no time ends is listed after it was closed.
const closedFor = 24 * time.Hour

// sight is when nodes saw a place used, in which block, and what a record without a number says of it.
type sight struct {
	at    time.Time
	block uint64
	note  string
}

// passed is the next account nonce of an EOA as nodes saw it.
type passed struct {
	next uint64
	sight
}

// Saw records that the person's own nodes saw, in a final block, that the nonces of signatures of an operation are
// used: hashes are their OpHash, for an authorization its digest. From then on nothing can use them, so they are no
// longer on the list of Outstanding, and their places are past. What ran in them is not known by it: they count
// against the caps of their day as before, and the operation keeps its state. It is never the service's word that leads
// here.
//
// Errors: ErrSeen for a signature without a nonce, or one that the operation does not have; those of Append. Programs
// from before this record open a file with one read-only.
func (j *Journal) Saw(op string, hashes []string, block uint64) error {
	return j.Append(op, Seen, Entry{Used: hashes, Block: block})
}

// checkSeen demands what a SEEN record needs.
func (o *Operation) checkSeen(hashes []string) error {
	for _, h := range hashes {
		has := func(s Signature) bool { return !s.solana() && s.OpHash == h || s.delegates(h) }
		if !slices.ContainsFunc(o.Signatures, has) {
			return fmt.Errorf("journal: %w: %s", ErrSeen, h)
		}
	}
	if len(hashes) == 0 {
		return fmt.Errorf("journal: %w: none is named", ErrSeen)
	}
	return nil
}

// delegates reports whether digest is that of the authorization beside a signature.
func (s Signature) delegates(digest string) bool {
	return s.Delegation != nil && s.Delegation.Digest == digest
}

// see takes a SEEN record in.
func (b *book) see(o *Operation, e Entry) {
	seen := sight{e.At, e.Block, e.Note}
	for _, s := range o.Signatures {
		if slices.Contains(e.Used, s.OpHash) && !s.solana() {
			b.seen[s.slot()] = seen
		}
		if s.Delegation == nil || !slices.Contains(e.Used, s.Delegation.Digest) {
			continue
		}
		if at := s.authority(); b.passed[at].next <= s.Delegation.Nonce {
			b.passed[at] = passed{s.Delegation.Nonce + 1, seen}
		}
	}
}

func (b *book) wasSeen(s Signature) bool {
	_, seen := b.seen[s.slot()]
	return seen && !s.solana()
}

// Closed is a signature that nothing can use any more, because its nonce is used; At is when that was seen, Block the
// number of the final block in which, Note the words of a record without one.
type Closed struct {
	Signature
	Op    string
	At    time.Time
	Block uint64
	Note  string
}

// closed lists what own nodes closed until its time is over; what no time ends, for a day.
func (b *book) closed(now time.Time) (out []Closed) {
	add := func(id string, s Signature, seen sight) {
		if s.ended(now) || s.endless() && !now.Before(seen.at.Add(closedFor)) {
			return
		}
		out = append(out, Closed{Signature: s, Op: id, At: seen.at, Block: seen.block, Note: seen.note})
	}
	for _, id := range b.order {
		for _, s := range b.ops[id].Signatures {
			if _, used := b.used[s.slot()]; !used && b.wasSeen(s) {
				add(id, s, b.seen[s.slot()])
			}
			if s.Delegation == nil || b.delegationUsed(s) || b.passed[s.authority()].next <= s.Delegation.Nonce {
				continue
			}
			a := s.authorization()
			if !slices.ContainsFunc(out, func(x Closed) bool { return a.same(x.Signature) }) {
				add(id, a, b.passed[s.authority()].sight)
			}
		}
	}
	return out
}
