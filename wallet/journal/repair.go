package journal

import (
	"cmp"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api/op"
)

// ErrRepair says that a record of a repair names no lane.
var ErrRepair = errors.New("a repair needs a chain, an account and a lane")

// Lane is a lane of an account on a chain, and the sequence at which it goes on. ChainID is that of an EVM chain,
// Account an 0x address.
type Lane struct {
	ChainID  uint64 `json:"chainId"`
	Account  string `json:"account"`
	Lane     uint16 `json:"lane"`
	Sequence uint64 `json:"sequence"`
}

type laneKey struct {
	chainID uint64
	account common.Address
	lane    uint16
}

func (l Lane) key() laneKey { return laneKey{l.ChainID, common.HexToAddress(l.Account), l.Lane} }

// key is the lane of a signature; false for a Solana message.
func (s Signature) key() (laneKey, bool) {
	return laneKey{s.ChainID, common.HexToAddress(s.Sender), s.Lane}, !s.solana() && s.Role != RoleDelegation
}

// Sequence is the number of a signature in its lane; false when it has none.
func (s Signature) Sequence() (uint64, bool) {
	v, ok := new(big.Int).SetString(s.Nonce, 10)
	if !ok || s.Role == RoleDelegation {
		return 0, false
	}
	n, err := op.ParseNonce(v)
	return n.Sequence, err == nil
}

// Repair records that a person says where a lane goes on, because what the journal knows of it and what the service
// offers disagree; note says how that was confirmed. It takes nothing back and closes nothing: what was taken to be
// used from that sequence on is open again until its time is over, every signature stays listed, and what counts as
// spent stays or grows. Nothing that the service says may lead here.
//
// Errors: ErrRepair; those of Append. Programs from before this record open a file with one read-only.
func (j *Journal) Repair(l Lane, note string) error {
	return j.Append("", Repaired, Entry{Lane: &l, Note: note})
}

// checkRepair demands what a REPAIR record needs, and that it carries nothing else.
func (e Entry) checkRepair() error {
	switch {
	case e.Lane == nil, e.Lane.ChainID == 0, !common.IsHexAddress(e.Lane.Account), e.Op != "", len(e.Signatures) > 0,
		len(e.Used) > 0, e.Void != "":
		return fmt.Errorf("journal: %w", ErrRepair)
	}
	return nil
}

// repair takes a REPAIR record in.
func (b *book) repair(l Lane) {
	b.lanes[l.key()] = l
	for _, id := range b.order {
		o := b.ops[id]
		for i := range o.Signatures {
			s := &o.Signatures[i]
			key, evm := s.key()
			if n, ok := s.Sequence(); !evm || s.era != b.era || key != l.key() || !ok || n < l.Sequence {
				continue
			}
			if b.said[s.slot()] || s.Said == SaidRan {
				s.Said = SaidDoubted
			}
		}
	}
	for at := range b.said {
		n, ok := Signature{Nonce: at.nonce}.Sequence()
		if ok && at.era == b.era && n >= l.Sequence && b.inLane(at, l) {
			delete(b.said, at)
			delete(b.used, at)
			delete(b.seen, at)
		}
	}
	b.countDelegations()
}

// inLane reports whether a place is one of a lane.
func (b *book) inLane(at slot, l Lane) bool {
	return slices.ContainsFunc(b.places[at], func(p place) bool {
		key, evm := p.signature().key()
		return evm && key == l.key()
	})
}

// countDelegations finds again which account nonces of EOAs are used: those beside operations whose places are.
func (b *book) countDelegations() {
	clear(b.delegated)
	for _, id := range b.order {
		for _, s := range b.ops[id].Signatures {
			if s.Delegation != nil && b.said[s.slot()] && slices.Contains(b.ops[id].Used, s.OpHash) {
				b.delegated[s.authority()] = max(b.delegated[s.authority()], s.Delegation.Nonce+1)
			}
		}
	}
}

// LaneFacts is what the journal knows of a lane. Next is the sequence from which it takes a new operation, by the word
// of the service where nothing proves it; Known is false when it knows none. Open holds the signatures of the lane that
// can still be used. Set is true when a person said where it goes on. Key is what the entry point counts by: the upper
// 192 bits of the nonce, as a number; nil when no nonce of the lane is known.
type LaneFacts struct {
	Lane
	Known bool
	Set   bool
	Key   *big.Int
	Open  []Outstanding
}

// Doubtful reports whether the service spoke about a signature of the lane that is still open, or a person set the
// lane: what comes next is not proven.
func (l LaneFacts) Doubtful() bool {
	return l.Set || slices.ContainsFunc(l.Open, func(x Outstanding) bool { return x.Said != "" })
}

func (b *book) laneFacts(now time.Time) []LaneFacts {
	all := map[laneKey]*LaneFacts{}
	at := func(key laneKey) *LaneFacts {
		if all[key] == nil {
			l := &LaneFacts{Lane: Lane{ChainID: key.chainID, Account: key.account.Hex(), Lane: key.lane}}
			_, l.Set = b.lanes[key]
			l.Sequence, l.Known = b.nextSequence(key.account, key.chainID, key.lane, now)
			all[key] = l
		}
		return all[key]
	}
	for key := range b.lanes {
		at(key)
	}
	for _, o := range b.ops {
		for _, s := range o.Signatures {
			if key, evm := s.key(); evm && s.era == b.era {
				n, _ := new(big.Int).SetString(s.Nonce, 10)
				at(key).Key = n.Rsh(n, 64)
			}
		}
	}
	for _, x := range b.outstanding(now) {
		if key, evm := x.key(); evm && !x.Past {
			at(key).Open = append(at(key).Open, x)
		}
	}
	out := make([]LaneFacts, 0, len(all))
	for _, l := range all {
		out = append(out, *l)
	}
	slices.SortFunc(out, func(a, c LaneFacts) int {
		return cmp.Or(cmp.Compare(a.ChainID, c.ChainID), cmp.Compare(a.Account, c.Account),
			cmp.Compare(a.Lane.Lane, c.Lane.Lane))
	})
	return out
}
