package solana

import (
	"bytes"
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"coffer/api/op/solmsg"
	"coffer/api/service/store"
)

// Ledger is one embedded ledger. It is safe for concurrent use; only one may be open on
// a store, and closing the store ends it.
type Ledger struct {
	store    store.Store
	spec     Spec
	genesis  solmsg.Key
	sealing  sync.Mutex
	latest   atomic.Pointer[head] // the head of the latest commit; never changed
	shown    atomic.Uint64        // highest slot whose hash was given out
	index    atomic.Pointer[index]
	indexing sync.Mutex                    // while the index is built
	changed  atomic.Pointer[chan struct{}] // closed by the next commit
}

// GenesisError says that the stored ledger began with something else than the
// specification. It is left alone.
type GenesisError struct{ Stored, Want solmsg.Key }

// Error names both genesis hashes.
func (e *GenesisError) Error() string {
	return fmt.Sprintf("the Solana ledger was created with another genesis: stored %s, expected %s", e.Stored, e.Want)
}

// Exists reports whether a store holds a ledger.
func Exists(s store.Store) (found bool, err error) {
	genesis, err := store.Get(s, bucketLedger, []byte(keyGenesis))
	return genesis != nil, err
}

// Open creates the ledger from genesis, or reopens it where it stopped. It fails with a
// *GenesisError, or wraps ErrSpec or ErrDamaged.
func Open(s store.Store, spec Spec) (*Ledger, error) {
	if err := spec.check(); err != nil {
		return nil, err
	}
	l := &Ledger{store: s, spec: spec, genesis: spec.hash()}
	l.changed.Store(new(make(chan struct{})))
	found, err := Exists(s)
	if err != nil {
		return nil, err
	}
	if !found {
		if err := s.Update(l.create); err != nil {
			return nil, fmt.Errorf("write the genesis of the Solana ledger: %w", err)
		}
	}
	if err := s.View(l.resume); err != nil {
		return nil, err
	}
	return l, nil
}

// Reopen opens a stored ledger whatever it began with; time is that of its genesis. It wraps ErrDamaged when there is
// none.
func Reopen(s store.Store, time uint64) (*Ledger, error) {
	l := &Ledger{store: s, spec: Spec{Time: time}}
	l.changed.Store(new(make(chan struct{})))
	err := s.View(func(tx store.Tx) error {
		copy(l.genesis[:], tx.Bucket(bucketLedger).Get([]byte(keyGenesis)))
		return l.resume(tx)
	})
	return l, err
}

// create writes genesis.
func (l *Ledger) create(tx store.Tx) error {
	b := tx.Bucket(bucketLedger)
	if b.Get([]byte(keyGenesis)) != nil {
		return ErrConflict
	}
	for _, a := range l.spec.Accounts {
		if err := tx.Bucket(bucketAccounts).Put(a.Key[:], a.encode()); err != nil {
			return err
		}
	}
	if err := b.Put([]byte(keyHead), head{time: l.spec.Time}.encode()); err != nil {
		return err
	}
	return b.Put([]byte(keyGenesis), l.genesis[:])
}

// resume reads the head of a stored ledger.
func (l *Ledger) resume(tx store.Tx) error {
	stored := tx.Bucket(bucketLedger).Get([]byte(keyGenesis))
	if len(stored) != len(l.genesis) {
		return damaged("genesis hash")
	}
	if !bytes.Equal(stored, l.genesis[:]) {
		return &GenesisError{Stored: solmsg.Key(stored), Want: l.genesis}
	}
	h, err := readHead(tx)
	if err != nil {
		return err
	}
	l.latest.Store(&h)
	return nil
}

// Genesis is the genesis hash, different on every network.
func (l *Ledger) Genesis() solmsg.Key { return l.genesis }

// Transactions counts the transactions since genesis.
func (l *Ledger) Transactions() uint64 { return l.latest.Load().count }

// Time is the time of the latest commit in Unix seconds.
func (l *Ledger) Time() uint64 { return l.latest.Load().time }

// view is State over a snapshot of the store.
type view struct{ snap store.Snapshot }

// State opens a view of the latest commit; it holds a store.Snapshot.
func (l *Ledger) State(ctx context.Context) (State, error) {
	snap, err := l.store.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	return view{snap}, nil
}

func (v view) Close() { v.snap.Release() }

func (v view) Account(k solmsg.Key) (Account, error) { return readAccount(v.snap, k) }

func (v view) Lamports(k solmsg.Key) (uint64, error) {
	a, err := v.Account(k)
	return a.Lamports, err
}

func (v view) Tokens(owner, mint solmsg.Key) (amount uint64, exists bool, err error) {
	at, err := solmsg.AssociatedTokenAccount(owner, mint, solmsg.TokenProgram())
	if err != nil {
		return 0, false, err
	}
	a, err := v.Account(at)
	if err != nil {
		return 0, false, err
	}
	if t, ok := asToken(a); ok && t.mint() == mint && t.owner() == owner {
		return t.amount(), true, nil
	}
	return 0, false, nil
}

// Receipt is Chain.Receipt.
func (l *Ledger) Receipt(_ context.Context, signature string) (r Receipt, found bool, err error) {
	sig, err := solmsg.ParseSignature(signature)
	if err != nil {
		return Receipt{}, false, nil // no transaction has a name like that
	}
	err = l.store.View(func(tx store.Tx) error {
		v := tx.Bucket(bucketTransactions).Get(sig[:])
		if v == nil {
			return nil
		}
		found = true
		r, err = decodeReceipt(v)
		return err
	})
	return r, found && err == nil, err
}

// Used reports whether an account holds or ever did anything: it exists, has signed, or
// was changed, itself or through a token account that it owns. Programs are used.
func (l *Ledger) Used(k solmsg.Key) (used bool, err error) {
	if reserved(k) {
		return true, nil
	}
	err = l.store.View(func(tx store.Tx) error {
		used = tx.Bucket(bucketAccounts).Get(k[:]) != nil || tx.Bucket(bucketSeen).Get(k[:]) != nil
		return nil
	})
	return used, err
}

// Supply is how many lamports there are: what genesis made but the burned fees. A ledger of Reopen does not know it.
func (l *Ledger) Supply() uint64 {
	var made uint64
	for _, a := range l.spec.Accounts {
		made += a.Lamports
	}
	return made - l.latest.Load().burned
}

// Sums are the quantities that never change: lamports of all accounts plus burned fees,
// and all units of each mint. Burned is part of Lamports.
type Sums struct {
	Lamports uint64
	Burned   uint64
	Tokens   map[solmsg.Key]uint64
}

// Sums adds up every account of one version of the store.
func (l *Ledger) Sums() (out Sums, err error) {
	out.Tokens = map[solmsg.Key]uint64{}
	err = l.store.View(func(tx store.Tx) error {
		h, err := readHead(tx)
		if err != nil {
			return err
		}
		out.Burned, out.Lamports = h.burned, h.burned
		tx.Bucket(bucketAccounts).Ascend(nil, func(_, v []byte) bool {
			var a Account
			if a, err = decodeAccount(v); err != nil {
				return false
			}
			out.Lamports += a.Lamports
			if t, ok := asToken(a); ok {
				out.Tokens[t.mint()] += t.amount()
			}
			return true
		})
		return err
	})
	return out, err
}
