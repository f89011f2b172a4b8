package vault

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/zalando/go-keyring"
)

// Keyring stores small values under a service and a user name. Get and Delete answer an absent value with an error for
// which Classify says StateNotFound. A call may take for ever; the vault never waits for one longer than its deadline.
type Keyring interface {
	Set(service, user string, value []byte) error
	Get(service, user string) ([]byte, error)
	Delete(service, user string) error
}

// system is the keyring of the operating system. DeleteAll is never called: on Windows it takes other services along
// whose name begins alike (TH-KR5).
type system struct{}

func (system) Set(service, user string, value []byte) error {
	return keyring.Set(service, user, string(value))
}

func (system) Get(service, user string) ([]byte, error) {
	value, err := keyring.Get(service, user)
	return []byte(value), err
}

func (system) Delete(service, user string) error { return keyring.Delete(service, user) }

// The deadlines of one keyring call: when nobody is asked, and when the system may ask a person for the keyring's
// password (TH-KR1).
const (
	keyringDeadline     = 3 * time.Second
	interactiveDeadline = 30 * time.Second
)

var (
	errMute     = errors.New("no answer in time")
	errNonsense = errors.New("the answer could not be understood")
	errTooBig   = errors.New("the value is larger than a keyring takes")
)

// caller makes keyring calls one at a time, each in a goroutine of its own and with a deadline.
type caller struct {
	ring  Keyring
	goos  string
	ssh   bool
	limit time.Duration
	turn  chan struct{} // holds one token while a call is under way, also one that nobody waits for any more
}

func newCaller(ring Keyring, goos string, ssh, interactive bool) *caller {
	c := &caller{ring: ring, goos: goos, ssh: ssh, limit: keyringDeadline, turn: make(chan struct{}, 1)}
	if interactive && !ssh { // over SSH a question would appear on a screen that nobody sits at (TH-Z2)
		c.limit = interactiveDeadline
	}
	if c.ring == nil {
		c.ring = SystemKeyring(ssh)
	}
	return c
}

type answer struct {
	value []byte
	err   error
}

// do makes one call. A keyring that does not answer is a *KeyringError with StateMute; what it answers later is wiped
// and dropped, and only then does the next call get its turn, so that a mute keyring holds one goroutine and not one
// per attempt.
func (c *caller) do(ctx context.Context, what string, call func(Keyring) ([]byte, error)) ([]byte, error) {
	timed, cancel := context.WithTimeout(ctx, c.limit)
	defer cancel()
	select {
	case c.turn <- struct{}{}:
	case <-timed.Done():
		return nil, c.late(ctx, what)
	}
	answers, left := make(chan answer), make(chan struct{})
	go func() {
		defer func() { <-c.turn }()
		a := contained(c.ring, call)
		select {
		case answers <- a:
		case <-left:
			clear(a.value)
		}
	}()
	select {
	case a := <-answers:
		if a.err != nil {
			clear(a.value)
			return nil, c.explain(what, a.err)
		}
		return a.value, nil
	case <-timed.Done():
		close(left)
		return nil, c.late(ctx, what)
	}
}

// contained turns a panic of the keyring library, which trusts the types of a foreign answer, into an error.
func contained(ring Keyring, call func(Keyring) ([]byte, error)) (a answer) {
	defer func() {
		if recover() != nil {
			clear(a.value)
			a = answer{err: errNonsense}
		}
	}()
	a.value, a.err = call(ring)
	return a
}

func (c *caller) late(ctx context.Context, what string) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("keyring: %s: %w", what, err)
	}
	return c.explain(what, errMute)
}

func (c *caller) explain(what string, err error) *KeyringError {
	state := Classify(err, c.goos)
	return &KeyringError{State: state, Advice: advice(state, c.ssh, c.limit), what: what, cause: err}
}

func (c *caller) set(ctx context.Context, service, user string, value []byte) error {
	if len(value) > maxValue {
		return c.explain("store", errTooBig)
	}
	kept := append([]byte(nil), value...) // the caller may wipe its value while a late call still reads
	_, err := c.do(ctx, "store", func(k Keyring) ([]byte, error) {
		defer clear(kept)
		return nil, k.Set(service, user, kept)
	})
	return err
}

func (c *caller) get(ctx context.Context, service, user string) ([]byte, error) {
	return c.do(ctx, "read", func(k Keyring) ([]byte, error) { return k.Get(service, user) })
}

// remove deletes a value; one that is not there is no error.
func (c *caller) remove(ctx context.Context, service, user string) error {
	_, err := c.do(ctx, "delete", func(k Keyring) ([]byte, error) { return nil, k.Delete(service, user) })
	if isState(err, StateNotFound) {
		return nil
	}
	return err
}
