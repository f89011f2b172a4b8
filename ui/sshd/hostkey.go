package sshd

import (
	"crypto/ed25519"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	gossh "golang.org/x/crypto/ssh"

	"coffer/api/files"
)

// OpenHostKey reads the server's key from the directory, or creates it there (ed25519, 0600). It refuses a key that
// other users can read.
func OpenHostKey(dir string) (ed25519.PrivateKey, error) {
	path := filepath.Join(dir, HostKeyFile)
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		if err := makeHostKey(dir, path); err != nil {
			return nil, fmt.Errorf("host key: %w", err)
		}
		info, err = os.Lstat(path)
	}
	if err != nil {
		return nil, fmt.Errorf("host key: %w", err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("host key: %s is not a file", path)
	}
	if why := readable(info); why != "" {
		return nil, fmt.Errorf("host key: %s %s, and anyone who has it can pass for this server: chmod 600 it if no "+
			"one read it, else remove it and tell your guests of the new one", path, why)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("host key: %w", err)
	}
	defer clear(content)
	raw, err := gossh.ParseRawPrivateKey(content)
	if err != nil {
		return nil, fmt.Errorf("host key: %s is no private key that can be read without a passphrase", path)
	}
	key, ok := raw.(*ed25519.PrivateKey)
	if !ok {
		return nil, fmt.Errorf("host key: %s is no ed25519 key", path)
	}
	return *key, nil
}

// makeHostKey writes a new key; when another process was faster, that process's key stays.
func makeHostKey(dir, path string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return err
	}
	block, err := gossh.MarshalPrivateKey(key, "coffer")
	if err != nil {
		return err
	}
	defer clear(block.Bytes)
	encoded := pem.EncodeToMemory(block)
	defer clear(encoded)
	err = files.Create(path, ".new-*", encoded)
	if errors.Is(err, fs.ErrExist) { // another server's, made meanwhile
		return nil
	}
	return err
}

// writable says why other users can write a file; "" when none can.
func writable(info fs.FileInfo) string {
	switch {
	case files.OthersMayWrite(info):
		return "may be written to by others"
	case files.Foreign(info):
		return "belongs to another user"
	}
	return ""
}

// readable says why other users can read a file; "" when none can.
func readable(info fs.FileInfo) string {
	if files.OthersMayRead(info) {
		return "may be read by others"
	}
	return writable(info)
}

// plainLine is a public key in the format of key files, without a comment.
func plainLine(key gossh.PublicKey) string {
	return strings.TrimSpace(string(gossh.MarshalAuthorizedKey(key)))
}

// guestDir names the directory of a guest.
func guestDir(key []byte) string {
	sum := sha256.Sum256(key)
	return hex.EncodeToString(sum[:])
}

// GuestSecret derives 32 bytes for a guest from the host key: the same for the same guest on the same network,
// different for every other guest and network, and not derivable from the guest's public key alone. try distinguishes
// further candidates from the first one. It stores nothing: the owner of the host key has every guest's throw-away
// key, and replacing the host key gives every guest a new account.
func GuestSecret(host ed25519.PrivateKey, network string, guest []byte, try byte) ([]byte, error) {
	sum := sha256.Sum256(guest)
	info := "coffer guest signer 1\x00" + network + "\x00" + string(append(sum[:], try))
	return hkdf.Key(sha256.New, host.Seed(), nil, info, 32)
}
