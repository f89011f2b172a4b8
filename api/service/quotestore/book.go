// Package quotestore keeps what the service promised and what became of it: the context of prepared operations, quotes
// with their settlement, the history index, the amounts that executing quotes have pledged and the nonces they have
// claimed. It is typed persistence over package store and knows no chain.
//
// Promise: each verb is one commit or one frozen view, whatever it reads and writes; none holds a lock that outlives
// it, and no caller sees a transaction. What several reads must see together is one verb. The one exception is
// [Book.Change], with which a step of settlement and the block that carries it are one commit on the embedded network
// (docs/architecture.md#storage). A record appears with [Book.Accept] at PENDING, under each account of the quote, and
// status and history read that one record (protocol §7). The signed prepared operation is kept once,
// with its context, and is gone when its quote is terminal or its window has ended (protocol §2.1): no entry holds it
// any more, while bytes of freed pages stay in the database file, which is private, until they are used again. Pages of
// history are stable while records come and change, and cost the same however long the history is. In a private book
// (Options) status and history of a quote are for its project alone; records of the same account that belong to others
// are passed over one by one.
//
// Units: amounts in base units, times in Unix seconds, prices in micro-USD. Errors of History are *api.Error; others
// are the context's, tell of a damaged or closed database, or wrap one of those below.
//
// Sources: protocol §2.1, §4.3, §5.1 and §7, docs/interface.md#status.
package quotestore

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/go-json-experiment/json"

	"coffer/api/service/store"
)

// Buckets. Stamps are 8 bytes, big endian; owner is the SHA-256 of an account as it is looked up.
const (
	bucketMeta     = "book"          // "cursor-key", "stamp", "accepted", "carried"
	bucketContext  = "book-context"  // operation hash → Context
	bucketQuote    = "book-quote"    // id → Quote
	bucketDocument = "book-document" // id → the quote's bytes as they were answered
	bucketEnds     = "book-ends"     // end of window (8) ‖ kind (1) ‖ key → nothing: what Sweep removes
	bucketOpen     = "book-open"     // id → number of the process that settles it (8; 0 is none), "" for the only one
	bucketLeft     = "book-left"     // nothing: by it a process that leaves a quote tells the others
	bucketPledge   = "book-pledge"   // owner ‖ asset ‖ 0 ‖ id ‖ number → amount
	bucketClaim    = "book-claim"    // claim → id
	bucketCreated  = "book-created"  // owner ‖ stamp → id
	// owner ‖ stamp → stamp of the update that replaced this one (8, zero while current) ‖ id
	bucketUpdated   = "book-updated"
	bucketSponsored = "book-sponsored" // owner ‖ time of the clock in ns → what was paid for beside quotes
	bucketReplaced  = "book-replaced"  // moment of replacement (8) ‖ key in bucketUpdated → nothing
)

// Errors that callers tell apart.
var (
	// ErrUnknownQuote says that no quote of that id was issued, or that it was swept away.
	ErrUnknownQuote = errors.New("no such quote")
	// ErrAlreadyAccepted says that a quote was accepted before.
	ErrAlreadyAccepted = errors.New("the quote was already accepted")
	// ErrContextGone says that the prepared operation of a quote is unknown, ended or belongs to another accepted
	// quote.
	ErrContextGone = errors.New("the prepared operation is no longer available")
	// ErrClaimed says that a quote in execution uses the same nonce or deploys the same account.
	ErrClaimed = errors.New("a quote in execution uses the same nonce")
	// ErrExpired says that a quote was not accepted in time.
	ErrExpired = errors.New("the quote has expired")
	// ErrMoved says that another quote of the account took a step while a quote was checked: what the checks have seen
	// may no longer be so.
	ErrMoved = errors.New("another quote of the account took a step")
	// ErrOvertaken says that the record has moved on since a step was begun, which happens after a commit that was
	// reported as failed.
	ErrOvertaken = errors.New("the record has moved on since this step was begun")
	// ErrTakenRoom says that another quote was accepted while room for one was looked for.
	ErrTakenRoom = errors.New("another quote was accepted meanwhile")
	// ErrElsewhere says that another process settles the quote.
	ErrElsewhere = errors.New("another process settles it")
	// ErrHashTaken says that another prepared operation has the hash.
	ErrHashTaken = errors.New("another request has this operation's hash")
	// ErrDamaged says that a record is not what was written.
	ErrDamaged = store.ErrDamaged
)

// DefaultCursorLifetime is how long a continuation of history stays good, from its first page.
const DefaultCursorLifetime = 15 * time.Minute

// Options configure a Book. CursorLifetime 0 means DefaultCursorLifetime. Reader finds out who makes a request; nil
// means no project. Private binds what is kept to the project that it was made for.
type Options struct {
	Clock          func() time.Time
	Random         io.Reader // for the key that signs cursors, once per installation
	CursorLifetime time.Duration
	Reader         func(context.Context) Reader
	Private        bool
}

// Reader is who makes a request. Project is the id of the project that its quotes belong to, "" for none. All lets it
// see those of every project, and those of none.
type Reader struct {
	Project string
	All     bool
}

// Book is the opened book. It is safe for concurrent use.
type Book struct {
	store     store.Store
	process   uint64 // 0 where it is the only one
	clock     func() time.Time
	lifetime  time.Duration
	cursorKey []byte
	reader    func(context.Context) Reader
	private   bool

	mu     sync.Mutex
	leaves map[string]time.Time // until when quotes that this process has left are other ones'
}

const cursorKeySize = 32

// Open reads the book of a store, or begins one.
func Open(s store.Store, o Options) (*Book, error) {
	b := &Book{store: s, process: store.Process(s), clock: o.Clock, lifetime: o.CursorLifetime, reader: o.Reader,
		private: o.Private, leaves: map[string]time.Time{}}
	if b.reader == nil {
		b.reader = func(context.Context) Reader { return Reader{} }
	}
	if b.lifetime <= 0 {
		b.lifetime = DefaultCursorLifetime
	}
	err := s.View(func(tx store.Tx) error {
		// a damaged one is drawn anew: only continuations end
		b.cursorKey = sound(tx.Bucket(bucketMeta)).Get([]byte("cursor-key"))
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("open the book: %w", err)
	}
	if len(b.cursorKey) == cursorKeySize {
		return b, nil
	}
	b.cursorKey = make([]byte, cursorKeySize)
	if _, err := io.ReadFull(o.Random, b.cursorKey); err != nil {
		return nil, fmt.Errorf("open the book: draw the cursor key: %w", err)
	}
	err = s.Update(func(tx store.Tx) error {
		meta := tx.Bucket(bucketMeta)
		if there := sound(meta).Get([]byte("cursor-key")); len(there) == cursorKeySize { // another process was first
			b.cursorKey = there
			return nil
		}
		return meta.Put([]byte("cursor-key"), b.cursorKey)
	})
	if err != nil {
		return nil, fmt.Errorf("open the book: %w", err)
	}
	return b, nil
}

// Work is the context of one piece of work beside requests, which may hold several snapshots (store.Reading).
func Work(ctx context.Context) context.Context { return store.Reading(ctx) }

// Reader says who makes the request of a context.
func (b *Book) Reader(ctx context.Context) Reader { return b.reader(ctx) }

// Sees reports whether a reader may see what was made for a project. In a private book that is one's own; what was made
// for no project is seen by a reader of all alone.
func (b *Book) Sees(r Reader, project string) bool {
	return !b.private || r.All || project != "" && project == r.Project
}

// Bound is the project that a reader's prepared operations belong to: "" unless the book is private, so that equal ones
// of several projects are one operation.
func (b *Book) Bound(r Reader) string {
	if !b.private {
		return ""
	}
	return r.Project
}

func (b *Book) view(ctx context.Context, fn func(store.Tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return b.store.View(fn)
}

func (b *Book) update(ctx context.Context, fn func(*writer) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return b.store.Update(writing(fn))
}

// writer writes into a commit, which fails as a whole with the first of its errors.
type writer struct {
	store.Tx
	err error
}

func writing(fn func(*writer) error) func(store.Tx) error {
	return func(tx store.Tx) error {
		w := &writer{Tx: tx}
		err := fn(w)
		return cmp.Or(err, w.err)
	}
}

func (w *writer) put(bucket string, key, value []byte) {
	w.err = cmp.Or(w.err, w.Bucket(bucket).Put(key, value))
}

func (w *writer) delete(bucket string, key []byte) {
	w.err = cmp.Or(w.err, w.Bucket(bucket).Delete(key))
}

func (w *writer) record(bucket string, key []byte, v any) {
	raw, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		w.err = cmp.Or(w.err, fmt.Errorf("write the book: %w", err))
	}
	w.put(bucket, key, raw)
}

// stamp is the next of a strictly growing series near the clock's nanoseconds. It orders records even when the clock
// stands or goes back.
func (b *Book) stamp(w *writer) uint64 {
	next := uint64(b.clock().UnixNano())
	if v := w.Bucket(bucketMeta).Get([]byte("stamp")); len(v) == 8 {
		next = max(next, binary.BigEndian.Uint64(v)+1)
	}
	w.put(bucketMeta, []byte("stamp"), be64(next))
	return next
}

func be64(v uint64) []byte { return binary.BigEndian.AppendUint64(nil, v) }

func hashOf(s string) []byte {
	sum := sha256.Sum256([]byte(s))
	return sum[:]
}

// get reports false when there is no such entry. A damaged one is an error and does not end the transaction.
func get(bucket store.Bucket, key []byte, v any) (bool, error) {
	raw, err := read(bucket, key)
	if raw == nil || err != nil {
		return false, err
	}
	if err := json.Unmarshal(raw, v); err != nil {
		return false, fmt.Errorf("%w: the book cannot be read at %x: %w", store.ErrDamaged, key, err)
	}
	return true, nil
}

// read is Get with damage as an error.
func read(bucket store.Bucket, key []byte) (raw []byte, err error) {
	raw = bucket.Reporting(func(damage error) { err = damage }).Get(key)
	return raw, err
}

// sound is a bucket for who can leave damaged entries alone: `coffer serve check` names them.
func sound(bucket store.Bucket) store.Bucket { return bucket.Reporting(func(error) {}) }
