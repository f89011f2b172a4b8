package profile

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/catalog"
	"coffer/api/client"
	"coffer/api/network"
	"coffer/api/networks"
	"coffer/api/secret"
	"coffer/config"
	"coffer/ui/cli"
	"coffer/ui/doctor"
	"coffer/wallet/vault"
	"coffer/wallet/verify"
)

// Plan is a profile that does not exist yet: what the user chose in a set-up. Nothing of it is on the disk before
// Make. The code that made the plan owns the secrets and wipes them; Make works with copies.
type Plan struct {
	Profile    config.Profile // with its accounts
	Network    network.Descriptor
	APIKey     secret.Secret
	Passphrase secret.Secret // of the vault; empty for a vault without one
	Keys       []vault.Candidate
	NodeKeys   map[networks.Need]secret.Secret // that the own nodes ask for
	Default    bool                            // it becomes the default profile

	tank secret.Secret // key of the gas tank, where the vault keeps it
	made Made          // what Make found on its way
}

// Wipe wipes the secrets.
func (p Plan) Wipe() {
	p.APIKey.Wipe()
	p.Passphrase.Wipe()
	p.tank.Wipe()
	for _, k := range p.Keys {
		k.Key.Wipe()
	}
	for _, k := range p.NodeKeys {
		k.Wipe()
	}
}

// Names lists the profiles of the configuration, the demo among them.
func (h Host) Names() ([]string, error) {
	_, file, err := config.Find(h.Getenv)
	return slices.Sorted(maps.Keys(file.Profiles)), err
}

// Refusal is the problem of a profile that CanAdd refuses, for the person who sets it up: without the path and the key
// of a table that is not in the file yet.
func Refusal(name string, err error) string {
	var broken *config.Error
	if errors.As(err, &broken) && (broken.Line == 0 || strings.HasPrefix(broken.Key+".", "profiles."+name+".")) {
		return broken.Problem
	}
	return err.Error()
}

// CanAdd returns the error with which the configuration would refuse the profile; it writes nothing.
func (h Host) CanAdd(p config.Profile) error {
	paths, err := config.PathsFrom(h.Getenv)
	if err != nil {
		return err
	}
	return config.CanAdd(paths.Config, p)
}

// ReadNetwork reads a network file and checks that it can be used: no other user may write it, its id is the hash of
// its content, and its fixed addresses are those that the program ships. Only the fingerprint shows whether it is the
// operator's.
func (h Host) ReadNetwork(path string, kind network.Kind) (network.Descriptor, error) {
	n, err := (config.Profile{Kind: kind, NetworkFile: path}).Network()
	if err != nil {
		return n, err
	}
	if err := verify.CheckPins(n); err != nil {
		return n, fmt.Errorf("%w; a network with other addresses needs a policy file that pins them "+
			"(docs/policy.md), and coffer profile add", err)
	}
	return n, nil
}

// SameFingerprint compares what the user typed with the fingerprint of a network, without regard to blanks, dashes,
// colons and letter case.
func SameFingerprint(typed string, n network.Descriptor) bool {
	return plainHex(typed) == plainHex(n.Fingerprint())
}

func plainHex(s string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(" \t-:", r) {
			return -1
		}
		return r
	}, strings.ToLower(s))
}

// ErrNoNetworkFile means that no network file with the fingerprint is on this machine.
var ErrNoNetworkFile = errors.New(
	"no network file with this fingerprint is on this machine: ask the operator for network.json and name it here")

// FindNetwork looks for the network file of a fingerprint among those of the configuration's profiles and that of a
// service that the user runs on this machine. The location of a file proves nothing; the fingerprint does. The
// fingerprint comes from the user, never from the service.
func (h Host) FindNetwork(fingerprint string, kind network.Kind) (path string, n network.Descriptor, err error) {
	_, file, err := config.Find(h.Getenv)
	if err != nil {
		return "", n, err
	}
	var places []string
	for _, name := range slices.Sorted(maps.Keys(file.Profiles)) {
		if f := file.Profiles[name].NetworkFile; f != "" {
			places = append(places, f)
		}
	}
	if dir, err := config.ServiceData("", h.Getenv); err == nil {
		places = append(places, filepath.Join(dir, networkFileName))
	}
	for _, place := range places {
		if n, err := h.ReadNetwork(place, kind); err == nil && SameFingerprint(fingerprint, n) {
			return place, n, nil
		}
	}
	return "", network.Descriptor{}, ErrNoNetworkFile
}

// networkFileName is the name under which a service writes its network.
const networkFileName = "network.json"

// OnNetwork lists the existing profiles of a network. Each profile has its own journal.
func (h Host) OnNetwork(id string) ([]string, error) {
	_, file, err := config.Find(h.Getenv)
	var out []string
	for _, name := range slices.Sorted(maps.Keys(file.Profiles)) {
		p := file.Profiles[name]
		if p.Embedded() {
			continue
		}
		if p.NetworkID == "" {
			if n, err := p.Network(); err == nil {
				p.NetworkID = n.ID
			}
		}
		if p.NetworkID == id {
			out = append(out, name)
		}
	}
	return out, err
}

// ProbeStore checks whether the place of the keys works, with the keyring's own deadlines; a *vault.KeyringError names
// the fault. It leaves nothing behind.
func (h Host) ProbeStore(ctx context.Context, p config.Profile, networkID string) error {
	switch p.Vault {
	case config.VaultKeyring, config.VaultKeyringOnly:
	default:
		return nil // a file is tried when it is written, and every choice can still change then
	}
	v, err := openStore(p.Vault, h.vaultOptions(p, networkID, ""))
	if err != nil {
		return err
	}
	there, err := v.Exists(ctx)
	switch {
	case err != nil:
	case there:
		err = errKeysThere(p.Name)
	default:
		err = v.Probe(ctx)
	}
	return errors.Join(err, v.Close())
}

func errKeysThere(name string) error {
	return &cli.UsageError{
		Problem: fmt.Sprintf(
			"keys of an earlier profile %q are there already, and are not overwritten; choose another name", name),
		Hint: "to use them, add the profile with coffer profile add",
	}
}

// connect makes a client of the plan's service. The caller closes it and wipes the key.
func (p Plan) connect() (c *client.Client, roots *x509.CertPool, key secret.Secret, err error) {
	if roots, err = p.Profile.Roots(); err != nil {
		return nil, nil, key, err
	}
	key = secret.New(bytes.Clone(p.APIKey.Reveal()))
	if c, err = client.New(client.Options{BaseURL: p.Profile.BaseURL, APIKey: key, RootCAs: roots}); err != nil {
		key.Wipe()
	}
	return c, roots, key, err
}

// Reach tries the plan's service: the answer, the API key, the network, the clock, the balances.
func (h Host) Reach(ctx context.Context, p Plan) []doctor.Finding {
	d := doctor.Deps{Clock: time.Now, Profile: p.Profile, Network: p.Network}
	c, roots, key, err := p.connect()
	if err != nil {
		d.Broken = err
		return doctor.Reach(ctx, d)
	}
	defer key.Wipe()
	defer c.Close()
	cat, err := catalog.Load()
	if err != nil {
		d.Broken = err
		return doctor.Reach(ctx, d)
	}
	o := Opened{Profile: p.Profile, Catalog: cat, Accounts: p.Profile.WireAccounts(p.Network.Pins)}
	d.Service, d.Query, d.TLS = c, o.Query(), dialTLS(p.Profile.BaseURL, roots)
	return doctor.Reach(ctx, d)
}

// dialTLS makes a TLS connection to a service and returns its protection. It sends nothing over it.
func dialTLS(baseURL string, roots *x509.CertPool) func(ctx context.Context) (tls.ConnectionState, error) {
	const patience = 5 * time.Second
	return func(ctx context.Context) (tls.ConnectionState, error) {
		u, err := url.Parse(baseURL)
		if err != nil {
			return tls.ConnectionState{}, err
		}
		port := u.Port()
		if port == "" {
			port = "443"
		}
		ctx, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		d := tls.Dialer{Config: &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: roots, ServerName: u.Hostname()}}
		conn, err := d.DialContext(ctx, "tcp", u.Hostname()+":"+port)
		if err != nil {
			return tls.ConnectionState{}, err
		}
		state := conn.(*tls.Conn).ConnectionState() //nolint:errcheck // a tls.Dialer makes nothing else
		return state, conn.Close()
	}
}

// Compared is an account beside what the service predicts for its keys. Own means that the address is its key's own,
// and the service was not asked.
type Compared struct {
	Account api.Account
	Said    common.Address
	Own     bool
}

// Equal reports whether the service computes the same address.
func (c Compared) Equal() bool {
	return c.Own || c.Said == common.HexToAddress(c.Account.AccountAddress)
}

// Words describes the result of the comparison, in one line.
func (c Compared) Words() string {
	a := c.Account
	switch {
	case c.Own:
		return fmt.Sprintf("%s  %s  is its key's own address", a.Type, a.AccountAddress)
	case c.Equal():
		return fmt.Sprintf("%s  %s  is what the service predicts", a.Type, a.AccountAddress)
	}
	return fmt.Sprintf("%s: computed here %s, the service says %s: do not use this account with this service", a.Type,
		a.AccountAddress, c.Said.Hex())
}

// predictor is what Compare needs of a service.
type predictor interface {
	PredictAddress(ctx context.Context, r api.PredictRequest) (api.PredictResponse, error)
}

// Compare asks the service for the address of every account whose keys determine it. With an error it also returns the
// comparisons before it.
func Compare(ctx context.Context, s predictor, p config.Profile, accounts []api.Account) ([]Compared, error) {
	var out []Compared
	for _, a := range accounts {
		if a.Type == api.AccountSolana || a.Type == api.AccountKernelV33 {
			out = append(out, Compared{Account: a, Own: true})
			continue
		}
		r := api.PredictRequest{Type: a.Type, SignerAddress: a.SignerAddress, SessionAddress: a.SessionAddress,
			AdminAddress: a.AdminAddress}
		if a.Type == api.AccountRoleBased {
			r.Type = "" // the form with two keys has none
		}
		if first, replaced := p.FirstSessions()[common.HexToAddress(a.AccountAddress)]; replaced {
			r.SessionAddress = first.Hex()
		}
		said, err := s.PredictAddress(ctx, r)
		if err != nil {
			return out, err
		}
		out = append(out, Compared{Account: a, Said: common.HexToAddress(said.PredictedAddress)})
	}
	return out, nil
}

// ComparePlan is Compare for the accounts of a plan.
func (h Host) ComparePlan(ctx context.Context, p Plan) ([]Compared, error) {
	c, _, key, err := p.connect()
	if err != nil {
		return nil, err
	}
	defer key.Wipe()
	defer c.Close()
	return Compare(ctx, c, p.Profile, p.Profile.WireAccounts(p.Network.Pins))
}

// gone reports that a file does not exist.
func gone(path string) bool {
	_, err := os.Lstat(path)
	return errors.Is(err, fs.ErrNotExist)
}
