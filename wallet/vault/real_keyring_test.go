//go:build keyring && linux

package vault

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/zalando/go-keyring"

	"coffer/api/secret"
)

// The tests of this file ask a real Secret Service. .ci/keyring/run brings up a private one in the state that a test's
// name says and runs that test alone, in a process of its own, since the library keeps its connection for the life of
// the process.

// inState fails unless the script has prepared the state: without it the tests would ask the keyring of whoever runs
// them.
func inState(t *testing.T, state string) {
	t.Helper()
	if got := os.Getenv("COFFER_KEYRING_STATE"); got != state {
		t.Fatalf("this test needs a private keyring in state %q; run .ci/keyring/run (the state is %q)", state, got)
	}
}

// bound is within what every call has to answer (TH-F9).
const bound = 3500 * time.Millisecond

func realVault(t *testing.T, open func(Options) (*Vault, error)) *Vault {
	t.Helper()
	v, err := open(Options{Profile: "real", NetworkID: here, Clock: time.Now, Random: rand.Reader, WorkFactor: 10})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = v.Close() })
	return v
}

// timed runs a call and fails when it takes too long.
func timed(t *testing.T, what string, call func() error) error {
	t.Helper()
	began := time.Now()
	err := call()
	took := time.Since(began)
	t.Logf("%s: %s: %v", what, took.Round(time.Millisecond), err)
	if took > bound {
		t.Errorf("%s took %s", what, took)
	}
	return err
}

// answers checks that probing and opening both end in the state, in time.
func answers(t *testing.T, state State) {
	t.Helper()
	v := realVault(t, OpenKeyring)
	wantState(t, timed(t, "probe", func() error { return v.Probe(t.Context()) }), state)
	wantState(t, timed(t, "unlock", func() error { return v.Unlock(t.Context(), pass()) }), state)
	wantState(t, timed(t, "create", func() error { return v.Create(t.Context(), pass()) }), state)
}

func TestRealKeyringUnlocked(t *testing.T) {
	inState(t, "unlocked")
	for _, open := range []func(Options) (*Vault, error){OpenKeyring, OpenKeyringOnly} {
		v := realVault(t, open)
		p := passOf(v.Backend())
		ctx := context.Background()
		steps := []struct {
			what string
			do   func() error
		}{
			{"probe", func() error { return v.Probe(ctx) }},
			{"create", func() error { return v.Create(ctx, p) }},
			{"add", func() error { _, err := v.Add(ctx, EVM, secret.New(raw("real")), "real"); return err }},
			{"add another", func() error { _, err := v.Add(ctx, Solana, secret.New(raw("sol")), ""); return err }},
			{"API key", func() error { return v.SetAPIKey(ctx, secret.New([]byte("api"))) }},
			{"lock and unlock", func() error { v.Lock(); return v.Unlock(ctx, p) }},
			{"items", func() error {
				items, err := v.Items(ctx)
				if err == nil && len(items) != 2 {
					err = fmt.Errorf("%d keys", len(items))
				}
				return err
			}},
		}
		for _, s := range steps {
			if err := timed(t, string(v.Backend())+" "+s.what, s.do); err != nil {
				t.Fatal(err)
			}
		}
		address, err := AddressOf(EVM, secret.New(raw("real")))
		if err != nil {
			t.Fatal(err)
		}
		lent(t, v, address, "real")
		want(t, timed(t, "wrong passphrase", func() error { v.Lock(); return v.Unlock(ctx, wrong()) }),
			map[Backend]error{BackendKeyring: ErrPassphrase, BackendKeyringOnly: ErrNoPassphrase}[v.Backend()])
		if err := v.Unlock(ctx, p); err != nil {
			t.Fatal(err)
		}
		for _, a := range mustItems(t, v) {
			if err := v.Remove(ctx, a.Address); err != nil {
				t.Fatal(err)
			}
		}
		if err := errors.Join(v.RemoveAPIKey(ctx), v.store.remove(ctx, nameHead)); err != nil {
			t.Fatal(err)
		}
		if there, err := v.Exists(ctx); err != nil || there {
			t.Fatal("something is left", err)
		}
	}
	c := newCaller(nil, "linux", false, false)
	if err := timed(t, "the largest item", func() error {
		return c.set(t.Context(), "coffer:real:big", "u",
			make([]byte, maxValue))
	}); err != nil {
		t.Fatal(err)
	}
	if b, err := c.get(t.Context(), "coffer:real:big", "u"); err != nil || len(b) != maxValue {
		t.Fatal(len(b), err)
	}
	wantState(t, timed(t, "a larger one", func() error {
		return c.set(t.Context(), "coffer:real:big", "u",
			make([]byte, maxValue+1))
	}), StateTooBig)
	if err := c.remove(t.Context(), "coffer:real:big", "u"); err != nil {
		t.Fatal(err)
	}
	_, err := c.get(t.Context(), "coffer:real:big", "u")
	wantState(t, err, StateNotFound)
}

func mustItems(t *testing.T, v *Vault) []Item {
	t.Helper()
	items, err := v.Items(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return items
}

func TestRealKeyringNeverUnlocked(t *testing.T) {
	inState(t, "never-unlocked")
	answers(t, StateLocked)
}

func TestRealKeyringLocked(t *testing.T) {
	inState(t, "locked")
	answers(t, StateLocked)
}

func TestRealKeyringWrongPassword(t *testing.T) {
	inState(t, "wrong-password")
	answers(t, StateLocked)
}

func TestRealKeyringLockedWhileRunning(t *testing.T) {
	inState(t, "locked-while-running")
	v := realVault(t, OpenKeyring)
	if err := errors.Join(v.Create(t.Context(), pass()), v.Probe(t.Context())); err != nil {
		t.Fatal(err)
	}
	item := mustAdd(t, v, EVM, "k")
	// it locks, and then ends badly itself
	_ = exec.CommandContext(t.Context(), "secret-tool", "lock", "--collection=login").Run()
	never := func(secret.Secret) error { t.Error("lent"); return nil }
	wantState(t, timed(t, "use", func() error { return v.Use(t.Context(), here, item.Address, never) }), StateLocked)
	wantState(t, timed(t, "probe", func() error { return v.Probe(t.Context()) }), StateLocked)
	if v.Locked() {
		t.Error("the keyring's lock is not the vault's")
	}
}

func TestRealKeyringAbsentBus(t *testing.T) {
	inState(t, "absent-bus")
	answers(t, StateNoBus)
}

func TestRealKeyringStaleBus(t *testing.T) {
	inState(t, "stale-bus")
	answers(t, StateStaleBus)
}

func TestRealKeyringNoService(t *testing.T) {
	inState(t, "no-service")
	answers(t, StateNoService)
}

// TestRealKeyringMuteSocket: something accepts connections at the address of the bus and says nothing.
func TestRealKeyringMuteSocket(t *testing.T) {
	inState(t, "mute-socket")
	path := filepath.Join(t.TempDir(), "bus")
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	go func() {
		var held []net.Conn // so that none of them ends
		for {
			c, err := l.Accept()
			if err != nil {
				for _, c := range held {
					_ = c.Close()
				}
				return
			}
			held = append(held, c)
		}
	}()
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path="+path)
	answers(t, StateMute)
}

// TestRealKeyringMuteService stops the program that keeps the secrets while it is in use, and lets it go on.
func TestRealKeyringMuteService(t *testing.T) {
	inState(t, "mute-service")
	pid, err := strconv.Atoi(os.Getenv("COFFER_KEYRING_PID"))
	if err != nil {
		t.Fatal(err)
	}
	v := realVault(t, OpenKeyring)
	if err := errors.Join(v.Create(t.Context(), pass()), v.Probe(t.Context())); err != nil {
		t.Fatal(err)
	}
	item := mustAdd(t, v, EVM, "k")
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = syscall.Kill(pid, syscall.SIGCONT) }()
	never := func(secret.Secret) error { t.Error("lent"); return nil }
	wantState(t, timed(t, "use", func() error { return v.Use(t.Context(), here, item.Address, never) }), StateMute)
	wantState(t, timed(t, "probe", func() error { return v.Probe(t.Context()) }), StateMute)
	if err := syscall.Kill(pid, syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	lent(t, v, item.Address, "k") // it goes on where it was
}

// TestRealKeyringPrepare leaves a keyring with a password behind, for the states that need one.
func TestRealKeyringPrepare(t *testing.T) {
	inState(t, "prepare")
	if err := keyring.Set("coffer:prepare", "u", "v"); err != nil {
		t.Fatal(err)
	}
}
