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
	flagBucket = 0x01 // of an element: its value is the root of a bucket

	noFreeList = ^uint64(0)
	leastPage  = 1 << 10
	mostPage   = 64 << 10
)

// bucketHead is what an element of a bucket begins with: root page (8) and a counter (8).
const bucketHead = 16

// inspect looks at a file that no other process holds before the library maps it: whether all pages are there that the
// last commit counted, and, where the library will walk through all of them, whether they are pages at all. The library
// would panic in a goroutine of its own, or touch memory behind the end of the file. The error wraps ErrDamaged,
// ErrInUse, or is one of reading.
func inspect(path string, wait time.Duration) error {
	held, err := open(path, bolt.Options{ReadOnly: true, Timeout: wait, NoStatistics: true}) // keeps writers out
	var unread *fs.PathError
	switch {
	case err == nil:
		_, err := inspectFile(path, false)
		return errors.Join(err, held.Close())
	case errors.Is(err, bolterrors.ErrTimeout), errors.As(err, &unread):
		return err
	}
	return damage("%v", err)
}

// inspectFile reads the pages, where the library would not unless all is said.
func inspectFile(path string, all bool) (meta, error) {
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
		return m, damage("%d bytes are missing at its end: it has %d of at least %d", want-info.Size(), info.Size(), want)
	}
	if m.freeList != noFreeList && (m.freeList < 2 || m.freeList >= m.pages) {
		return m, damage("its list of free pages would be page %d of %d", m.freeList, m.pages)
	}
	if m.freeList != noFreeList && !all {
		return m, nil // the library reads the list and no page more
	}
	w := &pageWalk{file: f, meta: m, seen: make([]bool, m.pages)}
	_, err = w.tree(m.root, true, nil, nil)
	return m, err
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
	if native.Uint32(b[0:]) != boltMagic || native.Uint32(b[4:]) != boltVersion || native.Uint64(b[metaSummed:]) != sum.Sum64() {
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
	page []byte // a leaf that is read; its memory is used again
}

// tree checks a tree of pages whose keys are at least min and less than max, nil for no bound, and returns its last
// key. Only the leaves of the top one hold buckets.
func (w *pageWalk) tree(id uint64, top bool, min, max []byte) (last []byte, err error) {
	page, err := w.read(id)
	if err != nil {
		return nil, err
	}
	native := binary.NativeEndian
	flags, count := native.Uint16(page[8:]), int(native.Uint16(page[10:]))
	if flags != flagBranch && flags != flagLeaf {
		return nil, damage("page %d is none", id)
	}
	if pageHead+count*elementSize > len(page) {
		return nil, damage("page %d has %d entries", id, count)
	}
	if flags == flagLeaf {
		return w.leaf(id, page, count, top, min, max)
	}
	page = bytes.Clone(page)
	for i := range count {
		e := page[pageHead+i*elementSize:]
		key, ok := within(page, pageHead+i*elementSize, native.Uint32(e), native.Uint32(e[4:]), 0)
		if !ok || !ordered(min, key, max, i > 0) {
			return nil, damage("entry %d of page %d is outside of it or out of order", i, id)
		}
		end := max
		if i+1 < count {
			next := page[pageHead+(i+1)*elementSize:]
			if end, ok = within(page, pageHead+(i+1)*elementSize, native.Uint32(next), native.Uint32(next[4:]), 0); !ok {
				return nil, damage("entry %d of page %d is outside of it", i+1, id)
			}
		}
		if last, err = w.tree(native.Uint64(e[8:]), top, key, end); err != nil {
			return nil, err
		}
		min = last
	}
	return last, nil
}

func (w *pageWalk) leaf(id uint64, page []byte, count int, top bool, min, max []byte) (last []byte, err error) {
	native := binary.NativeEndian
	var roots []uint64
	for i := range count {
		at := pageHead + i*elementSize
		e := page[at:]
		offset, size := native.Uint32(e[4:]), native.Uint32(e[12:])
		key, ok := within(page, at, offset, native.Uint32(e[8:]), size)
		if !ok || !ordered(min, key, max, i > 0) {
			return nil, damage("entry %d of page %d is outside of it or out of order", i, id)
		}
		min = key
		bucket := native.Uint32(e)&flagBucket != 0
		if bucket != top || bucket && size < bucketHead {
			return nil, damage("entry %d of page %d is of the wrong kind", i, id)
		}
		if !bucket {
			continue
		}
		if root := native.Uint64(page[at+int(offset)+len(key):]); root != 0 { // 0: a small bucket, in this very page
			roots = append(roots, root)
		}
	}
	if count > 0 {
		last = bytes.Clone(min)
	}
	for _, root := range roots {
		if _, err := w.tree(root, false, nil, nil); err != nil {
			return nil, err
		}
	}
	return last, nil
}

// ordered reports whether a key comes after the one before it, or may be equal to it as the first of its page, and
// before max.
func ordered(before, key, max []byte, strictly bool) bool {
	c := bytes.Compare(before, key)
	return (c < 0 || c == 0 && (!strictly || before == nil)) && (max == nil || bytes.Compare(key, max) < 0)
}

// within is the key at an offset from an element; false when it or the value after it ends outside of its page.
func within(page []byte, element int, offset, key, value uint32) ([]byte, bool) {
	at := int64(element) + int64(offset)
	end := at + int64(key)
	if end+int64(value) > int64(len(page)) {
		return nil, false
	}
	return page[at:end], true
}

// read reads a page with those that continue it, and marks them.
func (w *pageWalk) read(id uint64) ([]byte, error) {
	size := w.meta.pageSize
	if id < 2 || id >= w.meta.pages {
		return nil, damage("page %d is referred to, and there are %d", id, w.meta.pages)
	}
	if cap(w.page) < size {
		w.page = make([]byte, size)
	}
	page := w.page[:size]
	if _, err := w.file.ReadAt(page, int64(id)*int64(size)); err != nil {
		return nil, fmt.Errorf("read page %d: %w", id, err)
	}
	own, more := binary.NativeEndian.Uint64(page), uint64(binary.NativeEndian.Uint32(page[12:]))
	if own != id {
		return nil, damage("in place of page %d there is something else", id)
	}
	if id+more >= w.meta.pages {
		return nil, damage("page %d goes on behind the end", id)
	}
	for i := id; i <= id+more; i++ {
		if w.seen[i] {
			return nil, damage("page %d is used twice", i)
		}
		w.seen[i] = true
	}
	if more == 0 {
		return page, nil
	}
	long := make([]byte, (1+more)*uint64(size))
	if _, err := w.file.ReadAt(long, int64(id)*int64(size)); err != nil {
		return nil, fmt.Errorf("read page %d: %w", id, err)
	}
	return long, nil
}

// damage says what is wrong with a file.
func damage(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrDamaged, fmt.Sprintf(format, args...))
}
