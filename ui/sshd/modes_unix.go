//go:build unix

package sshd

import (
	"io/fs"
	"os"
	"syscall"
)

// writable names the other users who can write a file; "" for none.
func writable(info fs.FileInfo) string {
	if info.Mode().Perm()&0o022 != 0 {
		return "may be written to by others"
	}
	if s, ok := info.Sys().(*syscall.Stat_t); ok && s.Uid != 0 && int64(s.Uid) != int64(os.Geteuid()) {
		return "belongs to another user"
	}
	return ""
}

// readable names the other users who can read a file; "" for none.
func readable(info fs.FileInfo) string {
	if info.Mode().Perm()&0o077 != 0 {
		return "may be read by others"
	}
	return writable(info)
}
