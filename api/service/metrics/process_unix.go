//go:build linux || darwin

package metrics

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// system reads what the kernel says of the process; on macOS there is no /proc, so memory and network are left out.
func system() map[string]float64 {
	out := map[string]float64{}
	var use syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &use) == nil {
		out["cpu_seconds_total"] = float64(use.Utime.Nano()+use.Stime.Nano()) / 1e9
	}
	for name, which := range map[string]int{"max_fds": syscall.RLIMIT_NOFILE,
		"virtual_memory_max_bytes": syscall.RLIMIT_AS} {
		var limit syscall.Rlimit
		if syscall.Getrlimit(which, &limit) == nil {
			out[name] = float64(limit.Cur)
		}
	}
	if dir, err := os.Open("/dev/fd"); err == nil {
		if names, err := dir.Readdirnames(0); err == nil { // ReadDir would ask after each, and macOS refuses some
			out["open_fds"] = float64(len(names) - 1) // without dir
		}
		_ = dir.Close()
	}
	var virtual, resident float64
	if raw, err := os.ReadFile("/proc/self/statm"); err == nil {
		if _, err := fmt.Sscan(string(raw), &virtual, &resident); err == nil {
			page := float64(os.Getpagesize())
			out["virtual_memory_bytes"], out["resident_memory_bytes"] = virtual*page, resident*page
		}
	}
	if raw, err := os.ReadFile("/proc/self/net/netstat"); err == nil {
		network(string(raw), out)
	}
	return out
}

// network reads the octets out of netstat, where a line of names stands before one of numbers.
func network(netstat string, out map[string]float64) {
	var names []string
	for line := range strings.Lines(netstat) {
		f := strings.Fields(line)
		for of, name := range map[string]string{"InOctets": "network_receive_bytes_total",
			"OutOctets": "network_transmit_bytes_total"} {
			if i := slices.Index(names, of); i > 0 && i < len(f) && f[0] == names[0] {
				if v, err := strconv.ParseFloat(f[i], 64); err == nil {
					out[name] = v
				}
			}
		}
		names = f
	}
}
