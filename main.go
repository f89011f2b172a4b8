// Command coffer is a terminal wallet for smart accounts on many chains. This file is the composition root: it builds the service, the transport, the
// stores and the commands, hands the screens their interfaces, and maps errors to exit codes.
package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/charmbracelet/x/term"

	"coffer/api"
	"coffer/api/catalog"
	"coffer/api/client"
	"coffer/api/network"
	"coffer/api/secret"
	"coffer/api/service"
	"coffer/api/service/access"
	"coffer/api/service/daemon"
	"coffer/api/service/settle"
	"coffer/assets"
	"coffer/config"
	"coffer/config/harden"
	"coffer/ui/cli"
	"coffer/ui/cli/roles"
	"coffer/ui/tui"
	"coffer/ui/tui/activity"
	"coffer/ui/tui/builder"
	"coffer/ui/tui/review"
	"coffer/ui/tui/screen"
	"coffer/wallet/flow"
	"coffer/wallet/intent"
	"coffer/wallet/journal"
	"coffer/wallet/sign"
	"coffer/wallet/vault"
	"coffer/wallet/verify"
)

// embeddedLifetime is how long a quote of an embedded service may be accepted; a service for others keeps its own default (protocol §5.2).
const embeddedLifetime = 60 * time.Second

func main() {
	harden.Process()
	tui.QuietEnvironment()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	context.AfterFunc(ctx, stop) // the first signal asks for an orderly end; a second one ends the program at once
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		cli.Report(os.Stderr, err)
	}
	os.Exit(cli.Code(err))
}

func run(ctx context.Context, args []string) error {
	p := cli.Program{
		Out: os.Stdout, Err: os.Stderr,
		Terminal:  term.IsTerminal(os.Stdin.Fd()) && term.IsTerminal(os.Stdout.Fd()),
		Build:     cli.ReadBuild(),
		Catalog:   catalog.Load,
		Dashboard: dashboard,
		Balances:  balances,
		Serve:     serve,
		Keys:      keyCommands{},
		Accounts: roles.Commands{Open: openRoles, Prompt: cli.Prompt{
			In: os.Stdin, Out: os.Stderr, Terminal: term.IsTerminal(os.Stdin.Fd()) && term.IsTerminal(os.Stderr.Fd()),
		}},
		FaultHelp: settle.FaultHelp(),
	}
	return p.Run(ctx, args)
}

// session is an opened profile: the way to its service, its network and its accounts. attached and demo are nil for a remote profile.
type session struct {
	profile  config.Profile
	paths    config.Paths
	where    string // of the service, for display
	attached *service.Attachment
	client   *client.Client
	catalog  *catalog.Catalog
	network  network.Descriptor
	accounts []api.Account
	demo     *assets.Demo
}

// open opens the profile that the command line names.
func open(ctx context.Context, g cli.Global) (*session, error) {
	paths, err := config.PathsFrom(os.Getenv)
	if err != nil {
		return nil, err
	}
	file, err := config.Load(paths.Config)
	if err != nil {
		return nil, err
	}
	profile, err := file.Profile(g.Profile)
	if err != nil {
		return nil, &cli.UsageError{Problem: err.Error()}
	}
	s := &session{profile: profile, paths: paths}
	if s.catalog, err = catalog.Load(); err != nil {
		return nil, err
	}
	if profile.Embedded() {
		return s, s.openEmbedded(ctx)
	}
	return s, s.openRemote(ctx)
}

// openEmbedded opens the service inside this program, or attaches to the process that has it open.
func (s *session) openEmbedded(ctx context.Context) error {
	demo, err := assets.DemoKey()
	if err != nil {
		return err
	}
	s.attached, err = service.OpenOrAttach(ctx, s.paths.ProfileData(s.profile.Name), service.Options{
		Kind: network.Embedded, Fund: true, Lifetime: embeddedLifetime,
	})
	if err != nil {
		return err
	}
	s.demo, s.network, s.where = &demo, s.attached.Network, "inside this program"
	s.network.Kind = s.profile.Kind
	s.client, err = client.New(client.Options{BaseURL: s.attached.BaseURL, APIKey: secret.New([]byte(s.attached.APIKey)), Transport: s.attached})
	if err != nil {
		return errors.Join(err, s.Close())
	}
	if len(s.profile.Accounts) == 0 {
		s.profile.Accounts = []config.Account{{Type: api.AccountKernelV31, SignerAddress: demo.Signer}}
	}
	s.accounts = s.profile.WireAccounts(s.network.Pins)
	return nil
}

// openRemote reaches a service over HTTPS. The network comes from the profile's file, never from the service; the API key is asked for, as this version
// keeps no keys of remote profiles. Without a signer's key the dashboard reads and quotes, and signs nothing.
func (s *session) openRemote(ctx context.Context) error {
	p := s.profile
	if p.Vault != config.VaultMemory || p.NetworkFile == "" || len(p.Accounts) == 0 {
		return &cli.UsageError{
			Problem: fmt.Sprintf("profile %q cannot be opened by this version", p.Name),
			Hint:    `a profile of kind lab or real needs vault = "memory" (the API key is asked for, nothing is signed), network_file and an account`,
		}
	}
	roots, err := p.Roots()
	if err != nil {
		return err
	}
	if s.network, err = p.Network(); err != nil {
		return err
	}
	key, err := askKey(ctx, p.Name)
	if err != nil {
		return err
	}
	s.where, s.accounts = p.BaseURL, p.WireAccounts(s.network.Pins)
	s.client, err = client.New(client.Options{BaseURL: p.BaseURL, APIKey: key, RootCAs: roots})
	return err
}

// askKey asks for the API key on the terminal.
func askKey(ctx context.Context, profile string) (secret.Secret, error) {
	if !term.IsTerminal(os.Stdin.Fd()) {
		return secret.Secret{}, api.NewError(api.ErrUnauthorized, "the API key of profile %q is asked for on a terminal, and there is none", profile)
	}
	return cli.AskSecret(ctx, os.Stdin, os.Stderr, fmt.Sprintf("API key for profile %s (not shown): ", profile))
}

// Close lets go of the service; an embedded one finishes its step and closes its database.
func (s *session) Close() error {
	if s.attached == nil {
		return nil
	}
	return s.attached.Close()
}

// query asks for everything that the accounts of the session hold.
func (s *session) query() client.BalanceQuery {
	q := client.BalanceQuery{}
	for _, a := range s.accounts {
		if a.IsEVM() {
			q.Accounts = append(q.Accounts, "eip155:1:"+a.AccountAddress)
		} else {
			q.Accounts = append(q.Accounts, "solana:"+a.AccountAddress)
		}
	}
	for _, a := range s.catalog.Aggregates() {
		q.Aggregates = append(q.Aggregates, string(a.ID))
	}
	return q
}

// balances answers `coffer balances`.
func balances(ctx context.Context, g cli.Global) (*api.Document, error) {
	s, err := open(ctx, g)
	if err != nil {
		return nil, err
	}
	defer func() { _ = s.Close() }()
	answer, err := s.client.BalancesDocument(ctx, s.query())
	return answer.Document, err
}

// openRoles opens a profile for `coffer accounts`.
func openRoles(ctx context.Context, g cli.Global) (roles.Wallet, error) {
	s, err := open(ctx, g)
	if err != nil {
		return roles.Wallet{}, err
	}
	return roles.Wallet{
		Profile: s.profile.Name, Service: s.client, Network: s.network, Catalog: s.catalog, Accounts: s.accounts, Close: s.Close,
	}, nil
}

// serve answers `coffer serve`.
func serve(ctx context.Context, o cli.ServeOptions) error {
	dir, err := config.ServiceData(o.Data, os.Getenv)
	if err != nil {
		return err
	}
	err = daemon.Run(ctx, daemon.Options{
		Dir: dir, Listen: o.Listen, Hosts: o.Hosts, Connections: o.Connections, BasePath: o.BasePath, Fund: o.Fund, Faults: o.Faults,
		Lifetime: o.Lifetime, CursorLifetime: o.CursorLifetime, Metrics: o.Metrics,
		JSON: o.JSON, LogJSON: o.LogJSON, LogLevel: o.LogLevel, Out: os.Stdout, Log: os.Stderr,
	})
	var wrong *daemon.OptionError
	if errors.As(err, &wrong) {
		return &cli.UsageError{Problem: wrong.Problem, Hint: wrong.Hint}
	}
	return err
}

// keyCommands answers `coffer serve keys`.
type keyCommands struct{}

// Add makes a key.
func (keyCommands) Add(ctx context.Context, data string, r cli.KeyRequest) (cli.GivenKey, error) {
	spec := access.KeySpec{
		Company: r.Company, Project: r.Project, UseCase: r.UseCase, Volume: r.Volume, Chains: r.Chains, Assets: r.Assets,
		Permissions: r.Permissions, Endpoints: r.Endpoints, PerMinute: r.PerMinute, Concurrent: r.Concurrent, Expires: r.Expires, PublicTest: r.PublicTest,
	}
	if r.ExpiresIn > 0 {
		spec.Expires = time.Now().Add(r.ExpiresIn)
	}
	dir, err := config.ServiceData(data, os.Getenv)
	if err != nil {
		return cli.GivenKey{}, err
	}
	text, key, err := daemon.Keys{Dir: dir}.Add(ctx, spec)
	return cli.GivenKey{Text: text, Key: keyLine(key)}, err
}

// List lists the keys.
func (keyCommands) List(ctx context.Context, data string) ([]cli.Key, error) {
	dir, err := config.ServiceData(data, os.Getenv)
	if err != nil {
		return nil, err
	}
	keys, err := daemon.Keys{Dir: dir}.List(ctx)
	all := make([]cli.Key, len(keys))
	for i, k := range keys {
		all[i] = keyLine(k)
	}
	return all, err
}

// Rotate gives a key a new text.
func (keyCommands) Rotate(ctx context.Context, data, id string, grace time.Duration) (cli.GivenKey, error) {
	dir, err := config.ServiceData(data, os.Getenv)
	if err != nil {
		return cli.GivenKey{}, err
	}
	text, key, err := daemon.Keys{Dir: dir}.Rotate(ctx, id, grace)
	return cli.GivenKey{Text: text, Key: keyLine(key)}, err
}

// Revoke ends a key.
func (keyCommands) Revoke(ctx context.Context, data, id string) (cli.Key, error) {
	dir, err := config.ServiceData(data, os.Getenv)
	if err != nil {
		return cli.Key{}, err
	}
	key, err := daemon.Keys{Dir: dir}.Revoke(ctx, id)
	return keyLine(key), err
}

// keyLine is a key as the command line tells of it; lists are never null.
func keyLine(i access.KeyInfo) cli.Key {
	list := func(of []string) []string { return append([]string{}, of...) }
	return cli.Key{
		ID: i.ID, State: i.State(time.Now()), Company: i.Company, Project: i.Project, UseCase: i.UseCase, Volume: i.Volume,
		Chains: list(i.Chains), Assets: list(i.Assets), Permissions: list(i.Permissions), Endpoints: list(i.Endpoints),
		PerMinute: i.PerMinute, Concurrent: i.Concurrent, PublicTest: i.PublicTest,
		Created: i.Created, Rotated: i.Rotated, PreviousUntil: i.PreviousUntil, Expires: i.Expires, Revoked: i.Revoked,
	}
}

// holdings is the balance source of the screens.
type holdings struct{ s *session }

// Balances reads what the accounts of the session hold.
func (h holdings) Balances(ctx context.Context) (api.AggregatedBalance, error) {
	return h.s.client.Balances(ctx, h.s.query())
}

// records is the history source of the screens.
type records struct{ s *session }

// History reads a page of the first account's history.
func (r records) History(ctx context.Context, limit int, continuation string) (api.HistoryPage, error) {
	return r.s.client.History(ctx, client.HistoryQuery{User: r.s.accounts[0].AccountAddress, Limit: limit, Continuation: continuation})
}

// dashboard opens the screens on a profile.
func dashboard(ctx context.Context, g cli.Global) error {
	s, err := open(ctx, g)
	if err != nil {
		return err
	}
	defer func() { _ = s.Close() }()
	keys := vault.NewMemory(s.network.ID)
	defer func() { _ = keys.Close() }()
	if s.demo != nil {
		if err := addDemoKey(keys, s.demo.PrivateKey); err != nil {
			return err
		}
	}
	host, _ := os.Hostname()
	j, err := journal.Open(s.paths.ProfileState(s.profile.Name), journal.Options{
		Network: s.network.ID, Clock: time.Now, Random: rand.Reader, Holder: "coffer on " + host,
	})
	if err != nil {
		return err
	}
	defer func() { _ = j.Close() }()
	operations := flow.New(flow.Deps{
		Client: s.client, Signer: sign.New(keys, s.network.ID), Journal: j, Policy: verify.DefaultPolicy(s.network, s.catalog),
		Clock: time.Now, Sleep: sleep,
	})
	leave := endInTime(ctx, keys)
	defer leave()
	err = tui.Run(ctx, tui.Options{
		Env: os.Environ(),
		Context: screen.Context{
			Profile: s.profile.Name, BaseURL: s.where, Network: s.network, Catalog: s.catalog, Accounts: s.accounts, Clock: time.Now,
		},
		Services: tui.Services{
			Balances: holdings{s}, History: records{s},
			More: func(c screen.Context) map[screen.ID]screen.Screen { return callScreens(c, s, operations, j) },
		},
	})
	if ctx.Err() != nil {
		return nil // a signal ended it, as asked
	}
	return err
}

// endInTime wipes the keys as soon as ctx ends, and ends the program two seconds later even when the terminal no longer takes output and the
// screens wait for it. The returned function calls it off.
func endInTime(ctx context.Context, keys *vault.Memory) (leave func()) {
	left := make(chan struct{})
	go func() {
		select {
		case <-left:
			return
		case <-ctx.Done():
		}
		_ = keys.Close()
		select {
		case <-left:
		case <-time.After(2 * time.Second):
			os.Exit(cli.ExitFailed)
		}
	}()
	return func() { close(left) }
}

// callScreens builds the screens on which a call is made: build, review, activity.
func callScreens(c screen.Context, s *session, f *flow.Flow, j *journal.Journal) map[screen.ID]screen.Screen {
	return map[screen.ID]screen.Screen{
		screen.Build: builder.New(c, builder.Deps{Balances: holdings{s}.Balances, Book: contacts(s.demo)}),
		screen.Review: review.New(c, review.Deps{Start: func(ctx context.Context, in intent.Intent) (review.Operation, error) {
			return f.Start(ctx, in)
		}}),
		screen.Activity: activity.New(c, activity.Deps{
			Unfinished: func() []activity.Operation {
				var out []activity.Operation
				for _, o := range f.Unfinished() {
					out = append(out, o)
				}
				return out
			},
			Outstanding: func(now time.Time) []activity.Outstanding {
				return activity.FromJournal(s.catalog, j.Outstanding(now))
			},
		}),
	}
}

// contacts are the known recipients: those of the demo, or none.
func contacts(demo *assets.Demo) []builder.Contact {
	if demo == nil {
		return nil
	}
	var out []builder.Contact
	for _, e := range demo.AddressBook {
		out = append(out, builder.Contact{Name: e.Name, Address: e.Address})
	}
	return out
}

// sleep waits, or returns the context's error.
func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func addDemoKey(v *vault.Memory, private string) error {
	key, err := hex.DecodeString(strings.TrimPrefix(private, "0x"))
	if err != nil {
		return fmt.Errorf("demo key: %w", err)
	}
	_, err = v.Add(vault.EVM, secret.New(key))
	return err
}
