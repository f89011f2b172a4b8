// Package service is the chain-abstraction service itself: it opens an installation, wires the use cases to the HTTP
// layer, and is reached in process (RoundTripper), over TLS (Serve) or by a second process on the same data
// (OpenOrAttach). AdministerKeys makes and ends the keys that it accepts, whether a process has it open or none.
//
// Promise: Open finishes or refunds what an earlier process left half-done; network.json is replaced in one step; Idle
// returns when every accepted quote is terminal, or tells which one a fault holds up. What has ended is swept every
// minute. Keys and seeds never reach a log line or an error.
//
// Sources: docs/interface.md, docs/protocol.md, docs/architecture.md.
package service

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api/catalog"
	"coffer/api/network"
	"coffer/api/networks"
	"coffer/api/service/access"
	"coffer/api/service/adminrelay"
	"coffer/api/service/attest"
	"coffer/api/service/deployment"
	"coffer/api/service/devnet"
	"coffer/api/service/devnet/faucet"
	"coffer/api/service/httpapi"
	"coffer/api/service/jsonrpc"
	"coffer/api/service/netstatus"
	"coffer/api/service/outbox"
	"coffer/api/service/portfolio"
	"coffer/api/service/price"
	"coffer/api/service/quote"
	"coffer/api/service/quote/entrypoint"
	"coffer/api/service/quotestore"
	"coffer/api/service/remotenet"
	"coffer/api/service/settle"
	"coffer/api/service/signers"
	"coffer/api/service/store"
	"coffer/api/service/store/pg"
)

// Defaults of Options.
const (
	DefaultBasePath = "/api"
	DefaultLifetime = 30 * time.Second
)

// EmbeddedLifetime is how long a quote of the service inside the program may be accepted (protocol §5.2): long enough
// to read it, as with `coffer serve`.
const EmbeddedLifetime = 60 * time.Second

// NetworkFile is the name of the network descriptor in the data directory.
const NetworkFile = "network.json"

// Options say how the service runs. Store is required and stays the caller's to close. Zero values mean: the system's
// clock and random source, a seed from Random (kept in the store), kind embedded, no test funds, quotes that live 30 s,
// continuations of history that live 15 minutes, base path /api, a key drawn from Random, an explorer below the base
// path of a host that is not dialled, no log, no hook, no network.json, no figures.
type Options struct {
	Store  store.Store
	Clock  func() time.Time
	Random io.Reader
	Seed   []byte // installation seed, 32 bytes
	Kind   network.Kind
	Fund   bool // protocol §5.4, --fund always
	// new accounts that get test funds through one key in 24 hours; 0 means access.DefaultFundLimit
	FundLimit      int
	Endow          []common.Address // a first start endows these in genesis, see Service.Endow
	Lifetime       time.Duration    // of quotes, protocol §5.2
	CursorLifetime time.Duration    // of a continuation of history, from its first page
	// status, history and quotes are for their project alone, explorer pages for keys that may read
	Private  bool
	BasePath string
	APIKey   string // the key of this process
	// the key of this process is good only while no stored key was when the service was opened
	StoredKeys   bool
	ExplorerBase string            // URL up to and with the base path; "" takes that of the listener
	Log          *slog.Logger      // never gets a key or a seed
	Metrics      Meter             // is told of requests, quotes and settlements; nil for none
	AfterStep    func(step string) // called after each durable step of settlement, for crash tests
	Faults       Faults            // nothing happens by itself
	Dir          string            // data directory of network.json and catalog.json; "" for neither
	Passing      bool              // Dir goes with the process: what is written there waits for no disk
	Nodes        *NodesOptions     // OpenOrAttach opens endpoints while this process holds the database
	Database     *pg.Address       // OpenOrAttach keeps the records there, nil for a file in the data directory
	Address      string            // tells other processes of Database where this one is reached, "" when it is not
	Once         bool              // OpenOrAttach does not wait for a process that holds the database
	Shared       bool              // other processes serve from the database as well; an operator's network alone
	New          bool              // OpenOrAttach begins a new network; what was in the directory is moved aside
	// Networks is the file of a network on nodes of others (networks.toml), "" for an embedded one. Its kind is that of
	// the network. Credential finds what one of its endpoints names as ${vault:NAME}. Tank is the key of its gas tank,
	// 32 bytes; where real money is at stake it must be given, and it is not stored. Operator says that this is the
	// service of the operator that the file names.
	Networks   string
	Credential networks.Credential
	Tank       []byte
	Operator   bool
	// SeedKept says that Seed is kept elsewhere and is not stored; an operator's of real money must be. Anyone says
	// that every account is meant to be served with real money. PingEvery is how often attesters elsewhere are asked
	// whether they are there, and Gone after how long without an answer one counts as gone, 0 for the usual.
	SeedKept  bool
	Anyone    bool
	PingEvery time.Duration
	Gone      time.Duration
	// StatusEvery is how often an operator's service looks how its network is, and Poll how often a chain of others is
	// looked at while something is under way on it, 0 for the usual.
	StatusEvery time.Duration
	Poll        time.Duration

	expected string // id of the network that the store is of, "" when that is not known
}

// Faults bring about what seldom happens, for tests and developers. Nil functions do nothing.
type Faults = settle.Faults

func (o Options) withDefaults() (Options, error) {
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.Random == nil {
		o.Random = rand.Reader
	}
	if _, locked := o.Random.(*lockedReader); !locked {
		o.Random = &lockedReader{r: o.Random}
	}
	if o.Kind == "" {
		o.Kind = network.Embedded
	}
	if o.Lifetime == 0 {
		o.Lifetime = DefaultLifetime
	}
	if o.BasePath == "" {
		o.BasePath = DefaultBasePath
	}
	if o.FundLimit == 0 {
		o.FundLimit = access.DefaultFundLimit
	}
	if !strings.HasPrefix(o.BasePath, "/") || strings.HasSuffix(o.BasePath, "/") {
		return o, fmt.Errorf("service: the base path %q must begin with a slash and not end with one", o.BasePath)
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.APIKey == "" {
		var key [32]byte
		if _, err := io.ReadFull(o.Random, key[:]); err != nil {
			return o, fmt.Errorf("service: draw an API key: %w", err)
		}
		o.APIKey = hex.EncodeToString(key[:])
	}
	return o, nil
}

// explorer is where the explorer is found before a listener says where.
func (o Options) explorer() string {
	return cmp.Or(o.ExplorerBase, "https://"+localHost+o.BasePath)
}

// lockedReader lets many requests draw from one random source.
type lockedReader struct {
	mu sync.Mutex
	r  io.Reader
}

// Read implements io.Reader.
func (l *lockedReader) Read(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.r.Read(b)
}

// Service is an opened service. It is safe for concurrent use.
type Service struct {
	opts      Options
	in        installation
	embedded  *devnet.Installation // nil where the chains are others'
	remote    *remotenet.Network   // nil where they are embedded
	book      *quotestore.Book
	settler   *settle.Settler
	keys      *access.Keys
	passes    *access.Passes
	watch     *observer // nil without Metrics
	condition *condition
	earlier   earlierNetworks
	requests  *httpapi.RequestIDs // names the requests of the open port
	handler   http.Handler        // asks for the key
	trusted   http.Handler        // for the local socket
	explorer  atomic.Pointer[string]
	nodes     atomic.Pointer[jsonrpc.Server]   // of the endpoints that are open
	status    atomic.Pointer[netstatus.Status] // of an operator's network, as it was read last
	faucet    *faucet.Faucet                   // nil without test funds
	endSweep  context.CancelFunc
	sweeping  sync.WaitGroup
}

// ErrOwnNodes and ErrEmbedded say that data is of the other sort of network than the one that was asked for. Nothing
// was changed.
var (
	ErrOwnNodes = errors.New("the data is of a network on nodes: name its networks.toml, or another data directory")
	ErrEmbedded = errors.New("the data is of an embedded network: a network on nodes needs a data directory of its own")
)

// installation is what the service needs of a network: its chains and contracts, its own signers, and secrets that are
// the same for the life of the data.
type installation struct {
	*deployment.Network
	signers.Set
	secret func(label string, n int) ([]byte, error)
}

// Open opens the service on a store: the installation (made on the first start), the book, and the settlement of
// whatever was under way.
func Open(o Options) (*Service, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	if o.Store == nil {
		return nil, errors.New("service: no store was given")
	}
	ctx, cancel := context.WithTimeout(context.Background(), openWithin)
	defer cancel()
	done, err := store.Lock(ctx, o.Store, "open") // what the first start makes, the others find
	if err != nil {
		if errors.Is(err, context.DeadlineExceeded) {
			err = fmt.Errorf("%w: another process has been opening it for %s", store.ErrAway, openWithin)
		}
		return nil, fmt.Errorf("service: %w", err)
	}
	defer done()
	s := &Service{opts: o, passes: access.NewPasses(o.Clock, access.PassPerMinute, o.FundLimit)}
	if err := s.install(); err != nil {
		return nil, err
	}
	if o.expected != "" && o.expected != s.in.ID {
		return nil, errors.Join(fmt.Errorf("%w: %s is of another one than the database: name the database that it was "+
			"served from, or an empty data directory", errOtherNetwork, NetworkFile), s.closeRemote())
	}
	s.opts.Log = slog.New(redactedLog{o.Log.Handler(), o.APIKey})
	if o.Metrics != nil {
		s.watch = &observer{meter: o.Metrics}
		s.opts.Log = slog.New(settledLog{s.opts.Log.Handler(), o.Metrics})
	}
	s.condition = &condition{clock: o.Clock, head: s.latest, store: o.Store, log: s.opts.Log}
	base := o.explorer()
	s.explorer.Store(&base)
	if err := s.wire(); err != nil {
		if s.keys != nil {
			s.keys.Close()
		}
		return nil, errors.Join(err, s.closeRemote())
	}
	if o.Dir != "" {
		if err := writeNetwork(o.Dir, s.in.Descriptor, o.writer()); err != nil {
			return nil, errors.Join(err, s.Close())
		}
	}
	return s, nil
}

// openWithin bounds how long the chains of nodes may take to say that they are those of the network.
const openWithin = time.Minute

// install opens the network: an embedded one, or that of a file.
func (s *Service) install() error {
	o := s.opts
	if o.Networks == "" {
		if others, err := remotenet.Exists(o.Store); err != nil || others {
			return cmp.Or(err, ErrOwnNodes)
		}
		from := devnet.Options{Clock: o.Clock, Random: o.Random, Seed: o.Seed, Kind: o.Kind, Endow: o.Endow}
		if o.Dir != "" {
			from.Catalog = filepath.Join(o.Dir, catalog.File)
		}
		in, err := devnet.Open(o.Store, from)
		if err != nil {
			return err
		}
		s.embedded, s.in = in, installation{in.Network, in.Set, in.Secret}
		return nil
	}
	if embedded, err := devnet.Exists(o.Store); err != nil || embedded {
		return cmp.Or(err, ErrEmbedded)
	}
	if err := s.follow(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), openWithin)
	defer cancel()
	in, err := remotenet.Open(ctx, remotenet.Options{File: o.Networks, Store: o.Store, Credential: o.Credential,
		Clock: o.Clock, Random: o.Random, Seed: o.Seed, Tank: o.Tank, Log: o.Log, Operator: o.Operator,
		Behind: s.behind(),
		Kept:   o.SeedKept, Anyone: o.Anyone, PingEvery: o.PingEvery, Gone: o.Gone, Poll: o.Poll})
	if err != nil {
		return err
	}
	s.remote, s.in = in, installation{in.Network, in.Set, in.Secret}
	return nil
}

// prices are those of the network: a walk around the table of an embedded one, or price feeds.
func (s *Service) prices() (quote.Prices, error) {
	if s.embedded == nil {
		return s.remote.Prices, nil
	}
	walk, err := s.in.secret("prices/1", 32)
	if err != nil {
		return nil, err
	}
	return price.New(s.in.Catalog, walk)
}

// wire builds the use cases, resumes settlement and builds the HTTP layers.
func (s *Service) wire() error {
	o, in := s.opts, s.in
	var err error
	if s.book, err = quotestore.Open(o.Store, quotestore.Options{
		Clock: o.Clock, Random: o.Random, CursorLifetime: o.CursorLifetime, Reader: reader, Private: o.Private,
	}); err != nil {
		return err
	}
	if s.remote != nil {
		open, err := s.book.Open(context.Background())
		if err == nil {
			err = s.remote.Settle(o.Store, len(open))
		}
		if err != nil {
			return err
		}
	}
	if s.keys, err = access.OpenKeys(o.Store, access.KeysOptions{Clock: o.Clock, Random: o.Random,
		FundLimit: o.FundLimit}); err != nil {
		return err
	}
	for _, damage := range s.keys.Damaged() {
		o.Log.Error("a stored API key cannot be read and opens nothing", "error", damage)
	}
	prices, err := s.prices()
	if err != nil {
		return err
	}
	deps := portfolio.Deps{Network: in.Network, Prices: prices, Clock: o.Clock}
	if o.Fund && s.embedded != nil {
		s.faucet, err = faucet.New(faucet.Options{
			Installation: s.embedded, Clock: o.Clock, Log: o.Log, Known: s.book.Named,
			May: mayFund,
		})
		if err != nil {
			return err
		}
		deps.Faucet = s.faucet
	}
	accounts := portfolio.New(deps)
	codec := entrypoint.New(in.Pins.EntryPoint, in.Pins.Escrow)
	quoter := quote.New(quote.Deps{
		Network: in.Network, Operator: in.Operator, CoSigner: in.CoSigner, TamperProof: in.TamperProof, Book: s.book,
		Prices: prices, Clock: o.Clock, Random: o.Random, Lifetime: o.Lifetime, NoRoute: o.Faults.NoRoute, Codec: codec,
		Fund: accounts.FundAccounts,
	})
	s.settler = settle.New(settle.Deps{
		Network: in.Network, Signers: in.Set, Attesters: s.attesters(), Book: s.book, Prices: prices, Clock: o.Clock,
		ExplorerBase: *s.explorer.Load(),
		AfterStep:    o.AfterStep,
		Faults:       &o.Faults, Log: o.Log, Codec: codec,
	})
	if err := s.settler.Resume(context.Background()); err != nil {
		return errors.Join(fmt.Errorf("service: resume settlement: %w", err), s.settler.Close())
	}
	if err := s.serveWith(quoter, accounts, codec); err != nil {
		return errors.Join(err, s.settler.Close())
	}
	s.sweep()
	s.watchNetwork()
	return nil
}

// attesters are those of an operator's network; nil where it has but its own.
func (s *Service) attesters() []attest.Port {
	if s.remote == nil || s.remote.Panel == nil {
		return nil
	}
	return s.remote.Panel.Ports()
}

// serveWith builds the HTTP layers.
func (s *Service) serveWith(quoter httpapi.Quoter, accounts *portfolio.Portfolio, codec *entrypoint.Codec) (err error) {
	o, in := s.opts, s.in
	explorer := func() string { return *s.explorer.Load() }
	if s.requests, err = httpapi.NewRequestIDs(o.Random); err != nil {
		return err
	}
	config := httpapi.Config{
		IDs:      s.requests,
		BasePath: o.BasePath, Auth: s.authenticator(), Network: in.Network, YieldToWriter: o.Store.YieldToWriter,
		Portfolio: accounts,
		Quoter:    quoter, Settler: s.settler, Records: s.book, Clock: o.Clock, Random: o.Random, Log: o.Log,
		ExplorerBase: explorer, Private: o.Private,
		Condition: s.condition, Earlier: s.earlierNetworks,
		Relay: adminrelay.New(adminrelay.Deps{Network: in.Network, Operator: in.Operator, Clock: o.Clock,
			ExplorerBase: explorer, Log: o.Log, Sponsor: s.sponsor(),
			Codec: codec, Fund: accounts.FundAccounts}),
	}
	trusted := access.Authenticator(access.Trusted{Caller: "local socket"})
	if s.watch != nil {
		config.Quoter, config.Observe = counted{quoter, o.Metrics, s.book}, s.watch.request
		config.Auth, trusted = s.watch.admitting(config.Auth), s.watch.admitting(trusted)
	}
	if s.handler, err = httpapi.New(config); err != nil {
		return err
	}
	s.handler = s.first(s.handler)
	config.IDs, config.Auth, config.Descriptor = nil, trusted, &in.Descriptor
	if s.trusted, err = httpapi.New(config); err != nil {
		return err
	}
	s.trusted = withAdmin(s.keys, o.Store, o.Log, s.administered(), s.first(s.trusted))
	return nil
}

// first lets what is asked of the service go before the calls of its endpoints. Only a POST makes it compute.
func (s *Service) first(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if nodes := s.nodes.Load(); nodes != nil && r.Method == http.MethodPost {
			defer nodes.Occupied()()
		}
		next.ServeHTTP(w, r)
	})
}

// authenticator is who admits requests of the open port: the key of this process and the stored keys, or those alone.
func (s *Service) authenticator() access.Authenticator {
	// one of several processes has none of its own, which the others would not know
	if s.opts.StoredKeys && (s.keys.Usable() > 0 || store.Process(s.opts.Store) != 0) {
		s.opts.APIKey = ""
		return access.Either(s.passes, s.keys)
	}
	return access.Either(s.passes, access.NewOneKey(s.opts.APIKey), s.keys)
}

// Pass makes a key for a caller inside this process. It exists in memory only, until revoke is called, and admits
// access.PassPerMinute requests.
func (s *Service) Pass(caller string) (key string, revoke func(), err error) {
	return s.passes.Issue(s.opts.Random, caller)
}

// SweepEvery is how often an open service removes what has ended, so that a signed operation does not outlive its
// window where nobody calls (protocol §2.1).
const SweepEvery = time.Minute

// sweep begins to sweep now and then, until Close.
func (s *Service) sweep() {
	ctx, cancel := context.WithCancel(context.Background())
	s.endSweep = cancel
	s.sweeping.Go(func() {
		tick := time.NewTicker(SweepEvery)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			s.condition.lag() // so that the log has it even when nobody asks
			err := s.book.Sweep(ctx)
			if s.opts.Operator {
				err = errors.Join(err, s.book.Alive(ctx))
			}
			if err != nil && !errors.Is(err, store.ErrClosed) {
				s.opts.Log.Error("the sweep failed and will be tried again", "error", err)
			}
		}
	})
}

// mayFund asks the grant of a request whether it brings test funds.
func mayFund(ctx context.Context, newAccount bool) bool { return access.Of(ctx).MayFund(newAccount) }

// reader is who makes a request, as the book sees it.
func reader(ctx context.Context) quotestore.Reader {
	g := access.Of(ctx)
	return quotestore.Reader{Project: g.Project, All: g.All}
}

// Handler is the HTTP layer, for RoundTripper or a server.
func (s *Service) Handler() http.Handler { return s.handler }

// Network says which network this is.
func (s *Service) Network() network.Descriptor { return s.in.Descriptor }

// APIKey is the key of this process, "" when only stored keys are accepted.
func (s *Service) APIKey() string { return s.opts.APIKey }

// Keys are the stored keys.
func (s *Service) Keys() KeyAdmin { return ownKeys{s.keys} }

// OpenQuotes counts the accepted quotes that have not ended or whose deposits are not settled yet.
func (s *Service) OpenQuotes() (int, error) {
	open, err := s.book.Open(context.Background())
	return len(open), err
}

// Idle returns when every accepted quote is settled, with the context's error, or with the faults that quotes stand
// still for; those are tried again.
func (s *Service) Idle(ctx context.Context) error { return s.settler.Idle(ctx) }

// Close stops the sweep, and settlement after the step under way. The store stays open.
func (s *Service) Close() error {
	s.endSweep()
	s.sweeping.Wait()
	s.keys.Close()
	return errors.Join(s.settler.Close(), s.earlier.close(), s.closeRemote())
}

func (s *Service) closeRemote() error {
	if s.remote == nil {
		return nil
	}
	return s.remote.Close()
}

// Tanks are what the gas tank has on each chain of a network on nodes; none on an embedded one. A chain that does not
// answer is left out, and the error says why.
func (s *Service) Tanks(ctx context.Context) ([]remotenet.Tank, error) {
	if s.remote == nil {
		return nil, nil
	}
	return s.remote.Tanks(ctx)
}

// sponsor bounds what the gas tank of own nodes pays for an account beside its quotes.
func (s *Service) sponsor() adminrelay.Sponsor {
	if s.remote == nil {
		return nil
	}
	return func(ctx context.Context, account common.Address, what string) (outbox.Change, error) {
		now := s.opts.Clock()
		return s.book.NoteSponsored(account.Hex(), now, what), quote.Capped(ctx, s.book, account, now)
	}
}

// Lanes are what is known of the gas tank's lanes on a network on nodes; none on an embedded one.
func (s *Service) Lanes(ctx context.Context) []remotenet.LaneState {
	if s.remote == nil {
		return nil
	}
	return s.remote.Lanes(ctx)
}

// ResumeLane lets the gas tank's lane on a chain go on after it stopped, by the decision of its owner.
func (s *Service) ResumeLane(ctx context.Context, chainID uint64) error {
	if s.remote == nil {
		return errors.New("only a network on own nodes has lanes")
	}
	return s.remote.ResumeLane(ctx, chainID)
}

// writeNetwork keeps the descriptor beside the database. This process holds the database, so it may remove files that
// an earlier one began to write.
func writeNetwork(dir string, d network.Descriptor, write writer) error {
	raw, err := d.Encode()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("service: %w", err)
	}
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if e.Type().IsRegular() && strings.HasPrefix(e.Name(), unfinished) {
			err = errors.Join(err, os.Remove(filepath.Join(dir, e.Name())))
		}
	}
	if err != nil {
		return fmt.Errorf("service: %w", err)
	}
	path := filepath.Join(dir, NetworkFile)
	if old, err := os.ReadFile(path); err == nil && bytes.Equal(old, raw) {
		return nil
	}
	return write.file(path, raw)
}
