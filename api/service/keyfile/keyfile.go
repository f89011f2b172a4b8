// Package keyfile keeps the keys of a service away from its data: the seed that its keys follow from, and what
// attesters and nodes ask of it, in one file under a passphrase.
//
// Promise: nothing of it is on disk in the clear. A file is of one network and gives its seed for no other. A secret is
// for one host and is given for no other. Errors and whatever prints a file show none of it.
package keyfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"sync"

	"github.com/go-json-experiment/json"

	"coffer/api/files"
	"coffer/api/sealed"
	"coffer/api/secret"
	"coffer/api/service/signers"
)

// Bounds of a file, in bytes and secrets.
const (
	maxFile    = 256 << 10
	maxSecrets = 64
	maxSecret  = 512
)

// version is that of the content.
const version = 1

var (
	// ErrNetwork says that the keys are of another network.
	ErrNetwork = errors.New("the keys in it are of another network")
	// ErrNoSecret says that a file has no secret of a name.
	ErrNoSecret = errors.New("it is not in the file of keys")
)

// content is what is sealed.
type content struct {
	Version int      `json:"version"`
	Network string   `json:"network"`
	Seed    []byte   `json:"seed"`
	Secrets []stored `json:"secrets,omitempty"`
}

// stored is a secret of a name, for a host as networks.Host writes it.
type stored struct {
	Name  string `json:"name"`
	Host  string `json:"host"`
	Value []byte `json:"value"`
}

// File is an opened file. It is safe for concurrent use. Close it when it is no longer needed.
type File struct {
	path string
	work int

	mu   sync.Mutex
	pass secret.Secret
	in   content
}

// String returns "[redacted]".
func (*File) String() string { return "[redacted]" }

// Options say which file of which network. Pass gives its passphrase; fresh says that the file is made with it. Work is
// that of the passphrase, 0 for the usual.
type Options struct {
	Path    string
	Network string
	Random  io.Reader
	Pass    func(fresh bool) (secret.Secret, error)
	Work    int
}

// Open opens a file, or makes it where none is. made reports which.
func Open(o Options) (f *File, made bool, err error) {
	if o.Work == 0 {
		o.Work = sealed.Work
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("%s: %w", o.Path, err)
		}
	}()
	raw, err := load(o.Path)
	made = errors.Is(err, fs.ErrNotExist)
	if err != nil && !made {
		return nil, false, err
	}
	pass, err := o.Pass(made)
	if err != nil {
		return nil, false, err
	}
	f = &File{path: o.Path, work: o.Work, pass: pass}
	if made {
		err = f.make(o)
	} else {
		err = f.read(raw, o.Network)
	}
	if err != nil {
		f.Close()
		return nil, false, err
	}
	return f, made, nil
}

// load reads the sealed bytes.
func load(path string) ([]byte, error) {
	file, err := files.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if why := files.Changeable(path, info); why != "" || !info.Mode().IsRegular() || info.Size() > maxFile {
		return nil, errors.New("this is no file of keys that nobody else may change: " + why)
	}
	return io.ReadAll(io.LimitReader(file, maxFile))
}

func (f *File) make(o Options) error {
	if err := sealed.CheckNew(f.pass); err != nil {
		return err
	}
	f.in = content{Version: version, Network: o.Network, Seed: make([]byte, signers.SeedSize)}
	if _, err := io.ReadFull(o.Random, f.in.Seed); err != nil {
		return fmt.Errorf("draw the seed: %w", err)
	}
	err := f.save(files.Create)
	if errors.Is(err, fs.ErrExist) { // the keys of two services would differ
		err = errors.New("another process made this file meanwhile; start again")
	}
	return err
}

func (f *File) read(raw []byte, networkID string) error {
	plain, err := sealed.Decrypt(raw, f.pass)
	if err != nil {
		return err
	}
	defer clear(plain)
	if json.Unmarshal(plain, &f.in) != nil || f.in.Version != version || len(f.in.Seed) != signers.SeedSize {
		return sealed.ErrDamaged // the cause may quote it
	}
	if f.in.Network != networkID {
		return fmt.Errorf("%w: %s, and this one is %s", ErrNetwork, f.in.Network, networkID)
	}
	return nil
}

// save writes the whole file. The caller holds the lock, or f is not shared yet.
func (f *File) save(write func(path, pattern string, content []byte) error) error {
	plain, err := json.Marshal(f.in)
	if err != nil {
		return errors.New("the keys cannot be written")
	}
	defer clear(plain)
	raw, err := sealed.Encrypt(plain, f.pass, f.work)
	if err != nil {
		return err
	}
	if err := write(f.path, ".keys-*", raw); err != nil {
		return err
	}
	return files.SyncDir(filepath.Dir(f.path))
}

// Seed is a copy of what the keys of the service follow from.
func (f *File) Seed() []byte {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.in.Seed)
}

// Secret is that of a name, for the host that it was stored for; ErrNoSecret where there is none.
func (f *File) Secret(name, host string) (string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, s := range f.in.Secrets {
		if s.Name == name && s.Host == host {
			return string(s.Value), nil
		}
	}
	for _, s := range f.in.Secrets {
		if s.Name == name {
			return "", fmt.Errorf("%q was stored for %s, so it is not sent to %s", name, s.Host, host)
		}
	}
	return "", fmt.Errorf("%q for %s: %w", name, host, ErrNoSecret)
}

// SetSecret stores one, in place of that of the name before.
func (f *File) SetSecret(name, host string, value secret.Secret) error {
	visible := !slices.ContainsFunc(value.Reveal(), func(c byte) bool { return c <= ' ' || c > '~' })
	if value.Empty() || len(value.Reveal()) > maxSecret || !visible {
		return fmt.Errorf("%q has 1 to %d visible characters", name, maxSecret)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	before := slices.Clone(f.in.Secrets)
	f.in.Secrets = slices.DeleteFunc(f.in.Secrets, func(s stored) bool { return s.Name == name })
	if len(f.in.Secrets) >= maxSecrets {
		f.in.Secrets = before
		return fmt.Errorf("the file of keys has %d secrets, and no more", maxSecrets)
	}
	f.in.Secrets = append(f.in.Secrets, stored{name, host, slices.Clone(value.Reveal())})
	if err := f.save(files.Replace); err != nil {
		f.in.Secrets = before
		return err
	}
	return nil
}

// Close wipes what is in memory.
func (f *File) Close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.pass.Wipe()
	clear(f.in.Seed)
	for _, s := range f.in.Secrets {
		clear(s.Value)
	}
}
