package store

import (
	"runtime"
	"strconv"
	"sync"

	bolt "go.etcd.io/bbolt"
)

const (
	// reservedMap is address space, not memory: while the file fits in it, no Update ever waits for a reader. Where so
	// much is not to be had, fewReserved is tried.
	reservedMap = 64 << 30
	fewReserved = 1 << 30
	// leastReserved is for Windows, where the file itself takes the size that is reserved, and for 32 bits.
	leastReserved = 64 << 20
	// mostWritten is more than one Update adds to the file.
	mostWritten = 16 << 20
)

// reservations are the sizes to try for a file of the given size, the best first.
func reservations(file int64) []int {
	if strconv.IntSize == 64 && runtime.GOOS != "windows" {
		most := int64(reservedMap) // a constant of this size is none of a 32-bit int
		return []int{int(most), fewReserved}
	}
	return []int{int(max(leastReserved, min(2*file, fewReserved))), 0}
}

// mapped is how much the library maps at least for a file that has had to hold so many bytes: powers of two up to 1
// GiB, then whole GiB.
func mapped(bytes int64) int64 {
	const gib = 1 << 30
	for size := int64(32 << 10); size <= gib; size *= 2 {
		if bytes <= size {
			return size
		}
	}
	return (bytes + gib - 1) / gib * gib
}

// gate counts the transactions that are open and keeps apart what the library does not: there a reader that waits to
// begin can hold up the end of another one.
//
//   - While the library maps the file anew it waits for all readers and lets none begin. A reader that begins a second
//     transaction inside its first would wait for the writer, which waits for the first. An Update that may map anew
//     therefore runs alone: it waits here, where readers still come and go, until there is none, and only then keeps
//     them out. New readers yield to it, so that the last one leaves some time.
//   - While the library closes it does the same. Here no reader begins any more, those inside leave, and then the
//     library is asked.
type gate struct {
	mu      sync.Mutex
	changed *sync.Cond
	readers int
	writers int
	waiting bool // an Update waits until there is no reader
	alone   bool // an Update is inside that wants nobody else
	closed  bool
}

func newGate() *gate {
	g := &gate{}
	g.changed = sync.NewCond(&g.mu)
	return g
}

// read counts one more reader; it fails once the end has begun.
func (g *gate) read() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	for g.alone && !g.closed {
		g.changed.Wait()
	}
	if g.closed {
		return ErrClosed
	}
	g.readers++
	return nil
}

// yieldToWriter waits while a writer waits or works alone.
func (g *gate) yieldToWriter() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for (g.waiting || g.alone) && !g.closed {
		g.changed.Wait()
	}
}

func (g *gate) doneReading() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.readers--
	g.admit()
}

// admit lets a waiting writer in at the very moment when nobody reads: if it had to wake up first, the next reader
// would be faster.
func (g *gate) admit() {
	if g.readers == 0 && g.waiting {
		g.waiting, g.alone = false, true
	}
	g.changed.Broadcast()
}

// write counts one more writer; it fails once the end has begun.
func (g *gate) write() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return ErrClosed
	}
	g.writers++
	return nil
}

// acquireExclusive waits until no reader is inside and lets none begin before the writer has left.
func (g *gate) acquireExclusive() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.waiting = true
	g.admit()
	for !g.alone {
		g.changed.Wait()
	}
}

func (g *gate) doneWriting() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.writers--
	g.alone = false
	g.changed.Broadcast()
}

// end lets nobody in any more and waits until everybody has left.
func (g *gate) end() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed = true
	g.changed.Broadcast()
	for g.readers+g.writers > 0 {
		g.changed.Wait()
	}
}

// mayMapAnew reports whether the next Update may need more than is mapped. Only the writer whose turn it is may ask: no
// other adds to the file.
func mayMapAnew(db *bolt.DB, reserved int64) (bool, error) {
	tx, err := db.Begin(false)
	if err != nil {
		return false, boltError(err)
	}
	held := tx.Size()
	if err := tx.Rollback(); err != nil {
		return false, boltError(err)
	}
	return held+mostWritten > mapped(max(held, reserved)), nil
}
