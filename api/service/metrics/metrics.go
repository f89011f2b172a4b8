// Package metrics counts what the service does and answers with it in the Prometheus text format, on a listener of its
// own.
//
// Promise: a registry of its own, so nothing of other packages appears; every label has a bounded set of values, and
// none of them is foreign text or names a key, an account or an amount; the listener takes loopback addresses only, as
// whoever reaches it sees how busy the service is. Figures begin at zero with the process. Times are in seconds, sizes
// in bytes.
//
// Series: coffer_requests_total{endpoint,permission,status}, coffer_request_seconds{endpoint},
// coffer_quotes_total{call_type}, coffer_settlements_total{status,fail_reason}, coffer_open_sagas, coffer_store_bytes,
// where dashboards are served coffer_ssh_sessions and coffer_ssh_sessions_total, and the Go runtime and process
// collectors' (go_*, process_*).
package metrics

import (
	"regexp"
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
)

// maxValues bounds the values of a label; what comes later counts as "other". The service has far fewer.
const maxValues = 64

// other stands for values beyond the bound, and for what has no value.
const other = "other"

// Metrics are the figures of one service. They implement service.Meter and are safe for concurrent use.
type Metrics struct {
	registry    *prometheus.Registry
	requests    *prometheus.CounterVec
	durations   *prometheus.HistogramVec
	quotes      *prometheus.CounterVec
	settlements *prometheus.CounterVec

	mu    sync.Mutex
	known map[string]map[string]bool // label → values seen
}

// Gauges are read when somebody asks for the figures. An error leaves the series out, since an unknown figure is not
// zero.
type Gauges struct {
	OpenSagas  func() (int, error)   // accepted quotes that are not terminal
	StoreBytes func() (int64, error) // size of the database file

	// Dashboards that are open over SSH, and how many were opened since the start; nil: none are served, and the series
	// are not there.
	SSHOpen  func() int
	SSHBegan func() int64
}

// New makes figures that begin at zero.
func New() *Metrics {
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "coffer_requests_total", Help: "Requests by endpoint, the permission it demands, and status.",
		}, []string{"endpoint", "permission", "status"}),
		durations: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "coffer_request_seconds", Help: "Time from the request to its answer.",
			Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 10},
		}, []string{"endpoint"}),
		quotes: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "coffer_quotes_total", Help: "Quotes given, by call type, or swap and transfer.",
		}, []string{"call_type"}),
		settlements: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "coffer_settlements_total", Help: "Settlements that ended, by status and reason.",
		}, []string{"status", "fail_reason"}),
		known: map[string]map[string]bool{},
	}
	m.registry.MustRegister(m.requests, m.durations, m.quotes, m.settlements, // the names are constants: it cannot fail
		collectors.NewGoCollector(collectors.WithGoCollectorRuntimeMetrics(collectors.GoRuntimeMetricsRule{
			// what a collection left: the figure that shows a leak
			Matcher: regexp.MustCompile(`^/gc/heap/live:bytes$`),
		})), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// Watch adds the gauges. It is called once.
func (m *Metrics) Watch(g Gauges) {
	m.registry.MustRegister(gauges{
		g:     g,
		sagas: prometheus.NewDesc("coffer_open_sagas", "Accepted quotes that are not terminal.", nil, nil),
		store: prometheus.NewDesc("coffer_store_bytes", "Size of the database file.", nil, nil),
		open:  prometheus.NewDesc("coffer_ssh_sessions", "Dashboards that are open over SSH.", nil, nil),
		began: prometheus.NewDesc("coffer_ssh_sessions_total", "Dashboards that were opened over SSH.", nil, nil),
	})
}

// Request counts an answer. The endpoint is one of the route table.
func (m *Metrics) Request(endpoint, permission string, status int, took time.Duration) {
	endpoint = m.bounded("endpoint", endpoint)
	m.requests.WithLabelValues(endpoint, m.bounded("permission", permission),
		m.bounded("status", strconv.Itoa(status))).Inc()
	m.durations.WithLabelValues(endpoint).Observe(took.Seconds())
}

// Quoted counts a quote.
func (m *Metrics) Quoted(callType string) {
	m.quotes.WithLabelValues(m.bounded("call_type", callType)).Inc()
}

// Settled counts a settlement that ended; failReason is "" when it completed.
func (m *Metrics) Settled(status, failReason string) {
	if failReason != "" {
		failReason = m.bounded("fail_reason", failReason)
	}
	m.settlements.WithLabelValues(m.bounded("settled", status), failReason).Inc()
}

// bounded keeps the number of a label's values below maxValues, and its values to those that look like a word of the
// program.
func (m *Metrics) bounded(label, value string) string {
	if !isWord(value) {
		return other
	}
	m.mu.Lock()
	defer m.mu.Unlock()
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

// gauges is a collector of what is read when it is asked for.
type gauges struct {
	g                         Gauges
	sagas, store, open, began *prometheus.Desc
}

// Describe implements prometheus.Collector.
func (g gauges) Describe(to chan<- *prometheus.Desc) {
	to <- g.sagas
	to <- g.store
	to <- g.open
	to <- g.began
}

// Collect implements prometheus.Collector.
func (g gauges) Collect(to chan<- prometheus.Metric) {
	if g.g.OpenSagas != nil {
		if n, err := g.g.OpenSagas(); err == nil {
			to <- prometheus.MustNewConstMetric(g.sagas, prometheus.GaugeValue, float64(n))
		}
	}
	if g.g.StoreBytes != nil {
		if n, err := g.g.StoreBytes(); err == nil {
			to <- prometheus.MustNewConstMetric(g.store, prometheus.GaugeValue, float64(n))
		}
	}
	if g.g.SSHOpen != nil {
		to <- prometheus.MustNewConstMetric(g.open, prometheus.GaugeValue, float64(g.g.SSHOpen()))
	}
	if g.g.SSHBegan != nil {
		to <- prometheus.MustNewConstMetric(g.began, prometheus.CounterValue, float64(g.g.SSHBegan()))
	}
}
