// Package daemon runs the service for a team, as `coffer serve` does, and administers its API keys, as `coffer serve
// keys` does.
//
// Promise: Run opens the service in a data directory, listens over TLS and, when asked to, with metrics on a loopback
// address, prints how it is reached, and returns when its context has ended and the requests under way are finished.
// What can be told wrong before anything is opened is an *OptionError, and then nothing was made. No key is ever
// logged; the key of the process is printed once, and only while there is no stored one.
//
// Units: lifetimes are durations. Errors say what to do in the words of the command line (--listen, --data), as they
// are read by who typed it. Sources: protocol §5.2, TH-C3.
package daemon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"syscall"
	"time"

	"coffer/api/amount"
	"coffer/api/network"
	"coffer/api/networks"
	"coffer/api/service"
	"coffer/api/service/forward"
	"coffer/api/service/settle"
	"coffer/api/service/store"
	"coffer/api/service/store/pg"
)

// Options say what is run. Dir is the data directory, absolute; it is made when it is not there.
type Options struct {
	Dir string
	New bool // begin a new network: what is there is moved aside first
	// Store is the database of PostgreSQL that has the records; nil for a file in the data directory.
	Store *pg.Address
	// Replica lets other processes have the database as well. On an operator's network all of them serve. With chains
	// inside the service one does: Run waits while another one serves, or while the database cannot be reached, and
	// its ports forward what comes in meanwhile. Advertise is the URL by which other processes reach this one, "" for
	// that of Listen.
	Replica     bool
	Advertise   string
	Listen      string   // host:port; port 0 takes a free one
	Hosts       []string // further host names of the certificate
	Connections int      // open at once, on the open port; 0 means the service's default
	BasePath    string
	Fund        bool // give test funds to new addresses
	// new addresses that get them through one key in 24 hours; 0 means the service's default
	FundLimit int
	Faults    []string // what the service is asked to bring about, as settle.ParseFaults reads it
	// status, history and quotes are for the project of their key, explorer pages for keys that may read
	Private        bool
	Lifetime       time.Duration // of quotes; 0 means the service's default
	CursorLifetime time.Duration // of continuations of history; 0 means the book's default
	Metrics        string        // host:port of the metrics listener, "" for none
	JSON           bool          // print one line of JSON instead of lines for people
	LogJSON        bool
	LogLevel       slog.Level
	Out, Log       io.Writer // what is printed, and what is logged

	// Networks is the file of a network on nodes of others, whose operator this service is; "" for chains inside it.
	// Credential finds what one of its endpoints names as ${vault:NAME}.
	Networks   string
	Credential networks.Credential

	// Keys is the file with the keys of an operator's service, which Passphrase opens; "" for keys in the data
	// directory, which no real money allows. Anyone says that every account is meant to be served with real money.
	// Work is that of a new passphrase, 0 for the usual.
	Keys       string
	Passphrase Passphrase
	Anyone     bool
	Work       int

	// RPC, when its Listen is set, opens an endpoint for every chain.
	RPC service.NodesOptions

	// SSH, when set, starts what serves dashboards over SSH once the service is open and before anything listens. It
	// ends with ctx, and the service after it.
	SSH func(ctx context.Context, in Inside) (Beside, error)
}

// Inside is the service as it is reached within this process.
type Inside struct {
	Network   network.Descriptor
	BaseURL   string // for requests through Transport; the host is not dialled
	Transport http.RoundTripper
	Pass      func(caller string) (key string, revoke func(), err error) // an API key that exists in memory only
	Log       *slog.Logger
}

// Beside is what runs beside the service. Wait returns when it has ended; Announced goes into the line of JSON, Lines
// are for people.
type Beside struct {
	Announced any
	Lines     []string
	Open      func() int
	Began     func() int64
	Wait      func() error
}

// An OptionError says that an option cannot be carried out; nothing was opened. Hint, if any, says where to read on.
type OptionError struct{ Problem, Hint string }

// Error returns the problem.
func (e *OptionError) Error() string { return e.Problem }

// Run runs the service until ctx ends, and returns nil after an orderly end.
func Run(ctx context.Context, o Options) error {
	faults, err := settle.ParseFaults(o.Faults)
	if err != nil {
		return &OptionError{Problem: err.Error(), Hint: "`coffer serve --help` lists the faults"}
	}
	figures, err := newFigures(o.Metrics)
	if err != nil {
		return err
	}
	if o.RPC.Listen != "" {
		if err := service.CheckLocal(ctx, o.RPC.Listen, o.RPC.Remote); err != nil {
			return &OptionError{Problem: "--rpc: " + err.Error(),
				Hint: "--rpc-open lets other machines reach the endpoints"}
		}
	}
	if err := o.foreign(); err != nil {
		return err
	}
	if o.New || o.Replica { // a busy port is told before anything is moved, or a turn waited for
		if err := free(ctx, o.Listen); err != nil && o.New {
			return fmt.Errorf("nothing was moved: %w", err)
		} else if err != nil {
			return err
		}
	}
	log := NewLog(o)
	seed, credential, done, err := o.keys(ctx, log)
	if err != nil {
		return err
	}
	defer done()
	ctx, stop := context.WithCancelCause(ctx)
	front, err := o.front(ctx, stop, figures, log)
	if err != nil {
		return err
	}
	defer front.end()
	a, err := o.open(ctx, front, service.Options{
		Seed: seed, SeedKept: seed != nil, Anyone: o.Anyone,
		Kind: network.Lab, Fund: o.Fund, FundLimit: o.FundLimit, Private: o.Private, Log: log, Lifetime: o.Lifetime,
		CursorLifetime: o.CursorLifetime,
		BasePath:       o.BasePath, Faults: faults, StoredKeys: true, Metrics: figures.meter(), New: o.New,
		Networks: o.Networks, Credential: credential, Operator: o.Networks != "", Database: o.Store,
		Address: front.address(), Once: o.Replica, Shared: o.Replica && o.Networks != "",
	})
	if err != nil || a == nil {
		return err
	}
	defer func() { _ = a.Close() }()
	lost := a.Lost()
	defer context.AfterFunc(lost, func() { stop(context.Cause(lost)) })()
	if err := listen(ctx, o, a, front, figures, log); err != nil {
		return err
	}
	return context.Cause(lost)
}

// keys are those of an operator that a file keeps; no seed where the data directory has them.
func (o Options) keys(ctx context.Context, log *slog.Logger) (seed []byte, find networks.Credential, done func(),
	err error) {
	if o.Networks == "" || o.Keys == "" {
		return nil, o.Credential, func() {}, nil
	}
	f, err := openKeyFile(ctx, o.Keys, o.Networks, o.Credential, o.Passphrase, o.Work, log)
	if err != nil {
		return nil, nil, nil, err
	}
	return f.Seed(), credentials(f, o.Credential), f.Close, nil
}

// AtStake says what the operator of a file stakes, line by line.
func AtStake(file *networks.File) []string {
	op := file.Operator
	people := fmt.Sprintf("%d accounts", len(op.Accounts))
	if op.Anyone {
		people = "every account"
	}
	return []string{
		"REAL MONEY is at stake on this network:",
		"  payments in escrow, at most $" + amount.USD2(op.ExposureCap) + " at once, for the signatures of " +
			fmt.Sprintf("%d of %d attesters", op.Threshold, len(op.Attesters)),
		"  the filler's inventory: what its caps let out is what a thief of the hot key takes",
		"  gas: $" + amount.USD2(op.SponsorPerDay) + " for an account in 24 hours, for " + people,
	}
}

// foreign refuses what only a service with its own chains can do.
func (o Options) foreign() error {
	if o.Networks == "" {
		return nil
	}
	flag := ""
	switch {
	case o.RPC.Listen != "":
		flag = "--rpc"
	case o.SSH != nil:
		flag = "--ssh"
	case o.New:
		flag = "--new"
	default:
		return nil
	}
	return &OptionError{Problem: flag + " is for a service with its own chains", Hint: "leave it out, or --networks"}
}

// openHere opens the service of a data directory in this process.
func openHere(ctx context.Context, dir string, o service.Options) (*service.Attachment, error) {
	a, err := service.OpenOrAttach(ctx, dir, o)
	if err != nil && !errors.Is(err, store.ErrInUse) {
		return nil, err
	}
	const other = "another process runs the service in %s; stop it, or name another directory with --data"
	if err != nil && o.Database != nil {
		return nil, fmt.Errorf("another process serves from the database; stop it, start all with --replica, or name "+
			"another database with --store: %w", err)
	}
	if err != nil {
		return nil, fmt.Errorf(other+": %w", dir, err)
	}
	if a.Attached() {
		return nil, errors.Join(fmt.Errorf(other, dir), a.Close())
	}
	return a, nil
}

// turnPause is between two looks at a database that another process has.
const turnPause = 100 * time.Millisecond

// open is openHere, in its turn where the process stands by; it returns nil when ctx ends before that.
func (o Options) open(ctx context.Context, front *front, from service.Options) (*service.Attachment, error) {
	said, waited := "", false
	for {
		a, err := openHere(ctx, o.Dir, from)
		busy, taken := errors.AsType[*pg.BusyError](err)
		switch {
		case !o.Replica || err == nil:
			return a, err
		case ctx.Err() != nil:
			return nil, nil
		case errors.Is(err, store.ErrNewer) && waited: // the tables have become newer: it still forwards
			if said != err.Error() {
				said = err.Error()
				from.Log.Error("standing by: this version cannot take over and only forwards; start the newer one in "+
					"its place", "error", err)
			}
		case !taken && !errors.Is(err, store.ErrAway):
			return nil, err
		case taken:
			waited = true
			front.Lead(forward.Process{Address: busy.Address, Name: busy.Holder, Since: busy.Since})
			if said != busy.Error() {
				said = busy.Error()
				from.Log.Info("standing by: another process serves from the database", "process", busy.Holder, "since",
					busy.Since)
			}
		case !taken && said != store.ErrAway.Error():
			said = store.ErrAway.Error()
			from.Log.Warn("standing by: the database cannot be opened", "error", err)
		}
		if err := front.announce(o); err != nil {
			return nil, err
		}
		select {
		case <-ctx.Done():
		case <-time.After(turnPause):
		}
	}
}

// free tries to listen on an address.
func free(ctx context.Context, address string) error {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return taken(address, err)
	}
	return l.Close()
}

// taken says what to do about a port that is in use.
func taken(address string, err error) error { return takenBy(address, "--listen", err) }

func takenBy(address, flag string, err error) error {
	if errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf("another program listens on %s; name another port with %s: %w", address, flag, err)
	}
	return err
}

// listen serves what was opened until ctx ends.
func listen(ctx context.Context, o Options, a *service.Attachment, front *front, f *figures,
	log *slog.Logger) (err error) {
	ctx, stop := context.WithCancel(ctx)
	beside, err := o.beside(ctx, a, log)
	if err != nil {
		stop()
		return err
	}
	defer func() { // what uses the service ends before it
		stop()
		if beside.Wait != nil {
			err = errors.Join(err, beside.Wait())
		}
	}()
	f.watch(a, beside)
	scraped, err := f.listen(ctx, log)
	if err != nil {
		return err
	}
	nodes := &service.Nodes{}
	if o.RPC.Listen != "" {
		o.RPC.Front = front.port()
		if nodes, err = a.Service().ServeNodes(ctx, o.RPC); err != nil {
			return takenBy(o.RPC.Listen, "--rpc", err)
		}
		defer func() { err = errors.Join(err, nodes.Close()) }()
	}
	running, err := front.serve(ctx, o, a.Service())
	if err != nil {
		return taken(o.Listen, err)
	}
	if len(o.Faults) > 0 {
		log.Warn("FAULTS ARE ON: this service fails on purpose", "faults", o.Faults)
	}
	role := ""
	if front != nil { // one of several
		role = serving
	}
	err = reach{
		Role:    role,
		BaseURL: running.BaseURL, CAFile: running.CAFile, APIKey: a.Service().APIKey(),
		NetworkFile: filepath.Join(o.Dir, service.NetworkFile),
		MetricsURL:  scraped, Faults: o.Faults, SSH: beside.Announced, Endpoints: nodes.List,
		lines: append(endpointLines(nodes), beside.Lines...),
	}.announce(o.Out, o.JSON, a.Network.Fingerprint())
	if err != nil {
		return err
	}
	return running.Wait()
}

// beside starts what runs beside the service.
func (o Options) beside(ctx context.Context, a *service.Attachment, log *slog.Logger) (Beside, error) {
	if o.SSH == nil {
		return Beside{}, nil
	}
	return o.SSH(ctx, Inside{Network: a.Network, BaseURL: a.BaseURL, Transport: a, Pass: a.Service().Pass, Log: log})
}

// NewLog writes what the service tells: text for people, JSON for machines. Neither ever holds a key.
func NewLog(o Options) *slog.Logger {
	options := &slog.HandlerOptions{Level: o.LogLevel}
	if o.LogJSON {
		return slog.New(slog.NewJSONHandler(o.Log, options))
	}
	return slog.New(slog.NewTextHandler(o.Log, options))
}
