package lane

import (
	"context"
	"errors"
	"fmt"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api/service/store"
)

// A store that was restored, or lost commits, is behind the chain: its lanes drew nonces that they do not know of. What
// was sent with them may deliver, refund or release, so nothing is sent before the records were read from the chains.

// mayCatchUp reports whether a lane can go on from the chain's nonce by itself: it does so once in the life of each
// process. A lane that has begun to goes on with it until all is explained, whichever process keeps it then.
func (l *Lane) mayCatchUp(k *key, r *laneRecord) bool {
	return l.Behind != nil && (r.Caught == k.caught || r.Catching)
}

// catching notes in the record of a lane that it goes on from the chain's nonce, and in the same commit, where it only
// begins to, that the store is behind.
func (l *Lane) catching(tx store.Tx, k *key, r *laneRecord, why string) (begins bool, err error) {
	if r.Caught != k.caught {
		return false, nil
	}
	r.Caught, r.Catching = r.Caught+1, true
	return true, l.Behind(tx, fmt.Sprintf("on chain %d %s", l.ChainID, why))
}

func (l *Lane) alertBehind(at common.Address, why string) {
	l.Log.Error("the store is behind the chain: a lane goes on from the chain's nonce, and every open payment is "+
		"read from the chains before anything is sent for it", "code", CodeBehind, "chain", l.ChainID, "key", at,
		"why", why)
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
	why, begins := "", false
	err = l.Store.Update(func(tx store.Tx) error {
		b := l.in(tx)
		r, err := b.lane(at)
		if err != nil || r == nil || r.Stopped != "" || nonce <= r.Next || !l.mayCatchUp(k, r) {
			return err // it changed since the chain was asked
		}
		why = beyond(nonce, r.Next)
		if begins, err = l.catching(tx, k, r, why); err != nil {
			return err
		}
		r.Next = nonce
		return b.putLane(at, r)
	})
	if err == nil && begins {
		l.alertBehind(at, why)
	}
	return err
}

// begin makes the lane of a key that has none. One that has sent on the chain before is that of a store that is behind.
func (l *Lane) begin(ctx context.Context, k *key, from common.Address, pending uint64) (*laneRecord, error) {
	_, latest, err := l.agreedNonce(ctx, from)
	if err != nil {
		return nil, err
	}
	if err := l.unmoved(from, nil); err != nil {
		return nil, err
	}
	if pending > latest {
		return nil, fmt.Errorf("%w: %s has transactions of others under way on chain %d; wait until they are mined",
			ErrStopped, from, l.ChainID)
	}
	r := &laneRecord{First: latest, Next: latest}
	if latest == 0 || !l.mayCatchUp(k, r) {
		return r, nil
	}
	why := beyond(latest, 0)
	if err := l.Store.Update(func(tx store.Tx) error {
		b := l.in(tx)
		if now, err := b.lane(from); err != nil || now != nil {
			return errors.Join(err, errMoved)
		}
		_, err := l.catching(tx, k, r, why)
		return errors.Join(err, b.putLane(from, r))
	}); err != nil {
		return nil, err
	}
	l.alertBehind(from, why)
	return nil, fmt.Errorf("%w before the records were read again: %s", ErrStopped, why)
}

// Explained is nil when the chain has not seen more of a key than its lane sent, which is found out once in the life of
// a process: whatever was sent is in the store then. A lane that is held, or has stopped, is not explained.
func (l *Lane) Explained(ctx context.Context, from common.Address) error {
	return again(func() error { return l.explained(ctx, from) })
}

func (l *Lane) explained(ctx context.Context, from common.Address) error {
	all, err := l.lanes()
	if err != nil {
		return err
	}
	k, r := l.key(from), all[from]
	k.mu.Lock()
	isHeld, why, clear := k.held > 0, k.why, k.clear
	k.mu.Unlock()
	if r != nil && r.Held != "" {
		isHeld, why = true, r.Held
	}
	switch {
	case r != nil && r.Stopped != "":
		return fmt.Errorf("%w until an operator decides: %s", ErrStopped, r.Stopped)
	case isHeld:
		return held(why)
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
		if err := l.unmoved(from, all[from]); err != nil {
			return err
		}
		l.hold(from, k, beyond(seen, r.Next))
		return held(beyond(seen, r.Next))
	}
	k.mu.Lock()
	k.clear = true
	k.mu.Unlock()
	return nil
}
