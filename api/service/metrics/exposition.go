package metrics

import (
	"bytes"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Types of a family, as the text format names them.
const (
	counter = "counter"
	gauge   = "gauge"
)

// exposition is a text in the Prometheus format 0.0.4 that is being written.
type exposition struct{ text bytes.Buffer }

func (e *exposition) family(name, kind, help string) {
	e.text.WriteString("# HELP " + name + " " + help + "\n# TYPE " + name + " " + kind + "\n")
}

// series writes a line; labels may be "".
func (e *exposition) series(name, labels string, value float64) {
	e.text.WriteString(name)
	if labels != "" {
		e.text.WriteString("{" + labels + "}")
	}
	e.text.WriteString(" " + number(value) + "\n")
}

// one writes a family that has one series without labels.
func (e *exposition) one(name, kind, help string, value float64) {
	e.family(name, kind, help)
	e.series(name, "", value)
}

// counts writes a family of counters, which is left out while there is none.
func (e *exposition) counts(name, help string, counts map[string]uint64) {
	if len(counts) == 0 {
		return
	}
	e.family(name, counter, help)
	for _, labels := range slices.Sorted(maps.Keys(counts)) {
		e.series(name, labels, float64(counts[labels]))
	}
}

func (e *exposition) histograms(name, help string, all map[string]*histogram) {
	if len(all) == 0 {
		return
	}
	e.family(name, "histogram", help)
	for _, labels := range slices.Sorted(maps.Keys(all)) {
		h, below := all[labels], uint64(0)
		for i, n := range h.counts {
			below += n
			le := "+Inf"
			if i < len(bounds) {
				le = number(bounds[i])
			}
			e.series(name+"_bucket", labels+","+label("le", le), float64(below))
		}
		e.series(name+"_sum", labels, h.sum)
		e.series(name+"_count", labels, float64(below))
	}
}

// Family is a gauge of another package with its series.
type Family struct {
	Name, Help string
	Samples    []Sample
}

// Sample is one series of a Family. The value of a label is any text.
type Sample struct {
	Labels []Label
	Value  float64
}

// Label is a label of a Sample.
type Label struct{ Name, Value string }

func (e *exposition) gauges(all []Family) {
	for _, f := range all {
		e.family(f.Name, gauge, f.Help)
		for _, s := range f.Samples {
			labels := make([]string, len(s.Labels))
			for i, l := range s.Labels {
				labels[i] = label(l.Name, escaped.Replace(l.Value))
			}
			e.series(f.Name, strings.Join(labels, ","), s.Value)
		}
	}
}

// escaped writes the value of a label as the text format has it.
var escaped = strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`)

func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// exposition writes every figure as it is now.
func (m *Metrics) exposition() []byte {
	var e exposition
	m.mu.Lock()
	e.counts("coffer_requests_total", "Requests by endpoint, the permission it demands, and status.", m.requests)
	e.histograms("coffer_request_seconds", "Time from the request to its answer.", m.durations)
	e.counts("coffer_quotes_total", "Quotes given, by call type, or swap and transfer.", m.quotes)
	e.counts("coffer_settlements_total", "Settlements that ended, by status and reason.", m.settlements)
	g := m.gauges
	m.mu.Unlock() // the gauges ask the store
	if g.OpenSagas != nil {
		if n, err := g.OpenSagas(); err == nil {
			e.one("coffer_open_sagas", gauge, "Accepted quotes that are not terminal.", float64(n))
		}
	}
	if g.StoreBytes != nil {
		if n, err := g.StoreBytes(); err == nil {
			e.one("coffer_store_bytes", gauge, "Size of the database file.", float64(n))
		}
	}
	if g.Forwarding != nil {
		if to := g.Forwarding(); to != "" {
			e.gauges([]Family{{"coffer_forwarding", "1 while requests are forwarded to the process that serves.",
				[]Sample{{[]Label{{"to", to}}, 1}}}})
		}
	}
	if g.SSHOpen != nil {
		e.one("coffer_ssh_sessions", gauge, "Dashboards that are open over SSH.", float64(g.SSHOpen()))
	}
	if g.SSHBegan != nil {
		e.one("coffer_ssh_sessions_total", counter, "Dashboards that were opened over SSH.", float64(g.SSHBegan()))
	}
	if g.Network != nil {
		e.gauges(g.Network())
	}
	e.runtime()
	e.process()
	return e.text.Bytes()
}
