package vault

import (
	"encoding/hex"
	"fmt"
	"io"
	"slices"

	"github.com/go-json-experiment/json"
)

// What the store calls the head and the record of the API key. The other names are hashes and hold no such words.
const (
	nameHead   = "head"
	nameAPIKey = "api-key"
)

const (
	nameSize = 16 // of a record's name, in bytes
	maxKeys  = 48 // so that the head stays within maxValue
)

// headVersion is the version of the stored form.
const headVersion = 1

// The ways in which the master key is kept.
const (
	wrapPassphrase = "passphrase"
	wrapNone       = "none"
)

// head is the record that opens a vault. Key is the age document with the master key, or the master key itself when
// Wrap is "none". Index is sealed.
type head struct {
	Version int    `json:"coffer_vault"`
	Network string `json:"network"`
	Wrap    string `json:"wrap"`
	Key     []byte `json:"key"`
	Index   string `json:"index"`
}

func parseHead(b []byte) (head, error) {
	var h head
	if len(b) > maxValue || json.Unmarshal(b, &h, json.RejectUnknownMembers(true)) != nil {
		return head{}, ErrDamaged
	}
	if h.Version != headVersion {
		return head{}, fmt.Errorf("%w (it has version %d, this program reads %d)", ErrDamaged, h.Version, headVersion)
	}
	return h, nil
}

func (h head) encode() ([]byte, error) {
	b, err := json.Marshal(h)
	if err != nil {
		return nil, fmt.Errorf("vault: %w", err)
	}
	return b, nil
}

// forget wipes a master key that is kept as it is.
func (h head) forget() {
	if h.Wrap == wrapNone {
		clear(h.Key)
	}
}

// index lists the names of the keys, in order of arrival, and of those whose removal has begun and may not be finished.
type index struct{ names, leaving []string }

// sealIndex seals the list under the head's way of keeping the master key, which therefore cannot be changed by
// somebody else either.
func (k *keys) sealIndex(random io.Reader, h head, x index) (string, error) {
	plain := []byte{recordVersion, byte(len(x.names)), byte(len(x.leaving))}
	for _, name := range slices.Concat(x.names, x.leaving) {
		raw, err := hex.DecodeString(name)
		if err != nil {
			return "", fmt.Errorf("vault: %w", err)
		}
		plain = append(plain, raw...)
	}
	text, err := k.seal64(random, h.Network, nameHead+" "+h.Wrap, plain)
	return string(text), err
}

func (k *keys) openIndex(h head) (index, error) {
	plain, err := k.open64(h.Network, nameHead+" "+h.Wrap, []byte(h.Index))
	if err != nil {
		return index{}, err
	}
	if len(plain) < 3 || plain[0] != recordVersion || len(plain) != 3+nameSize*(int(plain[1])+int(plain[2])) {
		return index{}, ErrDamaged
	}
	all := make([]string, 0, int(plain[1])+int(plain[2]))
	for part := range slices.Chunk(plain[3:], nameSize) {
		all = append(all, hex.EncodeToString(part))
	}
	return index{names: all[:plain[1]:plain[1]], leaving: all[plain[1]:]}, nil
}
