package vault

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"coffer/api/pattern"
)

// Backend is where a vault is kept.
type Backend string

// The backends. A profile names one; nothing ever changes it by itself.
const (
	BackendFile        Backend = "file"         // an encrypted file, for machines without a keyring
	BackendKeyring     Backend = "keyring"      // items of the system's keyring, encrypted under a passphrase as well
	BackendKeyringOnly Backend = "keyring-only" // items of the system's keyring, which alone protects them
)

// defaultIdle is the time without use after which a vault locks itself (TH-K6).
const defaultIdle = 5 * time.Minute

// Options say which vault to open and with what.
type Options struct {
	Profile   string // name of the profile: 1 to 32 of a-z 0-9 _ -
	NetworkID string // 0x and 64 lower-case hex digits
	// Dir is the directory of the vault file; it is made with mode 0700, and refused when others may write in it. The
	// keyring backends only use it for a lock between processes, and do without when it is empty.
	Dir        string
	Clock      func() time.Time // required
	Random     io.Reader        // required, cryptographic
	IdleLock   time.Duration    // 0 means 5 minutes
	WorkFactor int              // log2 of scrypt's N for a new passphrase, 1 to 20; 0 means 18
	Keyring    Keyring          // nil means the operating system's
	// the system may ask a person for the keyring's password: calls get 30 s instead of 3 s
	Interactive bool
	SSH         bool // the session came over SSH: no question on a desktop is waited for, and advice says so
}

// Vault is the store of one profile's keys for one network. It is safe for concurrent use, and begins locked.
//
// Passphrases belong to the caller, who wipes them; keys that are handed to Add belong to the vault, which wipes them.
type Vault struct {
	backend Backend
	network string
	store   store
	clock   func() time.Time
	random  io.Reader
	idle    time.Duration
	work    int

	changing sync.Mutex // held while the store changes, and by whoever draws random bytes

	mu     sync.Mutex // guards what follows
	keys   *keys      // nil while locked
	last   time.Time  // of the last use
	timer  *time.Timer
	locked uint64 // how often it was locked: an Unlock that began before one must not open it
	onLock []func()
	closed bool
}

var (
	profileName = pattern.New(`^[a-z0-9][a-z0-9_-]{0,31}$`)
	networkName = pattern.New(`^0x[0-9a-f]{64}$`)
)

// shortNetwork is how much of the network id names a store, in hex digits.
const shortNetwork = 16

// file names a file of this vault in its directory.
func (o Options) file(ending string) string {
	return filepath.Join(o.Dir, "vault-"+o.Profile+"-"+o.NetworkID[2:2+shortNetwork]+"."+ending)
}

// OpenFile opens the vault that is kept in an encrypted file in o.Dir.
func OpenFile(o Options) (*Vault, error) {
	v, err := open(BackendFile, o)
	if err != nil {
		return nil, err
	}
	if o.Dir == "" {
		return nil, errors.New("vault: no directory for the vault file")
	}
	v.store = &fileStore{path: o.file("json"), lock: &dirLock{path: o.file("lock")}}
	if err := makeDir(o.Dir); err != nil {
		return nil, err
	}
	return v, nil
}

// OpenKeyring opens the vault whose records lie in the keyring and are encrypted under a passphrase as well (TH-K5).
func OpenKeyring(o Options) (*Vault, error) { return openRing(BackendKeyring, o) }

// OpenKeyringOnly opens the vault that the keyring alone protects: it has no passphrase. For a user who chose that
// knowingly (TH-K5).
func OpenKeyringOnly(o Options) (*Vault, error) { return openRing(BackendKeyringOnly, o) }

func openRing(b Backend, o Options) (*Vault, error) {
	v, err := open(b, o)
	if err != nil {
		return nil, err
	}
	service := "coffer:" + o.Profile + ":" + o.NetworkID[2:2+shortNetwork]
	s := &ringStore{calls: newCaller(o.Keyring, runtime.GOOS, o.SSH, o.Interactive), service: service}
	if o.Dir != "" {
		s.lock = &dirLock{path: o.file("lock")}
		if err := makeDir(o.Dir); err != nil {
			return nil, err
		}
	}
	v.store = s
	return v, nil
}

func open(b Backend, o Options) (*Vault, error) {
	switch {
	case !profileName.MatchString(o.Profile):
		return nil, errors.New("vault: a profile name is 1 to 32 lower-case letters, digits, - and _")
	case !networkName.MatchString(o.NetworkID):
		return nil, errors.New("vault: a network id is 0x and 64 lower-case hex digits")
	case o.Clock == nil || o.Random == nil:
		return nil, errors.New("vault: a clock and a source of randomness are needed")
	case o.WorkFactor < 0 || o.WorkFactor > maxWork:
		return nil, fmt.Errorf("vault: the work factor is 1 to %d", maxWork)
	case o.IdleLock < 0:
		return nil, errors.New("vault: the idle time is negative")
	}
	v := &Vault{backend: b, network: o.NetworkID, clock: o.Clock, random: o.Random, idle: o.IdleLock,
		work: o.WorkFactor}
	if v.idle == 0 {
		v.idle = defaultIdle
	}
	if v.work == 0 {
		v.work = defaultWork
	}
	return v, nil
}

// Backend says where this vault is kept.
func (v *Vault) Backend() Backend { return v.backend }

// Exists reports whether the vault has been set up. The vault may be locked.
func (v *Vault) Exists(ctx context.Context) (bool, error) {
	if err := v.usable(ctx); err != nil {
		return false, err
	}
	b, err := v.store.get(ctx, nameHead)
	clear(b)
	if errors.Is(err, errNone) {
		return false, nil
	}
	return err == nil, err
}

// Probe finds out whether the store works: it writes, reads and deletes a random item. Its error is a *KeyringError for
// a keyring. The vault may be locked.
func (v *Vault) Probe(ctx context.Context) error {
	if err := v.usable(ctx); err != nil {
		return err
	}
	release, err := v.exclusive(ctx)
	if err != nil {
		return err
	}
	defer release()
	return probe(ctx, v.store, v.random)
}

// exclusive keeps everybody else, in this process and in others, from changing the store until release is called.
func (v *Vault) exclusive(ctx context.Context) (release func(), err error) {
	v.changing.Lock()
	others, err := v.store.exclusive(ctx)
	if err != nil {
		v.changing.Unlock()
		return nil, err
	}
	return func() { others(); v.changing.Unlock() }, nil
}

// usable fails when ctx has ended or the vault is closed.
func (v *Vault) usable(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.closed {
		return ErrClosed
	}
	return nil
}
