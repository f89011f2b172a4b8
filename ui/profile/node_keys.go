package profile

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"coffer/api/networks"
	"coffer/api/secret"
	"coffer/ui/cli"
	"coffer/wallet/vault"
)

// openOwnVault opens the vault of a profile on own nodes before the service, which may need a key out of it. Its
// network comes from the files.
func (o *Opened) openOwnVault() (err error) {
	if o.Network, err = OwnNetwork(o.Profile); err != nil { // before data are made for another one
		return err
	}
	o.tags = tags{o.Network.ID, o.Network.ID}
	return o.openVault()
}

// nodeKeys takes the keys that the nodes of a profile on own nodes ask for.
func (o *Opened) nodeKeys(ctx context.Context) (networks.Credential, error) {
	file, err := networks.Load(o.Profile.Networks)
	if err != nil {
		return nil, cli.InFile(err)
	}
	return o.keysOf(ctx, file)
}

// keysOf takes the keys that nodes ask for out of the vault, which it unlocks for them; nil where they ask for none.
// They are wiped when the profile is closed: the service may open its nodes as late as that.
func (o *Opened) keysOf(ctx context.Context, file *networks.File) (networks.Credential, error) {
	taken := map[networks.Need]secret.Secret{}
	o.close = append(o.close, func() error {
		for _, key := range taken {
			key.Wipe()
		}
		return nil
	})
	for _, n := range file.Needs() {
		key, err := o.NodeKey(ctx, n.Name, n.Host)
		if err != nil {
			return nil, err
		}
		taken[n] = key
	}
	if len(taken) == 0 {
		return nil, nil
	}
	return func(_ context.Context, name, host string) (string, error) {
		key, found := taken[networks.Need{Name: name, Host: host}]
		if !found {
			return "", fmt.Errorf("%s was changed while it was opened: %s needs the key %q now", file.Path, host,
				name)
		}
		return string(key.Reveal()), nil
	}, nil
}

// NodeKey takes a key that a node asks for out of the vault, which it unlocks. It gives it for the host that it was
// stored for and for no other. The caller wipes it.
func (o *Opened) NodeKey(ctx context.Context, name, host string) (key secret.Secret, err error) {
	if o.vault == nil {
		return key, &cli.UsageError{Problem: fmt.Sprintf("%s asks for the key %q, and profile %q keeps no keys", host,
			name, o.Profile.Name), Hint: "without --profile you type the key"}
	}
	if err := o.Unlock(ctx); err != nil {
		return key, err
	}
	err = o.vault.NodeKey(ctx, name, host, func(k secret.Secret) error {
		key = secret.New(bytes.Clone(k.Reveal()))
		return nil
	})
	set := "coffer keys node-key set " + name + " --profile " + o.Profile.Name
	var moved *vault.HostError
	switch {
	case errors.As(err, &moved):
		err = &cli.UsageError{Problem: moved.Error(), Hint: "if the new host is right, store its key: " + set}
	case errors.Is(err, vault.ErrNoKey):
		err = &cli.AccessError{Problem: fmt.Sprintf("%s asks for the key %q, and the vault of profile %q has none of "+
			"this name", host, name, o.Profile.Name), Hint: "store it: " + set}
	}
	return key, err
}

// NodeKeyHost is the host for which the profile's networks.toml, or the profile itself, names a key.
func (o *Opened) NodeKeyHost(name string) (string, error) {
	if !o.Profile.OwnNodes() && len(o.Profile.Nodes) == 0 {
		return "", &cli.UsageError{Problem: fmt.Sprintf("profile %q has no nodes that ask for a key", o.Profile.Name),
			Hint: "name one first, with ${vault:" + name + "} in its address: coffer profile nodes --add CHAIN=URL"}
	}
	file := &networks.File{Path: "profile " + o.Profile.Name, Chains: []networks.Chain{{}}}
	for _, n := range o.Profile.OwnView() {
		file.Chains[0].RPC = append(file.Chains[0].RPC, n.URL)
	}
	if o.Profile.OwnNodes() {
		var err error
		if file, err = networks.Load(o.Profile.Networks); err != nil {
			return "", cli.InFile(err)
		}
	}
	host, err := hostOf(file, name)
	if err != nil {
		return "", err
	}
	if host == "" {
		return "", &cli.UsageError{Problem: fmt.Sprintf("%s names no ${vault:%s}, which would say for which host the "+
			"key is", file.Path, name), Hint: "write ${vault:" + name + "} into the address of the node first"}
	}
	return host, nil
}

// hostOf is the one host for which a file names a key, "" where it names none.
func hostOf(file *networks.File, name string) (string, error) {
	host := ""
	for _, n := range file.Needs() {
		switch {
		case n.Name != name:
		case host != "":
			return "", &cli.UsageError{Problem: fmt.Sprintf("%s names ${vault:%s} for two hosts, %s and %s; a key is "+
				"for one", file.Path, name, host, n.Host), Hint: "give the second one another name there"}
		default:
			host = n.Host
		}
	}
	return host, nil
}
