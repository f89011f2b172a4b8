package quotestore

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/go-json-experiment/json"

	"coffer/api"
	"coffer/api/service/store"
)

// Epoch is a life of the records of an operator's network. A new one begins when they turn out to be older than the
// chains: a backup was restored, commits were lost, or another service worked with a copy. Every open record is then
// read from the chains before anything is sent for it.
type Epoch struct {
	Number uint64    `json:"number"` // 0: they were never older
	Why    string    `json:"why"`    // this one began
	Began  time.Time `json:"began"`
	Since  time.Time `json:"since"` // from when on records may be missing
	// Searched says that deposits whose records are missing were looked for on every chain, and none can come any more.
	Searched bool `json:"searched,omitzero"`
}

// Keys of bucketMeta.
const (
	keyEpoch = "epoch"
	keyAlive = "alive" // when the records were last known to be written, in Unix seconds
)

// longestLost is how far back records may be missing where nothing says since when.
const longestLost = 24 * time.Hour

func epochOf(tx store.Tx) (e Epoch, err error) {
	_, err = get(tx.Bucket(bucketMeta), []byte(keyEpoch), &e)
	return e, err
}

// Epoch is that of the book.
func (b *Book) Epoch(ctx context.Context) (e Epoch, err error) {
	err = b.view(ctx, func(tx store.Tx) error {
		e, err = epochOf(tx)
		return err
	})
	return e, err
}

// BeginEpoch begins an epoch, for a reason, as a part of a commit. Offers end with it: one may have been accepted
// without a record.
func BeginEpoch(tx store.Tx, now time.Time, why string) error {
	e, err := epochOf(tx)
	if err != nil {
		return err
	}
	since := now.Add(-longestLost)
	if v := tx.Bucket(bucketMeta).Get([]byte(keyAlive)); len(v) == 8 {
		since = time.Unix(int64(binary.BigEndian.Uint64(v)), 0)
	}
	if e.Number > 0 && !e.Searched && e.Since.Before(since) {
		since = e.Since
	}
	e = Epoch{Number: e.Number + 1, Why: why, Began: now.UTC(), Since: since.UTC()}
	return writing(func(w *writer) error {
		var offers []string
		sound(w.Bucket(bucketEnds)).Ascend(nil, func(k, _ []byte) bool {
			if kind, id := splitEnd(k); kind == endQuote {
				offers = append(offers, id)
			}
			return true
		})
		for _, id := range offers {
			q, err := quoteOf(w, id)
			if errors.Is(err, ErrUnknownQuote) || errors.Is(err, ErrDamaged) {
				continue
			}
			if err != nil {
				return err
			}
			if q.Status == "" {
				q.Expires = 0
				w.record(bucketQuote, []byte(q.ID), q)
			}
		}
		return w.epoch(e)
	})(tx)
}

// BeginEpochSince is BeginEpoch, unless one began since a moment.
func BeginEpochSince(tx store.Tx, since, now time.Time, why string) error {
	e, err := epochOf(tx)
	if err != nil || e.Number > 0 && !e.Began.Before(since) {
		return err
	}
	return BeginEpoch(tx, now, why)
}

func splitEnd(key []byte) (kind byte, id string) {
	const at = 8
	if len(key) <= at {
		return 0, ""
	}
	return key[at], string(bytes.Clone(key[at+1:]))
}

func (w *writer) epoch(e Epoch) error {
	raw, err := json.Marshal(e)
	w.put(bucketMeta, []byte(keyEpoch), raw)
	return err
}

// Searched notes that no deposit without a record can come of an epoch any more.
func (b *Book) Searched(ctx context.Context, number uint64) error {
	return b.update(ctx, func(w *writer) error {
		e, err := epochOf(w)
		if err != nil || e.Number != number {
			return err
		}
		e.Searched = true
		return w.epoch(e)
	})
}

// Alive notes that the records are written at this moment: what is missing after a backup was restored is later.
func (b *Book) Alive(ctx context.Context) error {
	return b.update(ctx, func(w *writer) error {
		w.put(bucketMeta, []byte(keyAlive), be64(uint64(b.clock().Unix())))
		return nil
	})
}

// Adopt gives a deposit in escrow a record: that of the offer that it was made for, which turns back, or a new one, to
// which others of the same quote are added. It reports false where the deposit has a record already.
func (b *Book) Adopt(ctx context.Context, found *Quote) (adopted bool, err error) {
	if len(found.Legs) != 1 {
		return false, fmt.Errorf("quote %s was found with %d deposits at once", found.ID, len(found.Legs))
	}
	err = b.update(ctx, func(w *writer) error {
		q, err := quoteOf(w, found.ID)
		known := err == nil
		switch {
		case errors.Is(err, ErrUnknownQuote):
			q = found.Clone()
		case err != nil:
			return err
		case q.Status == "":
			q.AcceptedAt = found.AcceptedAt
		default:
			if q.hasLeg(found.Legs[0].ChainID) || q.Owner != found.Owner {
				return nil
			}
			q.Legs = append(q.Legs, found.Legs...)
		}
		e, err := epochOf(w)
		if err == nil && e.Number == 0 {
			err = errors.New("a deposit without a record is found in an epoch alone")
		}
		if err != nil {
			return err
		}
		adopted, q.Epoch, q.Signed = true, e.Number-1, true
		before := q.Status
		if before == "" || api.Terminal(before) && q.FailReason != "" {
			q.Status, q.FailReason = api.StatusInProgress, found.FailReason
		}
		if known && before != "" {
			was, err := quoteOf(w, q.ID)
			if err != nil {
				return err
			}
			b.touch(w, was, q)
		} else {
			q.Created = b.stamp(w)
			w.index(q)
		}
		b.drive(w, q)
		w.quote(q, nil)
		return nil
	})
	return adopted && err == nil, err
}

func (q *Quote) hasLeg(chainID uint64) bool {
	for _, l := range q.Legs {
		if l.ChainID == chainID {
			return true
		}
	}
	return false
}
