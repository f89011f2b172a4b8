package vault

import (
	"bytes"
	"crypto/rand"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"coffer/api/secret"
)

func TestK6AnIdleVaultLocksItself(t *testing.T) {
	eachBackend(t, func(t *testing.T, b *bench, backend Backend) {
		v := b.created(t, backend)
		item := mustAdd(t, v, EVM, "k")
		told := 0
		v.OnLock(func() { told++ })
		for range 3 { // every use counts
			b.clock.advance(5*time.Minute - time.Second)
			lent(t, v, item.Address, "k")
		}
		own := v.keys
		b.clock.advance(5 * time.Minute)
		want(t, v.Use(t.Context(), here, item.Address, func(secret.Secret) error { t.Error("lent"); return nil }),
			ErrLocked)
		if told != 1 || !v.Locked() || !bytes.Equal(own.master, make([]byte, 32)) ||
			!bytes.Equal(own.seal, make([]byte, 32)) || !bytes.Equal(own.name, make([]byte, 32)) {
			t.Error("not told once, or not wiped", told)
		}
		v.Lock()
		if told != 1 {
			t.Error("locking a locked vault was announced")
		}
	})
}

func TestK6TheVaultLocksWithoutBeingAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		v := b.created(t, BackendFile, func(o *Options) { o.Clock, o.IdleLock = time.Now, time.Minute })
		locked := make(chan time.Time, 1)
		v.OnLock(func() { locked <- time.Now() })
		began := time.Now()
		time.Sleep(40 * time.Second) // of the bubble's clock
		v.Touch()
		if at := <-locked; at.Sub(began) != 100*time.Second {
			t.Errorf("locked after %s, want 40 s and a minute", at.Sub(began))
		}
		if err := v.Unlock(t.Context(), pass()); err != nil {
			t.Fatal(err)
		}
		began = time.Now()
		if at := <-locked; at.Sub(began) != time.Minute {
			t.Errorf("locked again after %s", at.Sub(began))
		}
	})
}

func TestK6SleepOfTheMachineCountsAsIdle(t *testing.T) {
	b := newBench(t)
	wall := time.Now() // with a monotonic reading, which stands still while a machine sleeps
	now := wall
	v := b.created(t, BackendFile, func(o *Options) { o.Clock = func() time.Time { return now } })
	now = wall.Round(0).Add(time.Hour)
	if !v.Locked() {
		t.Error("an hour of sleep left the vault open")
	}
}

func TestTouchAndTheAPIKeyCountDifferently(t *testing.T) {
	b := newBench(t)
	v := b.created(t, BackendKeyring)
	if err := v.SetAPIKey(t.Context(), secret.New([]byte("k"))); err != nil {
		t.Fatal(err)
	}
	b.clock.advance(4 * time.Minute)
	v.Touch()
	b.clock.advance(4 * time.Minute)
	none := func(secret.Secret) error { return nil }
	if err := v.APIKey(t.Context(), none); err != nil {
		t.Fatal("a touch does not count", err)
	}
	if _, err := v.Items(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.clock.advance(2 * time.Minute)
	want(t, v.APIKey(t.Context(), none), ErrLocked)
	v.Touch()
	if !v.Locked() {
		t.Error("a touch opened a locked vault")
	}
}

func TestALockDuringACallbackLeavesItItsKeyAndNoOther(t *testing.T) {
	v := newBench(t).created(t, BackendFile)
	item := mustAdd(t, v, EVM, "k")
	var kept []byte
	if err := v.Use(t.Context(), here, item.Address, func(key secret.Secret) error {
		v.Lock()
		if !bytes.Equal(key.Reveal(), raw("k")) {
			t.Error("the lent key was wiped under the callback")
		}
		kept = key.Reveal()
		return v.Use(t.Context(), here, item.Address, func(secret.Secret) error { return nil })
	}); !errors.Is(err, ErrLocked) {
		t.Error(err)
	}
	if kept[0] != 0 {
		t.Error("not wiped afterwards")
	}
}

func TestALockWhileTheKeyringIsAskedIsNotMissed(t *testing.T) {
	b := newBench(t)
	v := b.created(t, BackendKeyring)
	item := mustAdd(t, v, EVM, "k")
	b.ring.hinder(func(string, string) error { v.Lock(); return nil })
	never := func(secret.Secret) error { t.Error("lent"); return nil }
	want(t, v.Use(t.Context(), here, item.Address, never), ErrLocked)
	b.ring.hinder(nil)
	for range 2 { // at the head, and at the record
		if err := v.Unlock(t.Context(), pass()); err != nil {
			t.Fatal(err)
		}
		b.ring.hinder(func(_, user string) error { v.Lock(); return nil })
		_, err := v.Items(t.Context())
		want(t, err, ErrLocked)
		b.ring.hinder(nil)
	}
}

func TestAListenerMayUseTheVault(t *testing.T) {
	v := newBench(t).created(t, BackendFile)
	called := false
	v.OnLock(func() {
		called = v.Locked()
		v.Lock()
		v.Touch()
	})
	v.Lock()
	if !called {
		t.Error("not told, or told too early")
	}
}

func TestAVaultClosedMeanwhileIsNotOpenedByUnlock(t *testing.T) {
	b := newBench(t)
	v := b.created(t, BackendKeyring)
	b.ring.hinder(func(string, string) error { return v.Close() })
	want(t, v.Unlock(t.Context(), pass()), ErrClosed)
	if v.keys != nil {
		t.Error("the keys are kept")
	}
}

// short is a source of randomness that ends.
type short struct{ left int }

func (s *short) Read(p []byte) (int, error) {
	if s.left == 0 {
		return 0, errEnded
	}
	n := min(len(p), s.left)
	s.left -= n
	return rand.Read(p[:n])
}

var errEnded = errors.New("no more randomness")

func TestWithoutRandomnessNothingIsStored(t *testing.T) {
	for _, left := range []int{0, 31, 55} {
		b := newBench(t)
		v := b.open(t, BackendKeyring, func(o *Options) { o.Random = &short{left: left} })
		want(t, v.Create(t.Context(), pass()), errEnded)
		want(t, v.Probe(t.Context()), errEnded)
		if len(b.ring.copyOf()) != 0 || !v.Locked() {
			t.Error("something was stored")
		}
	}
	b := newBench(t)
	v := b.open(t, BackendKeyring, func(o *Options) { o.Random = &short{left: 32 + 24 + 24} })
	if err := v.Create(t.Context(), pass()); err != nil {
		t.Fatal(err)
	}
	_, err := v.Add(t.Context(), EVM, secret.New(raw("k")), "") // the record can be sealed, the index not
	want(t, err, errEnded)
	want(t, v.SetAPIKey(t.Context(), secret.New([]byte("k"))), errEnded)
	if items, err := v.Items(t.Context()); err != nil || len(items) != 0 {
		t.Error(items, err)
	}
}
