package vault

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	"filippo.io/age/armor"
	"github.com/go-json-experiment/json"

	"coffer/api/secret"
	"coffer/wallet/vault/internal/guard"
)

// backupVersion is the version of a backup document.
const backupVersion = 1

// maxBackup bounds a backup that is read, in bytes.
const maxBackup = 256 << 10

// backup is the plaintext of a backup: an age document under a passphrase of its own, in ASCII armour, which any age
// program opens.
type backup struct {
	Version  int             `json:"coffer_backup"`
	Network  string          `json:"network"`
	Created  int64           `json:"created"` // Unix seconds
	Items    []backupItem    `json:"items"`
	APIKey   []byte          `json:"api_key,omitzero"`
	NodeKeys []backupNodeKey `json:"node_keys,omitzero"`
}

type backupItem struct {
	Kind    Kind   `json:"kind"`
	Address string `json:"address"`
	Label   string `json:"label,omitzero"`
	Created int64  `json:"created"` // Unix seconds
	Key     []byte `json:"key"`     // 32 bytes
}

func (b backup) wipe() {
	clear(b.APIKey)
	for _, i := range b.Items {
		clear(i.Key)
	}
	for _, n := range b.NodeKeys {
		clear(n.Key)
	}
}

// Backup returns all keys, those of nodes, of the gas tank and of the API, encrypted under a passphrase of at least
// MinPassphrase characters, as text of a few kilobytes. The vault has to be unlocked.
func (v *Vault) Backup(ctx context.Context, pass secret.Secret) ([]byte, error) {
	if err := v.usable(ctx); err != nil {
		return nil, err
	}
	if err := checkNewPassphrase(pass); err != nil {
		return nil, err
	}
	b := backup{Version: backupVersion, Network: v.network, Created: v.clock().Unix()}
	defer func() { b.wipe() }()
	if err := v.each(ctx, func(m meta, key []byte) error {
		if m.Kind == kindNodeKey {
			b.NodeKeys = append(b.NodeKeys, backupNodeKey{m.Address, m.Host, m.Created, slices.Clone(key)})
			return nil
		}
		b.Items = append(b.Items, backupItem{m.Kind, m.Address, m.Label, m.Created, slices.Clone(key)})
		return nil
	}); err != nil {
		return nil, err
	}
	err := v.APIKey(ctx, func(key secret.Secret) error { b.APIKey = slices.Clone(key.Reveal()); return nil })
	if err != nil && !errors.Is(err, ErrNoKey) {
		return nil, err
	}
	return b.encrypt(pass, v.work)
}

func (b backup) encrypt(pass secret.Secret, work int) ([]byte, error) {
	var plaintext []byte
	var err error
	guard.Do(func() { plaintext, err = b.encode() })
	defer clear(plaintext)
	if err != nil {
		return nil, err
	}
	doc, err := encrypt(plaintext, pass, work)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	w := armor.NewWriter(&out)
	if _, err = w.Write(doc); err == nil {
		err = w.Close()
	}
	if err != nil {
		return nil, fmt.Errorf("backup: %w", err)
	}
	return out.Bytes(), nil
}

// encode writes the JSON by hand into one buffer that can be wiped: an encoder would leave its own with the keys
// behind.
func (b backup) encode() ([]byte, error) {
	// more than a description, a label or a host in JSON, and a key in base64 take
	const perItem, perNodeKey = 512, 1024 + 4*maxHost
	out := make([]byte, 0, 1024+perItem*len(b.Items)+2*len(b.APIKey)+perNodeKey*len(b.NodeKeys))
	out = fmt.Appendf(out, `{"coffer_backup":%d,"network":%q,"created":%d,"items":[`, b.Version, b.Network, b.Created)
	for i, item := range b.Items {
		if i > 0 {
			out = append(out, ',')
		}
		label, err := json.Marshal(item.Label)
		if err != nil {
			return out, fmt.Errorf("backup: %w", err)
		}
		out = fmt.Appendf(out, `{"kind":%q,"address":%q,"label":%s,"created":%s,"key":"`, item.Kind, item.Address,
			label, strconv.FormatInt(item.Created, 10))
		out = append(base64.StdEncoding.AppendEncode(out, item.Key), `"}`...)
	}
	out = append(out, `],"api_key":"`...)
	out = append(base64.StdEncoding.AppendEncode(out, b.APIKey), '"')
	for i, n := range b.NodeKeys {
		host, err := json.Marshal(n.Host)
		if err != nil {
			return out, fmt.Errorf("backup: %w", err)
		}
		before := `,"node_keys":[`
		if i > 0 {
			before = ","
		}
		out = fmt.Appendf(out, `%s{"name":%q,"host":%s,"created":%d,"key":"`, before, n.Name, host, n.Created)
		out = append(base64.StdEncoding.AppendEncode(out, n.Key), `"}`...)
	}
	if len(b.NodeKeys) > 0 {
		out = append(out, ']')
	}
	return append(out, '}'), nil
}

// openBackup decrypts a backup and checks every key in it.
func openBackup(data []byte, pass secret.Secret) (backup, error) {
	if len(data) > maxBackup {
		return backup{}, ErrDamaged
	}
	doc := data
	if bytes.HasPrefix(bytes.TrimSpace(data), []byte(armor.Header)) {
		var err error
		if doc, err = io.ReadAll(armor.NewReader(bytes.NewReader(data))); err != nil {
			return backup{}, ErrDamaged
		}
	}
	plaintext, err := decrypt(doc, pass)
	if err != nil {
		return backup{}, err
	}
	defer clear(plaintext)
	var b backup
	guard.Do(func() { b, err = parseBackup(plaintext) })
	return b, err
}

func parseBackup(plaintext []byte) (backup, error) {
	var b backup
	err := json.Unmarshal(plaintext, &b, json.RejectUnknownMembers(true))
	if err == nil && b.Version != backupVersion {
		err = fmt.Errorf("%w (the backup has version %d, this program reads %d)", ErrDamaged, b.Version, backupVersion)
	} else if err != nil || !b.sound() {
		err = ErrDamaged // the cause may quote it
	}
	if err != nil {
		b.wipe()
		return backup{}, err
	}
	return b, nil
}

func (b backup) sound() bool {
	if len(b.Items)+len(b.NodeKeys) > maxKeys || !networkName.MatchString(b.Network) ||
		len(b.APIKey) > 0 && !isAPIKey(b.APIKey) {
		return false
	}
	for _, i := range b.Items {
		if address, err := addressOf(i.Kind, i.Key); err != nil || address != i.Address || checkLabel(i.Label) != nil {
			return false
		}
	}
	return !slices.ContainsFunc(b.NodeKeys, func(n backupNodeKey) bool { return !n.sound() })
}

// Restore adds the keys of a backup, those of nodes and its API key where the vault has none, and returns which of the
// first it added. Keys that are there already stay as they are. A backup of another network is ErrNetwork; see
// RestoreFrom.
func (v *Vault) Restore(ctx context.Context, data []byte, pass secret.Secret) ([]Item, error) {
	return v.RestoreFrom(ctx, v.network, data, pass)
}

// RestoreFrom restores a backup that was made on the network with the given id, for a user who wants the same keys on
// both networks and says so: what such a key signs here can be valid there. Keys of nodes, that of a gas tank and an
// API key are restored on their own network only.
func (v *Vault) RestoreFrom(ctx context.Context, networkID string, data []byte, pass secret.Secret) (added []Item,
	err error) {
	if err := v.usable(ctx); err != nil {
		return nil, err
	}
	if err := v.opened(true); err != nil {
		return nil, err
	}
	b, err := openBackup(data, pass)
	if err != nil {
		return nil, err
	}
	defer b.wipe()
	if b.Network != networkID {
		return nil, ErrNetwork
	}
	var tank error
	for _, i := range b.Items {
		if i.Kind == GasTank {
			if networkID == v.network {
				tank = v.restoreGasTank(ctx, i)
			}
			continue
		}
		item, err := v.restore(ctx, i)
		switch {
		case errors.Is(err, ErrExists):
			continue
		case err != nil:
			return added, fmt.Errorf("restored %d keys, then: %w", len(added), err)
		}
		added = append(added, item)
	}
	if networkID == v.network && len(b.APIKey) > 0 {
		err = v.restoreAPIKey(ctx, b.APIKey)
	}
	if networkID == v.network {
		err = errors.Join(err, v.restoreNodeKeys(ctx, b.NodeKeys))
	}
	slices.SortFunc(added, byAddress)
	return added, errors.Join(err, tank)
}

// restore adds one key with the label and the time of its backup.
func (v *Vault) restore(ctx context.Context, i backupItem) (Item, error) {
	m := meta{Kind: i.Kind, Address: i.Address, Network: v.network, Label: i.Label, Created: i.Created}
	err := v.change(ctx, func(k *keys, h head, x index) error { return v.put(ctx, k, h, x, m, secret.New(i.Key)) })
	return m.item(), err
}

func (v *Vault) restoreAPIKey(ctx context.Context, key []byte) error {
	err := v.APIKey(ctx, func(secret.Secret) error { return nil })
	if !errors.Is(err, ErrNoKey) {
		return err
	}
	return v.SetAPIKey(ctx, secret.New(slices.Clone(key)))
}
