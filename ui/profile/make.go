package profile

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api/network"
	"coffer/api/secret"
	"coffer/assets"
	"coffer/config"
	"coffer/ui/cli"
	"coffer/wallet/vault"
)

// step is one part of making a profile. undo reverts do, also when do failed half-way; it may be nil.
type step struct {
	name string
	do   func(ctx context.Context) error
	undo func()
}

// NewKeys draws a key of each kind. The caller wipes them.
func NewKeys(random io.Reader, kinds ...vault.Kind) ([]vault.Candidate, error) {
	var out []vault.Candidate
	for _, kind := range kinds {
		key, err := vault.New(kind, random)
		if err != nil {
			return nil, err
		}
		address, err := vault.AddressOf(kind, key)
		if err != nil {
			return nil, err
		}
		out = append(out, vault.Candidate{Kind: kind, Address: address, Key: key})
	}
	return out, nil
}

// Describe describes the network that Make makes for a profile inside this program, as far as it is known before: the
// addresses that are the same on every one.
func (h Host) Describe() (network.Descriptor, error) {
	p, err := assets.PinnedAddresses()
	return network.Descriptor{Kind: network.Embedded, Pins: network.Pins{
		Factory: common.HexToAddress(p.Factory), KernelV31: common.HexToAddress(p.KernelV31Implementation),
		ECDSAValidator: common.HexToAddress(p.ECDSAValidator),
	}}, err
}

// Make writes a plan down: its keys into a new vault, then the profile into the configuration, which comes last and in
// one write. When anything fails, or ctx ends before that, nothing is left behind, and the error says that nothing was
// set up. The network was confirmed with the set-up, as its fingerprint was typed there; if that alone cannot be
// written down, the error says so. The network of an embedded profile is made on the way.
func (h Host) Make(ctx context.Context, p Plan) (Made, error) {
	steps, err := h.steps(&p)
	defer func() { p.tank.Wipe() }()
	if err == nil {
		err = carryOut(ctx, steps)
	}
	if err == nil {
		p.made.Accounts = p.Profile.WireAccounts(p.Network.Pins)
		err = h.KeepConfirmed(p.Profile.Name, p.Network)
	}
	return p.made, err
}

func carryOut(ctx context.Context, steps []step) error {
	for i, s := range steps {
		err := ctx.Err()
		if err == nil {
			err = s.do(ctx)
		}
		if err == nil {
			continue
		}
		for ; i >= 0; i-- {
			if steps[i].undo != nil {
				steps[i].undo()
			}
		}
		return fmt.Errorf("%s: %w (nothing was set up)", s.name, err)
	}
	return nil
}

func (h Host) steps(p *Plan) ([]step, error) {
	paths, err := config.PathsFrom(h.Getenv)
	if err != nil {
		return nil, err
	}
	if !p.Profile.Embedded() && (p.Profile.NetworkID != p.Network.ID || p.Network.ID == "") {
		return nil, errors.New("the profile is not tied to the network that was looked at")
	}
	if p.Profile.Vault == config.VaultMemory && (len(p.Keys) > 0 || !p.Passphrase.Empty()) {
		return nil, errors.New("this profile keeps nothing, and there are keys to keep")
	}
	steps := []step{{name: "check the profile", do: func(context.Context) error {
		return config.CanAdd(paths.Config,
			p.Profile)
	}}}
	if keepsTank(p.Profile) {
		if p.tank, err = vault.New(vault.GasTank, rand.Reader); err != nil {
			return nil, err
		}
	}
	if p.Profile.Local() {
		steps = append(steps, h.networkStep(p, paths.ProfileData(p.Profile.Name)))
	}
	switch p.Profile.Vault {
	case config.VaultMemory:
	case config.VaultFile:
		steps = append(steps, h.fileSteps(p, paths)...)
	default:
		steps = append(steps, h.ringStep(p))
	}
	return append(steps, step{name: "write the configuration", do: func(context.Context) error {
		if p.Default {
			return config.AddDefaultProfile(paths.Config, p.Profile)
		}
		return config.AddProfile(paths.Config, p.Profile, false)
	}}), nil
}

// networkStep makes the network of an embedded profile, and the gas tank of one on own nodes, by opening its service
// once, and asks that what the profile has. Data that were there already stay.
func (h Host) networkStep(p *Plan, dir string) step {
	fresh := gone(dir)
	return step{
		name: "make the network",
		do: func(ctx context.Context) error {
			service, err := h.Embedded(ctx, dir, EmbeddedOptions{Quotes: p.Profile.QuoteTime(),
				Networks: p.Profile.Networks, Credential: p.credential(), Tank: p.tank})
			if err != nil {
				return err
			}
			if p.Profile.OwnNodes() {
				if err = onNetwork(p.Profile, service.Network); err == nil {
					p.made.look(ctx, *p, service)
				}
			}
			p.Network = service.Network
			return errors.Join(err, service.Close())
		},
		undo: func() {
			if fresh {
				_ = os.RemoveAll(dir)
			}
		},
	}
}

// fileSteps make the vault in a directory beside its place and move it there when it is complete.
func (h Host) fileSteps(p *Plan, paths config.Paths) []step {
	var stage string
	var made []string
	keys := paths.ProfileKeys(p.Profile.Name)
	place := ""
	return []step{
		{
			name: "make the vault",
			do: func(ctx context.Context) (err error) {
				if left, _ := filepath.Glob(filepath.Join(keys, "vault-*.json")); len(left) > 0 {
					return errKeysThere(p.Profile.Name)
				}
				if made, err = makeDirs(filepath.Dir(keys)); err != nil {
					return err
				}
				if stage, err = os.MkdirTemp(filepath.Dir(keys), ".new-keys-*"); err != nil { // 0700
					return err
				}
				v, err := vault.OpenFile(h.vaultOptions(p.Profile, p.Network.ID, stage))
				if err != nil {
					return err
				}
				return errors.Join(fill(ctx, v, p), v.Close())
			},
			undo: func() {
				if stage != "" {
					_ = os.RemoveAll(stage)
				}
				removeDirs(made)
			},
		},
		{
			name: "put the vault in its place",
			do: func(context.Context) error {
				files, err := filepath.Glob(filepath.Join(stage, "vault-*.json"))
				if err != nil || len(files) != 1 {
					return errors.Join(errors.New("the vault was not written"), err)
				}
				more, err := makeDirs(keys)
				made = append(made, more...)
				if err != nil {
					return err
				}
				to := filepath.Join(keys, filepath.Base(files[0]))
				if !gone(to) {
					return errKeysThere(p.Profile.Name)
				}
				if err := os.Rename(files[0], to); err != nil {
					return err
				}
				place = to
				return os.RemoveAll(stage)
			},
			undo: func() {
				if place != "" {
					_ = os.Remove(place)
				}
			},
		},
	}
}

// fill sets up a vault and puts everything of the plan into it.
func fill(ctx context.Context, v *vault.Vault, p *Plan) error {
	if err := v.Create(ctx, p.Passphrase); errors.Is(err, vault.ErrExists) {
		return errKeysThere(p.Profile.Name)
	} else if err != nil {
		return err
	}
	for _, k := range p.Keys {
		if _, err := v.Add(ctx, k.Kind, secret.New(bytes.Clone(k.Key.Reveal())), ""); err != nil {
			return err
		}
	}
	if keepsTank(p.Profile) {
		if _, err := v.Add(ctx, vault.GasTank, secret.New(bytes.Clone(p.tank.Reveal())), ""); err != nil {
			return err
		}
	}
	switch {
	case p.Profile.Local():
		return p.keepNodeKeys(ctx, v)
	case p.APIKey.Empty():
		return &cli.UsageError{Problem: "a remote profile needs the API key of its service"}
	}
	bound, err := boundKey(p.Profile.BaseURL, p.APIKey)
	if err != nil {
		return err
	}
	return v.SetAPIKey(ctx, bound) // SetAPIKey wipes it
}

// ringStep makes the vault in the keyring. When something fails it deletes what it stored there.
func (h Host) ringStep(p *Plan) step {
	ring := &noted{ring: h.Keyring, set: map[[2]string]bool{}}
	if ring.ring == nil {
		ring.ring = vault.SystemKeyring(h.overSSH())
	}
	return step{
		name: "make the vault",
		do: func(ctx context.Context) error {
			o := h.vaultOptions(p.Profile, p.Network.ID, "")
			o.Keyring = ring
			v, err := openStore(p.Profile.Vault, o)
			if err != nil {
				return err
			}
			return errors.Join(fill(ctx, v, p), v.Close())
		},
		undo: ring.undo,
	}
}

// makeDirs creates a directory and its parents (0700), and returns the ones that were missing, parents first.
func makeDirs(dir string) (made []string, err error) {
	for at := dir; gone(at); at = filepath.Dir(at) {
		made = append([]string{at}, made...)
		if filepath.Dir(at) == at {
			break
		}
	}
	return made, os.MkdirAll(dir, 0o700)
}

// removeDirs removes directories that makeDirs created and that are still empty.
func removeDirs(made []string) {
	for i := len(made) - 1; i >= 0; i-- {
		_ = os.Remove(made[i])
	}
}

// noted is a keyring that records what was stored through it.
type noted struct {
	ring vault.Keyring
	mu   sync.Mutex
	set  map[[2]string]bool
}

// Set records the item before it stores it: a store that fails may have happened.
func (n *noted) Set(service, user string, value []byte) error {
	n.mu.Lock()
	n.set[[2]string{service, user}] = true
	n.mu.Unlock()
	return n.ring.Set(service, user, value)
}

// Get reads an item.
func (n *noted) Get(service, user string) ([]byte, error) { return n.ring.Get(service, user) }

// Delete deletes an item.
func (n *noted) Delete(service, user string) error {
	err := n.ring.Delete(service, user)
	if err == nil {
		n.mu.Lock()
		delete(n.set, [2]string{service, user})
		n.mu.Unlock()
	}
	return err
}

// undoTime bounds how long to wait for a keyring that does not answer.
const undoTime = 3 * time.Second

// undo deletes what was stored and still exists.
func (n *noted) undo() {
	done := make(chan struct{})
	go func() {
		defer close(done)
		n.mu.Lock()
		var all [][2]string
		for item := range n.set {
			all = append(all, item)
		}
		n.mu.Unlock()
		for _, item := range all {
			_ = n.Delete(item[0], item[1])
		}
	}()
	t := time.NewTimer(undoTime)
	defer t.Stop()
	select {
	case <-done:
	case <-t.C:
	}
}
