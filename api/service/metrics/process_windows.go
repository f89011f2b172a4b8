package metrics

import (
	"unsafe"

	"golang.org/x/sys/windows"
)

// memoryCounters is PROCESS_MEMORY_COUNTERS_EX of the Windows API.
type memoryCounters struct {
	size, faults               uint32
	peakWorkingSet, workingSet uintptr
	_                          [6]uintptr
	private                    uintptr
}

// system reads what Windows says of the process.
func system() map[string]float64 {
	out := map[string]float64{"max_fds": 16 << 20} // of Windows, for every process
	self := windows.CurrentProcess()
	var began, ended, kernel, user windows.Filetime
	if windows.GetProcessTimes(self, &began, &ended, &kernel, &user) == nil {
		var ticks uint64 // of 100 ns
		for _, t := range []windows.Filetime{kernel, user} {
			ticks += uint64(t.HighDateTime)<<32 + uint64(t.LowDateTime)
		}
		out["cpu_seconds_total"] = float64(ticks) / 1e7
	}
	kernel32 := windows.NewLazySystemDLL("kernel32.dll")
	var handles uint32
	ok, _, _ := kernel32.NewProc("GetProcessHandleCount").Call(uintptr(self),
		uintptr(unsafe.Pointer(&handles))) //nolint:gosec // the call fills it
	if ok != 0 {
		out["open_fds"] = float64(handles)
	}
	m := memoryCounters{size: uint32(unsafe.Sizeof(memoryCounters{}))}
	ok, _, _ = kernel32.NewProc("K32GetProcessMemoryInfo").Call(uintptr(self),
		uintptr(unsafe.Pointer(&m)), unsafe.Sizeof(m)) //nolint:gosec // the call fills it
	if ok != 0 {
		out["virtual_memory_bytes"], out["resident_memory_bytes"] = float64(m.private), float64(m.workingSet)
	}
	return out
}
