package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"
)

func testPath(t *testing.T) string { return filepath.Join(t.TempDir(), "data", "coffer.db") }

func mustOpen(t *testing.T, path string, opts BoltOptions) Store {
	t.Helper()
	s, err := OpenBolt(path, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func TestFileAndDirectoryArePrivate(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("windows has no permission bits")
	}
	path := testPath(t)
	mustOpen(t, path, BoltOptions{}).Close()
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	mustOpen(t, path, BoltOptions{})
	for name, want := range map[string]os.FileMode{filepath.Dir(path): 0o700, path: 0o600, holderFile(path): 0o600} {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); got != want {
			t.Errorf("%s has mode %o, want %o", filepath.Base(name), got, want)
		}
	}
}

func TestSecondOpenFailsInBoundedTimeAndNamesTheHolder(t *testing.T) {
	path := testPath(t)
	first := mustOpen(t, path, BoltOptions{Holder: "coffer serve"})
	_, err := OpenBolt(path, BoltOptions{Wait: 10 * time.Millisecond, Holder: "second"})
	if !errors.Is(err, ErrInUse) || !strings.Contains(err.Error(), "coffer serve (process id ") {
		t.Fatalf("error is %v", err)
	}
	first.Close()
	if _, err := os.Stat(holderFile(path)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the holder's note is left behind: %v", err)
	}
	mustOpen(t, path, BoltOptions{})
}

func TestNoteOfADeadHolderIsNoObstacle(t *testing.T) {
	path := testPath(t)
	mustOpen(t, path, BoltOptions{}).Close()
	if err := os.WriteFile(holderFile(path), []byte("somebody who died"), 0o600); err != nil {
		t.Fatal(err)
	}
	mustOpen(t, path, BoltOptions{})
}

func TestMissingNoteOfTheHolderIsSaid(t *testing.T) {
	path := testPath(t)
	mustOpen(t, path, BoltOptions{})
	removeHolder(path)
	_, err := OpenBolt(path, BoltOptions{Wait: time.Millisecond})
	if !errors.Is(err, ErrInUse) || !strings.Contains(err.Error(), "left no name") {
		t.Fatalf("error is %v", err)
	}
}

func TestForeignFileIsRefusedAndLeftAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "notes.txt")
	content := bytes.Repeat([]byte("this is no database "), 1000)
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenBolt(path, BoltOptions{}); !errors.Is(err, ErrDamaged) {
		t.Fatalf("error is %v", err)
	}
	if got, _ := os.ReadFile(path); !bytes.Equal(got, content) {
		t.Fatal("the foreign file was changed")
	}
}

func TestDataSurvivesReopening(t *testing.T) {
	path := testPath(t)
	s := mustOpen(t, path, BoltOptions{})
	fill := func(tx Tx) error { return tx.Bucket("b").Put([]byte("k"), []byte("v")) }
	if err := s.Update(fill); err != nil {
		t.Fatal(err)
	}
	s.Close()
	s = mustOpen(t, path, BoltOptions{})
	_ = s.View(func(tx Tx) error {
		if got := tx.Bucket("b").Get([]byte("k")); string(got) != "v" {
			t.Errorf("value is %q", got)
		}
		return nil
	})
}

// noise is n bytes that cannot be packed.
func noise(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{}).Read(b)
	return b
}

// write puts n KiB under one key.
func write(s Store, n int, then func()) error {
	return s.Update(func(tx Tx) error {
		defer then()
		return tx.Bucket("b").Put([]byte("big"), noise(n<<10))
	})
}

// While Close waits, a reader with two snapshots can release one after the other, and what begins is refused.
func TestClosingLetsAReaderOfTwoSnapshotsGo(t *testing.T) {
	s := mustOpen(t, testPath(t), BoltOptions{})
	first, err := s.Snapshot(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	second, err := s.Snapshot(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	closed, released := make(chan error, 1), make(chan struct{})
	go func() { closed <- s.Close() }()
	go func() {
		defer close(released)
		for {
			snap, err := s.Snapshot(context.Background())
			if errors.Is(err, ErrClosed) {
				break
			}
			snap.Release()
		}
		if err := s.Update(func(Tx) error { return nil }); !errors.Is(err, ErrClosed) {
			t.Errorf("an update that begins while Close waits gives %v", err)
		}
		first.Release()
		select {
		case err := <-closed:
			t.Errorf("Close ended before the second snapshot: %v", err)
		default:
		}
		second.Release()
	}()
	for what, ended := range map[string]func() bool{
		"the reader": func() bool { <-released; return true },
		"Close":      func() bool { err := <-closed; return err == nil },
	} {
		done := make(chan bool, 1)
		go func() { done <- ended() }()
		select {
		case ok := <-done:
			if !ok {
				t.Errorf("%s failed", what)
			}
		case <-time.After(30 * time.Second):
			t.Fatalf("%s does not come to its end", what)
		}
	}
}

// With the address space reserved, growing the file does not wait for readers,
// not even for one of the same goroutine.
func TestGrowingInsideTheReservationDoesNotWaitForReaders(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("nothing is reserved on windows")
	}
	s := mustOpen(t, testPath(t), BoltOptions{})
	snap, err := s.Snapshot(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer snap.Release()
	for range 4 {
		if err := write(s, 8<<10, func() {}); err != nil {
			t.Fatal(err)
		}
	}
}

// small opens a file for which almost nothing is reserved, as where address space is short.
func small(t *testing.T) *boltStore {
	path := testPath(t)
	mustOpen(t, path, BoltOptions{}).Close()
	db, err := openBolt(path, 0, 32<<10)
	if err != nil {
		t.Fatal(err)
	}
	s := newBoltStore(db, path, 32<<10)
	t.Cleanup(func() { s.Close() })
	return s
}

// inTime fails the test when something does not come to its end.
func inTime(t *testing.T, what string, done <-chan error) {
	t.Helper()
	select {
	case err := <-done:
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
	case <-time.After(60 * time.Second):
		t.Fatalf("%s does not come to its end", what)
	}
}

// Beyond the reservation an Update that may map the file anew waits until the readers have gone, the reason for the
// rule "release before Update". A reader that begins another view meanwhile is not held up: it would wait for the
// writer, and the writer for it.
func TestMappingTheFileAnewWaitsForReadersAndHoldsNoneUp(t *testing.T) {
	s := small(t)
	first, err := s.Snapshot(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	var released atomic.Bool
	began, done := make(chan struct{}), make(chan error, 1)
	go func() {
		close(began)
		done <- write(s, 1<<10, func() {
			if !released.Load() {
				t.Error("an update that maps anew ran beside a reader")
			}
		})
	}()
	<-began
	for range 1000 {
		runtime.Gosched() // give an update that does not wait the chance to show
	}
	read := make(chan error, 1)
	go func() {
		second, err := s.Snapshot(context.Background())
		if err == nil {
			second.Release()
		}
		read <- err
	}()
	inTime(t, "a view inside another", read)
	released.Store(true)
	first.Release()
	inTime(t, "the update", done)
}

// Four people read, each with a view inside another, while the file outgrows its mapping again and again.
func TestViewsInsideViewsAndAGrowingFile(t *testing.T) {
	s := small(t)
	var end atomic.Bool
	done := make(chan error, 5)
	for range 4 {
		go func() {
			for !end.Load() {
				s.YieldToWriter()
				err := s.View(func(Tx) error {
					runtime.Gosched()
					return s.View(func(Tx) error { return nil })
				})
				if err != nil {
					done <- err
					return
				}
			}
			done <- nil
		}()
	}
	go func() {
		defer end.Store(true)
		for kib := 64; kib <= 48<<10; kib *= 2 {
			if err := write(s, kib, func() {}); err != nil {
				done <- err
				return
			}
		}
		done <- nil
	}()
	for range 5 {
		inTime(t, "a reader or the writer", done)
	}
}

// Requests that overlap without a gap, each with a view inside another, make way at their beginning, so an update that
// has to be alone gets its turn.
func TestRequestsWithoutAGapMakeWay(t *testing.T) {
	s := small(t)
	var end atomic.Bool
	var begun atomic.Int64
	request := func() error {
		s.YieldToWriter()
		return s.View(func(Tx) error {
			mine := begun.Add(1)
			for range 100_000 { // as a rule until another one has begun
				if begun.Load() != mine {
					break
				}
				runtime.Gosched()
			}
			return s.View(func(Tx) error { return nil })
		})
	}
	done := make(chan error, 5)
	for range 4 {
		go func() {
			var err error
			for err == nil && !end.Load() {
				err = request()
			}
			done <- err
		}()
	}
	go func() {
		defer end.Store(true)
		for begun.Load() < 100 {
			runtime.Gosched()
		}
		done <- write(s, 1<<10, func() {})
	}()
	for range 5 {
		inTime(t, "a request or the update", done)
	}
}

// Powers of two up to a GiB, then whole GiB, as the library maps.
func TestMappedSizes(t *testing.T) {
	for _, c := range []struct{ bytes, want int64 }{
		{0, 32 << 10}, {32 << 10, 32 << 10}, {32<<10 + 1, 64 << 10}, {64 << 20, 64 << 20},
		{1 << 30, 1 << 30}, {1<<30 + 1, 2 << 30}, {5<<30 - 1, 5 << 30}, {64 << 30, 64 << 30},
	} {
		if got := mapped(c.bytes); got != c.want {
			t.Errorf("%d bytes: %d mapped, want %d", c.bytes, got, c.want)
		}
	}
}

func FuzzHolderNoteIsSafeOnATerminal(f *testing.F) {
	for _, s := range []string{"", "coffer serve (process id 7)", "\x1b[2Jgone", "\xff\xfe", "a\nb", "\u202eabc",
		strings.Repeat("x", 5000)} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, note []byte) {
		got := cleanHolder(note)
		if got == "" || utf8.RuneCountInString(got) > maxHolder || !utf8.ValidString(got) {
			t.Fatalf("%q", got)
		}
		for _, r := range got {
			if !unicode.IsPrint(r) {
				t.Fatalf("%q contains %U", got, r)
			}
		}
	})
}

// The library's way to the last key goes round for ever when a transaction has emptied every page of a bucket.
func TestABucketThatWasEmptiedTakesKeysAgainInTheSameTransaction(t *testing.T) {
	s, err := OpenBolt(filepath.Join(t.TempDir(), "store.db"), BoltOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	const n = 500 // more than a page
	key := func(i int) []byte { return []byte(fmt.Sprintf("%06d", i)) }
	put := func(tx Tx, i int) error { return tx.Bucket("b").Put(key(i), make([]byte, 200)) }
	if err := s.Update(func(tx Tx) error {
		for i := range n {
			if err := put(tx, i); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if err := s.Update(func(tx Tx) error {
		for i := range n {
			if err := tx.Bucket("b").Delete(key(i)); err != nil {
				return err
			}
		}
		tx.Bucket("b").Descend(nil, func([]byte, []byte) bool { t.Error("a key that was deleted"); return true })
		return put(tx, n)
	}); err != nil {
		t.Fatal(err)
	}
	if err := s.View(func(tx Tx) error {
		if tx.Bucket("b").Get(key(n)) == nil || tx.Bucket("b").Get(key(0)) != nil {
			t.Error("not the keys that were put")
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}
