// Package wire is the inspector of HTTP traffic: the requests that this program made, when, how long they took, and the
// answers. No other screen shows JSON.
//
// Promise: it shows the records of api/client/httplog, which are without secrets by construction: no key, and no
// signature (TH-K2). Numbers and strings appear as they were received, cleaned for the terminal (TH-R1). It follows new
// exchanges until the person moves. It sends nothing and changes nothing.
//
// Units: times are local, durations in milliseconds, sizes in bytes.
package wire

import (
	"context"
	"strings"

	tea "charm.land/bubbletea/v2"

	"coffer/api/client/httplog"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/screen"
)

// Deps are the dependencies of the screen. Log holds the exchanges; nil: none are recorded. Exports name Version.
type Deps struct {
	Log     *httplog.Log
	Version string
}

// Model is the inspector. It is used on the event loop only.
type Model struct {
	ctx    screen.Context
	deps   Deps
	life   context.Context
	cancel context.CancelFunc
	w, h   int

	all    []httplog.Exchange // oldest first
	shown  []int              // indexes into all, of those that pass the filter
	table  *kit.Table
	filter *kit.Field
	follow bool // select the newest
	chosen int  // ID of the selected exchange

	detail *detail // nil: the list is shown
}

// changedMsg says that the log has changed.
type changedMsg struct{}

const (
	pathColumn = 2
	ownLines   = 2 // of the list: title and state
)

// New makes the screen.
func New(ctx screen.Context, d Deps) *Model {
	life, cancel := context.WithCancel(context.Background())
	m := &Model{ctx: ctx, deps: d, life: life, cancel: cancel, follow: true, filter: kit.NewField("", 60)}
	m.table = kit.NewTable(
		kit.Column{Title: "time", Min: 12, Hide: 1}, kit.Column{Title: "", Min: 4, Max: 4},
		kit.Column{Title: "path", Min: 20, Grow: 1},
		kit.Column{Title: "status", Min: 8}, kit.Column{Title: "ms", Min: 6, Align: kit.Right},
		kit.Column{Title: "bytes", Min: 9, Align: kit.Right},
	)
	return m
}

// Title is the name in the palette.
func (m *Model) Title() string { return "Wire" }

// Init starts to listen.
func (m *Model) Init() tea.Cmd {
	m.reload()
	return m.listen()
}

// Close stops listening.
func (m *Model) Close() { m.cancel() }

// Capturing reports whether a text field has the keyboard.
func (m *Model) Capturing() bool {
	return m.filter.Focused() || m.detail != nil && m.detail.find.Focused()
}

// listen waits for the log.
func (m *Model) listen() tea.Cmd {
	if m.deps.Log == nil {
		return nil
	}
	changed, over := m.deps.Log.Changed(), m.life.Done()
	return func() tea.Msg {
		select {
		case <-changed:
			return changedMsg{}
		case <-over:
			return nil
		}
	}
}

// reload takes the present content of the log. The selected exchange stays selected, unless the list follows the
// newest.
func (m *Model) reload() {
	if m.deps.Log != nil {
		m.all = m.deps.Log.All()
	}
	m.choose()
	if m.detail == nil {
		return
	}
	for _, e := range m.all {
		if e.ID == m.detail.e.ID && e.Done != m.detail.e.Done {
			m.openDetail(e)
		}
	}
}

// choose applies the filter and finds the selected exchange again.
func (m *Model) choose() {
	want := strings.ToLower(m.filter.Value())
	m.shown = m.shown[:0]
	at := -1
	for i, e := range m.all {
		if want != "" && !strings.Contains(strings.ToLower(e.Method+" "+e.Path+"?"+e.Query+" "+statusText(e)+" "+e.Err),
			want) {
			continue
		}
		if e.ID == m.chosen {
			at = len(m.shown)
		}
		m.shown = append(m.shown, i)
	}
	m.table.SetRows(len(m.shown))
	switch {
	case m.follow, at < 0 && m.chosen > 0 && len(m.shown) > 0 && m.all[m.shown[0]].ID < m.chosen:
		m.table.Select(len(m.shown) - 1)
	case at >= 0:
		m.table.Select(at)
	}
	m.remember()
}

// remember notes the selected exchange.
func (m *Model) remember() {
	if e, ok := m.selected(); ok {
		m.chosen = e.ID
	}
}

func (m *Model) selected() (httplog.Exchange, bool) {
	i, ok := kit.Chosen(m.table, m.shown)
	if !ok {
		return httplog.Exchange{}, false
	}
	return m.all[i], true
}

func (m *Model) resize(w, h int) {
	m.w, m.h = w, h
	m.table.Resize(h - ownLines)
	if m.detail != nil {
		m.detail.resize(w, h)
	}
}
