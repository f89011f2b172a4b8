package vault

import (
	"context"
	"slices"
	"strings"
	"sync"

	"coffer/api/secret"
	"coffer/wallet/vault/internal/guard"
)

// Memory keeps keys in memory for one network. It is safe for concurrent use.
type Memory struct {
	network string
	mu      sync.Mutex
	items   map[string]stored
	closed  bool
}

type stored struct {
	item Item
	key  []byte
}

// NewMemory makes an empty vault whose keys are tagged with the network id.
func NewMemory(networkID string) *Memory {
	return &Memory{network: networkID, items: map[string]stored{}}
}

// Add takes ownership of the 32 bytes of a key, tags it and returns its description. The bytes are wiped when they are
// no key.
func (m *Memory) Add(kind Kind, key secret.Secret) (Item, error) {
	address, err := AddressOf(kind, key)
	if err != nil {
		key.Wipe()
		return Item{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		key.Wipe()
		return Item{}, ErrClosed
	}
	if old, ok := m.items[address]; ok {
		clear(old.key)
	}
	s := stored{item: Item{Kind: kind, Address: address, Network: m.network}, key: key.Reveal()}
	m.items[address] = s
	return s.item, nil
}

// Items lists the keys without showing them, ordered by address.
func (m *Memory) Items() []Item {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := make([]Item, 0, len(m.items))
	for _, s := range m.items {
		out = append(out, s.item)
	}
	slices.SortFunc(out, byAddress)
	return out
}

func byAddress(a, b Item) int { return strings.Compare(a.Address, b.Address) }

// Use lends a copy of the key of address to fn and wipes the copy afterwards. It fails with ErrNetwork unless networkID
// is the tag of the key and of the vault, with ErrNoKey or with ErrClosed.
func (m *Memory) Use(ctx context.Context, networkID, address string, fn func(key secret.Secret) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	lent, err := m.borrow(networkID, address)
	if err != nil {
		return err
	}
	defer lent.Wipe()
	guard.Do(func() { err = fn(lent) })
	return err
}

func (m *Memory) borrow(networkID, address string) (secret.Secret, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return secret.Secret{}, ErrClosed
	}
	s, ok := m.items[address]
	if !ok {
		return secret.Secret{}, ErrNoKey
	}
	if networkID == "" || networkID != m.network || s.item.Network != networkID {
		return secret.Secret{}, ErrNetwork
	}
	return secret.New(slices.Clone(s.key)), nil
}

// Close wipes all keys. The vault cannot be used afterwards.
func (m *Memory) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, s := range m.items {
		clear(s.key)
	}
	clear(m.items)
	m.closed = true
	return nil
}
