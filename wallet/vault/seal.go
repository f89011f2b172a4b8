package vault

import (
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"golang.org/x/crypto/chacha20poly1305"

	"coffer/wallet/vault/internal/guard"
)

// Limits of what is stored, in bytes.
const (
	maxValue  = 2048 // of a record and of the head: what every keyring takes (TH-KR4)
	maxLabel  = 64
	maxAPIKey = 512
)

// recordVersion is the first byte of what is sealed in a record.
const recordVersion = 1

// kindAPIKey marks the record of the API key; it is no kind of a signer's key.
const kindAPIKey Kind = "api-key"

// keys are the secrets of an unlocked vault: the master key and what is derived from it.
type keys struct{ master, seal, name []byte }

// deriveKeys takes ownership of the master key.
func deriveKeys(master []byte) (k *keys, err error) {
	if len(master) != keySize {
		clear(master)
		return nil, ErrDamaged
	}
	k = &keys{master: master}
	guard.Do(func() {
		if k.seal, err = hkdf.Expand(sha256.New, master, "coffer vault 1: records", keySize); err == nil {
			k.name, err = hkdf.Expand(sha256.New, master, "coffer vault 1: names", keySize)
		}
	})
	if err != nil {
		k.wipe()
		return nil, fmt.Errorf("vault: %w", err)
	}
	return k, nil
}

func (k *keys) wipe() {
	clear(k.master)
	clear(k.seal)
	clear(k.name)
}

// recordName is the name under which the key of an address is stored: 32 hex digits that do not show the address.
func (k *keys) recordName(address string) string {
	mac := hmac.New(sha256.New, k.name)
	mac.Write([]byte(address))
	return hex.EncodeToString(mac.Sum(nil)[:nameSize])
}

// box is the associated data of a record: it binds the record to the vault's network and to its own name.
func box(network, name string) []byte { return []byte("coffer vault 1\x00" + network + "\x00" + name) }

// seal64 encrypts plaintext for the store, as base64 text.
func (k *keys) seal64(random io.Reader, network, name string, plaintext []byte) (text []byte, err error) {
	guard.Do(func() {
		aead, e := chacha20poly1305.NewX(k.seal)
		if e != nil {
			err = fmt.Errorf("vault: %w", e)
			return
		}
		sealed := make([]byte, aead.NonceSize(), aead.NonceSize()+len(plaintext)+aead.Overhead())
		if _, e := io.ReadFull(random, sealed); e != nil {
			err = fmt.Errorf("vault: %w", e)
			return
		}
		sealed = aead.Seal(sealed, sealed, plaintext, box(network, name))
		text = base64.RawStdEncoding.AppendEncode(nil, sealed)
	})
	return text, err
}

// open64 is the inverse of seal64; whatever was not sealed here under this name is ErrDamaged. The caller wipes the
// plaintext.
func (k *keys) open64(network, name string, text []byte) (plaintext []byte, err error) {
	guard.Do(func() {
		sealed := make([]byte, base64.RawStdEncoding.DecodedLen(len(text)))
		n, e := base64.RawStdEncoding.Strict().Decode(sealed, text)
		aead, ae := chacha20poly1305.NewX(k.seal)
		if e != nil || ae != nil || n < aead.NonceSize() {
			err = ErrDamaged
			return
		}
		nonce, body := sealed[:aead.NonceSize()], sealed[aead.NonceSize():n]
		if plaintext, e = aead.Open(nil, nonce, body, box(network, name)); e != nil {
			err = ErrDamaged
		}
	})
	return plaintext, err
}

// meta describes the secret of a record.
type meta struct {
	Kind    Kind   `json:"kind"`
	Address string `json:"address,omitzero"`
	Network string `json:"network"`
	Label   string `json:"label,omitzero"`
	Host    string `json:"host,omitzero"` // that a node's key is for
	Created int64  `json:"created"`       // Unix seconds
}

// signs reports whether the key signs for accounts.
func (m meta) signs() bool { return m.Kind == EVM || m.Kind == Solana }

func (m meta) item() Item {
	return Item{Kind: m.Kind, Address: m.Address, Network: m.Network, Label: m.Label,
		Created: time.Unix(m.Created, 0).UTC()}
}

// encodeRecord writes version, length of the description, description and secret. No encoder ever sees the secret. The
// caller wipes the result.
func encodeRecord(m meta, secretBytes []byte) ([]byte, error) {
	described, err := json.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("vault: %w", err)
	}
	out := make([]byte, 3, 3+len(described)+len(secretBytes))
	out[0] = recordVersion
	binary.BigEndian.PutUint16(out[1:], uint16(len(described)))
	out = append(out, described...)
	return append(out, secretBytes...), nil
}

// decodeRecord reads what encodeRecord wrote; the secret is a part of plaintext.
func decodeRecord(plaintext []byte) (meta, []byte, error) {
	if len(plaintext) < 3 || plaintext[0] != recordVersion {
		return meta{}, nil, ErrDamaged
	}
	length := int(binary.BigEndian.Uint16(plaintext[1:]))
	if len(plaintext) < 3+length {
		return meta{}, nil, ErrDamaged
	}
	var m meta
	if err := json.Unmarshal(plaintext[3:3+length], &m, json.RejectUnknownMembers(true)); err != nil {
		return meta{}, nil, ErrDamaged // the cause may quote it
	}
	return m, plaintext[3+length:], nil
}

// openRecord opens the record of a key, of a node's key or of the API key, and checks that it is the one of the name
// and the network. The caller wipes the plaintext, of which the key is a part.
func (k *keys) openRecord(network, name string, text []byte) (m meta, plaintext, key []byte, err error) {
	if plaintext, err = k.open64(network, name, text); err != nil {
		return meta{}, nil, nil, err
	}
	switch m, key, err = decodeRecord(plaintext); {
	case err != nil:
	case m.Network != network:
		err = ErrNetwork
	case !k.sound(m, key, name):
		err = ErrDamaged
	}
	if err != nil {
		clear(plaintext)
		return meta{}, nil, nil, err
	}
	return m, plaintext, key, nil
}

// sound reports whether a record is the one of its name: the address of a key is derived again.
func (k *keys) sound(m meta, key []byte, name string) bool {
	if name == nameAPIKey {
		return m.Kind == kindAPIKey && isAPIKey(key)
	}
	if m.Kind == kindNodeKey {
		return k.soundNodeKey(m, key, name)
	}
	var address string
	var err error
	guard.Do(func() { address, err = addressOf(m.Kind, key) })
	return err == nil && address == m.Address && k.recordName(m.place()) == name && checkLabel(m.Label) == nil
}

func checkLabel(label string) error {
	if len(label) > maxLabel || !utf8.ValidString(label) {
		return ErrLabel
	}
	for _, r := range label {
		if !unicode.IsPrint(r) {
			return ErrLabel
		}
	}
	return nil
}
