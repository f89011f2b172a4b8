package journal

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// ErrSeen says that a signature cannot have been seen used.
var ErrSeen = errors.New("this signature has no nonce that a node can see used")

// sight is when nodes saw a place used, and what is said of it.
type sight struct {
	at   time.Time
	note string
}

// Saw records that the person's own nodes saw, in a final block, that the nonces of signatures of an operation are
// used: hashes are their OpHash, note says in plain words where it was seen. From then on nothing can use them, so they
// are no longer on the list of Outstanding, and their places are past. What ran in them is not known by it: they count
// against the caps of their day as before, and the operation keeps its state. It is never the service's word that leads
// here.
//
// Errors: ErrSeen for a signature without a nonce, or one that the operation does not have; those of Append. Programs
// from before this record open a file with one read-only.
func (j *Journal) Saw(op string, hashes []string, note string) error {
	return j.Append(op, Seen, Entry{Used: hashes, Note: note})
}

// checkSeen demands what a SEEN record needs.
func (o *Operation) checkSeen(hashes []string) error {
	for _, h := range hashes {
		if !slices.ContainsFunc(o.Signatures, func(s Signature) bool { return s.OpHash == h && !s.solana() }) {
			return fmt.Errorf("journal: %w: %s", ErrSeen, h)
		}
	}
	if len(hashes) == 0 {
		return fmt.Errorf("journal: %w: none is named", ErrSeen)
	}
	return nil
}

// see takes a SEEN record in.
func (b *book) see(o *Operation, e Entry) {
	for _, s := range o.Signatures {
		if slices.Contains(e.Used, s.OpHash) && !s.solana() {
			b.seen[s.slot()] = sight{e.At, e.Note}
		}
	}
}

func (b *book) wasSeen(s Signature) bool {
	_, seen := b.seen[s.slot()]
	return seen && !s.solana()
}

// Closed is a signature that nothing can use any more, because its nonce is used; At is when that was seen, Note where.
type Closed struct {
	Signature
	Op   string
	At   time.Time
	Note string
}

func (b *book) closed(now time.Time) (out []Closed) {
	for _, id := range b.order {
		for _, s := range b.ops[id].Signatures {
			if _, used := b.used[s.slot()]; !used && b.wasSeen(s) && !s.ended(now) {
				seen := b.seen[s.slot()]
				out = append(out, Closed{Signature: s, Op: id, At: seen.at, Note: seen.note})
			}
		}
	}
	return out
}
