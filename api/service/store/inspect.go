package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"os"
	"time"

	bolt "go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"
)

// Facts of the library's file format, version 2. Numbers are in the machine's byte order.
const (
	boltMagic   = 0xED0CDAED
	boltVersion = 2

	pageHead    = 16 // id (8), flags (2), count (2), further pages (4)
	metaAt      = pageHead
	metaSummed  = 56 // of the 64 bytes of a meta, what its checksum covers
	metaSize    = 64
	elementSize = 16

	flagBranch = 0x01
	flagLeaf   = 0x02
	flagFree   = 0x10 // the list of free pages
	flagBucket = 0x01 // of an element: its value is the root of a bucket

	idSize   = 8
	manyFree = 0xFFFF // in place of a count: the first number of the list is the count

	noFreeList = ^uint64(0)
	leastPage  = 1 << 10
	mostPage   = 64 << 10
)

// bucketHead is what an element of a bucket begins with: root page (8) and a counter (8).
const bucketHead = 16

// inspect looks at a file that no other process holds before the library maps it: whether all pages are there that the
// last commit counted, and are pages at all. The library would panic in a goroutine of its own, or touch memory behind
// the end of the file. The error wraps ErrDamaged, ErrInUse, or is one of reading.
func inspect(path string, wait time.Duration) error {
	held, err := open(path, bolt.Options{ReadOnly: true, Timeout: wait, NoStatistics: true}) // keeps writers out
	var unread *fs.PathError
	switch {
	case err == nil:
		_, err := inspectFile(path)
		return errors.Join(err, held.Close())
	case errors.Is(err, bolterrors.ErrTimeout), errors.As(err, &unread):
		return err
	}
	return damage("%v", err)
}

// inspectFile reads all pages that are in use.
func inspectFile(path string) (meta, error) {
	f, err := os.Open(path)
	if err != nil {
		return meta{}, err
	}
	defer func() { _ = f.Close() }() // it was only read
	info, err := f.Stat()
	if err != nil {
		return meta{}, err
	}
	m, err := readMeta(f)
	if err != nil {
		return m, err
	}
	if want := int64(m.pages) * int64(m.pageSize); m.pages > uint64(1)<<40 || info.Size() < want {
		return m, damage("%d bytes are missing at its end: it has %d of at least %d", want-info.Size(), info.Size(),
			want)
	}
	w := &pageWalk{file: f, meta: m, seen: make([]bool, m.pages)}
	if _, err = w.tree(m.root, true, nil, nil); err != nil || m.freeList == noFreeList {
		return m, err
	}
	return m, w.free(m.freeList)
}

// meta is what the file says about its last commit.
type meta struct {
	pageSize int
	root     uint64
	freeList uint64
	pages    uint64 // that are in use, or were
	txid     uint64
	both     bool // both copies are intact
}

// readMeta finds the newer of the two copies that are intact. A copy that is not may be a commit that was cut off,
// which never was reported.
func readMeta(f io.ReaderAt) (meta, error) {
	var found meta
	intact := 0
	for size := leastPage; size <= mostPage; size *= 2 {
		for _, at := range []int64{0, int64(size)} {
			m, ok := metaOf(f, at)
			if !ok || m.pageSize != size {
				continue
			}
			intact++
			if intact == 1 || m.txid > found.txid {
				found = m
			}
		}
		if intact > 0 {
			found.both = intact == 2
			return found, nil
		}
	}
	return found, damage("it has no beginning")
}

func metaOf(f io.ReaderAt, page int64) (m meta, ok bool) {
	var b [metaSize]byte
	if _, err := f.ReadAt(b[:], page+metaAt); err != nil {
		return m, false
	}
	native := binary.NativeEndian
	sum := fnv.New64a()
	_, _ = sum.Write(b[:metaSummed]) // a hash takes everything
	if native.Uint32(b[0:]) != boltMagic || native.Uint32(b[4:]) != boltVersion ||
		native.Uint64(b[metaSummed:]) != sum.Sum64() {
		return m, false
	}
	return meta{
		pageSize: int(native.Uint32(b[8:])), root: native.Uint64(b[16:]), freeList: native.Uint64(b[32:]),
		pages: native.Uint64(b[40:]), txid: native.Uint64(b[48:]),
	}, true
}

// pageWalk visits every page that can be reached from the root.
type pageWalk struct {
	file io.ReaderAt
	meta meta
	seen []bool
	leaf []byte // the beginning of the leaf that is read; its memory is used again
}

// page is what a reference to a page leads to: that page, and those that continue it where its values are long.
type page struct {
	id    uint64
	flags uint16
	count int
	size  int64
	begin []byte // of its first page; the rest is read where a key is in it
}

// element describes one entry of a page.
type element struct {
	flags uint32
	ref   uint64 // of a branch: the page below it
	key   []byte
	value int64 // of a leaf: where the value begins in its page
	size  uint32
}

// tree checks a tree of pages whose keys are at least min and less than max, nil for no bound, and returns its last
// key. Only the leaves of the top one hold buckets.
func (w *pageWalk) tree(id uint64, top bool, min, max []byte) (last []byte, err error) {
	p, err := w.read(id)
	if err != nil {
		return nil, err
	}
	if p.flags != flagBranch && p.flags != flagLeaf {
		return nil, damage("page %d is none", id)
	}
	if pageHead+int64(p.count)*elementSize > p.size {
		return nil, damage("page %d has %d entries", id, p.count)
	}
	if p.flags == flagLeaf {
		return w.entries(p, top, min, max)
	}
	p.begin = bytes.Clone(p.begin)
	for i := range p.count {
		e, err := w.element(p, i)
		if err != nil {
			return nil, err
		}
		if !ordered(min, e.key, max, i > 0) {
			return nil, damage("entry %d of page %d is out of order", i, id)
		}
		end := max
		if i+1 < p.count {
			next, err := w.element(p, i+1)
			if err != nil {
				return nil, err
			}
			end = next.key
		}
		if last, err = w.tree(e.ref, top, e.key, end); err != nil {
			return nil, err
		}
		min = last
	}
	return last, nil
}

// entries checks the entries of a leaf, and the buckets in it.
func (w *pageWalk) entries(p page, top bool, min, max []byte) (last []byte, err error) {
	var roots []uint64
	for i := range p.count {
		e, err := w.element(p, i)
		if err != nil {
			return nil, err
		}
		if !ordered(min, e.key, max, i > 0) {
			return nil, damage("entry %d of page %d is out of order", i, p.id)
		}
		min = e.key
		bucket := e.flags&flagBucket != 0
		if bucket != top || bucket && e.size < bucketHead {
			return nil, damage("entry %d of page %d is of the wrong kind", i, p.id)
		}
		if !bucket {
			continue
		}
		head, err := w.bytes(p, e.value, bucketHead)
		if err != nil {
			return nil, err
		}
		if root := binary.NativeEndian.Uint64(head); root != 0 { // 0: a small bucket, in this very page
			roots = append(roots, root)
		}
	}
	if p.count > 0 {
		last = bytes.Clone(min)
	}
	for _, root := range roots {
		if _, err := w.tree(root, false, nil, nil); err != nil {
			return nil, err
		}
	}
	return last, nil
}

// free checks the list of free pages after the trees: what it names would be written over.
func (w *pageWalk) free(id uint64) error {
	p, err := w.read(id)
	if err != nil {
		return err
	}
	native := binary.NativeEndian
	at, count := int64(pageHead), uint64(p.count)
	if count == manyFree {
		count, at = native.Uint64(p.begin[at:]), at+idSize
	}
	if p.flags != flagFree || count > uint64(p.size-at)/idSize {
		return damage("page %d is no list of free pages", id)
	}
	list, err := w.bytes(p, at, int64(count)*idSize)
	if err != nil {
		return err
	}
	for ; len(list) > 0; list = list[idSize:] {
		free := native.Uint64(list)
		if free < 2 || free >= w.meta.pages || w.seen[free] {
			return damage("page %d cannot be free", free)
		}
		w.seen[free] = true
	}
	return nil
}

// element reads an entry of a page; it and its value must end within the page.
func (w *pageWalk) element(p page, i int) (e element, err error) {
	at := pageHead + int64(i)*elementSize
	b, err := w.bytes(p, at, elementSize)
	if err != nil {
		return e, err
	}
	native := binary.NativeEndian
	var offset, key uint32
	if p.flags == flagLeaf {
		e.flags, offset, key, e.size = native.Uint32(b), native.Uint32(b[4:]), native.Uint32(b[8:]),
			native.Uint32(b[12:])
	} else {
		offset, key, e.ref = native.Uint32(b), native.Uint32(b[4:]), native.Uint64(b[8:])
	}
	at += int64(offset)
	e.value = at + int64(key)
	if e.value+int64(e.size) > p.size {
		return e, damage("entry %d of page %d is outside of it", i, p.id)
	}
	e.key, err = w.bytes(p, at, int64(key))
	return e, err
}

// bytes are some of a page, within its size.
func (w *pageWalk) bytes(p page, at, size int64) ([]byte, error) {
	if at+size <= int64(len(p.begin)) {
		return p.begin[at : at+size], nil
	}
	b := make([]byte, size)
	if _, err := w.file.ReadAt(b, int64(p.id)*int64(w.meta.pageSize)+at); err != nil {
		return nil, fmt.Errorf("read page %d: %w", p.id, err)
	}
	return b, nil
}

// ordered reports whether a key comes after the one before it, or may be equal to it as the first of its page, and
// before max.
func ordered(before, key, max []byte, strictly bool) bool {
	c := bytes.Compare(before, key)
	return (c < 0 || c == 0 && (!strictly || before == nil)) && (max == nil || bytes.Compare(key, max) < 0)
}

// read reads the beginning of a page and marks it and those that continue it.
func (w *pageWalk) read(id uint64) (p page, err error) {
	if id < 2 || id >= w.meta.pages {
		return p, damage("page %d is referred to, and there are %d", id, w.meta.pages)
	}
	if w.leaf == nil {
		w.leaf = make([]byte, w.meta.pageSize)
	}
	if _, err := w.file.ReadAt(w.leaf, int64(id)*int64(len(w.leaf))); err != nil {
		return p, fmt.Errorf("read page %d: %w", id, err)
	}
	native := binary.NativeEndian
	own, more := native.Uint64(w.leaf), uint64(native.Uint32(w.leaf[12:]))
	p = page{id: id, flags: native.Uint16(w.leaf[8:]), count: int(native.Uint16(w.leaf[10:])), begin: w.leaf}
	if own != id {
		return p, damage("in place of page %d there is something else", id)
	}
	if id+more >= w.meta.pages {
		return p, damage("page %d goes on behind the end", id)
	}
	for i := id; i <= id+more; i++ {
		if w.seen[i] {
			return p, damage("page %d is used twice", i)
		}
		w.seen[i] = true
	}
	p.size = int64(1+more) * int64(len(w.leaf))
	return p, nil
}

// damage says what is wrong with a file.
func damage(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrDamaged, fmt.Sprintf(format, args...))
}
