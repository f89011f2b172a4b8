package main

import (
	"fmt"
	"io"
	"math"
	"sync"
	"time"
)

// Times are counted in buckets that grow by a fiftieth each, from a microsecond to minutes: memory does not grow with a
// run.
const (
	buckets = 1000
	growth  = 1.02
)

// times is the distribution of how long one kind of thing took.
type times struct {
	name  string
	count int
	in    [buckets]int
}

func (t *times) add(d time.Duration) {
	at := 0
	if us := float64(d) / float64(time.Microsecond); us > 1 {
		at = min(int(math.Log(us)/math.Log(growth)), buckets-1)
	}
	t.in[at]++
	t.count++
}

// quantile is the time that a part of all stayed below, to a fiftieth.
func (t *times) quantile(part float64) time.Duration {
	rest := int(math.Ceil(part * float64(t.count)))
	for at, n := range t.in {
		if rest -= n; rest <= 0 {
			return time.Duration(math.Pow(growth, float64(at+1)) * float64(time.Microsecond))
		}
	}
	return 0
}

// result gathers what a phase did. It is safe for concurrent use.
type result struct {
	begun time.Time
	took  time.Duration

	mu     sync.Mutex
	kinds  []*times // in the order in which they came up
	failed int
	first  error
}

func newResult() *result { return &result{begun: time.Now()} }

// add enters what took from begin until now, unless it failed, and returns now.
func (r *result) add(name string, begin time.Time, err error) time.Time {
	now := time.Now()
	if err != nil {
		return now
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, k := range r.kinds {
		if k.name == name {
			k.add(now.Sub(begin))
			return now
		}
	}
	k := &times{name: name}
	k.add(now.Sub(begin))
	r.kinds = append(r.kinds, k)
	return now
}

func (r *result) fail(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.failed++; r.first == nil {
		r.first = err
	}
}

func (r *result) failures() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.failed
}

// print writes a line for each kind of thing.
func (r *result) print(out io.Writer, name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	fmt.Fprintf(out, "%s, %.0f s, %d failed\n", name, r.took.Seconds(), r.failed)
	if r.first != nil {
		fmt.Fprintf(out, "  the first failure: %v\n", r.first)
	}
	for _, k := range r.kinds {
		fmt.Fprintf(out, "  %-26s %8.1f/s   p50 %7.2f ms   p99 %7.2f ms\n", k.name, float64(k.count)/r.took.Seconds(),
			ms(k.quantile(0.5)), ms(k.quantile(0.99)))
	}
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
