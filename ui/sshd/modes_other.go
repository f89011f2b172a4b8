//go:build !unix

package sshd

import "io/fs"

// writable knows nothing here: what protects a file on this system is not in its mode.
func writable(fs.FileInfo) string { return "" }

// readable knows nothing here, either.
func readable(fs.FileInfo) string { return "" }
