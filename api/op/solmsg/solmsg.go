// Package solmsg is the one gate through which Solana messages of a service enter the
// product. It reads the bytes that would be signed, with github.com/gagliardetto/
// solana-go inside, and refuses everything that has more than one reading.
//
// It also composes the messages that the service makes, which pass the same gate.
//
// Promise, for every input: no panic; an accepted message is legacy or version 0, at
// most 1232 bytes, consumed to the last byte, and encodes back to the same bytes; every
// index lies inside its table; the header is one the runtime accepts. The library is
// only called under a recover, because it panics on hostile messages and accepts
// trailing bytes. Accepting a message says nothing about what it does: that is judged
// by the rows TH-S2 … S12 in wallet/verify.
//
// Keys and block hashes are 32 bytes, shown in base58. Errors are *Error. Sources:
// protocol §8.5; TH-S1, TH-S2.
package solmsg

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"slices"

	"coffer/api/caip"
)

// MaxSize is the largest message that fits into a Solana packet, in bytes.
const MaxSize = 1232

// MaxAccounts bounds static keys and looked-up accounts together.
const MaxAccounts = 256

// Error says why bytes are not a message that may be looked at any further. Code is
// the row of docs/threats.md: S1 for form and bounds, S2 for the header.
type Error struct {
	Code    string
	Problem string
}

// Error returns one line of plain words.
func (e *Error) Error() string { return "solana message: " + e.Problem + " (" + e.Code + ")" }

func refuse(code, problem string) error { return &Error{Code: code, Problem: problem} }

// Version is the format of a message.
type Version uint8

// The two formats that exist.
const (
	Legacy Version = iota
	V0
)

// String is "legacy" or "v0".
func (v Version) String() string {
	if v == V0 {
		return "v0"
	}
	return "legacy"
}

// Key is a public key, a program id or a block hash.
type Key [32]byte

// String is the base58 form.
func (k Key) String() string { return caip.FormatSolanaKey(k) }

// ParseKey reads base58 of exactly 32 bytes (TH-L5).
func ParseKey(s string) (Key, error) {
	k, err := caip.ParseSolanaKey(s)
	return Key(k), err
}

// Header counts the signers and the read-only accounts among the static keys.
type Header struct {
	RequiredSignatures uint8
	ReadonlySigned     uint8
	ReadonlyUnsigned   uint8
}

// Account is one account of an instruction, with the flags that the message gives it.
// Key is the zero key when the account comes from a lookup table: Table and Entry then
// say where it would be found (TH-S12).
type Account struct {
	Key      Key
	Signer   bool
	Writable bool
	Lookup   bool
	Table    Key
	Entry    uint8
}

// Instruction is one compiled instruction with its indexes resolved. The program is
// always a static key.
type Instruction struct {
	Program  Key
	Accounts []Account
	Data     []byte
}

// Lookup names a lookup table and the entries that the message takes from it.
type Lookup struct {
	Table    Key
	Writable []uint8
	Readonly []uint8
}

// Message is an accepted message. The zero value is not one; use Parse. Treat its
// slices as read-only: Bytes is what gets signed, whatever happens to them.
type Message struct {
	Version      Version
	Header       Header
	Keys         []Key // static keys; the first ones sign
	Blockhash    Key
	Instructions []Instruction
	Lookups      []Lookup

	raw []byte
}

// ParseBase64 reads a message from strict, padded standard base64 without line breaks,
// the form of dataToSign.
func ParseBase64(s string) (Message, error) {
	if len(s) > base64.StdEncoding.EncodedLen(MaxSize) {
		return Message{}, refuse("S1", "longer than 1232 bytes")
	}
	data, err := base64.StdEncoding.Strict().DecodeString(s)
	// The decoder skips line breaks, so that one text has many spellings.
	if err != nil || base64.StdEncoding.EncodeToString(data) != s {
		return Message{}, refuse("S1", "not canonical base64")
	}
	return Parse(data)
}

// Bytes is the message to sign, the caller's own copy.
func (m Message) Bytes() []byte { return bytes.Clone(m.raw) }

// Base64 is Bytes in the form of dataToSign.
func (m Message) Base64() string { return base64.StdEncoding.EncodeToString(m.raw) }

// FeePayer is the first static key: it signs first and pays the fee (TH-S3).
func (m Message) FeePayer() Key {
	if len(m.Keys) == 0 {
		return Key{}
	}
	return m.Keys[0]
}

// Signers are the keys that must sign, in the order of their signatures (TH-S2).
func (m Message) Signers() []Key {
	return slices.Clone(m.Keys[:min(int(m.Header.RequiredSignatures), len(m.Keys))])
}

// SignerIndex is the position of a key's signature in the transaction.
func (m Message) SignerIndex(k Key) (int, bool) {
	i := slices.Index(m.Signers(), k)
	return i, i >= 0
}

// Verify reports whether sig is the signature of these bytes by k (TH-S13). It does not
// ask whether k is a signer of the message.
func (m Message) Verify(k Key, sig [64]byte) bool {
	return len(m.raw) > 0 && ed25519.Verify(k[:], m.raw, sig[:])
}

// static is the account at index i of the static keys.
func (m Message) static(i int) Account {
	h := m.Header
	signer := i < int(h.RequiredSignatures)
	writable := i < len(m.Keys)-int(h.ReadonlyUnsigned)
	if signer {
		writable = i < int(h.RequiredSignatures)-int(h.ReadonlySigned)
	}
	return Account{Key: m.Keys[i], Signer: signer, Writable: writable}
}

// Accounts lists everything an instruction can name, in index order: the static keys,
// then the writable entries of all lookup tables, then the read-only ones.
func (m Message) Accounts() []Account {
	var out []Account
	for i := range m.Keys {
		out = append(out, m.static(i))
	}
	for _, l := range m.Lookups {
		for _, entry := range l.Writable {
			out = append(out, Account{Lookup: true, Table: l.Table, Entry: entry, Writable: true})
		}
	}
	for _, l := range m.Lookups {
		for _, entry := range l.Readonly {
			out = append(out, Account{Lookup: true, Table: l.Table, Entry: entry})
		}
	}
	return out
}
