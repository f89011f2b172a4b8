package lane

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"

	"coffer/api/service/chain"
	"coffer/api/service/store"
)

// Buckets. Keys begin with the chain id in eight bytes; a lane's goes on with the address, a step's with address and
// nonce, a name's with the id of the step, and its value is the key of the step.
const (
	bucketLanes = "lanes"
	bucketSteps = "lane steps"
	bucketNames = "lane names"
)

// laneRecord is what is kept of a lane.
type laneRecord struct {
	First   uint64 `json:"first"`             // every step below is final
	Next    uint64 `json:"next"`              // the nonce that is drawn next
	Stopped string `json:"stopped,omitempty"` // why it sends nothing
	// Held is why it waits for an explanation. The keeper writes it, so that no process draws a nonce meanwhile.
	Held string `json:"held,omitempty"`
	// Caught is how often it went on from the chain's nonce, and Catching says that it has not explained all since.
	Caught   uint64 `json:"caught,omitempty"`
	Catching bool   `json:"catching,omitempty"`
}

// moved reports whether a lane, nil while there is none, has drawn other nonces than it had.
func (r *laneRecord) moved(had *laneRecord) bool {
	return (r == nil) != (had == nil) || r != nil && r.Next != had.Next
}

// step is what is kept of one, for ever: its last attempt that went out may not be the one that is mined.
type step struct {
	ID       string         `json:"id"`
	From     common.Address `json:"from"`
	Nonce    uint64         `json:"nonce"`
	Deadline uint64         `json:"deadline"`
	Attempts []attempt      `json:"attempts"`
	Mined    *place         `json:"mined,omitempty"` // where a receipt was seen last, not deep enough
	Final    *chain.Receipt `json:"final,omitempty"`
}

// attempt is bytes that were signed for a step.
type attempt struct {
	Hash   common.Hash `json:"hash"`
	Raw    []byte      `json:"raw,omitempty"` // nil once the step is final
	At     uint64      `json:"at"`            // of the clock, in Unix seconds
	Head   uint64      `json:"head"`          // the chain's newest block then
	Cancel bool        `json:"cancel,omitempty"`
	tx     *types.Transaction
}

// place is a transaction in a block.
type place struct {
	Tx    common.Hash `json:"tx"`
	Block uint64      `json:"block"`
	Hash  common.Hash `json:"hash"`
}

var errRecord = errors.New("the record of a step is not one that was written")

// close writes down that a step is over.
func (s *step) close(r *chain.Receipt) {
	s.Final, s.Mined = r, nil
	for i := range s.Attempts {
		s.Attempts[i].Raw = nil
	}
}

func (s *step) last() attempt { return s.Attempts[len(s.Attempts)-1] }

// decodeStep reads a record and refuses one whose bytes are not those of its hashes and its nonce.
func decodeStep(raw []byte) (*step, error) {
	var s step
	if err := json.Unmarshal(raw, &s); err != nil {
		return nil, fmt.Errorf("%w: %w", errRecord, err)
	}
	if len(s.Attempts) == 0 {
		return nil, fmt.Errorf("%w: no attempt", errRecord)
	}
	for i := range s.Attempts {
		a := &s.Attempts[i]
		if s.Final != nil {
			if len(a.Raw) != 0 {
				return nil, fmt.Errorf("%w: bytes of a step that is over", errRecord)
			}
			continue
		}
		a.tx = new(types.Transaction)
		if err := a.tx.UnmarshalBinary(a.Raw); err != nil {
			return nil, fmt.Errorf("%w: %w", errRecord, err)
		}
		if a.tx.Hash() != a.Hash || a.tx.Nonce() != s.Nonce || a.tx.To() == nil {
			return nil, fmt.Errorf("%w: other bytes than its hash says", errRecord)
		}
	}
	if s.Final != nil && s.Final.Value == nil {
		return nil, fmt.Errorf("%w: a receipt without a value", errRecord)
	}
	return &s, nil
}

// verify refuses a step with bytes for another chain, or of another key.
func (s *step) verify(chainID uint64) error {
	for _, a := range s.Attempts {
		if a.tx == nil {
			continue
		}
		by, err := types.Sender(types.LatestSignerForChainID(new(big.Int).SetUint64(chainID)), a.tx)
		if err != nil || by != s.From {
			return fmt.Errorf("%w: bytes of another key or chain", errRecord)
		}
	}
	return nil
}

// records are those of a chain in one transaction of the store.
type records struct {
	tx    store.Tx
	chain uint64
}

func (l *Lane) in(tx store.Tx) records { return records{tx, l.ChainID} }

func (b records) prefix() []byte { return binary.BigEndian.AppendUint64(nil, b.chain) }

func (b records) laneKey(at common.Address) []byte { return append(b.prefix(), at[:]...) }

func (b records) stepKey(at common.Address, nonce uint64) []byte {
	return binary.BigEndian.AppendUint64(b.laneKey(at), nonce)
}

// lane is nil for a key that never sent anything.
func (b records) lane(at common.Address) (*laneRecord, error) {
	raw := b.tx.Bucket(bucketLanes).Get(b.laneKey(at))
	if raw == nil {
		return nil, b.tx.Err()
	}
	var r laneRecord
	if err := json.Unmarshal(raw, &r); err != nil || r.First > r.Next {
		return nil, errors.Join(fmt.Errorf("the record of the lane of %s is not one that was written", at), err)
	}
	return &r, nil
}

func (b records) putLane(at common.Address, r *laneRecord) error {
	raw, err := json.Marshal(r)
	return errors.Join(err, b.tx.Bucket(bucketLanes).Put(b.laneKey(at), raw))
}

func (b records) putStep(s *step) error {
	raw, err := json.Marshal(s)
	return errors.Join(err, b.tx.Bucket(bucketSteps).Put(b.stepKey(s.From, s.Nonce), raw))
}

func (b records) name(s *step) error {
	return b.tx.Bucket(bucketNames).Put(append(b.prefix(), s.ID...), b.stepKey(s.From, s.Nonce))
}

// step is nil for a nonce that the lane did not draw.
func (b records) step(key []byte) (*step, error) {
	raw := b.tx.Bucket(bucketSteps).Get(key)
	if raw == nil {
		return nil, b.tx.Err()
	}
	return decodeStep(raw)
}

// byID is the newest step of that id, nil when there was none.
func (b records) byID(id string) (*step, error) {
	key := b.tx.Bucket(bucketNames).Get(append(b.prefix(), id...))
	if key == nil {
		return nil, b.tx.Err()
	}
	s, err := b.step(key)
	if err == nil && s == nil {
		err = fmt.Errorf("%w: step %q has none", errRecord, id)
	}
	return s, err
}

// open lists the steps of a lane that are not final, in the order of their nonces.
func (b records) open(at common.Address, r *laneRecord) (out []*step, err error) {
	if r == nil {
		return nil, nil
	}
	end := string(b.stepKey(at, r.Next))
	b.tx.Bucket(bucketSteps).Ascend(b.stepKey(at, r.First), func(k, v []byte) bool {
		if string(k) >= end {
			return false
		}
		var s *step
		if s, err = decodeStep(v); err == nil && s.Final == nil {
			out = append(out, s)
		}
		return err == nil
	})
	return out, errors.Join(err, b.tx.Err())
}

// lanes are all of the chain.
func (l *Lane) lanes() (map[common.Address]*laneRecord, error) {
	out := map[common.Address]*laneRecord{}
	err := l.Store.View(func(tx store.Tx) (err error) {
		b := l.in(tx)
		prefix := string(b.prefix())
		var found []common.Address
		tx.Bucket(bucketLanes).Ascend(b.prefix(), func(k, _ []byte) bool {
			if len(k) != len(prefix)+common.AddressLength || string(k[:len(prefix)]) != prefix {
				return false
			}
			found = append(found, common.BytesToAddress(k[len(prefix):]))
			return true
		})
		for _, at := range found {
			r, err := b.lane(at)
			if err != nil { // what was read before it is good
				return err
			}
			out[at] = r
		}
		return nil
	})
	return out, err
}

func (l *Lane) openSteps(at common.Address) (out []*step, err error) {
	err = l.Store.View(func(tx store.Tx) error {
		b := l.in(tx)
		r, err := b.lane(at)
		if err == nil {
			out, err = b.open(at, r)
		}
		return err
	})
	return out, err
}

// change applies a change to a step that is still as it was read: open, and with as many attempts. Its lane is given
// too and written back. A step that went on meanwhile is left alone: then changed is false.
func (l *Lane) change(s *step, with func(store.Tx, *step, *laneRecord) error) (changed bool, err error) {
	err = l.Store.Update(func(tx store.Tx) (err error) {
		changed, err = l.in(tx).change(s, with)
		return err
	})
	return changed && err == nil, err
}

// change is the same as a part of a commit.
func (b records) change(s *step, with func(store.Tx, *step, *laneRecord) error) (changed bool, err error) {
	now, err := b.step(b.stepKey(s.From, s.Nonce))
	if err != nil || now == nil || now.Final != nil || len(now.Attempts) != len(s.Attempts) {
		return false, err
	}
	r, err := b.lane(s.From)
	if err != nil || r == nil {
		return false, err
	}
	before := *r
	if err := errors.Join(with(b.tx, now, r), b.putStep(now)); err != nil {
		return false, err
	}
	if now.Final != nil {
		open, err := b.open(s.From, r)
		if err != nil {
			return false, err
		}
		if r.First = r.Next; len(open) > 0 {
			r.First = open[0].Nonce
		}
	}
	if *r == before {
		return true, nil
	}
	return true, b.putLane(s.From, r)
}
