// Package vault keeps keys. A key is tagged with the id of the network it was made for and is refused on every other
// one, because the embedded chains bear the ids of the real ones and a signature would be valid there (protocol §4.2).
//
// Promise: keys leave only through Use, for the length of one callback, as a secret.Secret that is wiped when the
// callback returns; nothing here prints, logs or encodes a key in the clear, and Lock and Close wipe what is kept.
// Memory holds keys of the running program (the published demo key). Vault is a store of one profile and network on
// disk: an encrypted file, or the keyring of the operating system. Which one is the user's choice and is written down
// with the profile; no error, and no time-out, ever moves a key somewhere else (TH-K7, KR3).
//
// How a Vault is stored. Each vault has a random 32-byte master key. It is written as an age document under the
// passphrase (scrypt, 2^18 by default, at most 2^20 on read, TH-KR6); only for the keyring-only backend, where the user
// chose to trust the keyring alone, as it is. Every key, each that a node asks for and the API key is a record of its
// own, sealed with XChaCha20-Poly1305 under a key derived from the master key, with the network id and the record's
// name as associated data; the name is a keyed hash of the address, so a store shows neither addresses nor labels. One
// scrypt opens the vault, and a record that was moved, swapped, changed or made by somebody else is ErrDamaged: besides
// the seal, the address is derived again from the key and the network tag is compared. A record and the head are at
// most 2048 bytes, so that every keyring takes them (TH-KR4).
//
// What it does not do: an older copy of the store with an older passphrase still opens, and whoever can write to the
// store can delete from it; make a backup. The strings that the keyring library and age make from a passphrase or a
// value cannot be wiped (TH-K4).
//
// Sources: TH-K1, K4-K7, KR1-KR6, C3, Z2; protocol §4.2.
package vault

import (
	"errors"
	"time"

	"coffer/api/sealed"
)

// The errors of a vault. They say what happened and never contain a part of a key, a passphrase or a file that was
// read.
var (
	ErrNoKey          = errors.New("this vault has no key for the address")
	ErrNetwork        = errors.New("the key belongs to another network and must not be used here")
	ErrClosed         = errors.New("the vault is closed")
	ErrBadKey         = errors.New("not a private key")
	ErrLocked         = errors.New("the vault is locked; unlock it with its passphrase")
	ErrPassphrase     = sealed.ErrPassphrase
	ErrWeakPassphrase = sealed.ErrWeakPassphrase
	ErrNoPassphrase   = errors.New("this vault is kept by the keyring alone and has no passphrase")
	ErrExists         = errors.New("it exists already and is not overwritten")
	ErrNotSetUp       = errors.New("there is no vault yet for this profile and network; set it up first")
	ErrBackend        = errors.New("the stored vault was set up for another kind of backend than this profile names")
	ErrDamaged        = sealed.ErrDamaged
	ErrWork           = sealed.ErrWork
	ErrGasTank        = errors.New("this vault has another gas tank, which stays; restore the backup into a new " +
		"profile to reach its own")
	ErrFull  = errors.New("the vault is full: it holds 48 keys")
	ErrLabel = errors.New("a label has at most 64 bytes of printable text")
)

// Kind is the kind of a key.
type Kind string

// The kinds of keys that sign for accounts: an EVM key of 32 bytes and a Solana seed of 32 bytes.
const (
	EVM    Kind = "evm"
	Solana Kind = "solana"
)

// Item describes a key without showing it. Address is 0x and 40 lower-case hex digits, or base58. Label and Created
// (UTC, whole seconds) are empty for a key that is only in memory.
type Item struct {
	Kind    Kind
	Address string
	Network string
	Label   string
	Created time.Time
}
