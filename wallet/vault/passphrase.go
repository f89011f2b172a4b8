package vault

import (
	"coffer/api/sealed"
	"coffer/api/secret"
	"coffer/wallet/vault/internal/guard"
)

// MinPassphrase is the smallest number of characters of a new passphrase.
const MinPassphrase = sealed.MinPassphrase

// The work of a passphrase, as log2 of scrypt's N: what is used unless Options say otherwise, and the most that is
// accepted when reading (TH-KR6).
const (
	defaultWork = sealed.Work
	maxWork     = sealed.MaxWork
)

func checkNewPassphrase(pass secret.Secret) error { return sealed.CheckNew(pass) }

// encrypt makes an age document of the plaintext under a passphrase.
func encrypt(plaintext []byte, pass secret.Secret, work int) (doc []byte, err error) {
	guard.Do(func() { doc, err = sealed.Encrypt(plaintext, pass, work) })
	return doc, err
}

// decrypt opens an age document under a passphrase: ErrPassphrase, ErrWork or ErrDamaged when it cannot. The caller
// wipes the plaintext.
func decrypt(doc []byte, pass secret.Secret) (plaintext []byte, err error) {
	guard.Do(func() { plaintext, err = sealed.Decrypt(doc, pass) })
	return plaintext, err
}
