// Package sealed encrypts what a person's passphrase guards: an age document under scrypt.
//
// Promise: opening a document, also a hostile one, does no more work than MaxWork allows, and an error quotes nothing
// of a document or a passphrase (TH-KR6). The string that age makes of a passphrase cannot be wiped (TH-K4).
package sealed

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"unicode/utf8"

	"filippo.io/age"

	"coffer/api/secret"
)

// MinPassphrase is the smallest number of characters of a new passphrase.
const MinPassphrase = 8

// The work of a passphrase, as log2 of scrypt's N: what is usual, and the most that is accepted when reading.
const (
	Work    = 18
	MaxWork = 20
)

// Why a document cannot be made or opened.
var (
	ErrWeakPassphrase = errors.New("a passphrase has at least 8 characters")
	ErrPassphrase     = errors.New("wrong passphrase")
	ErrWork           = errors.New("opening this would take more work or memory than is allowed; it was not made by " +
		"this program, or was tampered with")
	ErrDamaged = errors.New(
		"what is stored was changed or damaged, or does not belong to this vault; restore a backup")
)

// CheckNew refuses a passphrase that is too short for a new document.
func CheckNew(pass secret.Secret) error {
	if utf8.RuneCount(pass.Reveal()) < MinPassphrase {
		return ErrWeakPassphrase
	}
	return nil
}

// Encrypt makes an age document of the plaintext under a passphrase.
func Encrypt(plaintext []byte, pass secret.Secret, work int) ([]byte, error) {
	var out bytes.Buffer
	recipient, err := age.NewScryptRecipient(string(pass.Reveal()))
	if err != nil {
		return nil, ErrWeakPassphrase
	}
	recipient.SetWorkFactor(work)
	w, err := age.Encrypt(&out, recipient)
	if err == nil {
		_, err = w.Write(plaintext)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		return nil, fmt.Errorf("encrypt: %w", err)
	}
	return out.Bytes(), nil
}

// Decrypt opens an age document under a passphrase: ErrPassphrase, ErrWork or ErrDamaged when it cannot. The caller
// wipes the plaintext.
func Decrypt(doc []byte, pass secret.Secret) ([]byte, error) {
	if pass.Empty() {
		return nil, ErrPassphrase
	}
	identity, err := age.NewScryptIdentity(string(pass.Reveal()))
	if err != nil {
		return nil, ErrPassphrase
	}
	identity.SetMaxWorkFactor(MaxWork)
	r, err := age.Decrypt(bytes.NewReader(doc), bounded{identity})
	if err != nil {
		return nil, decryptError(err)
	}
	return readWhole(r, len(doc)) // which the plaintext is shorter than
}

// readWhole reads up to the end, and less than limit bytes, without a buffer that grows and leaves copies behind. Only
// io.EOF is the end: age says io.ErrUnexpectedEOF for a document that was cut off.
func readWhole(r io.Reader, limit int) ([]byte, error) {
	buf := make([]byte, limit)
	for n := 0; n < limit; {
		m, err := r.Read(buf[n:])
		n += m
		if err == io.EOF { //nolint:errorlint // a wrapped one is no end
			return buf[:n], nil
		}
		if err != nil {
			break
		}
	}
	clear(buf)
	return nil, ErrDamaged
}

func decryptError(err error) error {
	switch {
	case errors.Is(err, ErrWork), errors.Is(err, ErrDamaged):
		return err
	case errors.Is(err, age.ErrIncorrectIdentity):
		return ErrPassphrase
	}
	return ErrDamaged // the cause may quote the document
}

// bounded refuses a document that is not encrypted under a passphrase, or asks for too much work, before any work is
// done.
type bounded struct{ identity *age.ScryptIdentity }

// Unwrap returns the file key.
func (b bounded) Unwrap(stanzas []*age.Stanza) ([]byte, error) {
	if len(stanzas) != 1 || stanzas[0].Type != "scrypt" || len(stanzas[0].Args) != 2 {
		return nil, ErrDamaged
	}
	if work, err := strconv.Atoi(stanzas[0].Args[1]); err != nil || work > MaxWork {
		return nil, ErrWork
	}
	return b.identity.Unwrap(stanzas)
}
