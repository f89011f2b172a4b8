package journal

import (
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api/amount"
	"coffer/api/caip"
)

// Operation is the latest known state of one operation. Prepared and Quote are the last answers as received, PreparedAt
// and QuotedAt when they came; Signatures holds every signature that was made for it, also for earlier quotes. Used
// lists the hashes of operations whose nonces are known to be used.
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
	QuotedAt   time.Time
	Expires    int64
	RefundFrom int64
	BodyHash   string
	Outcome    string
	Used       []string
	Note       string
	Agreed     []Agreement
	// how many records moved it, VOID not counted: another number means that another process went on with it
	Records int
}

// Agreement is what a person confirmed and what was signed upon it: the state that the signatures led to, the
// confirmation as it was given, and the decoded content in plain words (TH-V6).
type Agreement struct {
	State     State
	At        time.Time
	Confirmed string
	Summary   []string
}

// book is what the records amount to. closes says that the service's word ends a signature. used holds what is known to
// have run: which operation took a place; said holds the places that are used by the service's word, whether it proves
// anything or not, seen those that the person's own nodes saw used; delegated is by that word, and passed by what those
// nodes saw, the lowest account nonce of an EOA that can be unused. places finds the signatures of a place, lanes is
// where a person said that a lane goes on. era counts the networks before this one: what took a place there takes none
// here.
type book struct {
	closes    bool
	era       int
	order     []string
	ops       map[string]*Operation
	quotes    map[string]bool
	used      map[slot]string
	said      map[slot]bool
	seen      map[slot]sight
	delegated map[slot]uint64
	passed    map[slot]passed
	places    map[slot][]place
	lanes     map[laneKey]Lane
	terms     map[string]Terms // by quote id in lower case
}

// slot is a place in an account's sequence: only one operation can ever take it. A Solana message is a place of its
// own, and an EOA on a chain, with no nonce, has the place of its authorizations.
type slot struct {
	era     int
	chainID uint64
	sender  common.Address
	nonce   string
}

func (s Signature) slot() slot {
	if s.solana() {
		return slot{era: s.era, nonce: s.OpHash}
	}
	return slot{s.era, s.ChainID, common.HexToAddress(s.Sender), s.Nonce}
}

// authority is the place of the authorizations of the signature's sender on a chain.
func (s Signature) authority() slot {
	return slot{era: s.era, chainID: s.Delegation.ChainID, sender: common.HexToAddress(s.Sender)}
}

func (s Signature) solana() bool { return s.BlockHash != "" }

func newBook(closes bool) *book {
	return &book{
		closes: closes, ops: map[string]*Operation{}, quotes: map[string]bool{}, used: map[slot]string{},
		said: map[slot]bool{}, seen: map[slot]sight{}, delegated: map[slot]uint64{},
		passed: map[slot]passed{}, places: map[slot][]place{}, lanes: map[laneKey]Lane{}, terms: map[string]Terms{},
	}
}

// check reports why a record cannot come next.
func (b *book) check(r record) error {
	if r.state == Repaired {
		return r.entry.checkRepair()
	}
	var now State
	if o, ok := b.ops[r.entry.Op]; ok {
		now = o.State
	}
	if r.entry.Op == "" || !now.follows(r.state) {
		return fmt.Errorf("journal: %s cannot follow %q", r.state, now)
	}
	for _, s := range r.entry.Signatures {
		if err := s.check(); err != nil {
			return fmt.Errorf("journal: a signature in %s: %w", r.state, err)
		}
	}
	switch r.state {
	case Voided:
		return b.ops[r.entry.Op].checkVoid(r.entry.Void)
	case Seen:
		return b.ops[r.entry.Op].checkSeen(r.entry.Used)
	}
	return nil
}

// check demands what the rules of the journal need to know of a signature.
func (s Signature) check() error {
	_, isNumber := new(big.Int).SetString(s.Nonce, 10)
	switch {
	case s.OpHash == "":
		return errors.New("its operation has no hash")
	case s.solana() && s.Nonce != "", !s.solana() && (!isNumber || len(s.Nonce) > 78):
		return errors.New("its nonce is missing or not a number")
	case s.Delegation != nil && (s.solana() || s.Delegation.ChainID == 0 || s.Delegation.Digest == ""):
		return errors.New("its delegation lacks a chain or a digest")
	}
	for _, p := range slices.Concat(s.Spend, s.Counts) {
		if _, err := caip.ParseAsset(p.Asset); err != nil {
			return fmt.Errorf("what it spends: %w", err)
		}
		if _, err := amount.ParseBase(p.Amount); err != nil {
			return fmt.Errorf("what it spends: %w", err)
		}
	}
	return nil
}

// admit applies the rules that depend on what else is known at the moment of a record. They hold for new records only:
// a file that was written before a rule existed stays readable. Records about a quote must be about the one on record,
// a quote id is used once (TH-Q1), and a signature is refused while an earlier one of the same lane is open under
// another nonce, whoever signs in between (TH-U3).
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
	if r.state == Voided && !slices.ContainsFunc(open, func(x Outstanding) bool {
		return x.Op == r.entry.Op && x.OpHash == r.entry.Void && x.Voidable()
	}) {
		return fmt.Errorf("%w: it was used, or voided before", ErrVoid)
	}
	if r.state == QuoteSigned && len(r.entry.Signatures) > 0 &&
		len(PaidElsewhere(r.entry.Op, open, r.entry.QuoteID, r.entry.Signatures)) > 0 {
		return ErrPaid
	}
	for i, s := range r.entry.Signatures {
		for _, x := range open {
			if s.Conflicts(x.Signature) {
				return ErrConflict
			}
		}
		if slices.ContainsFunc(r.entry.Signatures[:i], s.Conflicts) {
			return ErrConflict
		}
	}
	return nil
}

// Conflicts reports whether both a new signature and an open one could take effect although only one of them is wanted:
// operations of one lane with two nonces, or messages of one Solana account, which has no nonces, for two quotes of
// which the first may have left this machine. Authorizations never do: each takes the same step again. What a person
// voided is in nobody's way, nor is what was made on a network before, nor what the service spoke about (Said): that
// stays open, and whether a new operation would repeat it is for verify to judge.
func (s Signature) Conflicts(open Signature) bool {
	switch {
	case !open.VoidedAt.IsZero(), open.Said != "", open.Past:
		return false
	case s.Role == RoleDelegation || open.Role == RoleDelegation || s.solana() != open.solana():
		return false
	case s.solana():
		return s.Sender == open.Sender && s.OpHash != open.OpHash && open.Sent &&
			!strings.EqualFold(s.QuoteID, open.QuoteID)
	}
	return s.ChainID == open.ChainID && s.Lane == open.Lane && s.Nonce != open.Nonce &&
		common.HexToAddress(s.Sender) == common.HexToAddress(open.Sender)
}

// apply takes a checked record in.
func (b *book) apply(r record) {
	e := r.entry
	if r.state == Repaired {
		b.repair(*e.Lane)
		return
	}
	o, ok := b.ops[e.Op]
	if !ok {
		o = &Operation{ID: e.Op, Started: e.At, Intent: e.Intent, IntentHash: e.IntentHash}
		b.ops[e.Op] = o
		b.order = append(b.order, e.Op)
	}
	switch r.state {
	case Voided:
		o.void(e)
		return
	case Seen:
		b.see(o, e)
		return
	}
	o.State, o.Updated, o.Note, o.Records = r.state, e.At, e.Note, o.Records+1
	for _, s := range e.Signatures {
		b.sign(o, s, e.At)
	}
	if len(e.Recipients) > 0 {
		o.Recipients = e.Recipients
	}
	if e.Confirmed != "" {
		o.Agreed = append(o.Agreed, Agreement{State: r.state, At: e.At, Confirmed: e.Confirmed, Summary: e.Summary})
	}
	b.agree(o, r)
	switch r.state {
	case Prepared:
		o.Prepared, o.PreparedAt = e.Document, e.At
		o.Quote, o.QuoteID, o.Expires = nil, "", 0
	case Quoted:
		o.Quote, o.QuoteID, o.QuotedAt, o.Expires, o.RefundFrom = e.Document, e.QuoteID, e.At, e.Expires, e.RefundFrom
		b.quotes[strings.ToLower(e.QuoteID)] = true
	case Executing:
		o.BodyHash = e.BodyHash
		for i, s := range o.Signatures {
			o.Signatures[i].Sent = s.Sent || strings.EqualFold(s.QuoteID, e.QuoteID)
		}
	case Done:
		o.Outcome, o.Used = e.Outcome, e.Used
		b.use(o)
	}
	if r.state == Done || r.state == NotExecuted {
		b.hear(o)
	}
	if o.State.Terminal() {
		o.Prepared, o.Quote = nil, nil // not needed again; the file keeps them
	}
}

// sign adds a signature, or the time at which it was made once more. That of a prepared operation is recorded right
// before it leaves.
func (b *book) sign(o *Operation, s Signature, at time.Time) {
	s.Made, s.Sent, s.era = at, s.QuoteID == "", b.era
	for i, x := range o.Signatures {
		if x.OpHash == s.OpHash && x.QuoteID == s.QuoteID {
			y := &o.Signatures[i]
			y.Made, y.VoidedAt, y.VoidNote, y.Said = at, time.Time{}, "", ""
			return
		}
	}
	b.places[s.slot()] = append(b.places[s.slot()], place{o, len(o.Signatures)})
	o.Signatures = append(o.Signatures, s)
}

// use takes the places of the operations that ran; where the service's word proves nothing they are only noted as what
// it said.
func (b *book) use(o *Operation) {
	for _, s := range o.Signatures {
		if !slices.Contains(o.Used, s.OpHash) {
			continue
		}
		b.said[s.slot()] = true
		if b.closes {
			b.used[s.slot()] = s.OpHash
		}
		if s.Delegation != nil {
			b.delegated[s.authority()] = max(b.delegated[s.authority()], s.Delegation.Nonce+1)
		}
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
	c.Recipients, c.Used, c.Agreed = slices.Clone(o.Recipients), slices.Clone(o.Used), slices.Clone(o.Agreed)
	c.Intent, c.Prepared, c.Quote = slices.Clone(o.Intent), slices.Clone(o.Prepared), slices.Clone(o.Quote)
	return c
}
