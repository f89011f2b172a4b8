package store

import (
	"bytes"
	"context"
	"maps"
	"sync"
	"sync/atomic"

	"github.com/tidwall/btree"
)

// treeDegree keeps nodes small: a write copies every node on its path once.
const treeDegree = 8

type tree = btree.Map[string, []byte]

// version is one committed state. Neither the map nor a tree in it is changed
// after it was published; the next Update works on copies that share nodes.
type version map[string]*tree

type memory struct {
	update  sync.Mutex
	current atomic.Pointer[version]
	closed  atomic.Bool
}

// NewMemory returns an empty database in memory. A snapshot costs nothing;
// a snapshot that is still held stays readable after Close.
func NewMemory() Store {
	m, _ := NewStage()
	return m
}

// NewStage is NewMemory with a function that writes all that is in it into another store.
func NewStage() (s Store, copyTo func(Tx) error) {
	m := &memory{}
	m.current.Store(&version{})
	return m, m.copyTo
}

func (m *memory) copyTo(tx Tx) error {
	for name, tr := range *m.current.Load() {
		if err := fill(tx, name, tr); err != nil {
			return err
		}
	}
	return nil
}

// Pair is an entry of a bucket.
type Pair struct {
	Key   string
	Value []byte
}

// Content is what a bucket shall have. It can be made beside other work, before the transaction that it goes into.
type Content struct{ tree *tree }

// NewContent takes entries in the order of their keys, each key once. They are not changed afterwards.
func NewContent(entries []Pair) (Content, error) {
	tr := btree.NewMap[string, []byte](treeDegree)
	for _, e := range entries {
		if err := checkKey(e.Key); err != nil {
			return Content{}, err
		}
		tr.Load(e.Key, e.Value)
	}
	return Content{tr}, nil
}

// Fill puts content into a bucket. An empty one in memory takes it as it is.
func Fill(tx Tx, bucket string, c Content) error { return fill(tx, bucket, c.tree) }

func fill(tx Tx, bucket string, tr *tree) (err error) {
	if to, ok := tx.(*memoryTx); ok && to.changed != nil && bucket != "" && to.read(bucket) == nil {
		to.changed[bucket] = tr.Copy() // values are never changed
		return nil
	}
	into := tx.Bucket(bucket)
	tr.Scan(func(k string, v []byte) bool {
		err = into.Put([]byte(k), v)
		return err == nil
	})
	return err
}

func (m *memory) View(fn func(Tx) error) error {
	if m.closed.Load() {
		return ErrClosed
	}
	return fn(&memoryTx{base: *m.current.Load()})
}

func (m *memory) Update(fn func(Tx) error) error {
	m.update.Lock()
	defer m.update.Unlock()
	if m.closed.Load() {
		return ErrClosed
	}
	tx := &memoryTx{base: *m.current.Load(), changed: version{}}
	defer func() { tx.changed = nil }() // a kept handle cannot write later
	if err := fn(tx); err != nil {
		return err
	}
	if len(tx.changed) == 0 {
		return nil
	}
	next := maps.Clone(tx.base)
	maps.Copy(next, tx.changed)
	m.current.Store(&next)
	return nil
}

// YieldToWriter has nothing to wait for: versions in memory do not move.
func (m *memory) YieldToWriter() {}

func (m *memory) Snapshot(context.Context) (Snapshot, error) {
	if m.closed.Load() {
		return nil, ErrClosed
	}
	return &memoryTx{base: *m.current.Load()}, nil
}

func (m *memory) Close() error {
	m.update.Lock()
	defer m.update.Unlock()
	m.closed.Store(true)
	return nil
}

// memoryTx is a view of base with the trees of changed on top; changed is nil
// in a read view.
type memoryTx struct {
	base    version
	changed version
}

// Err is nil: memory has no sums.
func (t *memoryTx) Err() error { return nil }

func (t *memoryTx) Bucket(name string) Bucket { return &memoryBucket{tx: t, name: name} }

// Release drops the references so that the version can be collected.
func (t *memoryTx) Release() { t.base = nil }

func (t *memoryTx) read(name string) *tree {
	if tr := t.changed[name]; tr != nil {
		return tr
	}
	return t.base[name]
}

func (t *memoryTx) write(name string) (*tree, error) {
	if t.changed == nil {
		return nil, ErrReadOnly
	}
	if name == "" {
		return nil, ErrBucketName
	}
	if tr := t.changed[name]; tr != nil {
		return tr, nil
	}
	tr := t.base[name]
	if tr == nil {
		tr = btree.NewMap[string, []byte](treeDegree)
	} else {
		tr = tr.Copy()
	}
	t.changed[name] = tr
	return tr, nil
}

type memoryBucket struct {
	tx   *memoryTx
	name string
}

func (b *memoryBucket) Reporting(func(error)) Bucket { return b }

func (b *memoryBucket) Get(key []byte) []byte {
	tr := b.tx.read(b.name)
	if tr == nil {
		return nil
	}
	v, ok := tr.Get(string(key))
	if !ok {
		return nil
	}
	return copyValue(v)
}

func (b *memoryBucket) Put(key, value []byte) error {
	tr, err := b.tx.write(b.name)
	if err != nil {
		return err
	}
	if err := checkKey(key); err != nil {
		return err
	}
	tr.Set(string(key), copyValue(value))
	return nil
}

func (b *memoryBucket) Delete(key []byte) error {
	tr, err := b.tx.write(b.name)
	if err != nil {
		return err
	}
	tr.Delete(string(key))
	return nil
}

func (b *memoryBucket) Ascend(from []byte, fn func(k, v []byte) bool) {
	if tr := b.tx.read(b.name); tr != nil {
		tr.Ascend(string(from), func(k string, v []byte) bool { return fn([]byte(k), v) })
	}
}

func (b *memoryBucket) Descend(from []byte, fn func(k, v []byte) bool) {
	tr := b.tx.read(b.name)
	if tr == nil {
		return
	}
	each := func(k string, v []byte) bool { return fn([]byte(k), v) }
	if from == nil {
		tr.Reverse(each)
		return
	}
	tr.Descend(string(from), each)
}

// copyValue is bytes.Clone that never returns nil: an empty value is present.
func copyValue(v []byte) []byte {
	if len(v) == 0 {
		return []byte{}
	}
	return bytes.Clone(v)
}
