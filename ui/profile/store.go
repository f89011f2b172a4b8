package profile

import (
	"bytes"
	"crypto/rand"
	"time"

	"coffer/api/secret"
	"coffer/config"
	"coffer/ui/cli"
	"coffer/wallet/vault"
)

// vaultOptions returns the options of a profile's vault in a directory.
func (h Host) vaultOptions(p config.Profile, networkID, dir string) vault.Options {
	o := vault.Options{
		Profile: p.Name, NetworkID: networkID, Dir: dir, Clock: time.Now, Random: rand.Reader, IdleLock: p.LockTime(),
		SSH: h.overSSH(), Keyring: h.Keyring, WorkFactor: h.WorkFactor,
	}
	o.Interactive = !o.SSH
	return o
}

// overSSH is true over SSH. A shell inside tmux or sudo keeps one of these variables when it loses another.
func (h Host) overSSH() bool {
	return h.Getenv("SSH_CONNECTION") != "" || h.Getenv("SSH_TTY") != "" || h.Getenv("SSH_CLIENT") != ""
}

// openStore opens the vault of one of the kinds that a profile can name, except config.VaultMemory.
func openStore(kind string, o vault.Options) (*vault.Vault, error) {
	switch kind {
	case config.VaultKeyring:
		return vault.OpenKeyring(o)
	case config.VaultKeyringOnly:
		return vault.OpenKeyringOnly(o)
	}
	return vault.OpenFile(o)
}

// boundKey is what the vault stores for an API key: the address of its service and the key, so that the key goes to no
// other address (TH-C3). The caller wipes it.
func boundKey(baseURL string, key secret.Secret) (secret.Secret, error) {
	if key.Empty() || bytes.ContainsAny(key.Reveal(), " \t") {
		return secret.Secret{}, &cli.UsageError{Problem: "an API key has no blanks; nothing was stored"}
	}
	return secret.New(append(append(make([]byte, 0, len(baseURL)+1+len(key.Reveal())), baseURL+"|"...),
		key.Reveal()...)), nil
}
