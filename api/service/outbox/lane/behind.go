package lane

import (
	"context"
	"fmt"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api/service/store"
)

// A store that was restored, or lost commits, is behind the chain: its lanes drew nonces that they do not know of. What
// was sent with them may deliver, refund or release, so nothing is sent before the records were read from the chains.

// phase is how far a lane is with catching up, which it does once in the life of a process.
type phase int

const (
	level    phase = iota // nothing was amiss yet
	catching              // the chain was ahead
	caught                // and the lane went on: what is amiss from now on stops it
)

// mayCatchUp reports whether the lane of a key can go on from the chain's nonce by itself.
func (l *Lane) mayCatchUp(k *key) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return l.Behind != nil && k.phase != caught
}

// behind commits that the store is behind, and with it what a lane becomes, nil: what it is.
func (l *Lane) behind(k *key, at common.Address, why string, next *laneRecord) error {
	k.mu.Lock()
	first := k.phase == level
	k.mu.Unlock()
	err := l.Store.Update(func(tx store.Tx) error {
		if next != nil {
			if err := l.in(tx).putLane(at, next); err != nil {
				return err
			}
		}
		if !first {
			return nil
		}
		return l.Behind(tx, fmt.Sprintf("on chain %d %s", l.ChainID, why))
	})
	if err != nil {
		return err
	}
	k.mu.Lock()
	k.phase = max(k.phase, catching)
	k.mu.Unlock()
	if first {
		l.Log.Error("the store is behind the chain: a lane goes on from the chain's nonce, and every open payment is "+
			"read from the chains before anything is sent for it", "code", CodeBehind, "chain", l.ChainID, "key", at,
			"why", why)
	}
	return nil
}

// catchUp goes on from a nonce below which everything is final. Transactions that wait are waited for.
func (l *Lane) catchUp(ctx context.Context, k *key, at common.Address, nonce uint64) error {
	pending, err := l.nonce(ctx, at, "pending")
	if err != nil {
		return err
	}
	if pending > nonce {
		return nil // the next look sees them mined, or gone
	}
	k.draw.Lock()
	defer k.draw.Unlock()
	var r *laneRecord
	if err := l.Store.View(func(tx store.Tx) (err error) {
		r, err = l.in(tx).lane(at)
		return err
	}); err != nil || r == nil {
		return err
	}
	why := beyond(nonce, r.Next)
	return l.behind(k, at, why, &laneRecord{First: r.First, Next: max(r.Next, nonce)})
}

// explained notes that a look found nothing amiss. The mutex of the key is held.
func (k *key) explained() {
	k.held = 0
	if k.phase == catching {
		k.phase = caught
	}
}

// begin makes the lane of a key that has none. One that has sent on the chain before is that of a store that is behind.
func (l *Lane) begin(ctx context.Context, k *key, from common.Address, pending uint64) (*laneRecord, error) {
	_, latest, err := l.agreedNonce(ctx, from)
	if err != nil {
		return nil, err
	}
	if pending > latest {
		return nil, fmt.Errorf("%w: %s has transactions of others under way on chain %d; wait until they are mined",
			ErrStopped, from, l.ChainID)
	}
	r := &laneRecord{First: latest, Next: latest}
	if latest == 0 || l.Behind == nil || !l.mayCatchUp(k) {
		return r, nil
	}
	if err := l.behind(k, from, beyond(latest, 0), r); err != nil {
		return nil, err
	}
	return nil, fmt.Errorf("%w before the records were read again: %s", ErrStopped, beyond(latest, 0))
}

// Explained is nil when the chain has not seen more of a key than its lane sent, which is found out once in the life of
// a process: whatever was sent is in the store then. A lane that is held, or has stopped, is not explained.
func (l *Lane) Explained(ctx context.Context, from common.Address) error {
	all, err := l.lanes()
	if err != nil {
		return err
	}
	k, r := l.key(from), all[from]
	k.mu.Lock()
	held, why, clear := k.held > 0, k.why, k.clear
	k.mu.Unlock()
	switch {
	case r != nil && r.Stopped != "":
		return fmt.Errorf("%w until an operator decides: %s", ErrStopped, r.Stopped)
	case held:
		return fmt.Errorf("%w until it is explained (%s): %s", ErrStopped, CodeHeld, why)
	case clear:
		return nil
	}
	pending, err := l.nonce(ctx, from, "pending")
	if err != nil {
		return err
	}
	if r == nil {
		if r, err = l.begin(ctx, k, from, pending); err != nil {
			return err
		}
	}
	_, latest, err := l.agreedNonce(ctx, from)
	if err != nil {
		return err
	}
	if seen := max(latest, pending); seen > r.Next {
		l.hold(from, k, beyond(seen, r.Next))
		return fmt.Errorf("%w until it is explained (%s): %s", ErrStopped, CodeHeld, beyond(seen, r.Next))
	}
	k.mu.Lock()
	k.clear = true
	k.mu.Unlock()
	return nil
}
