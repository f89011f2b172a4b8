package app

import (
	"context"
	"errors"
	"net/http"
	"time"

	"coffer/api/catalog"
	"coffer/api/client"
	"coffer/api/client/httplog"
	"coffer/api/network"
	"coffer/api/secret"
	"coffer/ui/cli"
	"coffer/ui/profile"
	"coffer/ui/sshd"
	"coffer/ui/tui"
	"coffer/wallet/vault"
)

// Guests receives visitors over SSH. Without a Showcase each has its own account on the service in this process, with
// a throw-away signer; with one they look at its accounts, and nothing can be signed.
type Guests struct {
	Host    profile.Host
	Build   cli.Build
	Machine string

	Network   network.Descriptor
	Catalog   *catalog.Catalog
	BaseURL   string
	Transport http.RoundTripper
	Pass      func(caller string) (key string, revoke func(), err error)

	Showcase *profile.Showcase
}

// ownName is the directory of a guest's journal on the service in this process.
const ownName = "own"

// Show shows a guest its dashboard.
func (g Guests) Show(ctx context.Context, v sshd.Visit) error {
	log := httplog.NewLog(time.Now)
	guest, done, err := g.guest(v)
	if err != nil {
		return err
	}
	defer done()
	guest.Dir, guest.Log, guest.Host = v.Dir, log, g.Host
	opened, err := profile.OpenGuest(guest)
	if err != nil {
		return err
	}
	return Receive(ctx, Visit{
		Profile: opened, Log: log, Build: g.Build, Machine: g.Machine, In: v.In, Out: v.Out, Env: v.Env,
		Broken: v.Broken,
		Away:   tui.Away{Size: v.Size, Resized: v.Resized, Notes: v.Notes},
	})
}

// guest is what a visitor gets. done takes back what was given for the length of the visit.
func (g Guests) guest(v sshd.Visit) (out profile.Guest, done func(), err error) {
	if g.Showcase != nil {
		out = g.Showcase.Guest()
		return out, out.Service.APIKey.Wipe, nil
	}
	signer, err := throwAway(v, g.Network.ID)
	if err != nil {
		return out, nil, err
	}
	key, revoke, err := g.Pass("guest " + v.Fingerprint)
	if err != nil {
		return out, nil, err
	}
	return profile.Guest{
		Name: ownName, Title: v.Name, Where: "the server that shows this dashboard",
		Network: g.Network, Catalog: g.Catalog, Signer: signer,
		Service: client.Options{BaseURL: g.BaseURL, APIKey: secret.New([]byte(key)), Transport: steady{g.Transport}},
	}, revoke, nil
}

// throwAway is the signer of a guest: the same at every visit, and never on disk.
func throwAway(v sshd.Visit, network string) (secret.Secret, error) {
	for try := range byte(255) {
		b, err := v.Secret(network, try)
		if err != nil {
			return secret.Secret{}, err
		}
		key := secret.New(b)
		if _, err := vault.AddressOf(vault.EVM, key); err == nil {
			return key, nil
		}
		key.Wipe()
	}
	return secret.Secret{}, errors.New("no signer could be derived for this key") // 2^-32640
}
