package harden

import "syscall"

// prSetDumpable is an option of prctl(2).
const prSetDumpable = 4

// Process keeps the memory, keys included, out of core files and away from other programs of the same user: nothing
// can dump or trace this process, its environment is closed, and when it fails it shows one goroutine (TH-K3).
func Process() {
	quietTraceback()
	_ = syscall.Setrlimit(syscall.RLIMIT_CORE, &syscall.Rlimit{})
	_, _, _ = syscall.RawSyscall(syscall.SYS_PRCTL, prSetDumpable, 0, 0)
}
