//go:build !linux && !freebsd && !netbsd && !openbsd && !dragonfly

package vault

// asking is how a keyring is looked at; nil where the system itself asks nobody in a session over SSH: macOS and
// Windows answer with an error.
func asking() func(service, user string) error { return nil }
