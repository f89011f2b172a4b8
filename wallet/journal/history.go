package journal

import (
	"fmt"
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/amount"
	"coffer/api/caip"
	"coffer/api/op"
	"coffer/wallet/verify"
)

// windowMargin keeps a signature on the list a little longer than its window, because block times and clocks differ.
const windowMargin = 60 * time.Second

// RoleDelegation is the role of an Outstanding that is an EIP-7702 authorization: Nonce is then the account nonce of the EOA, OpHash and Digest what was signed.
const RoleDelegation = "delegation"

// endless reports whether no time ends a signature: that of an authorization, of an approval, or beside a sponsor that is not known.
func (s Signature) endless() bool { return s.Role == RoleDelegation || s.ValidUntil >= verify.NoEnd }

// ended reports whether the time of a signature is over.
func (s Signature) ended(now time.Time) bool {
	return !s.endless() && now.After(time.Unix(s.ValidUntil, 0).Add(windowMargin))
}

// Outstanding is a signature that may still be used by whoever holds it.
type Outstanding struct {
	Signature
	Op    string
	State State
	Made  time.Time
	Void  string // plain words: what ends it
}

// outstanding lists what is not known to be used and whose time is not over: operations, and the authorizations signed beside them as entries of their own,
// which last until the EOA's account nonce is past theirs.
func (b *book) outstanding(now time.Time) []Outstanding {
	var out []Outstanding
	for _, id := range b.order {
		o := b.ops[id]
		for _, s := range o.Signatures {
			if _, used := b.used[s.slot()]; !used && !s.ended(now) {
				out = append(out, Outstanding{Signature: s, Op: id, State: o.State, Made: s.Made, Void: s.void()})
			}
			if s.Delegation == nil || b.delegated[s.authority()] > s.Delegation.Nonce {
				continue
			}
			a := s.authorization()
			same := func(x Outstanding) bool {
				return x.Role == RoleDelegation && x.OpHash == a.OpHash && x.Sender == a.Sender
			}
			if !slices.ContainsFunc(out, same) {
				out = append(out, Outstanding{Signature: a, Op: id, State: o.State, Made: s.Made, Void: a.void()})
			}
		}
	}
	return out
}

// authorization is the delegation of a signature as an entry of its own.
func (s Signature) authorization() Signature {
	d := s.Delegation
	return Signature{
		Role: RoleDelegation, Kind: s.Kind, Chain: caip.EVM(d.ChainID).String(), ChainID: d.ChainID, Sender: s.Sender, Nonce: fmt.Sprint(d.Nonce), OpHash: d.Digest,
		Digest: d.Digest, Signature: d.Signature, Delegation: d, QuoteID: s.QuoteID, Made: s.Made, Sent: s.Sent,
	}
}

// void says in plain words what ends a signature.
func (s Signature) void() string {
	until := time.Unix(s.ValidUntil, 0).UTC().Format("15:04:05 UTC")
	switch {
	case s.Role == RoleDelegation:
		return fmt.Sprintf("It does not end by itself: it ends when account nonce %s of this EOA is used on %s, which any transaction of the EOA there does.", s.Nonce, s.Chain)
	case s.solana():
		return fmt.Sprintf("It ends by itself with its block hash, at %s at the latest.", until)
	case s.endless():
		return fmt.Sprintf("It does not end by itself: it ends when another operation of this account uses nonce %s on %s.", s.Nonce, s.Chain)
	}
	return fmt.Sprintf("It ends by itself at %s, or as soon as another operation of this account uses nonce %s on %s.", until, s.Nonce, s.Chain)
}

// of reports whether a signature is of an account's lane on a chain.
func (s Signature) of(sender common.Address, chainID uint64, lane uint16) bool {
	return !s.solana() && s.Role != RoleDelegation && s.Lane == lane && s.ChainID == chainID && common.HexToAddress(s.Sender) == sender
}

func (b *book) liveNonces(sender common.Address, chainID uint64, lane uint16, now time.Time) []*big.Int {
	var out []*big.Int
	for _, s := range b.outstanding(now) {
		if !s.of(sender, chainID, lane) {
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
			if !s.of(sender, chainID, lane) {
				continue
			}
			v, _ := new(big.Int).SetString(s.Nonce, 10)
			n, err := op.ParseNonce(v)
			if err != nil {
				continue
			}
			at := n.Sequence
			_, used := b.used[s.slot()]
			switch {
			case used:
				at++
			case s.ended(now):
				continue
			}
			next, known = max(next, at), true
		}
	}
	return next, known
}

// nextAuthorization follows nextSequence: a used account nonce is past, and that of an authorization beside an operation that can still run was the next. An
// authorization whose operation ended says nothing, though it lives on: the service chose its nonce.
func (b *book) nextAuthorization(eoa common.Address, chainID uint64, now time.Time) (uint64, bool) {
	next, known := b.delegated[slot{chainID: chainID, sender: eoa}]
	for _, o := range b.ops {
		for _, s := range o.Signatures {
			if s.Delegation == nil || s.Delegation.ChainID != chainID || common.HexToAddress(s.Sender) != eoa || s.ended(now) {
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

// beside names the operation that is judged: what its next step replaces does not count. prepared keeps its prepared call among what counts.
type beside struct {
	op       string
	prepared bool
}

// spent sums by asset what was signed since a moment and counts against the caps. It counts refunded and abandoned operations too: their signatures may have
// been or may still be used. It leaves out what provably did not happen: operations that were not executed or failed, the signatures of a quote or a prepared
// answer that the same operation replaced by a later signed one, and those whose nonce another operation took.
func (b *book) spent(since time.Time, judged beside) []verify.Spend {
	var out []verify.Spend
	for _, id := range b.order {
		o := b.ops[id]
		if o.didNotHappen() {
			continue
		}
		for _, s := range o.counted() {
			replaced := id == judged.op && (s.QuoteID != "" || !judged.prepared)
			taken, used := b.used[s.slot()]
			if replaced || s.Made.Before(since) || (used && taken != s.OpHash) {
				continue
			}
			for _, p := range s.counts() {
				out = add(out, p)
			}
		}
	}
	return out
}

// counts is what of a signature counts. Records from before it was written count all that could leave the account.
func (s Signature) counts() []Spend {
	if s.Kind == "" {
		return s.Spend
	}
	return s.Counts
}

// counted are the signatures of an operation of which all may take effect: that of the last prepared answer and those of the last quote that was signed.
func (o *Operation) counted() []Signature {
	prepared, quote := "", ""
	for _, s := range o.Signatures {
		if s.QuoteID == "" {
			prepared = s.OpHash
		} else {
			quote = s.QuoteID
		}
	}
	var out []Signature
	for _, s := range o.Signatures {
		if (s.QuoteID == "" && s.OpHash == prepared) || (s.QuoteID != "" && s.QuoteID == quote) {
			out = append(out, s)
		}
	}
	return out
}

// add sums an amount that was checked when its record was taken in.
func add(sums []verify.Spend, p Spend) []verify.Spend {
	asset, _ := caip.ParseAsset(p.Asset)
	v, _ := amount.ParseBase(p.Amount)
	for _, s := range sums {
		if s.Asset == asset {
			s.Amount.Add(s.Amount, v)
			return sums
		}
	}
	return append(sums, verify.Spend{Asset: asset, Amount: v})
}
