package metrics

import (
	"runtime"
	"runtime/debug"
	runtimemetrics "runtime/metrics"
	"strings"
	"time"
)

// ofRuntime are the figures of the Go runtime: name without go_, type, help, and the figures of runtime/metrics whose
// sum it is.
var ofRuntime = [][4]string{
	{"goroutines", gauge, "Number of goroutines that currently exist.", "/sched/goroutines:goroutines"},
	{"sched_gomaxprocs_threads", gauge, "Operating system threads that may run Go code at once (GOMAXPROCS).",
		"/sched/gomaxprocs:threads"},
	{"gc_gogc_percent", gauge, "Heap size target in percent of what lives (GOGC).", "/gc/gogc:percent"},
	{"gc_gomemlimit_bytes", gauge, "Memory limit of the Go runtime (GOMEMLIMIT).", "/gc/gomemlimit:bytes"},
	{"gc_heap_live_bytes", gauge, "Heap memory that the last collection left: the figure that shows a leak.",
		"/gc/heap/live:bytes"},
	{"memstats_alloc_bytes", gauge, "Bytes allocated in the heap and in use.", "/memory/classes/heap/objects:bytes"},
	{"memstats_alloc_bytes_total", counter, "Bytes allocated in the heap until now, even if released already.",
		"/gc/heap/allocs:bytes"},
	{"memstats_buck_hash_sys_bytes", gauge, "Bytes of the profiling bucket hash table.",
		"/memory/classes/profiling/buckets:bytes"},
	{"memstats_frees_total", counter, "Heap objects freed.", "/gc/heap/frees:objects + /gc/heap/tiny/allocs:objects"},
	{"memstats_gc_sys_bytes", gauge, "Bytes of garbage collection metadata.", "/memory/classes/metadata/other:bytes"},
	{"memstats_heap_alloc_bytes", gauge, "Heap bytes allocated and in use, same as go_memstats_alloc_bytes.",
		"/memory/classes/heap/objects:bytes"},
	{"memstats_heap_idle_bytes", gauge, "Heap bytes waiting to be used.",
		"/memory/classes/heap/released:bytes + /memory/classes/heap/free:bytes"},
	{"memstats_heap_inuse_bytes", gauge, "Heap bytes that are in use.",
		"/memory/classes/heap/objects:bytes + /memory/classes/heap/unused:bytes"},
	{"memstats_heap_objects", gauge, "Objects allocated now.", "/gc/heap/objects:objects"},
	{"memstats_heap_released_bytes", gauge, "Heap bytes released to the system.",
		"/memory/classes/heap/released:bytes"},
	{"memstats_heap_sys_bytes", gauge, "Heap bytes obtained from the system.",
		"/memory/classes/heap/objects:bytes + /memory/classes/heap/unused:bytes + " +
			"/memory/classes/heap/released:bytes + /memory/classes/heap/free:bytes"},
	{"memstats_mallocs_total", counter, "Heap objects allocated, both live and collected.",
		"/gc/heap/allocs:objects + /gc/heap/tiny/allocs:objects"},
	{"memstats_mcache_inuse_bytes", gauge, "Bytes in use by mcache structures.",
		"/memory/classes/metadata/mcache/inuse:bytes"},
	{"memstats_mcache_sys_bytes", gauge, "Bytes for mcache structures obtained from the system.",
		"/memory/classes/metadata/mcache/inuse:bytes + /memory/classes/metadata/mcache/free:bytes"},
	{"memstats_mspan_inuse_bytes", gauge, "Bytes in use by mspan structures.",
		"/memory/classes/metadata/mspan/inuse:bytes"},
	{"memstats_mspan_sys_bytes", gauge, "Bytes for mspan structures obtained from the system.",
		"/memory/classes/metadata/mspan/inuse:bytes + /memory/classes/metadata/mspan/free:bytes"},
	{"memstats_next_gc_bytes", gauge, "Heap bytes at which the next collection takes place.", "/gc/heap/goal:bytes"},
	{"memstats_other_sys_bytes", gauge, "Bytes for other things obtained from the system.",
		"/memory/classes/other:bytes"},
	{"memstats_stack_inuse_bytes", gauge, "Bytes of stacks in use.", "/memory/classes/heap/stacks:bytes"},
	{"memstats_stack_sys_bytes", gauge, "Bytes for stacks obtained from the system.",
		"/memory/classes/heap/stacks:bytes + /memory/classes/os-stacks:bytes"},
	{"memstats_sys_bytes", gauge, "Bytes obtained from the system.", "/memory/classes/total:bytes"},
}

// runtime writes the go_ families.
func (e *exposition) runtime() {
	for _, f := range ofRuntime {
		var sum uint64
		for of := range strings.SplitSeq(f[3], " + ") {
			sample := []runtimemetrics.Sample{{Name: of}}
			runtimemetrics.Read(sample)
			sum += sample[0].Value.Uint64()
		}
		e.one("go_"+f[0], f[1], f[2]+" Equals to "+f[3]+".", float64(sum))
	}
	threads, _ := runtime.ThreadCreateProfile(nil)
	e.one("go_threads", gauge, "Number of OS threads created.", float64(threads))
	e.family("go_info", gauge, "Information about the Go environment.")
	e.series("go_info", label("version", runtime.Version()), 1)

	stats := debug.GCStats{PauseQuantiles: make([]time.Duration, 5)}
	debug.ReadGCStats(&stats)
	const pauses = "go_gc_duration_seconds"
	e.family(pauses, "summary", "Stop-the-world pauses of garbage collections.")
	for i, q := range stats.PauseQuantiles {
		e.series(pauses, label("quantile", number(float64(i)/4)), q.Seconds())
	}
	e.series(pauses+"_sum", "", stats.PauseTotal.Seconds())
	e.series(pauses+"_count", "", float64(stats.NumGC))
	e.one("go_memstats_last_gc_time_seconds", gauge, "Seconds since 1970 of the last garbage collection.",
		float64(stats.LastGC.UnixNano())/1e9)
}
