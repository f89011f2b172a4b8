package profile

import (
	"bytes"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"coffer/api"
	"coffer/api/catalog"
	"coffer/api/client"
	"coffer/api/client/httplog"
	"coffer/api/network"
	"coffer/api/secret"
	"coffer/config"
	"coffer/ui/cli"
	"coffer/wallet/policy"
	"coffer/wallet/vault"
	"coffer/wallet/verify"
)

// Guest is a profile outside the configuration: the profile of a user whose dashboard runs here and is shown
// elsewhere. It has its own directory and touches nothing else on this machine.
type Guest struct {
	Name    string // of the directory of its journal, below Dir
	Title   string // what the screens call it
	Where   string // the service is, for display
	Dir     string
	Network network.Descriptor
	Catalog *catalog.Catalog
	Service client.Options // the guest wipes its key
	Log     *httplog.Log
	Host    Host

	// Signer is the key of the guest's one account; OpenGuest takes it over. When it is empty nothing can be signed:
	// the screens show Accounts, under Limits, and ReadOnly gives the reason in the words of the screens.
	Signer   secret.Secret
	Accounts []config.Account
	First    config.Profile // the profile that the accounts belong to
	Limits   verify.Limits
	ReadOnly string
}

// OpenGuest opens a guest's profile.
func OpenGuest(g Guest) (*Opened, error) {
	defer g.Signer.Wipe() // the vault has a copy
	if g.Signer.Empty() != (g.ReadOnly != "") {
		return nil, errors.New("a guest has a key to sign with, or words why there is none")
	}
	host := g.Host
	host.Log, host.Record, host.Ask = g.Log, "", nil
	o := &Opened{
		Profile: config.Profile{Name: g.Name, Kind: g.Network.Kind, NetworkID: g.Network.ID, Vault: config.VaultMemory,
			Accounts: g.Accounts, DefaultAccount: g.First.DefaultAccount},
		Paths: config.Paths{Config: filepath.Join(g.Dir, "config.toml"), State: g.state(), Data: g.Dir},
		Where: g.Where, Network: g.Network, Catalog: g.Catalog, host: host, guest: &g,
		tags: tags{g.Network.ID, g.Network.ID},
	}
	o.memory = vault.NewMemory(g.Network.ID)
	o.close = append(o.close, o.memory.Close)
	var err error
	o.Book, _ = openBook(o.Paths.Config, o.Catalog) // one that no longer reads counts as empty, and is not written
	if !g.Signer.Empty() {
		var item vault.Item
		item, err = o.memory.Add(vault.EVM, secret.New(bytes.Clone(g.Signer.Reveal())))
		o.Profile.Accounts = []config.Account{{Type: api.AccountKernelV31, SignerAddress: item.Address}}
	}
	if err == nil {
		o.settle()
		o.alone()
		err = o.dial(g.Service)
	}
	if err != nil {
		return nil, errors.Join(err, o.Close())
	}
	o.close = append(o.close, func() error { o.Client.Close(); return nil })
	return o, nil
}

// Title is the name of the profile on the screens.
func (o *Opened) Title() string {
	if o.guest != nil {
		return o.guest.Title
	}
	return o.Profile.Name
}

// state is where the guest's journal is. The guest's key follows from the network, so on a network that was made anew a
// guest begins anew, and the journal of the one before stays where it is.
func (g Guest) state() string {
	if g.Network.Version < 2 {
		return g.Dir
	}
	return filepath.Join(g.Dir, "on-"+strings.TrimPrefix(g.Network.ID, "0x")[:16])
}

// ReadOnly returns why nothing can be signed with this profile, whatever is unlocked; "" when signing is possible.
func (o *Opened) ReadOnly() string {
	switch {
	case o.guest != nil:
		return o.guest.ReadOnly
	case o.change != nil:
		return o.unconfirmed().Error()
	}
	return ""
}

// UI is what the guest chose about its screens; a file that no longer reads counts as none.
func (o *Opened) UI() config.UI {
	file, err := config.Load(o.Paths.Config)
	if err != nil {
		return config.UI{}
	}
	return file.UI
}

// ErrReadOnly means that this dashboard signs nothing.
var ErrReadOnly = errors.New("this dashboard is read only: no key is loaded, and nothing can be signed")

// A Showcase is a remote profile that guests may look at: its service, its accounts, its limits and its API key, but
// none of its other keys.
type Showcase struct {
	profile config.Profile
	network network.Descriptor
	catalog *catalog.Catalog
	key     secret.Secret
	roots   *x509.CertPool
	limits  verify.Limits
}

// Showcase opens a remote profile for guests. Its vault is open only while the API key is read.
func (h Host) Showcase(ctx context.Context, name string) (_ *Showcase, err error) {
	p, _, err := h.Find(name)
	if err != nil {
		return nil, err
	}
	if p.Local() {
		where := "chains inside this program"
		if p.OwnNodes() {
			where = "own nodes"
		}
		return nil, &cli.UsageError{
			Problem: fmt.Sprintf("profile %q runs on %s, which belong to one person", p.Name, where),
			Hint: "name the profile of a remote service, or leave --profile out: the service runs here then, and " +
				"every guest has their own account",
		}
	}
	h.Record = ""
	o, err := h.open(ctx, name, "")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, o.Close()) }()
	defer o.Wipe()
	if len(o.Profile.Accounts) == 0 {
		return nil, &cli.UsageError{Problem: fmt.Sprintf("profile %q has no account to look at", p.Name),
			Hint: "add one: coffer accounts add --profile " + p.Name}
	}
	s := &Showcase{profile: o.Profile, network: o.Network, catalog: o.Catalog}
	if s.roots, err = o.Profile.Roots(); err != nil {
		return nil, err
	}
	if o.Profile.PolicyFile != "" {
		file, err := policy.Read(o.Profile.PolicyFile)
		if err != nil {
			return nil, err
		}
		s.limits = file.Limits(o.Network.ID)
	}
	key, err := o.apiKey(ctx)
	if err != nil {
		return nil, err
	}
	s.key = secret.New(bytes.Clone(key.Reveal()))
	key.Wipe()
	return s, nil
}

// Name is the name of the profile.
func (s *Showcase) Name() string { return s.profile.Name }

// Wipe wipes the API key. No guest can be opened afterwards.
func (s *Showcase) Wipe() { s.key.Wipe() }

// Guest is a guest of the showcase, without a directory, a log and a host.
func (s *Showcase) Guest() Guest {
	return Guest{
		Name: s.profile.Name, Title: s.profile.Name + ", read only", Where: s.profile.BaseURL, Network: s.network,
		Catalog: s.catalog, Accounts: s.profile.Accounts, First: s.profile, Limits: s.limits,
		Service: client.Options{BaseURL: s.profile.BaseURL, APIKey: secret.New(bytes.Clone(s.key.Reveal())),
			RootCAs: s.roots},
		ReadOnly: "no key to sign with is loaded here",
	}
}
