// Package profile opens what the user has set up: the network, the vault and the service of a profile, with its
// accounts and its policy.
//
// Promise: the network comes from the profile, never from the service; the API key comes from the vault, or from the
// user where the profile keeps nothing; a vault opens only where the profile places it. Nothing here signs. Everything
// that needs a key gets it from the vault for the length of one signature (package vault).
//
// Errors: a fault of the profile is a *cli.UsageError that names the command to run; a vault that does not open is an
// error of package vault; a broken configuration is a *config.Error. Sources: protocol §4.2, TH-K7, C3.
package profile

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/catalog"
	"coffer/api/client"
	"coffer/api/client/httplog"
	"coffer/api/client/replay"
	"coffer/api/gastank"
	"coffer/api/network"
	"coffer/api/networks"
	"coffer/api/secret"
	"coffer/assets"
	"coffer/config"
	"coffer/ui/cli"
	"coffer/ui/doctor"
	"coffer/wallet/chainview"
	"coffer/wallet/flow"
	"coffer/wallet/policy"
	"coffer/wallet/sign"
	"coffer/wallet/vault"
	"coffer/wallet/verify"
)

// Embedded is a service inside this program, or one in another process that has the same data open. Earlier are the
// networks of the same data whose place Network took; Left says, in a line each, what of them did not end or could not
// be read.
type Embedded struct {
	Network   network.Descriptor
	Earlier   []network.Descriptor
	Left      []string
	BaseURL   string
	APIKey    secret.Secret
	Transport http.RoundTripper
	// Endpoints are those that the chains have in this process now; the error says why there is none that was asked
	// for. Nil: there are never any.
	Endpoints func() ([]Endpoint, error)
	// Tanks tells what pays for gas on each chain of own nodes. Nil on other networks, and where another process has
	// the service.
	Tanks func(context.Context) ([]doctor.Tank, error)
	// Lanes tells whether the gas tank's lane on each chain works, and Resume lets one that stopped go on. Nil where
	// Tanks is.
	Lanes  func(context.Context) ([]doctor.Lane, error)
	Resume func(ctx context.Context, chainID uint64) error
	// Tank tells all that is known of the gas tank, also where another process has the service; Withdrawals take coins
	// out of it, and are nil there. Both functions are nil on other networks.
	Tank        func(ctx context.Context, accounts ...string) (gastank.Report, error)
	Withdrawals func() gastank.Withdrawals
	Close       func() error
}

// Endpoint is where a chain answers JSON-RPC.
type Endpoint struct{ Name, URL string }

// EmbeddedOptions say how a service inside this program runs: how long its quotes may be accepted (0: its default; one
// that is open already keeps its own), and where its chains answer JSON-RPC ("": nowhere). Networks is the
// networks.toml of own nodes, Credential finds the keys that they ask for, and Tank is the key of the gas tank where a
// vault keeps it; "": the chains are inside this program as well.
type EmbeddedOptions struct {
	Quotes        time.Duration
	RPC, Networks string
	Credential    networks.Credential
	Tank          secret.Secret
}

// Host is what the program supplies. Embedded opens the service on the data of a directory; Ask asks for a secret on
// the terminal, without echo, and fails without a terminal; Getenv is os.Getenv outside tests.
type Host struct {
	Getenv   func(string) string
	Embedded func(ctx context.Context, dir string, o EmbeddedOptions) (Embedded, error)
	Ask      func(ctx context.Context, question string) (secret.Secret, error)
	// Endpoints opens those that an embedded profile names: a dashboard does, a command does not.
	Endpoints bool
	// CheckNodes tries everything that a networks.toml names. The area of a finding is its chain; with one that is bad
	// the network does not open. An error says that nothing could be tried.
	CheckNodes func(ctx context.Context, file string, key networks.Credential) ([]doctor.Finding, error)
	// Keyring replaces the system's, and WorkFactor the vault's, for tests.
	Keyring    vault.Keyring
	WorkFactor int
	// Log, when set, sees every exchange with the service. Record, when not empty, is the directory of a recording
	// that begins when a profile is opened and ends when it is closed. Neither sees the API key.
	Log    *httplog.Log
	Record string

	vaultOnly bool // see OpenVault
}

// Opened is an opened profile. Demo is nil unless the profile runs on the published demo key.
type Opened struct {
	Profile  config.Profile
	Paths    config.Paths
	Where    string // of the service, for display
	Client   *client.Client
	Catalog  *catalog.Catalog
	Network  network.Descriptor
	Accounts []api.Account // those that are used: one EVM account, and the Solana account
	All      []api.Account // in the order of the configuration
	Demo     *assets.Demo
	Book     *Book

	host   Host
	vault  *vault.Vault    // nil when the profile keeps nothing
	memory *vault.Memory   // nil when the profile has a vault
	local  *Embedded       // the service inside this program; nil for a remote one
	player *replay.Player  // nil unless this is a replay
	guest  *Guest          // nil unless a guest uses it
	view   *chainview.View // nil where no nodes are named
	tags   tags
	listed map[string]bool // the aggregates that the service can be asked about; nil is all
	change *Change         // nil when there is nothing to confirm
	saves  saves
	close  []func() error
}

// Find reads the configuration and returns the named profile, or the default one when name is empty.
func (h Host) Find(name string) (config.Profile, config.Paths, error) {
	paths, file, err := config.Find(h.Getenv)
	if err != nil {
		return config.Profile{}, paths, err
	}
	p, err := file.Profile(name)
	if err != nil {
		return p, paths, &cli.UsageError{Problem: err.Error()}
	}
	return p, paths, nil
}

// Catalog is what a profile knows: what is shipped, and what the file in its data directory adds; on own nodes what
// networks.toml names.
func (h Host) Catalog(name string) (*catalog.Catalog, error) {
	p, paths, err := h.Find(name)
	if err != nil {
		return catalog.Load() // whoever needs the profile reports what is wrong with it
	}
	if p.OwnNodes() {
		file, err := networks.Load(p.Networks)
		if err != nil {
			return nil, cli.InFile(err)
		}
		return file.Catalog()
	}
	c, err := catalog.With(filepath.Join(paths.ProfileData(p.Name), catalog.File))
	return c, cli.InFile(err)
}

// Open opens a profile with everything needed to read and to quote with one of its EVM accounts; "" is the default. The
// vault of an embedded profile stays locked until a key is needed; that of a remote one is unlocked for its API key.
func (h Host) Open(ctx context.Context, name, account string) (*Opened, error) {
	o, err := h.open(ctx, name, account)
	if err != nil {
		return nil, err
	}
	if err = o.connect(ctx); err == nil {
		err = o.openView(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, o.Close())
	}
	return o, nil
}

// OpenKeys opens a profile for its keys alone: it asks the service nothing.
func (h Host) OpenKeys(ctx context.Context, name string) (*Opened, error) {
	h.Record = ""
	return h.open(ctx, name, "")
}

// OpenVault opens a profile for its vault alone: where that needs no service, none is opened. It asks no node: the keys
// that nodes ask for are in there.
func (h Host) OpenVault(ctx context.Context, name string) (*Opened, error) {
	h.Record, h.vaultOnly = "", true
	return h.open(ctx, name, "")
}

func (h Host) open(ctx context.Context, name, account string) (*Opened, error) {
	p, paths, err := h.Find(name)
	if err != nil {
		return nil, err
	}
	o := &Opened{Profile: p, Paths: paths, host: h}
	if p.OwnNodes() {
		if err := o.openOwnVault(); err != nil {
			return nil, errors.Join(err, o.Close())
		}
	}
	if o.Catalog, err = h.Catalog(name); err != nil {
		return nil, errors.Join(err, o.Close())
	}
	if o.Book, err = openBook(paths.Config, o.Catalog); err != nil {
		return nil, errors.Join(err, o.Close())
	}
	if !h.vaultOnly || !p.OwnNodes() {
		if err = o.findNetwork(ctx); err == nil {
			err = o.findTags(ctx)
		}
		if err == nil && !p.Local() && o.Network.OnNodes() { // an operator's service has no other chain
			o.Catalog = o.Catalog.Only(func(a caip.Asset) bool {
				return slices.Contains(o.Network.Chains, a.Chain.String())
			})
		}
	}
	if o.Network.PricedByMarket() && !p.Local() {
		o.Catalog = o.Catalog.Watched(o.marketPrice)
	}
	if err == nil && o.vault == nil {
		err = o.openVault()
	}
	if err != nil {
		return nil, errors.Join(err, o.Close())
	}
	o.settle()
	if err = o.Use(account); err != nil {
		return nil, errors.Join(err, o.Close())
	}
	if o.local != nil {
		if err = o.dial(client.Options{BaseURL: o.local.BaseURL, APIKey: o.local.APIKey,
			Transport: o.local.Transport}); err != nil {
			return nil, errors.Join(err, o.Close())
		}
	}
	return o, nil
}

// findNetwork takes the network of a profile with its service inside from there, in process, and that of a remote one
// from the profile's file.
func (o *Opened) findNetwork(ctx context.Context) error {
	if !o.Profile.Local() {
		if o.Profile.NetworkFile == "" {
			return &cli.UsageError{
				Problem: fmt.Sprintf("profile %q names no network_file", o.Profile.Name),
				Hint: "copy network.json out of the service's data directory, compare its fingerprint with the " +
					"operator's, and name it in the profile",
			}
		}
		var err error
		o.Network, err = o.Profile.Network()
		o.Where = o.Profile.BaseURL
		return cli.InFile(err)
	}
	options := EmbeddedOptions{Quotes: o.Profile.QuoteTime(), Networks: o.Profile.Networks}
	if o.Profile.OwnNodes() {
		var err error
		if options.Credential, err = o.nodeKeys(ctx); err != nil {
			return err
		}
		if options.Tank, err = o.gasTank(ctx); err != nil {
			return err
		}
	}
	if o.host.Endpoints {
		options.RPC = o.Profile.RPC
	}
	service, err := o.host.Embedded(ctx, o.Paths.ProfileData(o.Profile.Name), options)
	if err != nil {
		return err
	}
	o.close = append(o.close, service.Close)
	if o.Profile.OwnNodes() {
		o.Network, o.Where, o.local = service.Network, OnOwnNodes, &service
		return onNetwork(o.Profile, service.Network)
	}
	if service.Network.Kind != network.Embedded {
		return &cli.UsageError{
			Problem: fmt.Sprintf(
				"the data of profile %q belong to a service for others (%s), not to one inside this program",
				o.Profile.Name, service.Network.Kind),
			Hint: "reach that service with a profile of kind lab, or give this profile another name",
		}
	}
	o.Network, o.Where = service.Network, "inside this program"
	o.Network.Kind = o.Profile.Kind
	o.local = &service
	return nil
}

// OnOwnNodes is where the service of a profile on own nodes is.
const OnOwnNodes = "inside this program, on your own nodes"

// OwnNetwork reads the descriptor beside the networks.toml of a profile on own nodes. It is the network which the
// profile names, where it names one, its fixed addresses are those that the program ships, and no other user may write
// the files.
func OwnNetwork(p config.Profile) (network.Descriptor, error) {
	if err := config.CheckMode(p.Networks); err != nil {
		return network.Descriptor{}, cli.InFile(err)
	}
	p.NetworkFile = filepath.Join(filepath.Dir(p.Networks), networks.Descriptor)
	n, err := p.Network()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return n, &cli.UsageError{Problem: "there is no " + p.NetworkFile + ", which describes your nodes' network",
			Hint: "coffer network deploy writes it"}
	case err != nil:
		return n, cli.InFile(err)
	case !n.OnOwnNodes():
		return n, &cli.UsageError{Problem: p.NetworkFile + " describes the network of a service, not one on own nodes"}
	}
	return n, verify.CheckPins(n)
}

// onNetwork refuses a service on another network than the profile's.
func onNetwork(p config.Profile, n network.Descriptor) error {
	if n.ID == p.NetworkID && n.Kind == p.Kind {
		return nil
	}
	return &cli.UsageError{Problem: fmt.Sprintf(
		"the data of profile %q are of network %s (%s), the profile names %s (%s)", p.Name, n.ID,
		n.Kind, p.NetworkID, p.Kind), Hint: "another network needs another profile"}
}

// Tanks tells what pays for gas on each chain of own nodes; none is known of another network.
func (o *Opened) Tanks(ctx context.Context) ([]doctor.Tank, error) {
	if o.local == nil || o.local.Tanks == nil {
		return nil, nil
	}
	return o.local.Tanks(ctx)
}

// Lanes tells whether the gas tank's lane on each chain of own nodes works; none is known of another network.
func (o *Opened) Lanes(ctx context.Context) ([]doctor.Lane, error) {
	if o.local == nil || o.local.Lanes == nil {
		return nil, nil
	}
	return o.local.Lanes(ctx)
}

// Resume lets the lane of a chain go on that stopped.
func (o *Opened) Resume(ctx context.Context, chainID uint64) error {
	if o.local == nil || o.local.Resume == nil {
		return errors.New("another program has the network open, or it is not one on own nodes")
	}
	return o.local.Resume(ctx, chainID)
}

// Tank is all that is known of the gas tank of own nodes, with what it paid for the EVM accounts of the profile.
func (o *Opened) Tank(ctx context.Context) (gastank.Report, error) {
	if o.local == nil || o.local.Tank == nil {
		return gastank.Report{}, errors.New("only a profile on own nodes has a gas tank")
	}
	var accounts []string
	for _, a := range o.All {
		if a.IsEVM() {
			accounts = append(accounts, a.AccountAddress)
		}
	}
	return o.local.Tank(ctx, accounts...)
}

// Withdrawals take coins out of the gas tank; nil where another process has it open, and on other networks.
func (o *Opened) Withdrawals() gastank.Withdrawals {
	if o.local == nil || o.local.Withdrawals == nil {
		return nil
	}
	return o.local.Withdrawals()
}

// Endpoints are where the chains of an embedded profile answer JSON-RPC; the error says why they do not where they
// should.
func (o *Opened) Endpoints() ([]Endpoint, error) {
	if o.local == nil || o.local.Endpoints == nil {
		return nil, nil
	}
	return o.local.Endpoints()
}

// openVault opens the vault that the profile names. An embedded profile that keeps nothing runs on the demo key.
func (o *Opened) openVault() error {
	if o.Profile.Vault == config.VaultMemory {
		return o.openMemory()
	}
	var err error
	if o.vault, err = o.vaultOf(o.tags.keys); err == nil {
		o.close = append(o.close, o.vault.Close)
	}
	return err
}

func (o *Opened) openMemory() error {
	o.memory = vault.NewMemory(o.Network.ID)
	o.close = append(o.close, o.memory.Close)
	if !o.Profile.Embedded() {
		return nil
	}
	demo, err := assets.DemoKey()
	if err != nil {
		return err
	}
	if len(o.Profile.Accounts) == 0 {
		o.Profile.Accounts = []config.Account{{Type: api.AccountKernelV31, SignerAddress: demo.Signer}}
	}
	key, err := hex.DecodeString(strings.TrimPrefix(demo.PrivateKey, "0x"))
	if err != nil {
		return fmt.Errorf("demo key: %w", err)
	}
	o.Demo = &demo
	_, err = o.memory.Add(vault.EVM, secret.New(key))
	return err
}

// connect makes the client of a remote profile that has an account.
func (o *Opened) connect(ctx context.Context) error {
	if len(o.Profile.Accounts) == 0 {
		return &cli.UsageError{
			Problem: fmt.Sprintf("profile %q has no account", o.Profile.Name),
			Hint:    doctor.MakeAccount,
		}
	}
	return o.reach(ctx)
}

// reach makes the client of a remote profile.
func (o *Opened) reach(ctx context.Context) error {
	if o.Client != nil {
		return nil
	}
	roots, err := o.Profile.Roots()
	if err != nil {
		return cli.InFile(err)
	}
	key, err := o.apiKey(ctx)
	if err != nil {
		return err
	}
	if err := o.dial(client.Options{BaseURL: o.Profile.BaseURL, APIKey: key, RootCAs: roots}); err != nil {
		return err
	}
	o.ask(ctx)
	return nil
}

// ask finds out which assets an operator on chains of others can be asked about; without its answer it is asked about
// all. What the wallet itself knows of assets does not depend on it.
func (o *Opened) ask(ctx context.Context) {
	if !o.Network.OnNodes() {
		return
	}
	if list, err := o.Client.Assets(ctx); err == nil {
		o.listed = map[string]bool{}
		for _, a := range list {
			o.listed[a.AggregatedAssetID] = true
		}
	}
}

// apiKey takes the API key from the vault, or asks for it where the profile keeps nothing.
func (o *Opened) apiKey(ctx context.Context) (secret.Secret, error) {
	if o.vault == nil {
		key, err := o.host.Ask(ctx, fmt.Sprintf("API key for profile %s (not shown): ", o.Profile.Name))
		var nowhere *cli.UsageError
		if errors.As(err, &nowhere) {
			err = api.NewError(api.ErrUnauthorized,
				"the API key of profile %q is needed, but there is no terminal", o.Profile.Name)
		}
		return key, err
	}
	if err := o.Unlock(ctx); err != nil {
		return secret.Secret{}, err
	}
	var key secret.Secret
	err := o.vault.APIKey(ctx, func(k secret.Secret) error {
		of, plain, bound := bytes.Cut(k.Reveal(), []byte("|")) // no address has one
		if !bound || string(of) != o.Profile.BaseURL {
			return &cli.UsageError{
				Problem: fmt.Sprintf(
					"the API key of profile %q was stored for another service than %s; it is not sent there",
					o.Profile.Name, o.Profile.BaseURL),
				Hint: "if the new address is right, store the key again: coffer keys api-key set --profile " +
					o.Profile.Name,
			}
		}
		key = secret.New(bytes.Clone(plain))
		return nil
	})
	if errors.Is(err, vault.ErrNoKey) {
		err = &cli.AccessError{Problem: fmt.Sprintf("profile %q has no API key", o.Profile.Name),
			Hint: "store it: coffer keys api-key set --profile " + o.Profile.Name}
	}
	return key, err
}

// SetAPIKey stores the API key of the profile's service, bound to its address: the key goes to no other address
// (TH-C3). It wipes the key.
func (o *Opened) SetAPIKey(ctx context.Context, key secret.Secret) error {
	defer key.Wipe()
	if o.vault == nil || o.Profile.BaseURL == "" {
		return &cli.UsageError{Problem: fmt.Sprintf("profile %q has no service that asks for an API key",
			o.Profile.Name)}
	}
	bound, err := boundKey(o.Profile.BaseURL, key)
	if err != nil {
		return err
	}
	return o.vault.SetAPIKey(ctx, bound)
}

// Close releases the vault and the service; an embedded service finishes its step and closes its database.
func (o *Opened) Close() error {
	o.saves.end()
	var err error
	for i := len(o.close) - 1; i >= 0; i-- {
		err = errors.Join(err, o.close[i]())
	}
	o.close = nil
	return err
}

// Query asks for everything that the accounts in use hold.
func (o *Opened) Query() client.BalanceQuery {
	q := client.BalanceQuery{}
	for _, a := range o.Accounts {
		if a.IsEVM() {
			q.Accounts = append(q.Accounts, "eip155:1:"+a.AccountAddress)
		} else {
			q.Accounts = append(q.Accounts, "solana:"+a.AccountAddress)
		}
	}
	for _, a := range o.Catalog.Aggregates() {
		if o.listed != nil && !o.listed[string(a.ID)] {
			continue
		}
		q.Aggregates = append(q.Aggregates, string(a.ID))
	}
	return q
}

// Policy is the policy of the product for the profile's network with the limits of the profile's policy file. A file
// that does not read is an error, never "no limits".
func (o *Opened) Policy() (verify.Policy, error) {
	p := verify.DefaultPolicy(o.Network, o.Catalog)
	p.FirstSession = o.Profile.FirstSessions()
	if o.guest != nil {
		p.FirstSession, p.Limits = o.guest.First.FirstSessions(), o.guest.Limits.OrDefault(o.Network.Kind)
		return p, nil
	}
	if o.Profile.PolicyFile == "" {
		return p, nil
	}
	file, err := policy.Read(o.Profile.PolicyFile)
	if err != nil {
		return verify.Policy{}, cli.InFile(err)
	}
	p.Limits = file.Limits(o.Network.ID).OrDefault(o.Network.Kind)
	return p, nil
}

// Signer signs with the vault's keys, or through the command that the profile names; in a replay it refuses.
func (o *Opened) Signer() flow.Signer {
	switch {
	case o.player != nil:
		return refusing{replay.ErrNothingSent}
	case o.guest == nil && o.change != nil:
		return refusing{o.unconfirmed()}
	case o.ReadOnly() != "":
		return refusing{ErrReadOnly}
	}
	if o.local != nil { // of others nothing is unconfirmed here
		known, err := o.confirmed()
		if err == nil && known == nil {
			err = o.host.KeepConfirmed(o.Profile.Name, o.Network)
		}
		if err != nil {
			return refusing{err}
		}
	}
	if len(o.Profile.SignerCommand) > 0 {
		return sign.External{Command: o.Profile.SignerCommand, Network: o.Network.ID}
	}
	if o.vault != nil {
		return sign.New(o.vault, o.Network.ID)
	}
	return sign.New(o.memory, o.Network.ID)
}
