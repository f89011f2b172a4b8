package vault

import (
	"bytes"
	"encoding/hex"
	"fmt"

	"coffer/api/secret"
	"coffer/wallet/vault/internal/guard"
)

// Form is the way in which a foreign key is written.
type Form string

// The forms that ParseKey reads.
const (
	FormHex         Form = "hex"          // 64 hexadecimal digits, with or without 0x
	FormKeystore    Form = "keystore"     // Web3 Secret Storage, version 3 (JSON with a password)
	FormSolanaArray Form = "solana-array" // JSON array of 64 or 32 numbers, as Solana's own tools write it
	FormBase58      Form = "base58"       // 64-byte key pair or 32-byte seed of Solana
	FormMnemonic    Form = "mnemonic"     // BIP-39 words, English list
)

// maxKeyFile bounds what ParseKey and ReadKeyFile take, in bytes.
const maxKeyFile = 64 << 10

// Hint says what the person who imports a key knows about it. The zero value recognises everything that needs no
// password.
type Hint struct {
	Form     Form          // empty: recognised from the text
	Kind     Kind          // empty: every kind that the form can mean by itself; a hexadecimal key is then an EVM key
	Password secret.Secret // of a keystore file, or the additional passphrase of a mnemonic
	Path     string        // derivation path of a mnemonic; empty: the usual first one of each kind
}

// Candidate is a key that a text can mean. The caller wipes the secret, or hands it to Add.
type Candidate struct {
	Kind    Kind
	Address string // as Item.Address
	Path    string // derivation path, of a mnemonic only
	Key     secret.Secret
}

// Imported is what a text was found to be: one key, or one of each kind for a mnemonic without hints.
type Imported struct {
	Form Form
	Keys []Candidate
}

// Wipe wipes all keys.
func (i Imported) Wipe() {
	for _, k := range i.Keys {
		k.Key.Wipe()
	}
}

// ImportError says why a text is no key. It never contains a part of the text. Unwrap gives ErrBadKey, ErrPassphrase
// (wrong keystore password) or ErrWork.
type ImportError struct {
	Form    Form // what the text was taken for; empty when it looks like nothing known
	Problem string
	// NeedsPassword asks for Hint.Password.
	NeedsPassword bool
	cause         error
}

// Error returns the form and the problem.
func (e *ImportError) Error() string {
	if e.Form == "" {
		return "import a key: " + e.Problem
	}
	return fmt.Sprintf("import a key (%s): %s", e.Form, e.Problem)
}

// Unwrap returns the kind of the error.
func (e *ImportError) Unwrap() error { return e.cause }

func bad(form Form, problem string) error {
	return &ImportError{Form: form, Problem: problem, cause: ErrBadKey}
}

// ParseKey reads a foreign key from at most 64 KiB of text. Its errors are *ImportError. It neither keeps nor changes
// data, which the caller wipes.
func ParseKey(data []byte, hint Hint) (out Imported, err error) {
	guard.Do(func() { out, err = parseKey(data, hint) })
	return out, err
}

func parseKey(data []byte, hint Hint) (Imported, error) {
	if len(data) > maxKeyFile {
		return Imported{}, bad("", "the text is too long for a key")
	}
	text := bytes.TrimSpace(data)
	if len(text) == 0 {
		return Imported{}, bad("", "the text is empty")
	}
	switch hint.Kind {
	case "", EVM, Solana:
	default:
		return Imported{}, bad("", "a key is of kind evm or solana")
	}
	form := hint.Form
	if form == "" {
		form = recognise(text)
	}
	var key []byte
	var err error
	kind := Solana
	switch form {
	case FormMnemonic:
		return parseMnemonic(text, hint)
	case FormHex:
		if kind = hint.Kind; kind == "" {
			kind = EVM
		}
		key, err = parseHex(text)
	case FormKeystore:
		kind = EVM
		key, err = parseKeystore(text, hint.Password)
	case FormSolanaArray:
		key, err = parseArray(text)
	case FormBase58:
		key, err = parseBase58(text)
	default:
		return Imported{}, bad("", "expected 64 hexadecimal digits, a keystore file, a Solana key (array or base58) "+
			"or the words of a mnemonic")
	}
	if err != nil {
		return Imported{}, err
	}
	return single(form, kind, key, hint.Kind)
}

// single makes the result of a form that holds one key, whose bytes it takes over.
func single(form Form, kind Kind, key []byte, wanted Kind) (Imported, error) {
	address, err := addressOf(kind, key)
	if err != nil {
		clear(key)
		return Imported{}, bad(form, "these bytes are not a private key")
	}
	if wanted != "" && wanted != kind {
		clear(key)
		return Imported{}, bad(form, fmt.Sprintf("this is a key of kind %s, not %s", kind, wanted))
	}
	return Imported{Form: form, Keys: []Candidate{{Kind: kind, Address: address, Key: secret.New(key)}}}, nil
}

// recognise tells the form from the look of the text; no text looks like two of them that could both be keys, since 64
// hexadecimal digits are not the length of a base58 key.
func recognise(text []byte) Form {
	digits := bytes.TrimPrefix(text, []byte("0x"))
	switch {
	case text[0] == '{':
		return FormKeystore
	case text[0] == '[':
		return FormSolanaArray
	case len(digits) == 2*keySize && isHex(digits), len(digits) < len(text):
		return FormHex
	case bytes.ContainsAny(text, " \t\r\n"):
		return FormMnemonic
	case isBase58(text):
		return FormBase58
	}
	return ""
}

func isHex(b []byte) bool {
	for _, c := range b {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') && (c < 'A' || c > 'F') {
			return false
		}
	}
	return true
}

func parseHex(text []byte) ([]byte, error) {
	digits := bytes.TrimPrefix(text, []byte("0x"))
	key := make([]byte, keySize)
	if len(digits) != 2*keySize {
		return nil, bad(FormHex, "expected 64 hexadecimal digits, with or without 0x")
	}
	if _, err := hex.Decode(key, digits); err != nil { // the cause names a character
		clear(key)
		return nil, bad(FormHex, "expected 64 hexadecimal digits, with or without 0x")
	}
	return key, nil
}

// ReadKeyFile reads a file with a key for ParseKey: a regular file of at most 64 KiB that nobody but its owner may read
// or write (TH-K1). The caller wipes the text.
func ReadKeyFile(path string) (secret.Secret, error) {
	b, err := readPrivate(path, maxKeyFile)
	if err != nil {
		return secret.Secret{}, fmt.Errorf("key file: %w", err)
	}
	return secret.New(b), nil
}
