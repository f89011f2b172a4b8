package lane

import (
	"context"
	"fmt"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api/service/chain"
	"coffer/api/service/store"
)

// Status is what is known of the lane of a key. Stopped is why it sends nothing until an operator decides, Held why it
// waits for an explanation; "" when it does not. Used is how many transactions of the key are in block Block, which a
// quorum has, and Next how many the lane sent. Alerted says that the log has why it is held.
type Status struct {
	Stopped, Held     string
	Alerted           bool
	Next, Used, Block uint64
	Open              []Open
}

// Open is a step under way, with the hashes of all attempts.
type Open struct {
	ID     string
	Nonce  uint64
	Hashes []common.Hash
}

// Recorded is what a store has of a key's lane on a chain, while no Lane is open there.
func Recorded(in store.Store, chainID uint64, from common.Address) (Status, error) {
	return (&Lane{Options: Options{Store: in, ChainID: chainID}}).recorded(from)
}

func (l *Lane) recorded(from common.Address) (s Status, err error) {
	all, err := l.lanes()
	r := all[from]
	if err != nil || r == nil {
		return s, err
	}
	steps, err := l.openSteps(from)
	if err != nil {
		return s, err
	}
	for _, one := range steps {
		o := Open{ID: one.ID, Nonce: one.Nonce}
		for _, a := range one.Attempts {
			o.Hashes = append(o.Hashes, a.Hash)
		}
		s.Open = append(s.Open, o)
	}
	s.Stopped, s.Next, s.Held, s.Alerted = r.Stopped, r.Next, r.Held, r.Held != ""
	return s, nil
}

// Status asks the chain. A key that never sent anything has no lane, which is nothing of all that.
func (l *Lane) Status(ctx context.Context, from common.Address) (s Status, err error) {
	all, err := l.lanes()
	if err != nil || all[from] == nil {
		return s, err
	}
	b, n, errChain := l.agreedNonce(ctx, from) // first: what is drawn meanwhile is in the record
	if s, err = l.recorded(from); err != nil {
		return s, err
	}
	k := l.key(from)
	k.mu.Lock()
	if k.held > 1 {
		s.Held, s.Alerted = k.why, true
	}
	k.mu.Unlock()
	if errChain != nil {
		return s, fmt.Errorf("nonce of %s: %w", from, errChain)
	}
	if s.Used, s.Block = n, uint64(b.Number); n > s.Next && s.Held == "" {
		s.Held = beyond(n, s.Next)
	}
	return s, nil
}

// Known is what the store has of a step. Tx is the attempt in a block, or the newest. Cancelled means that the attempt
// in a block does nothing: the step was late. Final is the receipt of one that is over.
type Known struct {
	Tx        common.Hash
	Block     uint64 // 0 while it is in none
	Cancelled bool
	Final     *chain.Receipt
}

// Known finds the newest step of an id, whether it is over or not; false when none was sent.
func (l *Lane) Known(id string) (k Known, found bool, err error) {
	var s *step
	err = l.Store.View(func(tx store.Tx) (err error) {
		s, err = l.in(tx).byID(id)
		return err
	})
	if err != nil || s == nil {
		return k, false, err
	}
	k.Tx, k.Final = s.last().Hash, s.Final
	switch {
	case s.Final != nil:
		k.Tx, k.Block = s.Final.TxHash, s.Final.Block
	case s.Mined != nil:
		k.Tx, k.Block = s.Mined.Tx, s.Mined.Block
	}
	for _, a := range s.Attempts {
		if k.Block > 0 && a.Hash == k.Tx {
			k.Cancelled = a.Cancel
		}
	}
	return k, true, nil
}
