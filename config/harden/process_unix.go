//go:build unix && !linux

package harden

import "syscall"

// Process keeps what is in memory, keys among it, out of core files and tracebacks (TH-K3).
func Process() {
	quietTraceback()
	_ = syscall.Setrlimit(syscall.RLIMIT_CORE, &syscall.Rlimit{})
}
