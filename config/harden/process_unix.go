//go:build unix && !linux

package harden

import "syscall"

// Process keeps the memory, keys included, out of core files and tracebacks (TH-K3).
func Process() {
	quietTraceback()
	_ = syscall.Setrlimit(syscall.RLIMIT_CORE, &syscall.Rlimit{})
}
