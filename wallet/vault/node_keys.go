package vault

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"coffer/api/pattern"
	"coffer/api/secret"
	"coffer/wallet/vault/internal/guard"
)

// kindNodeKey marks the record of a key that a node asks for; it is no kind of a signer's key.
const kindNodeKey Kind = "node-key"

// The bounds of a node's key, in bytes. What is shorter could not be hidden in texts of nodes.
const (
	minNodeKey = 6
	maxNodeKey = 512
	maxHost    = 300
)

var nodeKeyName = pattern.New(`^[a-z0-9][a-z0-9_-]{0,31}$`)

// NodeKey describes a key that a node asks for. Host is scheme and host of the node, such as https://node.example: the
// key is for no other.
type NodeKey struct {
	Name, Host string
	Created    time.Time // UTC, whole seconds
}

// HostError says that a node's key was stored for another host than the one it is asked for.
type HostError struct{ Name, Stored, Asked string }

// Error names both hosts.
func (e *HostError) Error() string {
	return fmt.Sprintf("the node key %q was stored for %s, so it is not sent to %s", e.Name, e.Stored, e.Asked)
}

// SetNodeKey takes ownership of a node's key, 6 to 512 bytes of visible ASCII, stores it under its name for a host, in
// place of the one before, and wipes it. It fails with ErrFull and ErrLocked.
func (v *Vault) SetNodeKey(ctx context.Context, name, host string, key secret.Secret) error {
	defer key.Wipe()
	n := backupNodeKey{Name: name, Host: host, Created: v.clock().Unix(), Key: key.Reveal()}
	if !n.sound() {
		return fmt.Errorf("a node key has %d to %d visible characters, and a name of up to 32 small letters, digits, "+
			"- and _", minNodeKey, maxNodeKey)
	}
	m := n.meta(v.network)
	return v.change(ctx, func(k *keys, h head, x index) error {
		if at := k.recordName(m.place()); slices.Contains(x.names, at) {
			return v.putRecord(ctx, k, at, m, key)
		}
		return v.put(ctx, k, h, x, m, key)
	})
}

// NodeKeys lists the keys of nodes without showing them, ordered by name. It does not count as a use.
func (v *Vault) NodeKeys(ctx context.Context) (all []NodeKey, err error) {
	err = v.each(ctx, func(m meta, _ []byte) error {
		if m.Kind == kindNodeKey {
			all = append(all, NodeKey{m.Address, m.Host, time.Unix(m.Created, 0).UTC()})
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(all, func(a, b NodeKey) int { return cmp.Compare(a.Name, b.Name) })
	return all, nil
}

// NodeKey lends the key of a name to fn, for the host that it was stored for, and wipes it when fn returns. For another
// host it is a *HostError; ErrNoKey when there is none. It does not count as a use.
func (v *Vault) NodeKey(ctx context.Context, name, host string, fn func(key secret.Secret) error) error {
	if err := v.usable(ctx); err != nil {
		return err
	}
	var at string
	if err := v.with(false, func(k *keys) error { at = k.recordName(nodeKeyPlace(name)); return nil }); err != nil {
		return err
	}
	return v.lend(ctx, at, false, func(m meta, key secret.Secret) error {
		if m.Host != host {
			return &HostError{Name: name, Stored: m.Host, Asked: host}
		}
		return fn(key)
	})
}

// RemoveNodeKey deletes a node's key for good: ErrNoKey when there is none.
func (v *Vault) RemoveNodeKey(ctx context.Context, name string) error {
	return v.Remove(ctx, nodeKeyPlace(name))
}

// nodeKeyPlace is what the record of a node's key is named after; no address has a blank.
func nodeKeyPlace(name string) string { return string(kindNodeKey) + " " + name }

// place is what the record of a secret is named after.
func (m meta) place() string {
	switch m.Kind {
	case kindNodeKey:
		return nodeKeyPlace(m.Address)
	case GasTank:
		return gasTankPlace
	}
	return m.Address
}

// backupNodeKey is a node's key in a backup.
type backupNodeKey struct {
	Name    string `json:"name"`
	Host    string `json:"host"`
	Created int64  `json:"created"` // Unix seconds
	Key     []byte `json:"key"`
}

func (n backupNodeKey) meta(network string) meta {
	return meta{Kind: kindNodeKey, Address: n.Name, Network: network, Host: n.Host, Created: n.Created}
}

func (n backupNodeKey) sound() bool {
	visible := !slices.ContainsFunc(n.Key, func(c byte) bool { return c <= ' ' || c > '~' })
	return visible && len(n.Key) >= minNodeKey && len(n.Key) <= maxNodeKey && nodeKeyName.MatchString(n.Name) &&
		n.Host != "" && len(n.Host) <= maxHost && !strings.ContainsFunc(n.Host, func(r rune) bool { return r <= ' ' })
}

// restoreNodeKeys adds the keys of nodes that the vault does not have.
func (v *Vault) restoreNodeKeys(ctx context.Context, all []backupNodeKey) error {
	for _, n := range all {
		err := v.change(ctx, func(k *keys, h head, x index) error {
			return v.put(ctx, k, h, x, n.meta(v.network), secret.New(n.Key))
		})
		if err != nil && !errors.Is(err, ErrExists) {
			return err
		}
	}
	return nil
}

// soundNodeKey reports whether a record is that of a node's key.
func (k *keys) soundNodeKey(m meta, key []byte, name string) (is bool) {
	guard.Do(func() {
		is = m.Label == "" && k.recordName(m.place()) == name &&
			backupNodeKey{Name: m.Address, Host: m.Host, Key: key}.sound()
	})
	return is
}
