// Package metrics counts what the service does and answers with it in the Prometheus text format, on a listener of its
// own.
//
// Promise: nothing of other packages appears but what Gauges.Network and Gauges.Forwarding give; every label has a
// bounded set of values, and none of them is foreign text or names a key, an account or an amount; the listener takes
// loopback addresses only, as whoever reaches it sees how busy the service is. Figures begin at zero with the process.
// Times are in seconds, sizes in bytes.
//
// Series: coffer_requests_total{endpoint,permission,status}, coffer_request_seconds{endpoint},
// coffer_quotes_total{call_type}, coffer_settlements_total{status,fail_reason}, coffer_open_sagas, coffer_store_bytes,
// while requests are forwarded coffer_forwarding{to}, where dashboards are served coffer_ssh_sessions and
// coffer_ssh_sessions_total, and those of the Go runtime and of the process (go_*, process_*) under the names that
// Prometheus' own library gives them. That library is not linked: it brings protobuf, whose look-up of methods by name
// makes the linker keep every exported method of every type.
package metrics

import (
	"slices"
	"strconv"
	"sync"
	"time"
)

// maxValues bounds the values of a label; what comes later counts as "other". The service has far fewer.
const maxValues = 64

// other stands for values beyond the bound, and for what has no value.
const other = "other"

// Metrics are the figures of one service. They implement service.Meter and are safe for concurrent use.
type Metrics struct {
	mu                            sync.Mutex
	requests, quotes, settlements map[string]uint64 // labels, as the text format has them → count
	durations                     map[string]*histogram
	known                         map[string]map[string]bool // label → values seen
	gauges                        Gauges
}

// histogram counts durations by the first of bounds that they do not exceed; the last count is of those beyond all.
type histogram struct {
	counts [len(bounds) + 1]uint64
	sum    float64
}

// bounds are in seconds.
var bounds = [...]float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 10}

// Gauges are read when somebody asks for the figures. An error leaves the series out, since an unknown figure is not
// zero.
type Gauges struct {
	OpenSagas  func() (int, error)   // accepted quotes that are not terminal
	StoreBytes func() (int64, error) // size of the database file

	// Network are the figures of a network on nodes of others, whose labels name chains and assets of the operator's
	// file; nil: there is none.
	Network func() []Family

	// Forwarding is where requests are forwarded to, an address that the operator gave, "" when they are not; nil: they
	// never are.
	Forwarding func() string

	// Dashboards that are open over SSH, and how many were opened since the start; nil: none are served, and the series
	// are not there.
	SSHOpen  func() int
	SSHBegan func() int64
}

// New makes figures that begin at zero.
func New() *Metrics {
	return &Metrics{
		requests: map[string]uint64{}, quotes: map[string]uint64{}, settlements: map[string]uint64{},
		durations: map[string]*histogram{}, known: map[string]map[string]bool{},
	}
}

// Watch sets the gauges.
func (m *Metrics) Watch(g Gauges) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.gauges = g
}

// Request counts an answer. The endpoint is one of the route table.
func (m *Metrics) Request(endpoint, permission string, status int, took time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	at := label("endpoint", m.bounded("endpoint", endpoint))
	m.requests[at+","+label("permission", m.bounded("permission", permission))+
		","+label("status", m.bounded("status", strconv.Itoa(status)))]++
	h := m.durations[at]
	if h == nil {
		h = new(histogram)
		m.durations[at] = h
	}
	i, _ := slices.BinarySearch(bounds[:], took.Seconds())
	h.counts[i]++
	h.sum += took.Seconds()
}

// Quoted counts a quote.
func (m *Metrics) Quoted(callType string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.quotes[label("call_type", m.bounded("call_type", callType))]++
}

// Settled counts a settlement that ended; failReason is "" when it completed.
func (m *Metrics) Settled(status, failReason string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if failReason != "" {
		failReason = m.bounded("fail_reason", failReason)
	}
	m.settlements[label("fail_reason", failReason)+","+label("status", m.bounded("settled", status))]++
}

// label is one label in the text format. The value is a word or "", so nothing in it needs an escape.
func label(name, value string) string { return name + `="` + value + `"` }

// bounded keeps the number of a label's values below maxValues, and its values to those that look like a word of the
// program.
func (m *Metrics) bounded(label, value string) string { // the caller locks
	if !isWord(value) {
		return other
	}
	seen := m.known[label]
	if seen == nil {
		seen = map[string]bool{}
		m.known[label] = seen
	}
	if !seen[value] && len(seen) >= maxValues {
		return other
	}
	seen[value] = true
	return value
}

// maxWord is the longest value of a label.
const maxWord = 64

func isWord(s string) bool {
	for i := range len(s) {
		c := s[i]
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		if !letter && c != '_' && c != '-' && c != '/' && c != '.' && c != '{' && c != '}' {
			return false
		}
	}
	return s != "" && len(s) <= maxWord
}
