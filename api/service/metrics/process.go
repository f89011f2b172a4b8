package metrics

import "time"

// started is set before main begins, which is when the process started to within milliseconds.
var started = time.Now()

// ofProcess are the figures that an operating system has of the process, without process_: name, type and help.
var ofProcess = [][3]string{
	{"cpu_seconds_total", counter, "Total user and system CPU time spent in seconds."},
	{"max_fds", gauge, "Maximum number of open file descriptors."},
	{"network_receive_bytes_total", counter, "Bytes received over the network, by the namespace of the process."},
	{"network_transmit_bytes_total", counter, "Bytes sent over the network, by the namespace of the process."},
	{"open_fds", gauge, "Number of open file descriptors."},
	{"resident_memory_bytes", gauge, "Resident memory size in bytes."},
	{"virtual_memory_bytes", gauge, "Virtual memory size in bytes."},
	{"virtual_memory_max_bytes", gauge, "Maximum amount of virtual memory available in bytes."},
}

// process writes the process_ families. What the system does not tell is left out.
func (e *exposition) process() {
	known := system()
	for _, f := range ofProcess {
		if v, ok := known[f[0]]; ok {
			e.one("process_"+f[0], f[1], f[2], v)
		}
	}
	e.one("process_start_time_seconds", gauge, "Start time of the process since unix epoch in seconds.",
		float64(started.UnixMilli())/1e3)
}
