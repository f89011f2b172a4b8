package store

import (
	"errors"
	"fmt"
	"runtime/debug"
	"sync"

	bolt "go.etcd.io/bbolt"
)

// appendFill is how full a page becomes where keys only grow. A page that is split elsewhere is left half empty.
const appendFill = 0.97

// errBroken marks a panic of the library, or a read behind the end of the file.
var errBroken = errors.New("a page cannot be read")

// guarded calls the library and turns the panics with which it meets damaged pages into errors that wrap ErrDamaged.
// Nothing of a caller runs in fn.
func guarded(fn func() error) (err error) {
	calling := false
	return guardedAround(&calling, fn)
}

// guardedAround is guarded for an fn that runs a caller's function: while *calling, panics are the caller's and go on.
func guardedAround(calling *bool, fn func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if *calling {
			return // without recover the panic keeps its stack
		}
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: %w: %v", ErrDamaged, errBroken, p)
		}
	}()
	return fn()
}

// boltTx is a transaction. What a read finds damaged ends it, unless the reader asked to be told.
type boltTx struct {
	tx   *bolt.Tx
	err  error
	good bool // the caller's function succeeded
}

// run calls fn, the caller's, in a transaction that began.
func (t *boltTx) run(calling *bool, fn func(Tx) error) error {
	*calling = true
	err := fn(t)
	*calling = false
	if t.err != nil {
		return t.err
	}
	t.good = err == nil
	return err
}

func (t *boltTx) fail(err error) {
	if t.err == nil {
		t.err = err
	}
}

// Err is the first damage that was met.
func (t *boltTx) Err() error { return t.err }

func (t *boltTx) Bucket(name string) Bucket {
	b := &boltBucket{tx: t, name: []byte(name), sums: sumsOf(name), report: t.fail}
	b.find()
	return b
}

type boltSnapshot struct {
	boltTx
	gate    *gate
	release sync.Once
}

// Release ends the read transaction; its only error is that it has ended.
func (s *boltSnapshot) Release() {
	s.release.Do(func() {
		_ = s.tx.Rollback()
		s.gate.doneReading()
	})
}

type boltBucket struct {
	tx     *boltTx
	name   []byte
	sums   sums
	report func(error)
	b      *bolt.Bucket
	looked bool // for a reason to fill its pages
}

func (b *boltBucket) Reporting(report func(error)) Bucket {
	other := *b
	other.report = report
	return &other
}

// find looks for the bucket, again if another handle may have created it.
func (b *boltBucket) find() *bolt.Bucket {
	err := guarded(func() error {
		b.b = b.tx.tx.Bucket(b.name)
		return nil
	})
	if err != nil {
		b.report(err)
	}
	return b.b
}

func (b *boltBucket) bucket() *bolt.Bucket {
	if b.b == nil && b.tx.tx.Writable() {
		return b.find()
	}
	return b.b
}

func (b *boltBucket) damaged(key []byte) {
	b.report(&DamageError{string(b.name), append([]byte{}, key...)})
}

func (b *boltBucket) Get(key []byte) (value []byte) {
	bk := b.bucket()
	if bk == nil {
		return nil
	}
	err := guarded(func() error {
		v := bk.Get(key)
		if v == nil {
			return nil
		}
		v, ok := b.sums.unseal(key, v)
		if !ok {
			b.damaged(key)
			return nil
		}
		value = copyValue(v)
		return nil
	})
	if err != nil {
		b.report(err)
		return nil
	}
	return value
}

func (b *boltBucket) Put(key, value []byte) error {
	bk, err := b.create()
	if err != nil {
		return err
	}
	if err := checkKey(key); err != nil {
		return err
	}
	// The library copies the key but keeps the value until the commit.
	return b.change(func() error {
		b.fill(bk, key)
		return boltError(bk.Put(key, b.sums.seal(key, value)))
	})
}

// fill leaves little room in the pages of a bucket whose first new key is the greatest: what follows comes behind it.
func (b *boltBucket) fill(bk *bolt.Bucket, key []byte) {
	if b.looked {
		return
	}
	b.looked = true
	if next, _ := bk.Cursor().Seek(key); next == nil {
		bk.FillPercent = appendFill
	}
}

func (b *boltBucket) Delete(key []byte) error {
	bk, err := b.create()
	if err != nil {
		return err
	}
	return b.change(func() error { return boltError(bk.Delete(key)) })
}

// change calls the library to write; a page that cannot be read on the way ends the transaction.
func (b *boltBucket) change(fn func() error) error {
	err := guarded(fn)
	if errors.Is(err, errBroken) {
		b.tx.fail(err)
	}
	return err
}

func (b *boltBucket) create() (bk *bolt.Bucket, err error) {
	if !b.tx.tx.Writable() {
		return nil, ErrReadOnly
	}
	if bk := b.bucket(); bk != nil {
		return bk, nil
	}
	err = b.change(func() (err error) {
		bk, err = b.tx.tx.CreateBucket(b.name)
		return boltError(err)
	})
	b.b = bk
	return bk, err
}

func (b *boltBucket) Ascend(from []byte, fn func(k, v []byte) bool) {
	b.walk(fn, func(c *bolt.Cursor) (k, v []byte) { return c.Seek(from) }, (*bolt.Cursor).Next)
}

func (b *boltBucket) Descend(from []byte, fn func(k, v []byte) bool) {
	b.walk(fn, func(c *bolt.Cursor) (k, v []byte) { return seekLast(c, from) }, (*bolt.Cursor).Prev)
}

// walk calls fn for one entry after the other. Damaged ones are reported and passed over.
func (b *boltBucket) walk(fn func(k, v []byte) bool, first, next func(*bolt.Cursor) (k, v []byte)) {
	bk := b.bucket()
	if bk == nil {
		return
	}
	calling := false
	err := guardedAround(&calling, func() error {
		c := bk.Cursor()
		for k, sealed := first(c); k != nil; k, sealed = next(c) {
			v, ok := b.sums.unseal(k, sealed)
			if !ok {
				b.damaged(k)
				continue
			}
			calling = true
			more := fn(k, v)
			calling = false
			if !more {
				break
			}
		}
		return nil
	})
	if err != nil {
		b.report(err)
	}
}

// last is the last entry. The library's own way there never returns where deletions of the same transaction have
// emptied every page of a bucket.
func last(c *bolt.Cursor) (k, v []byte) {
	if first, _ := c.First(); first == nil {
		return nil, nil
	}
	return c.Last()
}

// seekLast is the last entry whose key is not greater than from, the last of all when from is nil.
func seekLast(c *bolt.Cursor, from []byte) (k, v []byte) {
	if from == nil {
		return last(c)
	}
	at, val := c.Seek(from)
	switch {
	case at == nil:
		return last(c)
	case string(at) != string(from):
		return c.Prev()
	}
	return at, val
}
