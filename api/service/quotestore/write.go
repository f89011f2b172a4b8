package quotestore

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/big"
	"strings"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/service/store"
)

// What Sweep finds in bucketEnds.
const (
	endContext byte = 'c'
	endQuote   byte = 'q'
)

// PutContext keeps the context of a prepared operation until its window ends.
func (b *Book) PutContext(tx store.Tx, c Context) error {
	if err := put(tx.Bucket(bucketContext), c.OpHash[:], c); err != nil {
		return err
	}
	return tx.Bucket(bucketEnds).Put(endKey(c.ValidUntil, endContext, c.OpHash[:]), []byte{})
}

// Context finds the context of an operation; false when there is none.
func (b *Book) Context(tx store.Tx, opHash common.Hash) (c Context, found bool, err error) {
	found, err = get(tx.Bucket(bucketContext), opHash[:], &c)
	return c, found, err
}

// Offer keeps a quote that was issued and the bytes of its document, until its window ends.
func (b *Book) Offer(tx store.Tx, q *Quote, document []byte) error {
	if q.Status != "" {
		return errors.New("an offer has no status yet")
	}
	key := []byte(q.ID)
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
}

// Quote finds a quote by id; the error wraps ErrUnknownQuote when there is none.
func (b *Book) Quote(tx store.Tx, id string) (*Quote, error) {
	q := new(Quote)
	found, err := get(tx.Bucket(bucketQuote), []byte(strings.ToLower(id)), q)
	if err == nil && !found {
		err = fmt.Errorf("%w: %s", ErrUnknownQuote, id)
	}
	return q, err
}

// Document returns the bytes of a quote as they were answered, nil when there is none.
func (b *Book) Document(tx store.Tx, id string) []byte {
	return tx.Bucket(bucketDocument).Get([]byte(strings.ToLower(id)))
}

// Accept makes an offer an executing quote at PENDING: it claims nonces and deployments, takes the prepared operation
// for this quote, and enters pledges and history. The error wraps ErrAlreadyAccepted, ErrContextGone or ErrClaimed.
func (b *Book) Accept(tx store.Tx, q *Quote) error {
	stored, err := b.Quote(tx, q.ID)
	if err != nil {
		return err
	}
	if stored.Status != "" {
		return fmt.Errorf("%w: %s", ErrAlreadyAccepted, q.ID)
	}
	var c Context
	if q.HasPrepared() {
		found := false
		if c, found, err = b.Context(tx, q.OpHash); err != nil {
			return err
		}
		if !found || c.UsedBy != "" {
			return fmt.Errorf("%w: %s", ErrContextGone, q.OpHash)
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
	if q.HasPrepared() {
		c.UsedBy = q.ID
		if err := put(tx.Bucket(bucketContext), q.OpHash[:], c); err != nil {
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

// Save writes the next step of an accepted quote. A terminal status ends its pledges and claims and erases the signed
// operations; after it only deposits are settled.
func (b *Book) Save(tx store.Tx, q *Quote) error {
	before, err := b.Quote(tx, q.ID)
	if err != nil {
		return err
	}
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
	c, found, err := b.Context(tx, q.OpHash)
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
		if d := q.Legs[i].Delegation; d != nil {
			q.Legs[i].Delegation = &api.Delegation{ContractAddress: d.ContractAddress, Nonce: d.Nonce}
		}
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
	return append(append(pledgePrefix(q.OwnerOn(a.CAIP().Chain), a.Asset), q.ID...), byte(i))
}

func pledgePrefix(owner, asset string) []byte {
	return append(append(hashOf(UserKey(owner)), asset...), 0)
}

// Pledged is the sum of an asset that executing quotes of the account will still take (protocol §4.3). Owner is an EVM
// address in any case or a Solana address.
func (b *Book) Pledged(tx store.Tx, owner, asset string) *big.Int {
	sum := new(big.Int)
	prefix := string(pledgePrefix(owner, asset))
	tx.Bucket(bucketPledge).Ascend([]byte(prefix), func(k, v []byte) bool {
		if !strings.HasPrefix(string(k), prefix) {
			return false
		}
		sum.Add(sum, new(big.Int).SetBytes(v))
		return true
	})
	return sum
}

// Latest is the stamp of the last step of any quote of an account, 0 when it has none. While it stays the same, no
// quote of the account was accepted, took a step or ended. Owner is an EVM address in any case or a Solana address.
func (b *Book) Latest(tx store.Tx, owner string) (stamp uint64) {
	key := hashOf(UserKey(owner))
	tx.Bucket(bucketUpdated).Descend(indexKey(key, math.MaxUint64), func(k, _ []byte) bool {
		if bytes.HasPrefix(k, key) {
			stamp = binary.BigEndian.Uint64(k[len(key):])
		}
		return false
	})
	return stamp
}

// Named reports whether a record of this network names an owner; those of an earlier one do not count. An entry of the
// index that cannot be read counts as one.
func (b *Book) Named(tx store.Tx, owner string) (named bool) {
	key := hashOf(UserKey(owner))
	index := tx.Bucket(bucketUpdated).Reporting(func(error) { named = true })
	index.Descend(indexKey(key, math.MaxUint64), func(k, _ []byte) bool {
		named = named || bytes.HasPrefix(k, key) && binary.BigEndian.Uint64(k[len(key):]) > carried(tx)
		return false
	})
	return named
}

// Open lists the accepted quotes that are not done, in the order of their ids.
func (b *Book) Open(tx store.Tx) []string {
	var ids []string
	tx.Bucket(bucketOpen).Ascend(nil, func(k, _ []byte) bool {
		ids = append(ids, string(k))
		return true
	})
	return ids
}

func endKey(at uint64, kind byte, key []byte) []byte {
	return append(append(be64(at), kind), key...)
}
