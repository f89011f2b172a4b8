package journal

import (
	"fmt"
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/caip"
	"coffer/wallet/verify"
)

// windowMargin keeps a signature on the list a little longer than its window, because block times and clocks differ.
const windowMargin = 60 * time.Second

// RoleDelegation is the role of an Outstanding that is an EIP-7702 authorization: Nonce is then the account nonce of
// the EOA, OpHash and Digest what was signed.
const RoleDelegation = "delegation"

// endless reports whether no time ends a signature: that of an authorization, of an approval, or beside a sponsor that
// is not known.
func (s Signature) endless() bool { return s.Role == RoleDelegation || s.ValidUntil >= verify.NoEnd }

// Ends is the moment after which a signature certainly cannot be used any more, by the clock that the caller trusts;
// false if no time ends it.
func (s Signature) Ends() (time.Time, bool) {
	return time.Unix(s.ValidUntil, 0).Add(windowMargin), !s.endless()
}

// ended reports whether the time of a signature is over.
func (s Signature) ended(now time.Time) bool {
	end, ends := s.Ends()
	return ends && now.After(end)
}

// Voidable reports whether a person may void the signature: no time ends it, and it was not voided before.
// Authorizations are in nobody's way.
func (s Signature) Voidable() bool {
	return s.Role != RoleDelegation && s.endless() && s.VoidedAt.IsZero()
}

// Outstanding is a signature that may still be used by whoever holds it.
type Outstanding struct {
	Signature
	Op    string
	State State
	Made  time.Time
	Void  string // plain words: what ends it, or when it was voided
}

// outstanding lists what is not known to be used and whose time is not over: operations, and the authorizations signed
// beside them as entries of their own, which last until the EOA's account nonce is past theirs.
func (b *book) outstanding(now time.Time) []Outstanding {
	var out []Outstanding
	for _, id := range b.order {
		o := b.ops[id]
		for _, s := range o.Signatures {
			if _, used := b.used[s.slot()]; !used && !b.wasSeen(s) && !s.ended(now) {
				s := s
				s.Past = s.era != b.era
				out = append(out, Outstanding{Signature: s, Op: id, State: o.State, Made: s.Made, Void: s.void()})
			}
			if s.Delegation == nil || b.delegationUsed(s) || b.passed[s.authority()].next > s.Delegation.Nonce {
				continue
			}
			a := s.authorization()
			a.Past = s.era != b.era
			if !slices.ContainsFunc(out, func(x Outstanding) bool { return a.same(x.Signature) }) {
				out = append(out, Outstanding{Signature: a, Op: id, State: o.State, Made: s.Made, Void: a.void()})
			}
		}
	}
	return out
}

// delegationUsed reports whether the service's word ends the authorization beside a signature.
func (b *book) delegationUsed(s Signature) bool {
	return b.closes && b.delegated[s.authority()] > s.Delegation.Nonce
}

// same reports whether x is the same authorization.
func (s Signature) same(x Signature) bool {
	return x.Role == RoleDelegation && x.OpHash == s.OpHash && x.Sender == s.Sender
}

// authorization is the delegation of a signature as an entry of its own.
func (s Signature) authorization() Signature {
	d := s.Delegation
	return Signature{
		Role: RoleDelegation, Kind: s.Kind, Chain: caip.EVM(d.ChainID).String(), ChainID: d.ChainID, Sender: s.Sender,
		Nonce: fmt.Sprint(d.Nonce), OpHash: d.Digest,
		Digest: d.Digest, Signature: d.Signature, Delegation: d, QuoteID: s.QuoteID, Made: s.Made, Sent: s.Sent,
		Said: s.Said,
	}
}

// void says in plain words what ends a signature, after what the service said became of it.
func (s Signature) void() string {
	if s.Past {
		s.Past = false
		return "It was made on the network before this one, where nothing runs any more. " + s.void()
	}
	if words := s.Said.Words(); words != "" && s.VoidedAt.IsZero() {
		s.Said = ""
		return words + " " + s.void()
	}
	until := time.Unix(s.ValidUntil, 0).UTC().Format("15:04:05 UTC")
	switch {
	case !s.VoidedAt.IsZero():
		return fmt.Sprintf("Voided by you on %s (%s). Anyone who has it can still use it until nonce %s on %s is used.",
			s.VoidedAt.UTC().Format("2 January 2006, 15:04 UTC"), s.VoidNote, s.Nonce, s.Chain)
	case s.Role == RoleDelegation:
		return fmt.Sprintf("It never expires: it ends when account nonce %s of this EOA is used on %s, "+
			"which any transaction of the EOA there does.", s.Nonce, s.Chain)
	case s.solana():
		return fmt.Sprintf("It expires with its block hash, at %s at the latest.", until)
	case s.endless():
		return fmt.Sprintf(
			"It never expires: it ends when another operation of this account uses nonce %s on %s.", s.Nonce,
			s.Chain)
	}
	return fmt.Sprintf("It expires at %s, or as soon as another operation of this account uses nonce %s on %s.",
		until, s.Nonce, s.Chain)
}

// of reports whether a signature is of an account's lane on a chain.
func (s Signature) of(sender common.Address, chainID uint64, lane uint16) bool {
	key, evm := s.key()
	return evm && key == laneKey{chainID, sender, lane}
}

func (b *book) liveNonces(sender common.Address, chainID uint64, lane uint16, now time.Time) []*big.Int {
	var out []*big.Int
	for _, s := range b.outstanding(now) {
		if s.Past || !s.of(sender, chainID, lane) || !s.VoidedAt.IsZero() || s.Said != "" {
			continue
		}
		n, _ := new(big.Int).SetString(s.Nonce, 10) // checked when the record was taken in
		if !slices.ContainsFunc(out, func(v *big.Int) bool { return v.Cmp(n) == 0 }) {
			out = append(out, n)
		}
	}
	return out
}

// nextSequence: a used sequence is past, and one that is signed and open was the next when it was signed. One that
// ended unused says nothing: the service chose it, and if it lay too far ahead, no honest nonce could ever follow it.
// Nor does one that a person voided, or one from before a repair of its lane at or beyond the sequence that was set.
func (b *book) nextSequence(sender common.Address, chainID uint64, lane uint16, now time.Time) (uint64, bool) {
	set, known := b.lanes[laneKey{chainID, sender, lane}]
	next := set.Sequence
	for _, o := range b.ops {
		for _, s := range o.Signatures {
			at, ok := s.Sequence()
			if !ok || s.era != b.era || !s.of(sender, chainID, lane) {
				continue
			}
			switch {
			case b.said[s.slot()] || b.wasSeen(s):
				at++
			case s.ended(now), !s.VoidedAt.IsZero(), s.Said == SaidDoubted:
				continue
			}
			next, known = max(next, at), true
		}
	}
	return next, known
}

// nextAuthorization follows nextSequence: a used account nonce is past, and that of an authorization beside an
// operation that can still run was the next. An authorization whose operation ended says nothing, though it lives on:
// the service chose its nonce.
func (b *book) nextAuthorization(eoa common.Address, chainID uint64, now time.Time) (uint64, bool) {
	at := slot{era: b.era, chainID: chainID, sender: eoa}
	next, known := b.delegated[at]
	if seen, found := b.passed[at]; found {
		next, known = max(next, seen.next), true
	}
	for _, o := range b.ops {
		for _, s := range o.Signatures {
			if s.Delegation == nil || s.Delegation.ChainID != chainID || common.HexToAddress(s.Sender) != eoa ||
				s.era != b.era || s.ended(now) {
				continue
			}
			next, known = max(next, s.Delegation.Nonce), true
		}
	}
	return next, known
}

// recipients lists whom completed operations paid, each once: addresses in checksum form, or base58.
func (b *book) recipients() []string {
	var out []string
	for _, id := range b.order {
		o := b.ops[id]
		if o.State != Done || o.Outcome != api.StatusCompleted {
			continue
		}
		for _, r := range o.Recipients {
			if strings.HasPrefix(r, "0x") {
				r = common.HexToAddress(r).Hex()
			}
			if !slices.Contains(out, r) {
				out = append(out, r)
			}
		}
	}
	return out
}
