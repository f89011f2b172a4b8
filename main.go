// Command coffer is a terminal wallet for smart accounts on many chains. This file is the composition root: it builds
// the service, the transport, the stores and the commands, hands the screens their interfaces, and maps errors to exit
// codes.
package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/charmbracelet/x/term"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/spf13/cobra"

	"coffer/api"
	"coffer/api/amount"
	"coffer/api/caip"
	"coffer/api/catalog"
	"coffer/api/client"
	"coffer/api/network"
	"coffer/api/networks"
	"coffer/api/secret"
	"coffer/api/service"
	"coffer/api/service/access"
	"coffer/api/service/daemon"
	"coffer/api/service/operator"
	"coffer/api/service/remotenet"
	"coffer/api/service/settle"
	"coffer/api/service/signers"
	"coffer/api/service/store/pg"
	"coffer/config"
	"coffer/config/harden"
	"coffer/ui/app"
	"coffer/ui/cli"
	"coffer/ui/cli/act"
	"coffer/ui/cli/check"
	"coffer/ui/cli/keys"
	"coffer/ui/cli/roles"
	"coffer/ui/cli/tank"
	"coffer/ui/doctor"
	"coffer/ui/profile"
	"coffer/ui/qr"
	"coffer/ui/sshd"
	"coffer/ui/tui"
	"coffer/ui/tui/settings"
	"coffer/wallet/intent"
)

func main() {
	collectLater()
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
	screen := term.IsTerminal(os.Stdin.Fd()) && term.IsTerminal(os.Stdout.Fd())
	a := actCommands()
	if screen && !tui.Dumb(os.Environ()) {
		a.Dashboard = dashboard
		colours, ascii := tui.Abilities(os.Environ())
		a.Code = &qr.Look{Dark: true, ASCII: ascii, Profile: colours}
	}
	p := cli.Program{
		Out: os.Stdout, Err: os.Stderr,
		Terminal:  screen,
		Build:     cli.ReadBuild(),
		Catalog:   host().Catalog,
		Dashboard: dashboard,
		SetUp:     setUp,
		Doctor:    examine,
		Balances:  balances,
		Earlier:   earlierBalances,
		Serve:     serve,
		Devnet:    runDevnet,
		Attest:    runAttest,
		Network:   networkCommands{},
		Keys:      keyCommands{},
		Store:     storeCommands{},
		Accounts:  roles.Commands{Open: openRoles, Prompt: prompt()},
		FaultHelp: settle.FaultHelp(),
		AccountsExtra: func(g *cli.Global) []*cobra.Command {
			return append(keys.Profiles{Host: host(), Prompt: prompt(), Out: os.Stdout, Clock: time.Now}.Accounts(g),
				a.Allowances(g))
		},
		Extra: []func(*cli.Global) *cobra.Command{
			keys.Commands{Host: host(), Prompt: prompt(), Out: os.Stdout}.Command,
			keys.Profiles{Host: host(), Prompt: prompt(), Out: os.Stdout}.Command,
			tank.Commands{Host: host(), Prompt: prompt(), Out: os.Stdout, Clock: time.Now}.Command,
			keys.Contacts{Host: host(), Prompt: prompt(), In: os.Stdin, Out: os.Stdout}.Command,
			check.Commands{Out: os.Stdout, Catalog: catalog.Load, Clock: time.Now}.Verify,
			check.Commands{Out: os.Stdout, Catalog: catalog.Load, Clock: time.Now}.Intent,
			a.Assets, a.Chains, a.Receive, a.History, a.Status, a.Activity, a.Refund, a.Call, a.Pay, a.Transfer,
			a.Swap, a.Plan, a.Apply, a.Export, a.Lab,
		},
	}
	return p.Run(ctx, args)
}

// actCommands are the actions of the dashboard as commands.
func actCommands() act.Commands {
	p := prompt()
	return act.Commands{
		Open: func(ctx context.Context, g cli.Global) (*act.Session, error) {
			return app.Session(ctx, host(), g, machine())
		},
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Clock: time.Now, Sleep: client.Sleep, Random: rand.Reader,
		Terminal: p.Terminal, Prompt: p, PayingKey: p.PayingKey, Build: cli.ReadBuild(),
	}
}

// startGC is the percentage of garbage that is let live until the first collection, which then comes at 20 MB.
const startGC = 500

// collectLater puts the first collection off. What a start allocates is soon done with, and most of it is no garbage
// yet: looking at it costs more than a few MB for a moment. GOGC still counts where it is set.
func collectLater() {
	if os.Getenv("GOGC") == "" {
		usual := debug.SetGCPercent(startGC)
		runtime.AddCleanup(new([1 << 10]byte), func(percent int) { debug.SetGCPercent(percent) }, usual)
	}
}

// host is what opening a profile needs from this program.
func host() profile.Host {
	return profile.Host{
		Getenv: os.Getenv,
		Embedded: func(ctx context.Context, dir string, e profile.EmbeddedOptions) (profile.Embedded, error) {
			o := service.Options{Kind: network.Embedded, Fund: true, Networks: e.Networks, Credential: e.Credential,
				Tank:     e.Tank.Reveal(),
				Lifetime: cmp.Or(e.Quotes, service.EmbeddedLifetime)}
			if e.RPC != "" {
				o.Nodes = &service.NodesOptions{Listen: e.RPC, Version: clientVersion()}
			}
			a, err := service.OpenOrAttach(ctx, dir, o)
			if err != nil {
				return profile.Embedded{}, ofData(err, dir)
			}
			earlier, left := service.Earlier(dir, a.Network)
			if e.Networks != "" {
				return profile.Embedded{Network: a.Network, BaseURL: a.BaseURL, APIKey: secret.New([]byte(a.APIKey)),
					Transport: a, Tanks: tanksOf(a), Lanes: lanesOf(a), Resume: resumeOf(a),
					Tank: a.Tank, Withdrawals: a.Withdrawals, Close: a.Close}, nil
			}
			return profile.Embedded{Network: a.Network, Earlier: earlier, Left: left, BaseURL: a.BaseURL,
				APIKey: secret.New([]byte(a.APIKey)), Transport: a, Endpoints: endpointsOf(a), Close: a.Close}, nil
		},
		CheckNodes: checkNodes,
		Ask:        prompt().Secret,
	}
}

// checkNodes tries what a network file says, for a set-up.
func checkNodes(ctx context.Context, file string, key networks.Credential) (all []doctor.Finding, err error) {
	s, err := operator.Look(ctx, operator.Options{File: file, Credential: key, Clock: time.Now})
	if err != nil {
		return nil, ofNetwork(err)
	}
	levels := map[operator.State]doctor.Level{operator.Good: doctor.Good, operator.Without: doctor.Warn,
		operator.Missing: doctor.Bad, operator.Unknown: doctor.Unknown}
	for _, c := range s.Chains {
		for _, f := range c.Findings {
			all = append(all, doctor.Finding{Area: fmt.Sprintf("%s (%d)", c.Name, c.ID), Name: f.What,
				Level: levels[f.State], Text: f.Found, Todo: f.Off})
		}
	}
	return all, nil
}

// coinDecimals are those of the native coin of every EVM chain.
const coinDecimals = 18

// tanksOf tells what the gas tank of own nodes has.
func tanksOf(a *service.Attachment) func(context.Context) ([]doctor.Tank, error) {
	return func(ctx context.Context) (all []doctor.Tank, err error) {
		s := a.Service()
		if s == nil {
			return nil, nil
		}
		list, err := s.Tanks(ctx)
		for _, t := range list {
			all = append(all, doctor.Tank{Chain: t.Chain, Has: amount.Human(t.Has, coinDecimals) + " " + t.Symbol,
				Operations: t.Operations()})
		}
		return all, err
	}
}

// lanesOf tells whether the gas tank of own nodes sends, and what there is to know where it does not.
func lanesOf(a *service.Attachment) func(context.Context) ([]doctor.Lane, error) {
	return func(ctx context.Context) (all []doctor.Lane, err error) {
		s := a.Service()
		if s == nil {
			return nil, nil
		}
		for _, l := range s.Lanes(ctx) {
			one := doctor.Lane{ChainID: l.ChainID, Chain: l.Chain, Stopped: l.Stopped != "",
				Why: cmp.Or(l.Stopped, l.Held)}
			if l.Problem != nil {
				err = errors.Join(err, fmt.Errorf("%s: %w", l.Chain, l.Problem))
			}
			if l.Block > 0 {
				one.Known = append(one.Known, fmt.Sprintf("the chain has %d transactions of the key in block %d, "+
					"the gas tank sent %d", l.Used, l.Block, l.Next))
			}
			for _, o := range l.Open {
				one.Known = append(one.Known, fmt.Sprintf("under way with nonce %d: %s, sent as %v", o.Nonce, o.ID,
					o.Hashes))
			}
			all = append(all, one)
		}
		return all, err
	}
}

// resumeOf lets a lane go on.
func resumeOf(a *service.Attachment) func(context.Context, uint64) error {
	return func(ctx context.Context, chainID uint64) error {
		s := a.Service()
		if s == nil {
			return errors.New("another program has the network open: close it, then try again")
		}
		return s.ResumeLane(ctx, chainID)
	}
}

// endpointsOf tells where the chains answer JSON-RPC.
func endpointsOf(a *service.Attachment) func() ([]profile.Endpoint, error) {
	return func() (all []profile.Endpoint, err error) {
		list, err := a.Nodes()
		for _, n := range list {
			all = append(all, profile.Endpoint{Name: n.Name, URL: n.HTTP})
		}
		if errors.Is(err, syscall.EADDRINUSE) {
			err = errors.New("another program listens there: choose another port")
		}
		return all, err
	}
}

// prompt asks the user at the terminal.
func prompt() cli.Prompt {
	p := cli.Prompt{In: os.Stdin, Out: os.Stderr, Terminal: term.IsTerminal(os.Stdin.Fd()) &&
		term.IsTerminal(os.Stderr.Fd())}
	if tui.Dumb(os.Environ()) {
		p.Out = cli.Plain(os.Stderr)
	}
	return p
}

// balances answers `coffer balances`.
func balances(ctx context.Context, g cli.Global) (*api.Document, error) {
	return app.Balances(ctx, host(), g)
}

// earlierBalances answers `coffer balances --earlier`.
func earlierBalances(ctx context.Context, g cli.Global) (all []cli.EarlierBalance, err error) {
	s, err := host().OpenKeys(ctx, g.Profile)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if err = s.Use(g.Account); err != nil {
		return nil, err
	}
	if !s.Profile.Local() {
		return nil, &cli.UsageError{Problem: "the service of this profile is another program's; its data are not here",
			Hint: "ask its operator what your accounts had on the network before"}
	}
	accounts := make([]string, len(s.Accounts))
	for i, a := range s.Accounts {
		accounts[i] = a.AccountAddress
	}
	found, err := service.EarlierBalances(s.Paths.ProfileData(s.Profile.Name), s.Network, accounts)
	for _, b := range found {
		all = append(all, cli.EarlierBalance{Network: b.Network.Fingerprint(), Account: b.Account, Asset: b.Asset,
			Value: b.Value})
	}
	return all, err
}

// openRoles opens a profile for `coffer accounts`.
func openRoles(ctx context.Context, g cli.Global) (roles.Wallet, error) {
	s, err := host().Open(ctx, g.Profile, g.Account)
	if err != nil {
		return roles.Wallet{}, err
	}
	return roles.Wallet{
		Profile: s.Profile.Name, Service: s.Client, Network: s.Network, Catalog: s.Catalog, Accounts: s.Accounts,
		All: s.All, Close: s.Close, Unconfirmed: s.Unconfirmed(), Policy: s.Policy,
		Signer: func() roles.Signer { return s.Signer() },
		Ready:  func(ctx context.Context) error { return app.Ready(ctx, s) },
	}, nil
}

// serve answers `coffer serve`.
func serve(ctx context.Context, o cli.ServeOptions) error {
	dir, err := config.ServiceData(o.Data, os.Getenv)
	if err != nil {
		return err
	}
	if o.SSH.Profile != "" {
		return serveProfile(ctx, o, dir)
	}
	var over func(context.Context, daemon.Inside) (daemon.Beside, error)
	if o.SSH.Listen != "" {
		over = func(ctx context.Context, in daemon.Inside) (daemon.Beside, error) {
			cat, err := catalog.With(filepath.Join(dir, catalog.File))
			if err != nil {
				return daemon.Beside{}, err
			}
			g := app.Guests{Host: host(), Build: cli.ReadBuild(), Machine: machine(), Network: in.Network,
				Catalog: cat, BaseURL: in.BaseURL, Transport: in.Transport, Pass: in.Pass}
			s, reach, err := serveSSH(ctx, o.SSH, dir, in.Log, g)
			if err != nil {
				return daemon.Beside{}, err
			}
			return daemon.Beside{Announced: reach, Lines: reach.Lines(), Open: s.Open, Began: s.Began, Wait: s.Wait},
				nil
		}
	}
	if err := atStake(ctx, o); err != nil {
		return err
	}
	keys := nodeKeys{}
	defer keys.close()
	var records *pg.Address
	if o.Store != "" {
		if records, err = pg.ParseAddress(o.Store); err != nil {
			return ofAddress(err)
		}
	}
	err = daemon.Run(ctx, daemon.Options{
		Keys: o.Keys, Passphrase: prompt().KeysPassphrase, Anyone: true,
		SSH: over, Store: records, Replica: o.Replica, Advertise: o.Advertise, Networks: o.Networks,
		Credential: keys.find,
		Dir:        dir, New: o.New, Listen: o.Listen, Hosts: o.Hosts, Connections: o.Connections, BasePath: o.BasePath,
		Fund: o.Fund, FundLimit: o.FundLimit,
		Private: o.Private, Faults: o.Faults, Lifetime: o.Lifetime, CursorLifetime: o.CursorLifetime,
		Metrics: o.Metrics,
		RPC: service.NodesOptions{Listen: o.RPC, Remote: o.RPCOpen, Hosts: o.Hosts, CORS: o.RPCCORS,
			Version: clientVersion()},
		JSON: o.JSON, LogJSON: o.LogJSON, LogLevel: o.LogLevel, Out: os.Stdout, Log: os.Stderr,
	})
	return ofOptions(ofData(err, dir))
}

// atStake says what an operator of real money stakes, and asks where every account is served.
func atStake(ctx context.Context, o cli.ServeOptions) error {
	if o.Networks == "" {
		return nil
	}
	file, err := networks.Load(o.Networks)
	if err != nil || file.Kind != network.Real || file.Operator == nil {
		return ofNetwork(err)
	}
	p := prompt()
	p.Say(daemon.AtStake(file)...)
	if !file.Operator.Anyone {
		return nil
	}
	return p.ConfirmAnyone(ctx, o.Anyone)
}

// runAttest answers `coffer attest`.
func runAttest(ctx context.Context, o cli.AttestOptions) error {
	dir, err := config.ServiceData(o.Data, os.Getenv)
	if err != nil {
		return err
	}
	if o.Data == "" {
		dir = filepath.Join(dir, "attester")
	}
	keys := nodeKeys{}
	defer keys.close()
	return ofNetwork(ofOptions(daemon.Attest(ctx, daemon.AttestOptions{
		Dir: dir, Keys: o.Keys, Networks: o.Networks, Credential: keys.find, Passphrase: prompt().KeysPassphrase,
		Listen: o.Listen, Hosts: o.Hosts, Connections: o.Connections, Plain: o.Plain, Metrics: o.Metrics, JSON: o.JSON,
		LogJSON: o.LogJSON, LogLevel: o.LogLevel, Out: os.Stdout, Log: os.Stderr,
	})))
}

// runDevnet answers `coffer devnet`.
func runDevnet(ctx context.Context, o cli.DevnetOptions) (err error) {
	dir := ""
	if o.Data != "" {
		if dir, err = config.ServiceData(o.Data, os.Getenv); err != nil {
			return err
		}
	}
	err = daemon.Devnet(ctx, daemon.DevnetOptions{
		Dir: dir, Listen: o.Listen, Service: o.Service, PerPort: o.PortPer, Remote: o.AllowRemote, Hosts: o.Hosts,
		CORS: o.CORS, Fund: o.Fund, Dev: o.Dev, Version: clientVersion(), JSON: o.JSON, Out: os.Stdout, Log: os.Stderr,
	})
	return ofOptions(ofData(err, dir))
}

// networkCommands answers `coffer network`.
type networkCommands struct{}

// Init writes a network file.
func (networkCommands) Init(ctx context.Context, o cli.NetworkInit) error {
	options := operator.InitOptions{File: o.Out, Kind: o.Kind, Chains: o.Chains, Tokens: o.Tokens, JSON: o.JSON,
		Owner: o.Owner, Out: os.Stdout}
	if p := prompt(); p.Terminal {
		options.Ask = p.Line
	}
	return ofNetwork(operator.Init(ctx, options))
}

// Check tries what a network file says.
func (networkCommands) Check(ctx context.Context, g cli.Global, file string, asJSON bool) error {
	keys := nodeKeys{profile: g.Profile}
	defer keys.close()
	return ofNetwork(operator.Check(ctx, networkOptions(file, asJSON, &keys)))
}

// Deploy puts contracts on the chains of a network file.
func (networkCommands) Deploy(ctx context.Context, g cli.Global, o cli.NetworkDeploy) error {
	p := prompt()
	keys := nodeKeys{profile: g.Profile}
	defer keys.close()
	return ofNetwork(operator.Deploy(ctx, operator.DeployOptions{
		Options: networkOptions(o.File, o.JSON, &keys), DryRun: o.DryRun,
		Signer:  payingSigner(p, o.KeyFile),
		Confirm: func(ctx context.Context, payer string) error { return p.ConfirmDeploy(ctx, o.Yes, payer) },
	}))
}

// Genesis prints the first block of a private chain.
func (networkCommands) Genesis(_ context.Context, o cli.NetworkGenesis) (err error) {
	var block bytes.Buffer
	err = operator.Genesis(operator.GenesisOptions{ChainID: o.ChainID, Fund: o.Fund, PlayMoney: o.PlayMoney,
		Time: uint64(time.Now().Unix()), Out: &block})
	if err != nil {
		return ofNetwork(err)
	}
	out := os.Stdout
	if o.Out != "" {
		if out, err = os.OpenFile(o.Out, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600); err != nil {
			return cli.InFile(err)
		}
		defer func() { err = errors.Join(err, out.Close()) }()
	}
	_, err = block.WriteTo(out)
	return err
}

// Resume lets the gas tank of a profile on own nodes, or the service of an operator, send again on a chain on which it
// stopped.
func (networkCommands) Resume(ctx context.Context, g cli.Global, r cli.NetworkResume) (err error) {
	p := prompt()
	confirm := func(say ...string) error {
		p.Say(say...)
		return p.ConfirmResume(ctx, r.Yes)
	}
	if r.Operated {
		dir, err := config.ServiceData(r.Data, os.Getenv)
		if err != nil {
			return err
		}
		name, err := daemon.Resume(ctx, dir, r.Chain, confirm)
		if err == nil {
			p.Say("It sends again on " + name + ".")
		}
		return ofOptions(ofData(err, dir))
	}
	o, err := host().OpenKeys(ctx, g.Profile)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, o.Close()) }()
	if !o.Profile.OwnNodes() {
		return &cli.UsageError{Problem: fmt.Sprintf("profile %q is not on own nodes", o.Profile.Name),
			Hint: "name the data directory of an operator's service with --data"}
	}
	lanes, unread := o.Lanes(ctx)
	for _, l := range lanes {
		info, _ := o.Catalog.Chain(caip.EVM(l.ChainID))
		if !slices.ContainsFunc([]string{info.Name, info.Short, strconv.FormatUint(l.ChainID, 10)},
			func(s string) bool { return strings.EqualFold(s, r.Chain) }) {
			continue
		}
		if !l.Stopped {
			return &cli.UsageError{Problem: "the gas tank has not stopped on " + l.Chain, Hint: l.Why}
		}
		if err := confirm(append([]string{"On " + l.Chain + " the gas tank " + o.Network.Pins.Operator.Hex() +
			" sends nothing: " + l.Why + "."}, l.Known...)...); err != nil {
			return err
		}
		if err := o.Resume(ctx, l.ChainID); err != nil {
			return err
		}
		p.Say("It sends again on " + l.Chain + ".")
		return nil
	}
	return errors.Join(&cli.UsageError{Problem: fmt.Sprintf("%q is no chain of profile %q, or another program has its "+
		"network open", r.Chain, o.Profile.Name)}, unread)
}

// Status shows an operator how its network is.
func (networkCommands) Status(ctx context.Context, g cli.Global, o cli.NetworkStatus) error {
	dir, err := config.ServiceData(o.Data, os.Getenv)
	if err != nil {
		return err
	}
	keys := nodeKeys{profile: g.Profile}
	defer keys.close()
	return ofData(ofNetwork(daemon.Status(ctx, daemon.StatusOptions{Dir: dir, Networks: o.File, Credential: keys.find,
		JSON: o.JSON, Out: os.Stdout})), dir)
}

// Owner carries out an order of the owner of an operator's filler.
func (networkCommands) Owner(ctx context.Context, g cli.Global, f cli.NetworkOwner) error {
	p := prompt()
	keys := nodeKeys{profile: g.Profile}
	defer keys.close()
	o := operator.OwnerOptions{
		Options: networkOptions(f.File, f.JSON, &keys), Chains: f.Chains, DryRun: f.DryRun, Print: f.Print,
		Order:   operator.Order{Kind: f.Kind, Key: f.Key, To: f.To, Asset: f.Asset, Amount: f.Amount, Refill: f.Refill},
		Signer:  payingSigner(p, f.KeyFile),
		Confirm: func(ctx context.Context, payer string) error { return p.ConfirmSend(ctx, f.Yes, payer) },
	}
	if f.Safe != "" {
		o.Safe = safeWriter(f.Safe)
	}
	return ofNetwork(operator.Own(ctx, o))
}

// Rebalance says which chain has too much inventory.
func (networkCommands) Rebalance(ctx context.Context, g cli.Global, f cli.NetworkRebalance) error {
	dir, err := config.ServiceData(f.Data, os.Getenv)
	if err != nil {
		return err
	}
	keys := nodeKeys{profile: g.Profile}
	defer keys.close()
	o := daemon.RebalanceOptions{StatusOptions: daemon.StatusOptions{Dir: dir, Networks: f.File, Credential: keys.find,
		JSON: f.JSON, Out: os.Stdout}, Shares: f.Shares, Assets: f.Assets, To: f.To}
	if f.Safe != "" {
		o.Safe = safeWriter(f.Safe)
	}
	return ofOptions(ofData(ofNetwork(daemon.Rebalance(ctx, o)), dir))
}

// payingSigner asks for the key that sends.
func payingSigner(p cli.Prompt, file string) func(context.Context) (signers.EVM, error) {
	return func(ctx context.Context) (signers.EVM, error) {
		key, err := p.PayingKey(ctx, file)
		if err != nil {
			return nil, err
		}
		defer key.Wipe()
		private, err := crypto.ToECDSA(key.Reveal())
		if err != nil {
			return nil, err
		}
		return signers.Local(private), nil
	}
}

// safeWriter writes the calls of a chain for the Safe Transaction Builder, to a new file.
func safeWriter(file string) func(bool, uint64, []operator.OwnerCall) (string, error) {
	return func(several bool, chain uint64, calls []operator.OwnerCall) (string, error) {
		d := intent.Draft{TargetChain: caip.EVM(chain).String()}
		for _, c := range calls {
			d.Calls = append(d.Calls, intent.Call{To: c.To, Value: c.Value, Data: c.Data, Function: c.Function})
		}
		raw, err := intent.ToSafe(d, time.Now())
		if err != nil {
			return "", err
		}
		name := cli.SafeName(file, several, chain)
		out, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil {
			return "", cli.InFile(err)
		}
		_, err = out.Write(raw)
		return name, errors.Join(err, out.Close())
	}
}

func networkOptions(file string, asJSON bool, keys *nodeKeys) operator.Options {
	return operator.Options{File: file, Credential: keys.find, Clock: time.Now, JSON: asJSON, Out: os.Stdout}
}

// nodeKeys are what nodes ask for while a command works on a network file: out of the vault of the profile, or typed
// where none is named.
type nodeKeys struct {
	profile string
	opened  *profile.Opened
	taken   map[networks.Need]secret.Secret
}

// find takes each key once.
func (k *nodeKeys) find(ctx context.Context, name, at string) (string, error) {
	need := networks.Need{Name: name, Host: at}
	if key, found := k.taken[need]; found {
		return string(key.Reveal()), nil
	}
	key, err := k.take(ctx, name, at)
	if err != nil {
		return "", err
	}
	if k.taken == nil {
		k.taken = map[networks.Need]secret.Secret{}
	}
	k.taken[need] = key
	return string(key.Reveal()), nil
}

func (k *nodeKeys) take(ctx context.Context, name, at string) (key secret.Secret, err error) {
	if k.profile == "" {
		return prompt().NodeKey(ctx, "", name, at)
	}
	if k.opened == nil {
		if k.opened, err = host().OpenVault(ctx, k.profile); err != nil {
			return key, err
		}
	}
	return k.opened.NodeKey(ctx, name, at)
}

// close wipes the keys.
func (k *nodeKeys) close() {
	for _, key := range k.taken {
		key.Wipe()
	}
	if k.opened != nil {
		_ = k.opened.Close() // the vault was only read
	}
}

// ofNetwork makes a fault of a network file, or of an answer, an error of the command line.
func ofNetwork(err error) error {
	var wrong *operator.InputError
	switch {
	case errors.As(err, &wrong):
		return &cli.UsageError{Problem: wrong.Problem, Hint: wrong.Hint}
	case networks.Missing(err):
		return &cli.UsageError{Problem: err.Error(), Hint: "coffer network init writes a network file"}
	}
	return err
}

// clientVersion is what an endpoint says of itself.
func clientVersion() string {
	return "Coffer/" + cli.ReadBuild().Version + "/" + runtime.GOOS + "-" + runtime.GOARCH + "/" + runtime.Version()
}

// ofOptions makes an option that cannot be carried out an error of the command line.
func ofOptions(err error) error {
	var wrong *daemon.OptionError
	if errors.As(err, &wrong) {
		return &cli.UsageError{Problem: wrong.Problem, Hint: wrong.Hint}
	}
	return err
}

// serveSSH serves dashboards over SSH until ctx ends.
func serveSSH(ctx context.Context, o cli.ServeSSH, dir string, log *slog.Logger, g app.Guests) (*sshd.Server,
	cli.SSHReach, error) {
	if err := sshd.CheckAddress(o.Listen, o.Open); err != nil {
		return nil, cli.SSHReach{}, &cli.UsageError{Problem: err.Error()}
	}
	s, err := sshd.Start(ctx, sshd.Options{
		Listen: o.Listen, Open: o.Open, Dir: filepath.Join(dir, "ssh"), Keys: o.Keys, Idle: o.Idle, Max: o.Max,
		Sessions: o.Sessions, Log: log, Show: g.Show,
	})
	if err != nil {
		return nil, cli.SSHReach{}, err
	}
	reach := cli.SSHReach{Address: s.Addr.String(), HostKey: s.HostKey, Fingerprint: s.Fingerprint,
		KeysFile: s.KeysFile, Keys: s.Guests}
	if g.Showcase != nil {
		reach.Profile = g.Showcase.Name()
	}
	return s, reach, nil
}

// serveProfile serves dashboards that look at the remote service of a profile.
func serveProfile(ctx context.Context, o cli.ServeOptions, dir string) error {
	shown, err := host().Showcase(ctx, o.SSH.Profile)
	if err != nil {
		return err
	}
	defer shown.Wipe()
	log := daemon.NewLog(daemon.Options{LogJSON: o.LogJSON, LogLevel: o.LogLevel, Log: os.Stderr})
	s, reach, err := serveSSH(ctx, o.SSH, dir, log, app.Guests{Host: host(), Build: cli.ReadBuild(),
		Machine: machine(), Showcase: shown})
	if err != nil {
		return err
	}
	if err := reach.Announce(os.Stdout, o.JSON); err != nil {
		return err
	}
	return s.Wait()
}

// keyCommands answers `coffer serve keys`.
type keyCommands struct{}

// Add makes a key.
func (keyCommands) Add(ctx context.Context, data string, r cli.KeyRequest) (cli.GivenKey, error) {
	spec := access.KeySpec{
		Company: r.Company, Project: r.Project, UseCase: r.UseCase, Volume: r.Volume, Chains: r.Chains,
		Assets:      r.Assets,
		Permissions: r.Permissions, Endpoints: r.Endpoints, PerMinute: r.PerMinute, Concurrent: r.Concurrent,
		FundLimit: r.FundLimit,
		Expires:   r.Expires, PublicTest: r.PublicTest,
	}
	if r.ExpiresIn > 0 {
		spec.Expires = time.Now().Add(r.ExpiresIn)
	}
	dir, err := config.ServiceData(data, os.Getenv)
	if err != nil {
		return cli.GivenKey{}, err
	}
	text, key, err := daemon.Keys{Dir: dir}.Add(ctx, spec)
	return cli.GivenKey{Text: text, Key: keyLine(key)}, ofData(err, dir)
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
	return all, ofData(err, dir)
}

// Rotate gives a key a new text.
func (keyCommands) Rotate(ctx context.Context, data, id string, grace time.Duration) (cli.GivenKey, error) {
	dir, err := config.ServiceData(data, os.Getenv)
	if err != nil {
		return cli.GivenKey{}, err
	}
	text, key, err := daemon.Keys{Dir: dir}.Rotate(ctx, id, grace)
	return cli.GivenKey{Text: text, Key: keyLine(key)}, ofData(err, dir)
}

// Revoke ends a key.
func (keyCommands) Revoke(ctx context.Context, data, id string) (cli.Key, error) {
	dir, err := config.ServiceData(data, os.Getenv)
	if err != nil {
		return cli.Key{}, err
	}
	key, err := daemon.Keys{Dir: dir}.Revoke(ctx, id)
	return keyLine(key), ofData(err, dir)
}

// machine names this machine as a lock does.
func machine() string {
	name, _ := os.Hostname()
	return name
}

// keyLine is a key as the command line shows it; lists are never null.
func keyLine(i access.KeyInfo) cli.Key {
	list := func(of []string) []string { return append([]string{}, of...) }
	return cli.Key{
		ID: i.ID, State: i.State(time.Now()), Company: i.Company, Project: i.Project, UseCase: i.UseCase,
		Volume: i.Volume,
		Chains: list(i.Chains), Assets: list(i.Assets), Permissions: list(i.Permissions), Endpoints: list(i.Endpoints),
		PerMinute: i.PerMinute, Concurrent: i.Concurrent, FundLimit: i.FundLimit, PublicTest: i.PublicTest,
		Created: i.Created, Rotated: i.Rotated, PreviousUntil: i.PreviousUntil, Expires: i.Expires, Revoked: i.Revoked,
	}
}

// appOptions puts together the options of the dashboard: for whom it runs and on which terminal.
func appOptions(g cli.Global) app.Options {
	h, asks := host(), prompt()
	h.Endpoints = true
	if g.Linear {
		asks.Out = cli.Plain(os.Stderr)
		h.Ask = asks.Secret
	}
	return app.Options{
		Host: h, Global: g, Build: cli.ReadBuild(), Env: os.Environ(), In: os.Stdin, Out: os.Stdout, Machine: machine(),
		Secret: asks.Secret, Abort: func() { os.Exit(cli.ExitFailed) }, Confirm: keys.Confirm{Prompt: asks}.Ask,
	}
}

// dashboard opens the screens on a profile, or the line-by-line dialogue.
func dashboard(ctx context.Context, g cli.Global) error { return app.Run(ctx, appOptions(g)) }

// setUp walks the user through the set-up of a profile and opens it; with usual, it sets one up without questions.
func setUp(ctx context.Context, g cli.Global, usual bool) error {
	g.Linear = g.Linear || tui.Dumb(os.Environ())
	asks := prompt()
	if g.Linear {
		asks.Out = cli.Plain(os.Stderr)
	}
	lines := keys.SetUp{Host: host(), Prompt: asks, Out: os.Stdout, Random: rand.Reader}
	if usual {
		return lines.Quick(ctx, g.Profile)
	}
	ask := lines.Lines
	if !g.Linear {
		ask = func(ctx context.Context) (string, error) { return app.SetUp(ctx, appOptions(g)) }
	}
	name, err := ask(ctx)
	if err != nil || name == "" {
		return err
	}
	g.Profile = name
	return dashboard(ctx, g)
}

// terminal returns what is known about the terminal; without one, only what the environment says.
func terminal() doctor.Terminal {
	t := doctor.TerminalOf(os.Getenv)
	t.MinW, t.MinH = tui.MinWidth, tui.MinHeight
	t.Width, t.Height, _ = term.GetSize(os.Stdout.Fd())
	colours, ascii := tui.Abilities(os.Environ())
	t.Colors, t.ASCII = settings.ColourWords(colours), ascii
	return t
}

// examine answers `coffer doctor`. It examines a profile that does not open as far as possible.
func examine(ctx context.Context, g cli.Global) ([]doctor.Finding, doctor.Deps, error) {
	d, done := host().Examine(ctx, g.Profile, cli.ReadBuild(), terminal())
	defer done()
	return doctor.Run(ctx, d), d, nil
}

// storeCommands answers `coffer serve check` and `coffer serve backup`.
type storeCommands struct{}

// Check reads a database.
func (storeCommands) Check(_ context.Context, data, file string) error {
	dir, err := config.ServiceData(data, os.Getenv)
	if err != nil {
		return err
	}
	err = daemon.Check(dir, file, os.Stdout)
	if file == "" {
		return ofFile(ofData(err, dir))
	}
	if service.IsDamage(err) {
		return &cli.DataError{Err: err,
			Hint: "this file is no good backup: check another one, or make a new one with coffer serve backup FILE"}
	}
	return ofFile(err)
}

// Backup copies a database.
func (storeCommands) Backup(ctx context.Context, data, file string) error {
	dir, err := config.ServiceData(data, os.Getenv)
	if err != nil {
		return err
	}
	err = daemon.Backup(ctx, dir, file, os.Stdout)
	if errors.Is(err, service.ErrBadCopy) { // a bad copy does not mean a damaged directory
		return &cli.DataError{Err: err,
			Hint: "put the copy in another place; if that fails too, stop the service and run coffer serve check"}
	}
	return ofFile(ofData(err, dir))
}

// Export copies the records of a database of PostgreSQL to a file.
func (storeCommands) Export(ctx context.Context, data, address, file string) error {
	dir, err := config.ServiceData(data, os.Getenv)
	if err != nil {
		return err
	}
	var from *pg.Address
	if address != "" {
		if from, err = pg.ParseAddress(address); err != nil {
			return ofAddress(err)
		}
	}
	return ofFile(ofAddress(daemon.Export(ctx, dir, from, file, os.Stdout)))
}

// Import copies the records of a file into a database of PostgreSQL.
func (storeCommands) Import(ctx context.Context, file, address string) error {
	to, err := pg.ParseAddress(address)
	if err != nil {
		return ofAddress(err)
	}
	return ofFile(daemon.Import(ctx, file, to, os.Stdout))
}

// ofAddress makes an address of a database that cannot be used an error of the command line.
func ofAddress(err error) error {
	if wrong, is := errors.AsType[*pg.AddressError](err); is {
		return &cli.UsageError{Problem: wrong.Problem, Hint: wrong.Hint}
	}
	return err
}

// ofFile marks an error about a named file as an error of the command line.
func ofFile(err error) error {
	if errors.Is(err, service.ErrExists) || errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return cli.InFile(err)
	}
	return err
}

// ofData adds the remedy to the error of a data directory whose network is damaged or lost.
func ofData(err error, dir string) error {
	var tank *remotenet.TankError
	if errors.As(err, &tank) {
		return &cli.DataError{Err: err, Hint: fmt.Sprintf("restore the backup of the keys that has it: coffer keys "+
			"restore FILE\nor move %q aside and begin with another tank; what the first one holds stays there", dir)}
	}
	if err == nil || !service.IsDamage(err) {
		return err
	}
	return &cli.DataError{Err: err, Hint: fmt.Sprintf("restore a backup: put it in the place of coffer.db in %s\n"+
		"or begin a new network, on purpose: coffer serve --new --data %q moves what is there aside and deletes "+
		"nothing", dir, dir)}
}
