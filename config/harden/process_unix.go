//go:build unix && !linux

package harden

import "syscall"

// Process keeps what is in memory, keys among it, out of core files (TH-K3).
func Process() {
	_ = syscall.Setrlimit(syscall.RLIMIT_CORE, &syscall.Rlimit{})
}
