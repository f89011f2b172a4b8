package solana

import (
	"context"
	"crypto/sha256"
	"encoding/binary"

	"coffer/api/op/solmsg"
)

const (
	// Two seconds are five slots of 400 ms.
	slotsPerTwoSeconds = 5
	// HashSlots is how many slots a block hash stays valid.
	HashSlots = 150
)

// slotAt is the slot of a clock reading in Unix seconds; before genesis it is 0.
func (l *Ledger) slotAt(at uint64) uint64 {
	if at <= l.spec.Time {
		return 0
	}
	return (at - l.spec.Time) * slotsPerTwoSeconds / 2
}

// slot is the slot at a clock reading, never before one that was given out or sealed.
func (l *Ledger) slot(at uint64, h head) uint64 {
	return max(l.slotAt(at), h.slot, l.shown.Load())
}

// hashOf is the block hash of a slot.
func (l *Ledger) hashOf(slot uint64) solmsg.Key {
	b := append([]byte("coffer/solana/block/1"), l.genesis[:]...)
	return sha256.Sum256(binary.BigEndian.AppendUint64(b, slot))
}

// Blockhash is the hash of the current slot; it does not fail.
func (l *Ledger) Blockhash(_ context.Context, at uint64) (hash solmsg.Key, lastValid uint64, err error) {
	slot := l.show(at)
	// The largest t with slotAt(t) <= slot+HashSlots.
	return l.hashOf(slot), l.spec.Time + (2*(slot+HashSlots+1)-1)/slotsPerTwoSeconds, nil
}

// show gives out the current slot.
func (l *Ledger) show(at uint64) uint64 {
	slot := l.slot(at, *l.latest.Load())
	for {
		shown := l.shown.Load()
		if slot <= shown || l.shown.CompareAndSwap(shown, slot) {
			return slot
		}
	}
}

// RecentHash is the block hash of the current slot, and the last slot in which a message with it is included.
func (l *Ledger) RecentHash(at uint64) (hash solmsg.Key, lastSlot uint64) {
	slot := l.show(at)
	return l.hashOf(slot), slot + HashSlots
}

// BlockhashValid knows every hash that was given out; it does not fail.
func (l *Ledger) BlockhashValid(_ context.Context, hash solmsg.Key, at uint64) (bool, error) {
	return l.recent(hash, l.slot(at, *l.latest.Load())), nil
}

// recent looks for a hash among those that are valid in a slot.
func (l *Ledger) recent(hash solmsg.Key, slot uint64) bool {
	for back := uint64(0); back <= min(HashSlots, slot); back++ {
		if l.hashOf(slot-back) == hash {
			return true
		}
	}
	return false
}
