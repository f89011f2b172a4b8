package vault

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zalando/go-keyring"

	"coffer/api/secret"
)

// TestKR2EveryStateIsToldFromTheLibrarysError holds the texts that were measured on Linux, and those that macOS and
// Windows document.
func TestKR2EveryStateIsToldFromTheLibrarysError(t *testing.T) {
	for _, c := range []struct {
		goos, text string
		want       State
	}{
		{"linux", `exec: "dbus-launch": executable file not found in $PATH`, StateNoBus},
		{"linux", "dbus: couldn't determine address of session bus", StateNoBus},
		{"linux", "exit status 1", StateNoBus},
		{"linux", "dial unix /run/user/1000/bus: connect: no such file or directory", StateStaleBus},
		{"linux", "dial unix /tmp/dbus-x: connect: connection refused", StateStaleBus},
		{"linux", "dial unix /run/user/1000/bus: connect: permission denied", StateDenied},
		{"linux", "dbus: connection closed by user", StateStaleBus},
		{"linux", "read unix @->/tmp/bus: read: connection reset by peer", StateStaleBus},
		{"linux", "EOF", StateStaleBus},
		{"linux", "The name org.freedesktop.secrets was not provided by any .service files", StateNoService},
		{"linux", "org.freedesktop.DBus.Error.ServiceUnknown", StateNoService},
		{"linux", "Object does not exist at path \"/org/freedesktop/secrets\"", StateNoService},
		{"linux", "failed to unlock correct collection '/org/freedesktop/secrets/aliases/default'", StateLocked},
		{"linux", "failed to unlock correct collection '/org/freedesktop/secrets/collection/login'", StateLocked},
		{"linux", "org.freedesktop.Secret.Error.IsLocked", StateLocked},
		{"linux", "Cannot create an item in a locked collection", StateLocked},
		{"linux", "org.freedesktop.DBus.Error.AccessDenied: rejected", StateDenied},
		{"linux", "dbus: authentication failed", StateDenied},
		{"linux", "org.freedesktop.DBus.Error.NoReply: Message recipient disconnected", StateMute},
		{"linux", "something new", StateFailed},
		{"darwin", "exit status 36", StateLocked},
		{"darwin", "exit status 44", StateNotFound},
		{"darwin", "exit status 51", StateDenied},
		{"darwin", "exit status 128", StateDenied},
		{"darwin", "exit status 50", StateNoService},
		{"darwin", "exit status 37", StateNoService},
		{"darwin", "fork/exec /usr/bin/security: no such file or directory", StateNoService},
		{"darwin", "exit status 1", StateFailed},
		{"windows", "A specified logon session does not exist. It may already have been terminated.", StateNoService},
		{"windows", "Access is denied.", StateDenied},
		{"windows", "The stub received bad data.", StateTooBig},
		{"windows", "Element not found.", StateNotFound},
		{"windows", "The parameter is incorrect.", StateFailed},
	} {
		if got := Classify(errors.New(c.text), c.goos); got != c.want {
			t.Errorf("%s: %q is %s, want %s", c.goos, c.text, got, c.want)
		}
	}
	for err, state := range map[error]State{
		keyring.ErrNotFound: StateNotFound, keyring.ErrSetDataTooBig: StateTooBig,
		keyring.ErrUnsupportedPlatform: StateNoService,
		errTooBig:                      StateTooBig, errMute: StateMute, nil: StateFailed, errNonsense: StateFailed,
	} {
		if got := Classify(err, "linux"); got != state {
			t.Errorf("%v is %s", err, got)
		}
		if err != nil && Classify(fmt.Errorf("wrapped: %w", err), "windows") != state {
			t.Errorf("%v is not found when wrapped", err)
		}
	}
}

func TestEveryStateSaysWhatToDo(t *testing.T) {
	all := []State{StateNoBus, StateStaleBus, StateNoService, StateLocked, StateDenied, StateMute, StateTooBig,
		StateNotFound, StateFailed}
	seen := map[string]State{}
	for _, s := range all {
		e := &KeyringError{State: s, Advice: advice(s, false, keyringDeadline), what: "store",
			cause: errors.New("cause")}
		if other, twice := seen[e.Error()]; twice || len(e.Advice) < 20 || !strings.HasSuffix(e.Advice, ".") {
			t.Errorf("%s says the same as %s, or too little: %s", s, other, e)
		}
		seen[e.Error()] = s
		if e.Unwrap() == nil {
			t.Error("the cause is lost")
		}
	}
	for _, s := range []State{StateNoBus, StateStaleBus, StateNoService, StateLocked, StateMute} {
		if !strings.Contains(advice(s, true, keyringDeadline), "SSH session") {
			t.Errorf("%s: no word about SSH", s)
		}
	}
	for _, s := range []State{StateDenied, StateTooBig, StateNotFound, StateFailed} {
		if strings.Contains(advice(s, true, keyringDeadline), "SSH") {
			t.Errorf("%s has nothing to do with SSH", s)
		}
	}
}

// mute makes every call wait until the returned function is called.
func mute(b *bench) (speak func()) {
	silence := make(chan struct{})
	b.ring.hinder(func(string, string) error { <-silence; return nil })
	return func() { close(silence) }
}

func TestKR1AMuteKeyringIsGivenUpAfterItsDeadline(t *testing.T) {
	for _, c := range []struct {
		interactive, ssh bool
		want             time.Duration
	}{{false, false, 3 * time.Second}, {true, false, 30 * time.Second}, {true, true, 3 * time.Second},
		{false, true, 3 * time.Second}} {
		synctest.Test(t, func(t *testing.T) {
			b := newBench(t)
			v := b.open(t, BackendKeyring, func(o *Options) { o.Interactive, o.SSH = c.interactive, c.ssh })
			speak := mute(b)
			began := time.Now()
			_, err := v.Exists(t.Context())
			wantState(t, err, StateMute)
			if took := time.Since(began); took != c.want {
				t.Errorf("gave up after %s, want %s", took, c.want)
			}
			// While the first call is stuck nothing else is asked, and the answer comes in time all the same.
			began = time.Now()
			wantState(t, v.Probe(t.Context()), StateMute)
			if took := time.Since(began); took > c.want {
				t.Errorf("the second call took %s", took)
			}
			if made := b.ring.made(); made != 1 {
				t.Errorf("%d calls were made to a mute keyring", made)
			}
			speak()
			synctest.Wait()
			if _, err := v.Exists(t.Context()); err != nil {
				t.Errorf("a keyring that speaks again is not used: %v", err)
			}
		})
	}
}

// lateRing answers its first Get late, with a value that the test looks at afterwards.
type lateRing struct {
	*fakeRing
	value []byte
	until chan struct{}
}

func (l *lateRing) Get(string, string) ([]byte, error) {
	<-l.until
	return l.value, nil
}

func TestKR1ALateAnswerIsWiped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &lateRing{fakeRing: newRing(), value: []byte("late secret"), until: make(chan struct{})}
		c := newCaller(l, "linux", false, false)
		_, err := c.get(t.Context(), "s", "u")
		wantState(t, err, StateMute)
		close(l.until)
		synctest.Wait()
		if !bytes.Equal(l.value, make([]byte, len(l.value))) {
			t.Error("a late value was not wiped")
		}
	})
}

func TestKR1ACallThatIsCalledOffSaysSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		c := newCaller(b.ring, "linux", false, false)
		speak := mute(b)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := c.get(ctx, "s", "u")
		want(t, err, context.DeadlineExceeded)
		var k *KeyringError
		if errors.As(err, &k) {
			t.Error("the caller's own deadline is taken for a mute keyring")
		}
		_, err = c.get(ctx, "s", "u") // while it waits for its turn
		want(t, err, context.DeadlineExceeded)
		speak()
	})
}

func TestKR1OneCallAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		c := newCaller(b.ring, "linux", false, false)
		under := 0
		b.ring.hinder(func(string, string) error {
			under++ // not guarded: the race detector finds two calls at once
			if under != 1 {
				t.Errorf("%d calls at once", under)
			}
			time.Sleep(time.Millisecond) // of the bubble's clock
			under--
			return nil
		})
		for range 20 {
			go func() { _ = c.set(t.Context(), "s", "u", []byte("v")) }()
		}
		time.Sleep(time.Second)
	})
}

func TestKR3ATimeOutNeverMovesAKeyElsewhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		v := b.created(t, BackendKeyring)
		item := mustAdd(t, v, EVM, "k")
		before := len(b.ring.copyOf())
		speak := mute(b)
		_, err := v.Add(t.Context(), EVM, secret.New(raw("new")), "")
		wantState(t, err, StateMute)
		if strings.Contains(err.Error(), here) || v.Backend() != BackendKeyring {
			t.Error("the vault moved", err)
		}
		files, readErr := os.ReadDir(b.dir)
		if readErr != nil || len(files) != 1 || !strings.HasSuffix(files[0].Name(), ".lock") {
			t.Error("something was written to the directory", files, readErr)
		}
		speak()
		synctest.Wait()
		if len(b.ring.copyOf()) != before {
			t.Error("the mute keyring was written to")
		}
		lent(t, v, item.Address, "k")
	})
}

func TestAKeyringThatPanicsOrRefusesIsAnError(t *testing.T) {
	b := newBench(t)
	v := b.created(t, BackendKeyring)
	item := mustAdd(t, v, EVM, "k")
	for text, state := range map[string]State{
		"failed to unlock correct collection 'x'":              StateLocked,
		"org.freedesktop.DBus.Error.AccessDenied":              StateDenied,
		"org.freedesktop.DBus.Error.ServiceUnknown":            StateNoService,
		`exec: "dbus-launch": executable file not found in $x`: StateNoBus,
	} {
		b.ring.hinder(func(string, string) error { return errors.New(text) })
		never := func(secret.Secret) error { t.Error("lent"); return nil }
		_, exists := v.Exists(t.Context())
		_, items := v.Items(t.Context())
		_, add := v.Add(t.Context(), EVM, secret.New(raw("x")), "")
		_, backup := v.Backup(t.Context(), pass())
		for _, err := range []error{
			exists, items, add, backup, v.Use(t.Context(), here, item.Address, never),
			v.Remove(t.Context(), item.Address), v.Unlock(t.Context(), pass()),
			v.Create(t.Context(), pass()), v.APIKey(t.Context(), never),
			v.SetAPIKey(t.Context(), secret.New([]byte("k"))), v.RemoveAPIKey(t.Context()),
			v.ChangePassphrase(t.Context(), pass(), wrong()), v.Probe(t.Context()),
		} {
			wantState(t, err, state)
		}
	}
	b.ring.hinder(func(string, string) error { panic(secret.New([]byte("foreign types"))) })
	wantState(t, v.Probe(t.Context()), StateFailed)
	b.ring.hinder(nil)
	lent(t, v, item.Address, "k")
}

func TestKR4AValueThatIsTooBigNeverReachesTheKeyring(t *testing.T) {
	ring := newRing()
	c := newCaller(ring, "linux", false, false)
	wantState(t, c.set(t.Context(), "s", "u", make([]byte, maxValue+1)), StateTooBig)
	if ring.made() != 0 {
		t.Error("it was called")
	}
	ring.hinder(func(string, string) error { return keyring.ErrSetDataTooBig })
	wantState(t, c.set(t.Context(), "s", "u", make([]byte, maxValue)), StateTooBig)
	ring.hinder(nil)
	s := &ringStore{calls: c, service: "s"}
	if err := ring.Set("s", "u", make([]byte, maxValue+1)); err != nil {
		t.Fatal(err)
	}
	_, err := s.get(t.Context(), "u")
	want(t, err, ErrDamaged)
}

func TestTheSystemsKeyringIsTheDefault(t *testing.T) {
	keyring.MockInit() // replaces the operating system behind the library; used by one goroutine only
	c := newCaller(nil, "linux", false, false)
	if err := c.set(t.Context(), "s", "u", []byte("v")); err != nil {
		t.Fatal(err)
	}
	if b, err := c.get(t.Context(), "s", "u"); err != nil || string(b) != "v" {
		t.Fatal(string(b), err)
	}
	for range 2 {
		if err := c.remove(t.Context(), "s", "u"); err != nil {
			t.Fatal(err)
		}
	}
	_, err := c.get(t.Context(), "s", "u")
	wantState(t, err, StateNotFound)
}
