package harden

import (
	"syscall"
	"testing"
)

// prGetDumpable is an option of prctl(2).
const prGetDumpable = 3

// TestNoCoreFileHoldsAKey: neither a dump nor a tracer of the same user reaches the memory of the process (TH-K3).
func TestNoCoreFileHoldsAKey(t *testing.T) {
	Process()
	var core syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_CORE, &core); err != nil || core.Cur != 0 || core.Max != 0 {
		t.Errorf("core files may have %d of %d bytes, %v", core.Cur, core.Max, err)
	}
	if dumpable, _, failed := syscall.RawSyscall(syscall.SYS_PRCTL, prGetDumpable, 0, 0); failed != 0 || dumpable != 0 {
		t.Errorf("the process can be dumped: %d %v", dumpable, failed)
	}
}
