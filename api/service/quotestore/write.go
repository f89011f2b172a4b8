package quotestore

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/big"
	"strings"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/service/store"
)

// What Sweep finds in bucketEnds.
const (
	endContext byte = 'c'
	endQuote   byte = 'q'
)

// Keep stores the context of a prepared operation until its window ends, or finds it stored: then it stays as it is,
// with the signature that its quotes are executed with. The error wraps ErrHashTaken when another context has its hash,
// or a quote was executed with it.
func (b *Book) Keep(ctx context.Context, c Context) error {
	return b.update(ctx, func(w *writer) error {
		there, taken, err := contextOf(w, c.OpHash)
		switch {
		case err != nil:
			return err
		case taken && (there.UsedBy != "" || !there.same(c)):
			return ErrHashTaken
		}
		if _, err = b.sweep(w); !taken {
			w.context(c)
		}
		return err
	})
}

func (w *writer) context(c Context) {
	w.record(bucketContext, c.OpHash[:], c)
	w.put(bucketEnds, endKey(c.ValidUntil, endContext, c.OpHash[:]), []byte{})
}

// Context finds the context of an operation; false when there is none.
func (b *Book) Context(ctx context.Context, opHash common.Hash) (c Context, found bool, err error) {
	err = b.view(ctx, func(tx store.Tx) error {
		c, found, err = contextOf(tx, opHash)
		return err
	})
	return c, found, err
}

// free is the context of an operation that was executed with no quote yet.
func free(tx store.Tx, opHash common.Hash) (Context, error) {
	c, found, err := contextOf(tx, opHash)
	if err == nil && (!found || c.UsedBy != "") {
		err = fmt.Errorf("%w: %s", ErrContextGone, opHash)
	}
	return c, err
}

func contextOf(tx store.Tx, opHash common.Hash) (c Context, found bool, err error) {
	found, err = get(tx.Bucket(bucketContext), opHash[:], &c)
	return c, found, err
}

// Offer keeps a quote that was issued and the bytes of its document, until its window ends, and the context of its
// prepared operation as it is signed now; that is the zero Context for a quote without. The error wraps ErrContextGone
// when the operation was executed meanwhile.
func (b *Book) Offer(ctx context.Context, q *Quote, document []byte, prepared Context) error {
	if q.Status != "" {
		return errors.New("an offer has no status yet")
	}
	key := []byte(q.ID)
	return b.update(ctx, func(w *writer) error {
		if _, err := b.sweep(w); err != nil {
			return err
		}
		if q.HasPrepared() {
			if now, err := free(w, q.OpHash); err != nil {
				return err
			} else if now.Project != prepared.Project {
				return fmt.Errorf("%w: %s", ErrContextGone, q.OpHash)
			}
			w.context(prepared)
		}
		if w.Bucket(bucketQuote).Get(key) != nil {
			return fmt.Errorf("quote %s was issued before", q.ID)
		}
		w.record(bucketQuote, key, q)
		w.put(bucketDocument, key, document)
		w.put(bucketEnds, endKey(q.ValidUntil, endQuote, key), []byte{})
		return nil
	})
}

// Quote finds a quote by id; the error wraps ErrUnknownQuote when there is none.
func (b *Book) Quote(ctx context.Context, id string) (q *Quote, err error) {
	err = b.view(ctx, func(tx store.Tx) error {
		q, err = quoteOf(tx, id)
		return err
	})
	return q, err
}

func quoteKey(id string) []byte { return []byte(strings.ToLower(id)) }

func quoteOf(tx store.Tx, id string) (*Quote, error) {
	q := new(Quote)
	found, err := get(tx.Bucket(bucketQuote), quoteKey(id), q)
	if err == nil && !found {
		err = fmt.Errorf("%w: %s", ErrUnknownQuote, id)
	}
	return q, err
}

// Prepared finds a quote and the context of its prepared operation as they were at one moment; the context is zero
// when there is none.
func (b *Book) Prepared(ctx context.Context, id string) (q *Quote, c Context, err error) {
	err = b.view(ctx, func(tx store.Tx) error {
		if q, err = quoteOf(tx, id); err == nil && q.HasPrepared() {
			c, _, err = contextOf(tx, q.OpHash)
		}
		return err
	})
	return q, c, err
}

// Accept makes an offer an executing quote at PENDING: it claims nonces and deployments, takes the prepared operation
// for this quote, with what was signed for it, and enters pledges and history. Of any number of concurrent ones one
// wins. Seen is what Latest said of the quote's accounts before balances and pledges were checked. The quote is settled
// by this process from then on. The error wraps, in this order, ErrExpired, ErrAlreadyAccepted, ErrContextGone,
// ErrClaimed, or ErrMoved or ErrTakenRoom when what was seen may have changed since.
func (b *Book) Accept(ctx context.Context, q *Quote, signed Context, seen Seen) error {
	return b.update(ctx, func(w *writer) error {
		stored, err := quoteOf(w, q.ID)
		if err != nil {
			return err
		}
		if b.clock().After(time.Unix(int64(min(q.Expires, stored.Expires)), 0)) {
			return ErrExpired
		}
		if stored.Status != "" {
			return fmt.Errorf("%w: %s", ErrAlreadyAccepted, q.ID)
		}
		var c Context
		if q.HasPrepared() {
			if c, err = free(w, q.OpHash); err != nil {
				return err
			}
			c.Signature, c.Delegation, c.UsedBy = signed.Signature, signed.Delegation, q.ID
			w.record(bucketContext, q.OpHash[:], c)
		}
		for _, claim := range q.Claims(c) {
			if by := w.Bucket(bucketClaim).Get([]byte(claim)); by != nil {
				return fmt.Errorf("%w: %s by %s", ErrClaimed, claim, by)
			}
			w.put(bucketClaim, []byte(claim), []byte(q.ID))
		}
		if latest(w, q.Owner.Hex(), q.SolanaOwner) != seen.steps {
			return ErrMoved
		}
		if seen.room && lastAccepted(w) != seen.accepted {
			return ErrTakenRoom
		}
		e, err := epochOf(w)
		if err != nil {
			return err
		}
		q.Epoch = e.Number
		q.Status, q.AcceptedAt, q.Created = api.StatusPending, b.clock().UTC(), b.stamp(w)
		w.index(q)
		b.drive(w, q)
		w.quote(q, nil)
		return nil
	})
}

// Advance writes the step of an accepted quote from one record to the next. A terminal status ends its pledges and
// claims and erases the signed operations; after it only deposits are settled. The error wraps ErrOvertaken when the
// record is not the expected one any more: then nothing was written.
func (b *Book) Advance(ctx context.Context, expected, next *Quote) error {
	return b.update(ctx, b.step(expected, next))
}

// Change is Advance as a part of a commit of the embedded network: a record and the block that it describes. The outbox
// alone asks for it.
func (b *Book) Change(expected, next *Quote) func(store.Tx) error {
	return writing(b.step(expected, next))
}

func (b *Book) step(expected, q *Quote) func(*writer) error {
	return func(w *writer) error {
		before, err := quoteOf(w, expected.ID)
		switch {
		case err != nil:
			return err
		case before.Updated != expected.Updated:
			return fmt.Errorf("quote %s: %w", q.ID, ErrOvertaken)
		case before.Status == "" || before.Done() || api.Terminal(before.Status) && q.Status != before.Status:
			return fmt.Errorf("quote %s is %q and takes no further step", q.ID, before.Status)
		case !b.drives(w, q.ID):
			return fmt.Errorf("quote %s: %w: %w", q.ID, ErrOvertaken, ErrElsewhere)
		}
		if err := outdated(w, expected, q); err != nil {
			return err
		}
		for _, also := range expected.with {
			if err := also(w.Tx); err != nil {
				return err
			}
		}
		q.deferred, q.with = "", nil
		b.touch(w, before, q)
		if api.Terminal(q.Status) && !api.Terminal(before.Status) {
			w.end(q)
		}
		if q.Done() {
			w.delete(bucketOpen, []byte(q.ID))
		}
		w.quote(q, before.Pledges())
		return nil
	}
}

// outdated refuses a step that was decided before an epoch began, unless it says what came of something that was sent:
// the record has to be read from the chains first.
func outdated(w *writer, expected, q *Quote) error {
	e, err := epochOf(w)
	if err != nil || e.Number <= q.Epoch || expected.Sent != "" {
		return err
	}
	for i, l := range expected.Legs {
		if l.Sent && !q.Legs[i].Sent {
			return nil
		}
	}
	return fmt.Errorf("quote %s: %w: its record is older than the chains", q.ID, ErrOvertaken)
}

// end takes a quote out of everything that only concerns executing ones, whatever of it cannot be read any more.
func (w *writer) end(q *Quote) {
	w.dropClaims(q.ID)
	if q.HasPrepared() {
		w.delete(bucketEnds, endKey(q.ValidUntil, endContext, q.OpHash[:]))
		w.delete(bucketContext, q.OpHash[:])
	}
	for i := range q.Legs {
		q.Legs[i].Signature = ""
		q.Legs[i].Delegation = q.Legs[i].Delegation.Unsigned()
	}
	w.delete(bucketEnds, endKey(q.ValidUntil, endQuote, []byte(q.ID)))
}

// dropClaims looks for the claims of a quote among those of all executing ones, which are few.
func (w *writer) dropClaims(id string) {
	var mine [][]byte
	sound(w.Bucket(bucketClaim)).Ascend(nil, func(k, v []byte) bool {
		if string(v) == id {
			mine = append(mine, bytes.Clone(k))
		}
		return true
	})
	for _, k := range mine {
		w.delete(bucketClaim, k)
	}
}

// quote stores the record and exchanges its pledges.
func (w *writer) quote(q *Quote, old []Amount) {
	for i, a := range old {
		w.delete(bucketPledge, pledgeKey(q, a, i))
	}
	for i, a := range q.Pledges() {
		w.put(bucketPledge, pledgeKey(q, a, i), a.Value.Bytes())
	}
	w.record(bucketQuote, []byte(q.ID), q)
}

func pledgeKey(q *Quote, a Amount, i int) []byte {
	key := append(append(hashOf(UserKey(q.OwnerOn(a.CAIP().Chain))), a.Asset...), 0)
	return append(append(key, q.ID...), byte(i))
}

// Pledges are amounts by asset (CAIP-19).
type Pledges map[string]*big.Int

// Of is what is pledged of an asset; it must not be changed.
func (p Pledges) Of(asset string) *big.Int { return cmp.Or(p[asset], new(big.Int)) }

// Pledged is what executing quotes will still take from accounts (protocol §4.3), all as it was at one moment. They are
// EVM addresses in any case or Solana addresses.
func (b *Book) Pledged(ctx context.Context, owners ...string) (Pledges, error) {
	out := Pledges{}
	return out, b.view(ctx, func(tx store.Tx) error {
		for _, owner := range owners {
			key := hashOf(UserKey(owner))
			tx.Bucket(bucketPledge).Ascend(key, func(k, v []byte) bool {
				of, mine := bytes.CutPrefix(k, key)
				asset, _, _ := bytes.Cut(of, []byte{0})
				if mine {
					out[string(asset)] = new(big.Int).Add(out.Of(string(asset)), new(big.Int).SetBytes(v))
				}
				return mine
			})
		}
		return nil
	})
}

// Seen is what the checks of a quote were made on.
type Seen struct {
	steps    uint64 // stamp of the last step of the accounts' quotes, 0 for none
	accepted uint64 // stamp of the last acceptance of all
	room     bool   // that matters
}

// Latest is what quotes of some accounts have come to. While it stays the same, no quote of theirs was accepted, took a
// step or ended; an entry that cannot be read counts for none. They are EVM addresses in any case or Solana addresses.
func (b *Book) Latest(ctx context.Context, owners ...string) (seen Seen, err error) {
	err = b.view(ctx, func(tx store.Tx) error {
		seen.steps = latest(tx, owners...)
		return nil
	})
	return seen, err
}

// Room is Seen for checks of what all quotes together may take: none may be accepted meanwhile. One process at a time
// makes them, until it calls done; the comparison of Accept holds without that, too.
func (b *Book) Room(ctx context.Context, seen Seen) (_ Seen, done func(), err error) {
	if done, err = store.Lock(ctx, b.store, "room"); err != nil {
		return seen, nil, err
	}
	seen.room = true
	err = b.view(ctx, func(tx store.Tx) error {
		seen.accepted = lastAccepted(tx)
		return nil
	})
	if err != nil {
		done()
	}
	return seen, done, err
}

func lastAccepted(tx store.Tx) uint64 {
	if v := sound(tx.Bucket(bucketMeta)).Get([]byte(keyAccepted)); len(v) == 8 {
		return binary.BigEndian.Uint64(v)
	}
	return 0
}

func latest(tx store.Tx, owners ...string) (stamp uint64) {
	for _, owner := range owners {
		key := hashOf(UserKey(owner))
		sound(tx.Bucket(bucketUpdated)).Descend(indexKey(key, math.MaxUint64), func(k, _ []byte) bool {
			if bytes.HasPrefix(k, key) {
				stamp = max(stamp, binary.BigEndian.Uint64(k[len(key):]))
			}
			return false
		})
	}
	return stamp
}

// Accepted counts the quotes of an account that were accepted since a moment, with what NoteSponsored noted, up to
// most.
func (b *Book) Accepted(ctx context.Context, owner string, since time.Time, most int) (n int, err error) {
	key, first := hashOf(UserKey(owner)), uint64(since.UnixNano())
	err = b.view(ctx, func(tx store.Tx) error {
		n = counted(tx, bucketCreated, key, first, most)
		n += counted(tx, bucketSponsored, key, first, most-n)
		return nil
	})
	return n, err
}

// Sponsored is what the gas of an account's quotes has cost an operator since a moment, in micro-USD: of calls that
// nothing was charged for, and of quotes that failed.
func (b *Book) Sponsored(ctx context.Context, owner string, since time.Time) (*big.Int, error) {
	key, first, sum := hashOf(UserKey(owner)), uint64(since.UnixNano()), new(big.Int)
	err := b.view(ctx, func(tx store.Tx) (err error) {
		sound(tx.Bucket(bucketCreated)).Descend(indexKey(key, math.MaxUint64), func(k, id []byte) bool {
			if err != nil || !bytes.HasPrefix(k, key) || binary.BigEndian.Uint64(k[len(key):]) < first {
				return false
			}
			var q *Quote
			if q, err = quoteOf(tx, string(id)); err == nil && q.Gas != nil && (q.Whole() || q.FailReason != "") {
				sum.Add(sum, q.Gas)
			}
			return true
		})
		return err
	})
	return sum, err
}

// Named reports whether a record of this network names an owner; those of an earlier one do not count. An entry of the
// index that cannot be read counts as one.
func (b *Book) Named(ctx context.Context, owner string) (named bool, err error) {
	key := hashOf(UserKey(owner))
	err = b.view(ctx, func(tx store.Tx) error {
		index := tx.Bucket(bucketUpdated).Reporting(func(error) { named = true })
		index.Descend(indexKey(key, math.MaxUint64), func(k, _ []byte) bool {
			named = named || bytes.HasPrefix(k, key) && binary.BigEndian.Uint64(k[len(key):]) > carried(tx)
			return false
		})
		return nil
	})
	return named, err
}

// Open lists the accepted quotes that are not done, in the order of their ids; with ErrDamaged those that can be named.
func (b *Book) Open(ctx context.Context) (ids []string, err error) {
	err = b.view(ctx, func(tx store.Tx) error {
		tx.Bucket(bucketOpen).Ascend(nil, func(k, _ []byte) bool {
			ids = append(ids, string(k))
			return true
		})
		return nil
	})
	return ids, err
}

func endKey(at uint64, kind byte, key []byte) []byte {
	return append(append(be64(at), kind), key...)
}
