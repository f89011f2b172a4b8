// Command coffer is a terminal wallet for smart accounts on many chains. This file is the composition root: it builds the service, the transport, the
// stores and the commands, hands the screens their interfaces, and maps errors to exit codes.
package main

import (
	"context"
	"crypto/rand"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"math/big"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/charmbracelet/x/term"
	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/amount"
	"coffer/api/caip"
	"coffer/api/catalog"
	"coffer/api/client"
	"coffer/api/network"
	"coffer/api/op"
	"coffer/api/secret"
	"coffer/api/service"
	"coffer/api/service/settle"
	"coffer/assets"
	"coffer/config"
	"coffer/ui/cli"
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
	tui.QuietEnvironment()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
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
		Serve:     func(ctx context.Context, o cli.ServeOptions) error { return serve(ctx, o, os.Stdout, os.Stderr) },
		Keys:      keyCommands{},
		Accounts: roleCommands{prompt: cli.Prompt{
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
	s.accounts = accountsOf(s.profile, s.network, common.HexToAddress(demo.Signer))
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
	raw, err := os.ReadFile(p.NetworkFile)
	if err != nil {
		return fmt.Errorf("network file: %w", err)
	}
	if s.network, err = network.Decode(raw); err != nil {
		return fmt.Errorf("%s: %w", p.NetworkFile, err)
	}
	if p.NetworkID != "" && p.NetworkID != s.network.ID {
		return fmt.Errorf("%s describes network %s, the profile names %s", p.NetworkFile, s.network.ID, p.NetworkID)
	}
	s.network.Kind, s.where = p.Kind, p.BaseURL // the user declares the kind, the service cannot
	roots, err := authority(p.CAFile)
	if err != nil {
		return err
	}
	key, err := askKey(ctx, p.Name)
	if err != nil {
		return err
	}
	s.accounts = accountsOf(p, s.network, common.Address{})
	s.client, err = client.New(client.Options{BaseURL: p.BaseURL, APIKey: key, RootCAs: roots})
	return err
}

// authority reads a certificate authority; without a file the system's ones hold.
func authority(file string) (*x509.CertPool, error) {
	if file == "" {
		return nil, nil
	}
	pem, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("ca_file: %w", err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("ca_file: %s holds no certificate", file)
	}
	return roots, nil
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

// accountsOf returns the accounts of a profile; without any in the configuration it is the demo signer's account.
func accountsOf(p config.Profile, n network.Descriptor, demoSigner common.Address) []api.Account {
	if len(p.Accounts) == 0 {
		p.Accounts = []config.Account{{Type: api.AccountKernelV31, SignerAddress: demoSigner.Hex()}}
	}
	out := make([]api.Account, len(p.Accounts))
	for i, a := range p.Accounts {
		out[i] = a.Wire()
		if a.Type == api.AccountKernelV31 && a.AccountAddress == "" {
			init := op.InitDataECDSA(n.Pins.ECDSAValidator, common.HexToAddress(a.SignerAddress))
			out[i].AccountAddress = op.PredictAddress(n.Pins.Factory, n.Pins.KernelV31, init, new(big.Int)).Hex()
		}
	}
	return out
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
				return outstanding(s.catalog, j.Outstanding(now))
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

// outstanding turns the journal's live signatures into what the activity screen shows.
func outstanding(cat *catalog.Catalog, live []journal.Outstanding) []activity.Outstanding {
	out := make([]activity.Outstanding, 0, len(live))
	for _, o := range live {
		sum := verify.OpSummary{Role: o.Role, Chain: o.Chain, Sender: o.Sender, Lane: o.Lane, Nonce: o.Nonce, ValidUntil: o.ValidUntil}
		for _, p := range o.Spend {
			sum.Spend = append(sum.Spend, spend(cat, p))
		}
		one := activity.Outstanding{Operation: o.Op, Summary: sum}
		if o.ValidUntil > 0 {
			one.Until = time.Unix(o.ValidUntil, 0)
		}
		out = append(out, one)
	}
	return out
}

// spend reads an amount of the journal; what the catalogue does not know keeps its base units.
func spend(cat *catalog.Catalog, p journal.Spend) verify.AmountView {
	v := verify.AmountView{Decimals: -1}
	v.Asset, _ = caip.ParseAsset(p.Asset)
	v.Amount, _ = amount.ParseBase(p.Amount)
	if e, ok := cat.Entity(v.Asset); ok {
		v.Symbol, v.Decimals = e.Symbol, e.Decimals
	}
	if c, ok := cat.Chain(v.Asset.Chain); ok {
		v.ChainName = c.Name
	}
	return v
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
