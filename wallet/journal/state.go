package journal

import (
	"fmt"
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api/op"
)

// Operation is the latest known state of one operation. Prepared and Quote are the last answers as received; Signatures holds every signature that was made
// for it, also for earlier quotes. Used lists the hashes of operations whose nonces are known to be used.
type Operation struct {
	ID         string
	State      State
	Started    time.Time
	Updated    time.Time
	Intent     []byte
	IntentHash string
	Prepared   []byte
	PreparedAt time.Time
	Signatures []Signature
	Recipients []string
	Quote      []byte
	QuoteID    string
	Expires    int64
	BodyHash   string
	Outcome    string
	Used       []string
	Note       string
}

// book is what the records amount to.
type book struct {
	order  []string
	ops    map[string]*Operation
	quotes map[string]bool
	used   map[slot]bool
}

// slot is a place in an account's sequence: only one operation can ever take it.
type slot struct {
	chainID uint64
	sender  common.Address
	nonce   string
}

func (s Signature) slot() slot { return slot{s.ChainID, common.HexToAddress(s.Sender), s.Nonce} }

func newBook() *book {
	return &book{ops: map[string]*Operation{}, quotes: map[string]bool{}, used: map[slot]bool{}}
}

// check reports why a record cannot come next.
func (b *book) check(r record) error {
	var now State
	if o, ok := b.ops[r.entry.Op]; ok {
		now = o.State
	}
	if r.entry.Op == "" || !now.follows(r.state) {
		return fmt.Errorf("journal: %s cannot follow %q", r.state, now)
	}
	for _, s := range r.entry.Signatures {
		if _, ok := new(big.Int).SetString(s.Nonce, 10); !ok || len(s.Nonce) > 78 || s.OpHash == "" {
			return fmt.Errorf("journal: a signature in %s lacks its nonce or hash", r.state)
		}
	}
	return nil
}

// admit applies the rules that depend on what else is known at the moment of a record. They hold for new records only: a file that was written before a
// rule existed stays readable. Records about a quote must be about the one on record, a quote id is used once (TH-Q1), and a signature is refused while an
// earlier one of the same lane is open under another nonce, whoever signs in between (TH-U3).
func (b *book) admit(r record, now time.Time) error {
	o := b.ops[r.entry.Op]
	switch r.state {
	case Quoted:
		if b.quotes[strings.ToLower(r.entry.QuoteID)] {
			return fmt.Errorf("%w: its id was used before", ErrQuote)
		}
	case QuoteSigned, Executing, Acked:
		if o != nil && !strings.EqualFold(o.QuoteID, r.entry.QuoteID) {
			return fmt.Errorf("%w: %s is about another one than the last", ErrQuote, r.state)
		}
	}
	open := b.outstanding(now)
	for i, s := range r.entry.Signatures {
		for _, x := range open {
			if s.conflicts(x.Signature) {
				return ErrConflict
			}
		}
		for _, x := range r.entry.Signatures[:i] {
			if s.conflicts(x) {
				return ErrConflict
			}
		}
	}
	return nil
}

// conflicts reports whether two signatures of one lane could both take effect.
func (s Signature) conflicts(x Signature) bool {
	return s.ChainID == x.ChainID && s.Lane == x.Lane && s.Nonce != x.Nonce && common.HexToAddress(s.Sender) == common.HexToAddress(x.Sender)
}

// apply takes a checked record in.
func (b *book) apply(r record) {
	e := r.entry
	o, ok := b.ops[e.Op]
	if !ok {
		o = &Operation{ID: e.Op, Started: e.At, Intent: e.Intent, IntentHash: e.IntentHash}
		b.ops[e.Op] = o
		b.order = append(b.order, e.Op)
	}
	o.State, o.Updated, o.Note = r.state, e.At, e.Note
	for _, s := range e.Signatures {
		if !slices.ContainsFunc(o.Signatures, func(x Signature) bool { return x.OpHash == s.OpHash && x.QuoteID == s.QuoteID }) {
			o.Signatures = append(o.Signatures, s)
		}
	}
	switch r.state {
	case Prepared:
		o.Prepared, o.PreparedAt = e.Document, e.At
		o.Quote, o.QuoteID, o.Expires = nil, "", 0
	case Signed:
		o.Recipients = e.Recipients
	case Quoted:
		o.Quote, o.QuoteID, o.Expires = e.Document, e.QuoteID, e.Expires
		b.quotes[strings.ToLower(e.QuoteID)] = true
	case Executing:
		o.BodyHash = e.BodyHash
	case Done:
		o.Outcome, o.Used = e.Outcome, e.Used
		for _, s := range o.Signatures {
			if slices.Contains(e.Used, s.OpHash) {
				b.used[s.slot()] = true
			}
		}
	}
	if o.State.Terminal() {
		o.Prepared, o.Quote = nil, nil // not needed again; the file keeps them
	}
}

func (b *book) list() []Operation {
	out := make([]Operation, 0, len(b.order))
	for _, id := range b.order {
		out = append(out, b.ops[id].copy())
	}
	return out
}

func (o *Operation) copy() Operation {
	c := *o
	c.Signatures = slices.Clone(o.Signatures)
	c.Recipients, c.Used = slices.Clone(o.Recipients), slices.Clone(o.Used)
	c.Intent, c.Prepared, c.Quote = slices.Clone(o.Intent), slices.Clone(o.Prepared), slices.Clone(o.Quote)
	return c
}

// windowMargin keeps a signature on the list a little longer than its window, because block times and clocks differ.
const windowMargin = 60 * time.Second

// ended reports whether the window of a signature is over.
func (s Signature) ended(now time.Time) bool {
	return now.After(time.Unix(s.ValidUntil, 0).Add(windowMargin))
}

// Outstanding is a signature that may still be used by whoever holds it.
type Outstanding struct {
	Signature
	Op    string
	State State
	Made  time.Time
	Void  string // plain words: what ends it
}

func (b *book) outstanding(now time.Time) []Outstanding {
	var out []Outstanding
	for _, id := range b.order {
		o := b.ops[id]
		for _, s := range o.Signatures {
			if b.used[s.slot()] || s.ended(now) {
				continue
			}
			void := fmt.Sprintf("It ends by itself at %s, or as soon as another operation of this account uses nonce %s on %s.",
				time.Unix(s.ValidUntil, 0).UTC().Format("15:04:05 UTC"), s.Nonce, s.Chain)
			out = append(out, Outstanding{Signature: s, Op: id, State: o.State, Made: o.Updated, Void: void})
		}
	}
	return out
}

func (b *book) liveNonces(sender common.Address, chainID uint64, lane uint16, now time.Time) []*big.Int {
	var out []*big.Int
	for _, s := range b.outstanding(now) {
		if s.Lane != lane || s.ChainID != chainID || common.HexToAddress(s.Sender) != sender {
			continue
		}
		n, _ := new(big.Int).SetString(s.Nonce, 10) // checked when the record was taken in
		if !slices.ContainsFunc(out, func(v *big.Int) bool { return v.Cmp(n) == 0 }) {
			out = append(out, n)
		}
	}
	return out
}

// nextSequence: a used sequence is past, and one that is signed and open was the next when it was signed. One that ended unused says nothing: the service
// chose it, and if it lay too far ahead, no honest nonce could ever follow it.
func (b *book) nextSequence(sender common.Address, chainID uint64, lane uint16, now time.Time) (uint64, bool) {
	next, known := uint64(0), false
	for _, o := range b.ops {
		for _, s := range o.Signatures {
			if s.Lane != lane || s.ChainID != chainID || common.HexToAddress(s.Sender) != sender {
				continue
			}
			v, _ := new(big.Int).SetString(s.Nonce, 10)
			n, err := op.ParseNonce(v)
			if err != nil {
				continue
			}
			at := n.Sequence
			switch {
			case b.used[s.slot()]:
				at++
			case s.ended(now):
				continue
			}
			next, known = max(next, at), true
		}
	}
	return next, known
}

func (b *book) recipients() []common.Address {
	var out []common.Address
	seen := map[common.Address]bool{}
	for _, id := range b.order {
		o := b.ops[id]
		if o.State != Done || o.Outcome != "COMPLETED" {
			continue
		}
		for _, r := range o.Recipients {
			if a := common.HexToAddress(r); !seen[a] {
				seen[a] = true
				out = append(out, a)
			}
		}
	}
	return out
}
