package daemon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/network"
	"coffer/api/op/solmsg"
	"coffer/api/service"
	"coffer/api/service/devclock"
	"coffer/api/service/store"
)

// DevnetOptions say which development network is run. Dir is its data directory, absolute; "" keeps everything in
// memory, beside a temporary directory for what clients read.
type DevnetOptions struct {
	Dir     string
	Listen  string   // host:port of the endpoints
	Service string   // host:port of the service; "" takes port 8443, or a free one where Listen does
	PerPort bool     // a port for every chain
	Remote  bool     // other machines may reach both
	Hosts   []string // further names of this machine
	CORS    []string // origins of web pages that may call the endpoints
	Fund    []string // further addresses that are funded, of EVM accounts or of Solana's
	Dev     bool     // test suites may change state without a signature, and move the clock
	Version string   // of the program
	JSON    bool     // print one line of JSON
	Out     io.Writer
	Log     io.Writer
}

// defaultService is the port of a devnet's service, unless the endpoints take free ones.
const defaultService = "8443"

// Devnet runs a development network until ctx ends: the service, and an endpoint for every chain.
func Devnet(ctx context.Context, o DevnetOptions) (err error) {
	evm, onSolana, err := addresses(o.Fund)
	if err != nil {
		return err
	}
	host, port, err := net.SplitHostPort(o.Listen)
	if err != nil {
		return &OptionError{Problem: "--listen takes an address and a port, such as 127.0.0.1:8545"}
	}
	if o.Service == "" {
		o.Service = net.JoinHostPort(host, defaultService)
		if port == "0" {
			o.Service = net.JoinHostPort(host, "0")
		}
	}
	for name, address := range map[string]string{"--listen": o.Listen, "--service": o.Service} {
		if err := service.CheckLocal(ctx, address, o.Remote); err != nil {
			return &OptionError{Problem: name + ": " + err.Error(),
				Hint: "--allow-remote lets other machines reach the devnet; its keys are known to everybody"}
		}
	}
	log := NewLog(Options{LogLevel: slog.LevelWarn, Log: o.Log})
	accounts := devAccounts()
	keyed := make([]common.Address, len(accounts))
	for i, a := range accounts {
		keyed[i] = a.at
	}
	options := service.Options{Kind: network.Lab, Fund: true, Log: log, Lifetime: service.EmbeddedLifetime,
		Endow: keyed, Clock: time.Now}
	var dev *service.Dev
	if o.Dev {
		dev = &service.Dev{Clock: devclock.New(nil), Accounts: keyed}
		options.Clock = dev.Clock.Now
	}
	s, dir, certified, closeAll, err := o.open(ctx, options)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeAll()) }()
	if err := s.Endow(ctx, keyed, true, nil); err != nil {
		return err
	}
	if err := s.Endow(ctx, evm, false, onSolana); err != nil {
		return err
	}
	nodes, err := s.ServeNodes(ctx, service.NodesOptions{Listen: o.Listen, PerPort: o.PerPort, Remote: o.Remote,
		Hosts: o.Hosts, CORS: o.CORS, Version: o.Version, Log: log, Dev: dev})
	if err != nil {
		return taken(o.Listen, err)
	}
	defer func() { err = errors.Join(err, nodes.Close()) }()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	running, err := s.Serve(ctx, service.ServeOptions{Listen: o.Service, Dir: dir, Host: o.Hosts,
		Certified: certified})
	if err != nil {
		return takenBy(o.Service, "--service", err)
	}
	err = devReach{
		Accounts: accounts, Notes: nodes.Notes, funded: o.Fund, kept: o.Dir != "",
		reach: reach{BaseURL: running.BaseURL, CAFile: running.CAFile, APIKey: s.APIKey(),
			NetworkFile: filepath.Join(dir, service.NetworkFile), Endpoints: nodes.List},
	}.announce(o.Out, o.JSON, s.Network().Fingerprint())
	if err != nil {
		stop()
		return errors.Join(err, running.Wait())
	}
	return running.Wait()
}

// open opens the service, and says in which directory its files for clients are. Nobody else uses a temporary one, so
// what TLS needs is made there meanwhile.
func (o DevnetOptions) open(ctx context.Context, options service.Options) (s *service.Service, dir string,
	certified *service.Certified, closeAll func() error, err error) {
	if o.Dir != "" {
		options.StoredKeys = true
		a, err := openHere(ctx, o.Dir, options)
		if err != nil {
			return nil, "", nil, nil, err
		}
		return a.Service(), o.Dir, nil, a.Close, nil
	}
	if dir, err = os.MkdirTemp("", "coffer-devnet-"); err != nil {
		return nil, "", nil, nil, err
	}
	certified = service.Certify(dir, o.Hosts, options.Clock())
	options.Store, options.Dir, options.Passing = store.NewMemory(), dir, true
	if s, err = service.Open(options); err != nil {
		return nil, "", nil, nil, errors.Join(err, os.RemoveAll(dir))
	}
	return s, dir, certified, func() error {
		return errors.Join(s.Close(), options.Store.Close(), os.RemoveAll(dir))
	}, nil
}

// addresses reads those that are funded.
func addresses(all []string) (evm []common.Address, onSolana []solmsg.Key, err error) {
	for _, text := range all {
		if a, err := caip.ParseAddress(text); err == nil {
			evm = append(evm, a)
		} else if k, err := solmsg.ParseKey(text); err == nil {
			onSolana = append(onSolana, k)
		} else {
			return nil, nil, &OptionError{Problem: "--fund takes an EVM address (0x and 40 digits) or a Solana one"}
		}
	}
	return evm, onSolana, nil
}

// devAccount is a funded account of every devnet.
type devAccount struct {
	Address    string `json:"address"`
	PrivateKey string `json:"privateKey"`
	at         common.Address
}

// devAccounts are the first ten accounts of the words that development networks use, `test test test test test test
// test test test test test junk`, at m/44'/60'/0'/0/0 to 9. Everybody knows their keys. Addresses are not computed: the
// first use of the curve takes milliseconds.
func devAccounts() []devAccount {
	lines := strings.Fields(`
0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266 0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80
0x70997970C51812dc3A010C7d01b50e0d17dc79C8 0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d
0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC 0x5de4111afa1a4b94908f83103eb1f1706367c2e68ca870fc3fb9a804cdab365a
0x90F79bf6EB2c4f870365E785982E1f101E93b906 0x7c852118294e51e653712a81e05800f419141751be58f605c371e15141b007a6
0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65 0x47e179ec197488593b187f80a00eb0da91f1b9d0b13f8733639f19c30a34926a
0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc 0x8b3a350cf5c34c9194ca85829a2df0ec3153be0318b5e2d3348e872092edffba
0x976EA74026E726554dB657fA54763abd0C3a0aa9 0x92db14e403b83dfe3df233f83dfa3a0d7096f21ca9b0d6d6b8d88b2b4ec1564e
0x14dC79964da2C08b23698B3D3cc7Ca32193d9955 0x4bbbf85ce3377467afe5d46f804f221813b2bb87f24d81f60f1fcdbf7cbf4356
0x23618e81E3f5cdF7f54C3d65f7FBc0aBf5B21E8f 0xdbda1821b80551c9d65939329250298aa3472ba22feea921c0cf5d620ea67b97
0xa0Ee7A142d267C1f36714E4a8F75612F20a79720 0x2a871d0798f97d79848a013d4936a73bf4cc922c825d33c1cf7073dff6d409c6`)
	all := make([]devAccount, 0, len(lines)/2)
	for l := range slices.Chunk(lines, 2) {
		all = append(all, devAccount{Address: l[0], PrivateKey: l[1], at: common.HexToAddress(l[0])})
	}
	return all
}

// devReach is how a devnet is reached.
type devReach struct {
	reach
	Accounts []devAccount `json:"accounts"`
	Notes    []string     `json:"notes,omitempty"`

	funded []string
	kept   bool
}

// announce tells it in one line of JSON, or in tables for people.
func (r devReach) announce(out io.Writer, asJSON bool, fingerprint string) error {
	if asJSON {
		line, err := api.Encode(r)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(out, "%s\n", line.Raw())
		return err
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "chain\tid\tHTTP\tWebSocket")
	for _, e := range r.Endpoints {
		id := "-"
		if e.ID != 0 {
			id = fmt.Sprint(e.ID)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", e.Name, id, e.HTTP, e.WebSocket)
	}
	fmt.Fprintln(w, "\naccount, funded on every EVM chain\tprivate key, known to everybody")
	for _, a := range r.Accounts {
		fmt.Fprintf(w, "%s\t%s\n", a.Address, a.PrivateKey)
	}
	for _, a := range r.funded {
		fmt.Fprintf(w, "%s\tyours\n", a)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	lines := []string{"", "service  " + r.BaseURL, "ca file  " + r.CAFile, "network  " + r.NetworkFile,
		"         " + fingerprint}
	if r.APIKey != "" {
		lines = append(lines, "api key  "+r.APIKey)
	} else {
		lines = append(lines, "api key  the stored ones (`coffer serve keys list`)")
	}
	lines = append(lines, fmt.Sprintf("wallet   coffer profile add devnet --kind lab --url %s --network-file %q "+
		"--ca-file %q --fingerprint %q --vault file", r.BaseURL, r.NetworkFile, r.CAFile, fingerprint),
		"         and then, each with --profile devnet: coffer keys init, coffer keys api-key set, coffer keys new")
	for _, n := range r.Notes {
		lines = append(lines, "note     "+n)
	}
	end := "end      Ctrl-C; the data stay in the data directory"
	if !r.kept {
		end = "end      Ctrl-C; everything is in memory and gone then"
	}
	_, err := fmt.Fprintln(out, strings.Join(append(lines, end), "\n"))
	return err
}
