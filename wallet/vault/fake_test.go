package vault

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"maps"
	"sync"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/crypto"
	"github.com/zalando/go-keyring"

	"coffer/api/secret"
)

const (
	here      = "0x00000000000000000000000000000000000000000000000000000000000000aa"
	elsewhere = "0xbb00000000000000000000000000000000000000000000000000000000000000"
)

func pass() secret.Secret  { return secret.New([]byte("correct horse")) }
func wrong() secret.Secret { return secret.New([]byte("battery staple")) }

// raw makes a key out of a word.
func raw(label string) []byte { return crypto.Keccak256([]byte(label)) }

// fakeRing is a keyring in memory with a mutex of its own (TH-KR5). before, when set, is asked ahead of each call and
// may block or fail it.
type fakeRing struct {
	mu     sync.Mutex
	items  map[string][]byte
	calls  int
	before func(call, user string) error
}

func newRing() *fakeRing { return &fakeRing{items: map[string][]byte{}} }

func (f *fakeRing) enter(call, user string) error {
	f.mu.Lock()
	f.calls++
	before := f.before
	f.mu.Unlock()
	if before != nil {
		return before(call, user)
	}
	return nil
}

func (f *fakeRing) Set(service, user string, value []byte) error {
	if err := f.enter("set", user); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.items[service+"\x00"+user] = bytes.Clone(value)
	return nil
}

func (f *fakeRing) Get(service, user string) ([]byte, error) {
	if err := f.enter("get", user); err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	value, ok := f.items[service+"\x00"+user]
	if !ok {
		return nil, keyring.ErrNotFound
	}
	return bytes.Clone(value), nil
}

func (f *fakeRing) Delete(service, user string) error {
	if err := f.enter("delete", user); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, ok := f.items[service+"\x00"+user]; !ok {
		return keyring.ErrNotFound
	}
	delete(f.items, service+"\x00"+user)
	return nil
}

// copyOf returns what the ring holds now.
func (f *fakeRing) copyOf() map[string][]byte {
	f.mu.Lock()
	defer f.mu.Unlock()
	return maps.Clone(f.items)
}

// made is how many calls were made.
func (f *fakeRing) made() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.calls
}

// hinder sets what happens ahead of each call.
func (f *fakeRing) hinder(before func(call, user string) error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.before = before
}

// fakeClock is a clock that a test moves.
type fakeClock struct {
	mu  sync.Mutex
	now time.Time
}

func newClock() *fakeClock {
	return &fakeClock{now: time.Date(2026, 9, 1, 12, 0, 0, 0, time.UTC)}
}

func (c *fakeClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *fakeClock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// bench is where a test's vaults live: one directory, one keyring, one clock.
type bench struct {
	dir   string
	ring  *fakeRing
	clock *fakeClock
}

func newBench(t testing.TB) *bench {
	t.Helper()
	return &bench{dir: t.TempDir() + "/keys", ring: newRing(), clock: newClock()}
}

func (b *bench) options() Options {
	return Options{Profile: "main", NetworkID: here, Dir: b.dir, Clock: b.clock.Now, Random: rand.Reader, WorkFactor: 1,
		Keyring: b.ring}
}

// open opens a vault of the backend and closes it when the test ends.
func (b *bench) open(t testing.TB, backend Backend, change ...func(*Options)) *Vault {
	t.Helper()
	o := b.options()
	for _, c := range change {
		c(&o)
	}
	openers := map[Backend]func(Options) (*Vault, error){BackendFile: OpenFile, BackendKeyring: OpenKeyring,
		BackendKeyringOnly: OpenKeyringOnly}
	v, err := openers[backend](o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = v.Close() })
	return v
}

// passOf is the passphrase of a vault of the backend.
func passOf(backend Backend) secret.Secret {
	if backend == BackendKeyringOnly {
		return secret.Secret{}
	}
	return pass()
}

// created sets a vault up.
func (b *bench) created(t testing.TB, backend Backend, change ...func(*Options)) *Vault {
	t.Helper()
	v := b.open(t, backend, change...)
	if err := v.Create(t.Context(), passOf(backend)); err != nil {
		t.Fatal(err)
	}
	return v
}

// eachBackend runs a test for every kind of store.
func eachBackend(t *testing.T, fn func(t *testing.T, b *bench, backend Backend)) {
	t.Helper()
	for _, backend := range []Backend{BackendFile, BackendKeyring, BackendKeyringOnly} {
		t.Run(string(backend), func(t *testing.T) { fn(t, newBench(t), backend) })
	}
}

func mustAdd(t testing.TB, v *Vault, kind Kind, word string) Item {
	t.Helper()
	item, err := v.Add(t.Context(), kind, secret.New(raw(word)), word)
	if err != nil {
		t.Fatal(err)
	}
	return item
}

// lent checks that the vault lends the key of the word.
func lent(t testing.TB, v *Vault, address, word string) {
	t.Helper()
	called := false
	err := v.Use(context.Background(), here, address, func(key secret.Secret) error {
		called = true
		if !bytes.Equal(key.Reveal(), raw(word)) {
			t.Errorf("another key than that of %q was lent", word)
		}
		return nil
	})
	if err != nil || !called {
		t.Fatalf("use of %q: %v", word, err)
	}
}

func want(t testing.TB, err, target error) {
	t.Helper()
	if !errors.Is(err, target) {
		t.Fatalf("got %v, want %v", err, target)
	}
}

func wantState(t testing.TB, err error, state State) {
	t.Helper()
	var k *KeyringError
	if !errors.As(err, &k) || k.State != state || k.Advice == "" {
		t.Fatalf("got %v, want a keyring in state %s and advice", err, state)
	}
}
