package journal

import (
	"slices"
	"time"

	"coffer/api"
	"coffer/wallet/verify"
)

// Word is what the service said became of a signature, on a network where its word proves nothing: the signature stays
// open until its time is over or a person voids it. "" means that it said nothing, or that its word closes.
type Word string

// The words.
const (
	SaidRan     Word = "ran"     // the service says that it ran
	SaidNothing Word = "nothing" // the service says that nothing came of it: refunded, failed, never executed
	SaidDoubted Word = "doubted" // the service said that it ran, and the owner set its lane back
)

// Words is a sentence or two in plain words; "" for no word.
func (w Word) Words() string {
	switch w {
	case SaidRan:
		return "The service says it ran; nothing on this machine proves it."
	case SaidNothing:
		return "The service says nothing came of it; nothing on this machine proves it."
	case SaidDoubted:
		return "The service said it ran, and you set its lane back: take it to be open."
	}
	return ""
}

// place is where a signature is found: the operation and the index among its signatures.
type place struct {
	op *Operation
	at int
}

func (p place) signature() *Signature { return &p.op.Signatures[p.at] }

// hear notes on every signature of an ended operation what the service said of it, and on those of other operations in
// the places that it calls used: only one can ever take a place. What is signed later starts without a word.
func (b *book) hear(o *Operation) {
	if b.closes {
		return
	}
	used := SaidRan
	if o.Outcome == api.StatusRefunded || o.Outcome == api.StatusFailed {
		used = SaidNothing
	}
	for i := range o.Signatures {
		o.Signatures[i].Said = SaidNothing
	}
	for _, s := range o.Signatures {
		if !slices.Contains(o.Used, s.OpHash) {
			continue
		}
		for _, p := range b.places[s.slot()] {
			if x := p.signature(); used == SaidRan || x.Said == "" {
				x.Said = used
			}
		}
	}
}

// open lists what can still be used, as verify weighs it.
func (b *book) open(now time.Time) []verify.Open {
	var out []verify.Open
	for _, x := range b.outstanding(now) {
		if x.Role == RoleDelegation || x.Past || !x.VoidedAt.IsZero() || b.closes && x.Said == "" {
			continue
		}
		o := b.ops[x.Op]
		v := o.weighed(x.Signature, x.Spend)
		v.Running, v.Tried = x.State == Acked, o.BodyHash != ""
		if end, ends := x.Ends(); ends {
			v.Ends = end
		}
		out = append(out, v)
	}
	return append(out, b.past(now)...)
}

// weighed is a signature of the operation as verify weighs it, with what it counts for.
func (o *Operation) weighed(s Signature, spend []Spend) verify.Open {
	v := verify.Open{
		Operation: o.ID, Hash: s.OpHash, Role: s.Role, Chain: s.Chain, Sender: s.Sender, Nonce: s.Nonce, Made: s.Made,
		Sent: s.Sent, Intent: o.Intent, Ran: s.Said == SaidRan, Nothing: s.Said == SaidNothing || s.Said == SaidDoubted,
	}
	for _, p := range spend {
		v.Spend = add(v.Spend, p)
	}
	return v
}

// pastFor is how long what was sent and has ended is still weighed: nothing proves that it did not run in time.
const pastFor = 24 * time.Hour

// past lists what was sent and has ended within a day, where the service's word closes nothing.
func (b *book) past(now time.Time) []verify.Open {
	var out []verify.Open
	for _, id := range b.order {
		o := b.ops[id]
		for _, s := range o.Signatures {
			if b.closes || !s.Sent || !s.ended(now) || !s.VoidedAt.IsZero() {
				continue
			}
			end, _ := s.Ends()
			if now.Sub(end) > pastFor {
				continue
			}
			v := o.weighed(s, s.Spend)
			v.Ends, v.Past = end, true
			out = append(out, v)
		}
	}
	return out
}

// sentFor lists what an operation sent, calls and payments, whatever became of it.
func (b *book) sentFor(op string) []verify.Open {
	o := b.ops[op]
	if o == nil {
		return nil
	}
	var out []verify.Open
	for _, s := range o.Signatures {
		if s.Sent {
			out = append(out, o.weighed(s, s.counts()))
		}
	}
	return out
}
