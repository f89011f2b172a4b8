package vault

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"unicode/utf8"

	"filippo.io/age"

	"coffer/api/secret"
	"coffer/wallet/vault/internal/guard"
)

// MinPassphrase is the smallest number of characters of a new passphrase.
const MinPassphrase = 8

// The work of a passphrase, as log2 of scrypt's N: what is used unless Options say otherwise, and the most that is
// accepted when reading (TH-KR6).
const (
	defaultWork = 18
	maxWork     = 20
)

func checkNewPassphrase(pass secret.Secret) error {
	if utf8.RuneCount(pass.Reveal()) < MinPassphrase {
		return ErrWeakPassphrase
	}
	return nil
}

// encrypt makes an age document of the plaintext under a passphrase.
func encrypt(plaintext []byte, pass secret.Secret, work int) (doc []byte, err error) {
	guard.Do(func() {
		var out bytes.Buffer
		recipient, e := age.NewScryptRecipient(string(pass.Reveal()))
		if e != nil {
			err = ErrWeakPassphrase
			return
		}
		recipient.SetWorkFactor(work)
		w, e := age.Encrypt(&out, recipient)
		if e == nil {
			_, e = w.Write(plaintext)
		}
		if e == nil {
			e = w.Close()
		}
		if e != nil {
			err = fmt.Errorf("encrypt: %w", e)
			return
		}
		doc = out.Bytes()
	})
	return doc, err
}

// decrypt opens an age document under a passphrase: ErrPassphrase, ErrWork or ErrDamaged when it cannot. The caller
// wipes the plaintext.
func decrypt(doc []byte, pass secret.Secret) (plaintext []byte, err error) {
	if pass.Empty() {
		return nil, ErrPassphrase
	}
	guard.Do(func() {
		identity, e := age.NewScryptIdentity(string(pass.Reveal()))
		if e != nil {
			err = ErrPassphrase
			return
		}
		identity.SetMaxWorkFactor(maxWork)
		r, e := age.Decrypt(bytes.NewReader(doc), bounded{identity})
		if e != nil {
			err = decryptError(e)
			return
		}
		plaintext, err = readWhole(r, len(doc)) // which the plaintext is shorter than
	})
	return plaintext, err
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
	if work, err := strconv.Atoi(stanzas[0].Args[1]); err != nil || work > maxWork {
		return nil, ErrWork
	}
	return b.identity.Unwrap(stanzas)
}
