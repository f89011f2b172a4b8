// Package store is the one embedded key-value database of the service. It
// holds chains, quotes, history and keys, so that a step of settlement and the
// block that carries it are committed together or not at all (docs/architecture.md#storage).
//
// There are three implementations with the same promise: a bbolt file
// ([OpenBolt]), memory ([NewMemory]), and a database of PostgreSQL (package pg).
//
//   - A transaction sees one frozen version of everything, plus its own writes.
//   - Update runs one at a time; it is all or nothing. An error or a panic of
//     its function leaves nothing behind. After Update returned nil the change
//     is durable (file) or visible (memory).
//   - In a file and in PostgreSQL every record has a checksum. What is not
//     what was written is never returned as if it were.
//   - A [Snapshot] is a frozen read view that outlives the call that made it.
//
// Keys have 1 to [MaxKey] bytes and are ordered by their bytes. A value may be
// empty; an absent key is nil.
//
// # Release before Update
//
// A goroutine must release its snapshots, and leave its View, before it calls
// Update: when the file may have to be mapped anew, Update of a file waits until every
// reader has gone, and a goroutine that waits for itself never goes on. For
// the same reason Update must not be called inside Update. Readers in other
// goroutines are harmless as long as they end.
package store

import (
	"context"
	"errors"
)

// MaxKey is the longest key in bytes.
const MaxKey = 32768

// Errors of every store. All are returned as they are or wrapped with %w.
var (
	// ErrClosed is returned by every call after Close.
	ErrClosed = errors.New("the database is closed")
	// ErrReadOnly is returned by Put and Delete outside Update.
	ErrReadOnly = errors.New("the database view is read only")
	// ErrKey is returned for an empty key or one longer than MaxKey.
	ErrKey = errors.New("a database key has 1 to 32768 bytes")
	// ErrBucketName is returned for a write to a bucket without a name.
	ErrBucketName = errors.New("a database bucket needs a name")
	// ErrNotWritten is wrapped by what Update returns when the function succeeded and its commit did not. It may have
	// happened all the same.
	ErrNotWritten = errors.New("the database cannot be written")
	// ErrFull is wrapped beside ErrNotWritten when there is no room.
	ErrFull = errors.New("the disk is full")
	// ErrAway is wrapped by what a transaction returns that could not reach the server of its database. Nothing was
	// written, unless ErrNotWritten is wrapped as well.
	ErrAway = errors.New("the database cannot be reached")
	// ErrBusy is wrapped by what Snapshot returns when too many are held.
	ErrBusy = errors.New("too many requests read an older state at once")
	// ErrInUse is wrapped by OpenBolt when another process holds the file.
	ErrInUse = errors.New("the database file is in use by another process")
	// ErrDamaged is wrapped by OpenBolt when the file is no intact database, and by what a transaction returns that met
	// a damaged page or record; for a record it is a *DamageError.
	ErrDamaged = errors.New("the database is damaged, or no database")
)

// Store is one database. It is safe for concurrent use.
type Store interface {
	// View runs fn on one frozen version. It returns fn's error as it is, or the damage that a read of fn met.
	View(fn func(Tx) error) error
	// Update runs fn and commits its writes, or none of them when fn fails or
	// panics. Updates run one after another. It returns fn's error as it is, or
	// the damage that a read of fn met: then nothing is committed either.
	Update(fn func(Tx) error) error
	// Snapshot returns the current version as a view that stays frozen until
	// it is released. Where there can only be so many it waits for one, until
	// ctx ends, and fails with ErrBusy after some seconds. Whoever opens one
	// while holding another does both with a context of [Reading].
	Snapshot(ctx context.Context) (Snapshot, error)
	// YieldToWriter returns at once, or, while an Update of a file waits for all readers
	// to leave, after it. Whoever begins something that reads calls it first,
	// holding nothing: readers who came and went without a gap would hold the
	// Update up for as long as they do.
	YieldToWriter()
	// Close ends the database. For a file it waits until every transaction and
	// snapshot has ended; no new one begins meanwhile. A second call does nothing.
	Close() error
}

// Tx is one consistent view of all buckets, writable inside Update. It is not
// safe for concurrent use and ends with the function it was given to.
type Tx interface {
	// Bucket returns the bucket of that name. Buckets come into being with the
	// first write; one that never was written holds nothing.
	Bucket(name string) Bucket
	// Err is the first damage that a read met, nil when there was none. View and Update return it themselves; whoever
	// holds a Snapshot asks.
	Err() error
}

// Ahead is a Tx whose database is a way off: records that it reads together cost one way.
type Ahead interface {
	// Fetch reads records of a bucket that Get is asked for next. It changes nothing of what Get returns.
	Fetch(bucket string, keys [][]byte)
}

// Fetch is Ahead.Fetch; other transactions have all records at hand.
func Fetch(tx Tx, bucket string, keys [][]byte) {
	if far, is := tx.(Ahead); is {
		far.Fetch(bucket, keys)
	}
}

// Bucket is an ordered map from key to value inside a transaction.
type Bucket interface {
	// Get returns a private copy of the value, nil when the key is absent. A
	// damaged value is nil too, and the Err of the transaction.
	Get(key []byte) []byte
	// Put stores a copy of the value. It fails with ErrReadOnly, ErrKey or
	// ErrBucketName.
	Put(key, value []byte) error
	// Delete removes the key; removing an absent key is no error.
	Delete(key []byte) error
	// Ascend calls fn for every entry whose key is not less than from, in
	// ascending order, until fn returns false. A nil from starts at the first.
	// Key and value are only valid during the call and must not be changed;
	// fn must not write to this bucket.
	Ascend(from []byte, fn func(key, value []byte) bool)
	// Descend calls fn for every entry whose key is not greater than from, in
	// descending order. A nil from starts at the last. Otherwise as Ascend.
	Descend(from []byte, fn func(key, value []byte) bool)
	// Reporting is the same bucket for a reader that can go on without a damaged record: report is told of it, in place
	// of the transaction's Err. Get then returns nil, and Ascend and Descend pass over it.
	Reporting(report func(error)) Bucket
}

// Snapshot is a frozen read view. It is not safe for concurrent use; Release
// ends it and may be called more than once. See "Release before Update".
type Snapshot interface {
	Tx
	Release()
}

func checkKey[K string | []byte](key K) error {
	if len(key) == 0 || len(key) > MaxKey {
		return ErrKey
	}
	return nil
}
