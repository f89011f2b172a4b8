// Package renew makes the network of a data directory anew when it is of another generation than this program makes:
// its chains began with other contracts or assets.
//
// Promise: what was open on the earlier network ends first, on its own chains; what cannot end keeps nothing else from
// it. Then its database is kept whole in a directory of its own, earlier-ID, and is only read from then on: left.txt in
// it names what did not end, or is damaged and was not carried over, and why. A copy of that directory is a data
// directory, so opening one tries again. A new network with the same seed, and so with the same keys, takes its place.
// Records of ended quotes and API keys are carried over before it does, as they are: one index then answers history,
// status and continuations across both networks, with one order and one snapshot, where two databases would have to be
// merged at every page. What only a chain knows (transactions, balances) stays in the earlier database. Test funds
// begin again.
//
// A process that is killed at any moment leaves the directory in the old state or in the new one: one rename decides.
// Only one process at a time does this to a directory. Nothing that a user has is deleted.
//
// Sources: protocol §4.2, docs/architecture.md#storage.
package renew

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"coffer/api/catalog"
	"coffer/api/files"
	"coffer/api/network"
	"coffer/api/service/access"
	"coffer/api/service/devnet"
	"coffer/api/service/quotestore"
	"coffer/api/service/settle"
	"coffer/api/service/store"
	"coffer/api/text"
)

// Names in a data directory.
const (
	freshFile = ".new" // behind the name of the database: what is being made
	leftFile  = "left.txt"
	lockFile  = "renew.lock"
	prefix    = "earlier-"
	idDigits  = 16 // of the network's id in the name of a directory
)

// maxLine bounds what is told of a record, in characters.
const maxLine = 400

// lockWait is how long a process waits for another one that renews the directory.
const lockWait = 100 * time.Millisecond

// Options say what to renew. Database and Descriptor are the names of both files in Dir. ExplorerBase is the address
// below which the transactions of refunds are shown. AfterStep, when set, is called after each durable step, for crash
// tests.
type Options struct {
	Dir, Database, Descriptor string
	Installation              devnet.Options
	Log                       *slog.Logger
	ExplorerBase              string
	AfterStep                 func(step string)
}

// Run renews a directory whose database devnet.Open refuses with ErrVersion, and does nothing to one that it opens.
// While another process has the directory the error wraps store.ErrInUse. Without the network.json that belongs to the
// data it is devnet.ErrDescriptor, and nothing was changed.
func Run(ctx context.Context, o Options) (err error) {
	unlock, err := o.lock(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	path := filepath.Join(o.Dir, o.Database)
	s, err := store.OpenBolt(path, store.BoltOptions{Holder: "coffer, renewing the network"})
	if err != nil {
		return err
	}
	made, err := o.renew(ctx, s)
	// With the earlier database still held, so that no older program goes on writing to it; where the system does not
	// rename over an open file, right after it.
	swapped := made && err == nil && o.swap() == nil
	if err = errors.Join(err, s.Close()); err != nil || !made || swapped {
		return err
	}
	return o.swap()
}

// lock keeps other processes from renewing the directory.
func (o Options) lock(ctx context.Context) (unlock func() error, err error) {
	f, err := os.OpenFile(filepath.Join(o.Dir, lockFile), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("renew the network: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, lockWait)
	defer cancel()
	if err := files.Lock(ctx, f, 0); err != nil {
		return nil, fmt.Errorf("renew the network: %w: %w", store.ErrInUse, errors.Join(err, f.Close()))
	}
	return f.Close, nil
}

func (o Options) step(name string) {
	o.Log.Info("the network is made anew", "step", name)
	if o.AfterStep != nil {
		o.AfterStep(name)
	}
}

// renew does everything before the one rename that decides; false: another process was faster.
func (o Options) renew(ctx context.Context, s store.Store) (made bool, err error) {
	if _, err := devnet.Open(s, o.Installation); !errors.Is(err, devnet.ErrVersion) {
		return false, err
	}
	earlier, err := o.earlier(s)
	if err != nil {
		return false, err
	}
	open, err := o.end(ctx, earlier)
	if err != nil {
		return false, err
	}
	o.step("ended")
	dir, err := o.keep(s, earlier.Descriptor)
	if err != nil {
		return false, fmt.Errorf("keep the earlier network: %w", err)
	}
	o.step("kept")
	var left []string
	report := func(err error) {
		line := err.Error()
		for id, why := range open {
			if strings.Contains(line, id) {
				line += ": " + why.Error()
			}
		}
		left = append(left, text.Clean(strings.ReplaceAll(line, "\n", "; "), maxLine))
	}
	if err = o.begin(earlier, report); err == nil {
		err = o.tell(dir, left)
	}
	if err != nil {
		return false, fmt.Errorf("make the network anew: %w", err)
	}
	o.step("made")
	return true, nil
}

// earlier opens the network that ends.
func (o Options) earlier(s store.Store) (*devnet.Installation, error) {
	path := filepath.Join(o.Dir, o.Descriptor)
	raw, err := os.ReadFile(path)
	var d network.Descriptor
	if err == nil {
		d, err = network.Decode(raw)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %s names the contracts of the earlier network and has to be put back: %w",
			devnet.ErrDescriptor, path, err)
	}
	return devnet.OpenEarlier(s, d, o.Installation.Catalog)
}

// end brings every open quote to its end on the chains where it was begun, and returns why some did not.
func (o Options) end(ctx context.Context, in *devnet.Installation) (open map[string]error, err error) {
	book, err := quotestore.Open(in.Store, quotestore.Options{Clock: o.Installation.Clock,
		Random: o.Installation.Random})
	if err != nil {
		return nil, err
	}
	s := settle.New(settle.Deps{Network: in.Network, Signers: in.Set, Book: book, Clock: o.Installation.Clock,
		ExplorerBase: o.ExplorerBase, Log: o.Log, AfterStep: o.AfterStep})
	open, err = s.EndAll(ctx)
	return open, errors.Join(err, s.Close())
}

// keep gives the database a second name in a directory of its own, beside its descriptor. Where a file has one name
// only, it is copied.
func (o Options) keep(s store.Store, d network.Descriptor) (dir string, err error) {
	dir, there, err := o.place(d)
	if err != nil {
		return "", err
	}
	raw, err := d.Encode()
	if err == nil {
		err = files.Replace(filepath.Join(dir, o.Descriptor), ".new-*", raw)
	}
	kept := filepath.Join(dir, o.Database)
	if err == nil && !there && os.Link(filepath.Join(o.Dir, o.Database), kept) != nil {
		err = copyTo(s, kept)
	}
	return dir, errors.Join(err, files.SyncDir(dir), files.SyncDir(o.Dir))
}

// tell names what stayed behind in the log, and beside the earlier database for whoever is asked about the new network.
func (o Options) tell(dir string, left []string) error {
	for _, line := range left {
		o.Log.Error("left behind on the earlier network", "what", line, "directory", dir)
	}
	return errors.Join(files.Replace(filepath.Join(dir, leftFile), ".new-*", []byte(strings.Join(left, "\n"))),
		files.SyncDir(dir))
}

// place is the directory where the earlier network is kept; there: its database has a name there already. A network of
// the same id that was kept before, and is not this file, stays: this one may come from a backup that knows less.
func (o Options) place(d network.Descriptor) (dir string, there bool, err error) {
	now, err := os.Stat(filepath.Join(o.Dir, o.Database))
	if err != nil {
		return "", false, err
	}
	first := filepath.Join(o.Dir, prefix+d.ID[2:2+idDigits])
	for n := 1; ; n++ {
		if dir = first; n > 1 {
			dir = fmt.Sprintf("%s-%d", first, n)
		}
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return "", false, err
		}
		kept, err := os.Stat(filepath.Join(dir, o.Database))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return dir, false, nil
		case err != nil || os.SameFile(kept, now):
			return dir, true, err
		}
	}
}

func copyTo(s store.Store, path string) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".new-*")
	if err != nil {
		return err
	}
	err = store.Backup(s, func(int64) {}, f)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return os.Rename(f.Name(), path)
}

// begin makes the new network beside the earlier one, under a name that nobody opens, and carries over what goes on.
func (o Options) begin(earlier *devnet.Installation, report func(error)) error {
	path := filepath.Join(o.Dir, o.Database+freshFile)
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	fresh, err := store.OpenBolt(path, store.BoltOptions{Holder: "coffer, renewing the network"})
	if err != nil {
		return err
	}
	return errors.Join(o.fill(fresh, earlier, report), fresh.Close())
}

func (o Options) fill(fresh store.Store, earlier *devnet.Installation, report func(error)) error {
	in, err := earlier.Again(fresh, o.Installation)
	if err != nil {
		return err
	}
	if in.ID == earlier.ID {
		return fmt.Errorf("%w: its mark is another one than its chains'", store.ErrDamaged)
	}
	return errors.Join(quotestore.Carry(earlier.Store, fresh, report), access.Carry(earlier.Store, fresh, report))
}

// swap puts the new network in place. It is the one step that decides.
func (o Options) swap() error {
	path := filepath.Join(o.Dir, o.Database)
	if err := errors.Join(os.Rename(path+freshFile, path), files.SyncDir(o.Dir)); err != nil {
		return fmt.Errorf("put the new network in place: %w", err)
	}
	o.step("begun")
	return nil
}

// Kept is an earlier network of a data directory. Left says, in a line each, what of it did not end or could not be
// read, and was not carried over.
type Kept struct {
	Dir     string
	Network network.Descriptor
	Left    []string
}

// List lists the earlier networks of the installation that d describes, in the order of their names. A directory whose
// content cannot be read, or belongs to another installation, is none. The operator tells that of a network of version
// 1; an id of version 2 does not cover it.
func List(dir, descriptor string, d network.Descriptor) (all []Kept) {
	found, _ := os.ReadDir(dir) // sorted; no pattern, as a path may look like one
	for _, e := range found {
		raw, err := os.ReadFile(filepath.Join(dir, e.Name(), descriptor))
		if err != nil || !strings.HasPrefix(e.Name(), prefix) {
			continue
		}
		if n, err := network.Decode(raw); err == nil && n.ID != d.ID && n.Pins.Operator == d.Pins.Operator &&
			(n.Version == 1 || n.Kind == d.Kind && n.Installation == d.Installation) {
			at := filepath.Join(dir, e.Name())
			all = append(all, Kept{at, n, left(at)})
		}
	}
	return all
}

// left reads what tell wrote.
func left(dir string) (lines []string) {
	raw, _ := os.ReadFile(filepath.Join(dir, leftFile)) // mostly there is none
	for line := range strings.Lines(string(raw)) {
		lines = append(lines, text.Clean(strings.TrimSpace(line), maxLine))
	}
	return lines
}

// Open opens the earlier network to read it; close ends it. Several processes may read it at once.
func (k Kept) Open(database string) (in *devnet.Installation, closer io.Closer, err error) {
	s, err := store.OpenReadOnly(filepath.Join(k.Dir, database))
	if err != nil {
		return nil, nil, err
	}
	if in, err = devnet.OpenEarlier(s, k.Network, filepath.Join(filepath.Dir(k.Dir), catalog.File)); err != nil {
		return nil, nil, errors.Join(err, s.Close())
	}
	return in, s, nil
}
