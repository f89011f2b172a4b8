// Package vault keeps keys. A key is tagged with the id of the network it was made for and is refused on every other one, because the embedded chains bear
// the ids of the real ones and a signature would be valid there (design §2.6).
//
// Promise: keys leave only through Use, for the length of one callback, as a secret.Secret that is wiped when the callback returns; nothing here prints, logs
// or encodes a key, and Close wipes what is kept. This version has the memory backend, for the published demo key.
package vault

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/ethereum/go-ethereum/crypto"

	"coffer/api/caip"
	"coffer/api/secret"
)

// The errors of a vault.
var (
	ErrNoKey   = errors.New("this vault has no key for the address")
	ErrNetwork = errors.New("the key belongs to another network and must not be used here")
	ErrClosed  = errors.New("the vault is closed")
	ErrBadKey  = errors.New("not a private key")
)

// Kind is the kind of a key.
type Kind string

// The kinds: an EVM key of 32 bytes and a Solana seed of 32 bytes.
const (
	EVM    Kind = "evm"
	Solana Kind = "solana"
)

// Item describes a key without showing it. Address is 0x and 40 lower-case hex digits, or base58.
type Item struct {
	Kind    Kind
	Address string
	Network string
}

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

// Add takes ownership of the 32 bytes of a key, tags it and returns its description. The bytes are wiped when they are no key.
func (m *Memory) Add(kind Kind, key secret.Secret) (Item, error) {
	address, err := addressOf(kind, key)
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

func addressOf(kind Kind, key secret.Secret) (string, error) {
	switch kind {
	case EVM:
		k, err := crypto.ToECDSA(key.Reveal())
		if err != nil {
			return "", ErrBadKey // the cause may describe the key
		}
		return strings.ToLower(crypto.PubkeyToAddress(k.PublicKey).Hex()), nil
	case Solana:
		if len(key.Reveal()) != ed25519.SeedSize {
			return "", ErrBadKey
		}
		private := ed25519.NewKeyFromSeed(key.Reveal())
		defer clear(private)
		return caip.FormatSolanaKey([32]byte(private[32:])), nil
	}
	return "", fmt.Errorf("%w: unknown kind", ErrBadKey)
}

// Items lists the keys without showing them, ordered by address.
func (m *Memory) Items() []Item {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := make([]Item, 0, len(m.items))
	for _, s := range m.items {
		out = append(out, s.item)
	}
	slices.SortFunc(out, func(a, b Item) int { return strings.Compare(a.Address, b.Address) })
	return out
}

// Use lends a copy of the key of address to fn and wipes the copy afterwards. It fails with ErrNetwork unless networkID is the tag of the key and of the
// vault, with ErrNoKey or with ErrClosed.
func (m *Memory) Use(ctx context.Context, networkID, address string, fn func(key secret.Secret) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	lent, err := m.borrow(networkID, address)
	if err != nil {
		return err
	}
	defer lent.Wipe()
	return fn(lent)
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
