//go:build !unix

package sshd

import "io/fs"

// writable always returns "": on this system the mode does not protect a file.
func writable(fs.FileInfo) string { return "" }

// readable always returns "", for the same reason.
func readable(fs.FileInfo) string { return "" }
