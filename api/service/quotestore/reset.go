package quotestore

import (
	"bytes"
	"errors"
	"slices"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/service/store"
)

// ReasonReset is the reason of quotes whose blocks a development network took back.
const ReasonReset = "the devnet was reset"

// Reset ends every accepted quote that names a transaction which is gone from a chain: it is FAILED with ReasonReset,
// whatever it was before, and nothing of it is settled any more. It is part of the commit that takes the blocks back,
// on a development network; gone is asked within it.
func (b *Book) Reset(tx store.Tx, chainID uint64, gone func(common.Hash) bool) (ended int, err error) {
	var ids [][]byte
	sound(tx.Bucket(bucketQuote)).Ascend(nil, func(k, _ []byte) bool {
		ids = append(ids, bytes.Clone(k))
		return true
	})
	for _, id := range ids {
		before, err := quoteOf(tx, string(id))
		if errors.Is(err, ErrDamaged) {
			continue // it cannot be read, and it names nothing
		}
		if err != nil {
			return ended, err
		}
		if before.Status == "" || !before.names(chainID, gone) {
			continue
		}
		if err := writing(func(w *writer) error { b.reset(w, before); return nil })(tx); err != nil {
			return ended, err
		}
		ended++
	}
	return ended, nil
}

// names reports whether one of the quote's transactions on a chain is among some.
func (q *Quote) names(chainID uint64, some func(common.Hash) bool) bool {
	return slices.ContainsFunc(q.Legs, func(l Leg) bool {
		return l.ChainID == chainID && (l.Deposit != common.Hash{} && some(l.Deposit) ||
			l.Settled != common.Hash{} && some(l.Settled))
	}) || slices.ContainsFunc(slices.Concat(q.Origin, q.Destination), func(r Ref) bool {
		return r.ChainID == chainID && some(r.Hash)
	})
}

func (b *Book) reset(w *writer, before *Quote) {
	q := before.Clone()
	q.Status, q.FailReason, q.Sent = api.StatusFailed, ReasonReset, ""
	for i := range q.Legs {
		if q.Legs[i].Held() { // it stays where it is: the network that owed it is gone
			q.Legs[i].State = LegWaiting
		}
	}
	b.touch(w, before, q)
	if !api.Terminal(before.Status) {
		w.end(q)
	}
	w.delete(bucketOpen, []byte(q.ID))
	w.quote(q, before.Pledges())
}
