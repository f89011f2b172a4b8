package present

import "context"

// Vault is a front end's access to the store of keys; no key and no passphrase passes through it. The zero Vault
// belongs to a profile without one.
type Vault struct {
	Where  string      // the place of the keys, in a few words: "an encrypted file"; "" when it is unknown
	Locked func() bool // whether a signature needs the passphrase first; nil: never
	Lock   func()      // wipes the keys from memory; nil: there is nothing to lock
	Touch  func()      // the person pressed a key or typed a line: the idle time starts again; nil: no idle time
	// Has reports whether there is a key for the address, and an error when that is unknown, as for a locked vault;
	// nil: unknown.
	Has func(ctx context.Context, address string) (bool, error)
}
