package lane

import (
	"context"
	"time"

	"coffer/api/service/chain"
	"coffer/api/service/outbox"
	"coffer/api/service/store"
)

// Who waits for a step writes down what became of it, in a record of his own. Where he is in the process of the keeper,
// that and the end of the step are one commit, and his.

// handedFor is how long the keeper waits for that commit before it makes one itself.
const handedFor = 5 * time.Second

var forever = time.Unix(1<<40, 0)

// handed is the outcome of a step that is final and still open in the store.
type handed struct {
	step    *step
	receipt *chain.Receipt
	at      time.Time
}

// Outcome implements outbox.Handing.
func (l *Lane) Outcome(ctx context.Context, id string) ([]chain.Receipt, outbox.Change, error) {
	var r *chain.Receipt
	done := func() {}
	s, err := l.until(ctx, id, func(s *step) bool {
		k := l.key(s.From)
		r = k.outcome(s.Nonce)
		done = func() {
			if s.Final != nil {
				k.asks(s.Nonce, time.Time{})
			} else {
				k.asks(s.Nonce, l.Clock().Add(handedFor))
			}
		}
		return s.Final != nil || r != nil
	})
	done()
	switch {
	case err != nil:
		return nil, nil, err
	case s.Final != nil:
		return []chain.Receipt{*s.Final}, nil, nil
	}
	return []chain.Receipt{*r}, func(tx store.Tx) error {
		_, err := l.in(tx).change(s, func(_ store.Tx, s *step, _ *laneRecord) error {
			s.close(r)
			return nil
		})
		return err
	}, nil
}

// asks sets until when a caller in this process is expected to ask for the outcome of a nonce; zero means never.
func (k *key) asks(nonce uint64, until time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.waits[nonce] = until; until.IsZero() {
		delete(k.waits, nonce)
	}
}

// outcome returns the receipt that the keeper left for the caller to commit, or nil, and expects the caller to wait.
func (k *key) outcome(nonce uint64) *chain.Receipt {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.waits[nonce] = forever
	return k.handed[nonce].receipt
}

// hand leaves the end of a step to who waits for it, and reports whether one does.
func (k *key) hand(s *step, r *chain.Receipt, now time.Time) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if _, was := k.handed[s.Nonce]; was || !now.Before(k.waits[s.Nonce]) {
		return false
	}
	k.handed[s.Nonce] = handed{s, r, now}
	return true
}

// isHanded reports whether the end of a step was left to somebody a moment ago.
func (k *key) isHanded(s *step, now time.Time) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	h, was := k.handed[s.Nonce]
	return was && now.Sub(h.at) < handedFor
}

// taken looks which of the outcomes that were left to be committed are, by the steps that are open.
func (l *Lane) taken(k *key, open []*step) {
	still := map[uint64]bool{}
	for _, s := range open {
		still[s.Nonce] = true
	}
	k.mu.Lock()
	var over []*step
	for nonce, h := range k.handed {
		if !still[nonce] {
			over = append(over, h.step)
		}
	}
	k.mu.Unlock()
	for _, s := range over {
		l.over(k, s)
	}
}

// over forgets a step whose end is committed, and tells who waits for it.
func (l *Lane) over(k *key, s *step) {
	k.mu.Lock()
	delete(k.handed, s.Nonce)
	delete(k.waits, s.Nonce)
	k.mu.Unlock()
	delete(k.doubts, s.Nonce)
	for _, a := range s.Attempts {
		delete(k.sent, a.Hash)
		delete(k.capped, a.Hash)
	}
	l.tell()
}
