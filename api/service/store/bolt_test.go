package store

import (
	"bytes"
	"errors"
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

// write puts n KiB under one key.
func write(s Store, n int, then func()) error {
	return s.Update(func(tx Tx) error {
		defer then()
		return tx.Bucket("b").Put([]byte("big"), make([]byte, n<<10))
	})
}

// While Close waits, a reader with two snapshots can release one after the other, and what begins is refused.
func TestClosingLetsAReaderOfTwoSnapshotsGo(t *testing.T) {
	s := mustOpen(t, testPath(t), BoltOptions{})
	first, err := s.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	second, err := s.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	closed, released := make(chan error, 1), make(chan struct{})
	go func() { closed <- s.Close() }()
	go func() {
		defer close(released)
		for {
			snap, err := s.Snapshot()
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
	snap, err := s.Snapshot()
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

// Beyond the reservation Update waits until the reader has gone: the reason
// for the rule "release before Update".
func TestMappingTheFileAnewWaitsForReaders(t *testing.T) {
	path := testPath(t)
	mustOpen(t, path, BoltOptions{}).Close()
	db, err := openBolt(path, 0, 32<<10)
	if err != nil {
		t.Fatal(err)
	}
	s := &boltStore{db: db, path: path}
	defer s.Close()
	snap, err := s.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	var released atomic.Bool
	ran, done := make(chan struct{}), make(chan error)
	go func() {
		err := write(s, 1<<10, func() { close(ran) })
		if !released.Load() {
			t.Error("update ended while a reader used the old mapping")
		}
		done <- err
	}()
	<-ran
	for range 1000 {
		runtime.Gosched() // give a commit that does not wait the chance to show
	}
	released.Store(true)
	snap.Release()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

func FuzzHolderNoteIsSafeOnATerminal(f *testing.F) {
	for _, s := range []string{"", "coffer serve (process id 7)", "\x1b[2Jgone", "\xff\xfe", "a\nb", "\u202eabc", strings.Repeat("x", 5000)} {
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
