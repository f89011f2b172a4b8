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
	return b.update(ctx, func(tx store.Tx) error {
		there, taken, err := contextOf(tx, c.OpHash)
		switch {
		case err != nil:
			return err
		case taken && (there.UsedBy != "" || !there.same(c)):
			return ErrHashTaken
		}
		if _, err := b.sweep(tx); err != nil || taken {
			return err
		}
		return putContext(tx, c)
	})
}

func putContext(tx store.Tx, c Context) error {
	if err := put(tx.Bucket(bucketContext), c.OpHash[:], c); err != nil {
		return err
	}
	return tx.Bucket(bucketEnds).Put(endKey(c.ValidUntil, endContext, c.OpHash[:]), []byte{})
}

// Context finds the context of an operation; false when there is none.
func (b *Book) Context(ctx context.Context, opHash common.Hash) (c Context, found bool, err error) {
	err = b.view(ctx, func(tx store.Tx) error {
		c, found, err = contextOf(tx, opHash)
		return err
	})
	return c, found, err
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
	return b.update(ctx, func(tx store.Tx) error {
		if _, err := b.sweep(tx); err != nil {
			return err
		}
		if q.HasPrepared() {
			now, found, err := contextOf(tx, q.OpHash)
			if err != nil {
				return err
			}
			if !found || now.UsedBy != "" || now.Project != prepared.Project {
				return fmt.Errorf("%w: %s", ErrContextGone, q.OpHash)
			}
			if err := putContext(tx, prepared); err != nil {
				return err
			}
		}
		if tx.Bucket(bucketQuote).Get(key) != nil {
			return fmt.Errorf("quote %s was issued before", q.ID)
		}
		if err := put(tx.Bucket(bucketQuote), key, q); err != nil {
			return err
		}
		if err := tx.Bucket(bucketDocument).Put(key, document); err != nil {
			return err
		}
		return tx.Bucket(bucketEnds).Put(endKey(q.ValidUntil, endQuote, key), []byte{})
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

func quoteOf(tx store.Tx, id string) (*Quote, error) {
	q := new(Quote)
	found, err := get(tx.Bucket(bucketQuote), []byte(strings.ToLower(id)), q)
	if err == nil && !found {
		err = fmt.Errorf("%w: %s", ErrUnknownQuote, id)
	}
	return q, err
}

// Document returns the bytes of a quote as they were answered, nil when there is none.
func (b *Book) Document(ctx context.Context, id string) (document []byte, err error) {
	err = b.view(ctx, func(tx store.Tx) error {
		document = tx.Bucket(bucketDocument).Get([]byte(strings.ToLower(id)))
		return nil
	})
	return document, err
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
// wins. Seen is what Latest said of the quote's accounts before balances and pledges were checked: the error wraps
// ErrMoved when they may have changed since, else ErrExpired, ErrAlreadyAccepted, ErrContextGone or ErrClaimed.
func (b *Book) Accept(ctx context.Context, q *Quote, signed Context, seen uint64) error {
	return b.update(ctx, func(tx store.Tx) error {
		if b.clock().After(time.Unix(int64(q.Expires), 0)) {
			return ErrExpired
		}
		now := latest(tx, q.Owner.Hex(), q.SolanaOwner)
		if err := b.accept(tx, q, signed); err != nil {
			return err
		}
		if now != seen {
			return ErrMoved
		}
		return nil
	})
}

func (b *Book) accept(tx store.Tx, q *Quote, signed Context) error {
	stored, err := quoteOf(tx, q.ID)
	if err != nil {
		return err
	}
	if stored.Status != "" {
		return fmt.Errorf("%w: %s", ErrAlreadyAccepted, q.ID)
	}
	var c Context
	if q.HasPrepared() {
		found := false
		if c, found, err = contextOf(tx, q.OpHash); err != nil {
			return err
		}
		if !found || c.UsedBy != "" {
			return fmt.Errorf("%w: %s", ErrContextGone, q.OpHash)
		}
		c.Signature, c.Delegation, c.UsedBy = signed.Signature, signed.Delegation, q.ID
		if err := put(tx.Bucket(bucketContext), q.OpHash[:], c); err != nil {
			return err
		}
	}
	claims := tx.Bucket(bucketClaim)
	for _, claim := range q.Claims(c) {
		if by := claims.Get([]byte(claim)); by != nil {
			return fmt.Errorf("%w: %s by %s", ErrClaimed, claim, by)
		}
		if err := claims.Put([]byte(claim), []byte(q.ID)); err != nil {
			return err
		}
	}
	q.Status, q.AcceptedAt = api.StatusPending, b.clock().UTC()
	if q.Created, err = b.stamp(tx); err != nil {
		return err
	}
	if err := b.index(tx, q); err != nil {
		return err
	}
	if err := tx.Bucket(bucketOpen).Put([]byte(q.ID), []byte{}); err != nil {
		return err
	}
	return b.write(tx, q, nil)
}

// Advance writes the step of an accepted quote from one record to the next. A terminal status ends its pledges and
// claims and erases the signed operations; after it only deposits are settled. The error wraps ErrOvertaken when the
// record is not the expected one any more: then nothing was written.
func (b *Book) Advance(ctx context.Context, expected, next *Quote) error {
	return b.update(ctx, b.Change(expected, next))
}

// Change is Advance as a part of a commit of the embedded network: a record and the block that it tells of. The outbox
// alone asks for it.
func (b *Book) Change(expected, next *Quote) func(store.Tx) error {
	return func(tx store.Tx) error {
		before, err := quoteOf(tx, expected.ID)
		if err != nil {
			return err
		}
		if before.Updated != expected.Updated {
			return fmt.Errorf("quote %s: %w", expected.ID, ErrOvertaken)
		}
		return b.save(tx, before, next)
	}
}

func (b *Book) save(tx store.Tx, before, q *Quote) error {
	if before.Status == "" || before.Done() || api.Terminal(before.Status) && q.Status != before.Status {
		return fmt.Errorf("quote %s is %q and takes no further step", q.ID, before.Status)
	}
	if err := b.touch(tx, before, q); err != nil {
		return err
	}
	if api.Terminal(q.Status) && !api.Terminal(before.Status) {
		if err := b.end(tx, q); err != nil {
			return err
		}
	}
	if q.Done() {
		if err := tx.Bucket(bucketOpen).Delete([]byte(q.ID)); err != nil {
			return err
		}
	}
	return b.write(tx, q, before.Pledges())
}

// end takes a quote out of everything that only concerns executing ones.
func (b *Book) end(tx store.Tx, q *Quote) error {
	if err := b.dropClaims(tx, q.ID); err != nil {
		return err
	}
	c, found, err := contextOf(tx, q.OpHash)
	if err != nil {
		return err
	}
	if found {
		if err := b.dropContext(tx, c); err != nil {
			return err
		}
	}
	for i := range q.Legs {
		q.Legs[i].Signature = ""
		q.Legs[i].Delegation = q.Legs[i].Delegation.Unsigned()
	}
	return tx.Bucket(bucketEnds).Delete(endKey(q.ValidUntil, endQuote, []byte(q.ID)))
}

// dropClaims looks for the claims of a quote among those of all executing ones, which are few: they go even if the
// operation that they were made for cannot be read any more.
func (b *Book) dropClaims(tx store.Tx, id string) error {
	bucket := tx.Bucket(bucketClaim)
	var mine [][]byte
	sound(bucket).Ascend(nil, func(k, v []byte) bool {
		if string(v) == id {
			mine = append(mine, bytes.Clone(k))
		}
		return true
	})
	for _, k := range mine {
		if err := bucket.Delete(k); err != nil {
			return err
		}
	}
	return nil
}

func (b *Book) dropContext(tx store.Tx, c Context) error {
	if err := tx.Bucket(bucketEnds).Delete(endKey(c.ValidUntil, endContext, c.OpHash[:])); err != nil {
		return err
	}
	return tx.Bucket(bucketContext).Delete(c.OpHash[:])
}

// write stores the record and exchanges its pledges.
func (b *Book) write(tx store.Tx, q *Quote, old []Amount) error {
	bucket := tx.Bucket(bucketPledge)
	for i, a := range old {
		if err := bucket.Delete(pledgeKey(q, a, i)); err != nil {
			return err
		}
	}
	for i, a := range q.Pledges() {
		if err := bucket.Put(pledgeKey(q, a, i), a.Value.Bytes()); err != nil {
			return err
		}
	}
	return put(tx.Bucket(bucketQuote), []byte(q.ID), q)
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

// Latest is the stamp of the last step of any quote of some accounts, 0 when they have none. While it stays the same,
// no quote of theirs was accepted, took a step or ended. They are EVM addresses in any case or Solana addresses.
func (b *Book) Latest(ctx context.Context, owners ...string) (stamp uint64, err error) {
	err = b.view(ctx, func(tx store.Tx) error {
		stamp = latest(tx, owners...)
		return nil
	})
	return stamp, err
}

func latest(tx store.Tx, owners ...string) (stamp uint64) {
	for _, owner := range owners {
		key := hashOf(UserKey(owner))
		tx.Bucket(bucketUpdated).Descend(indexKey(key, math.MaxUint64), func(k, _ []byte) bool {
			if bytes.HasPrefix(k, key) {
				stamp = max(stamp, binary.BigEndian.Uint64(k[len(key):]))
			}
			return false
		})
	}
	return stamp
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
