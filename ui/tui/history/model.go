// Package history is the screen of past operations: an endless list of the service's records with details, filters,
// totals, receipts and exports.
//
// Promise: the screen asks for a page only when the window needs it, so seeing n records costs at most n/PageSize + 1
// requests. At most MaxRecords records are in memory, however far the person scrolls: pages far from the window are
// released, and their continuations read them again when the window returns. A refresh reads from the top until it
// meets a known record, and puts new ones above; selection and window stay where they are, by quote id. Where records
// may be missing between new and older ones, a row of the list says so until the gap is closed. When the service no
// longer knows the place in the list, the screen reads again from the top; the old records stay visible until pages
// replace them, so no record is doubled or lost (the quote id tells records apart). A repeated continuation ends the
// list, and so does a page too many, unless the person asks for more (verify.Continuation, TH-H3).
//
// The cache keeps the newest MaxKept records between starts (screen.Context.Keep), for one network and one account; the
// screen shows them at once, marked as kept.
//
// Only COMPLETED is drawn as success, and an unknown status as unknown (verify.Status, TH-H4). Explorer addresses are
// text and never opened; one that is not the known explorer of its chain is marked, and the embedded chains have none
// (TH-H2). No id, address, amount or link in the details is cut. Amounts use the catalog's decimals; values are the
// service's; an unknown figure never counts as zero.
package history

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"coffer/api"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/screen"
	"coffer/ui/tui/theme"
)

// Source reads a page of history, newest first. An empty continuation asks for the first page; the last page has none.
type Source interface {
	History(ctx context.Context, limit int, continuation string) (api.HistoryPage, error)
}

// Bounds of the list.
const (
	PageSize   = 50
	MaxRecords = 10_000 // in memory
)

const (
	patience    = 30 * time.Second
	followEvery = 10 * time.Second // while a record near the top is pending
	saveEvery   = 5 * time.Second
	freshFor    = 5 * time.Second // reopening the tab within it does not read again
	// read in a row to close a gap, or to find matches of a filter, before a key asks again
	bridgePages  = 10
	alonePages   = 40                     // read in a row since the last key
	coverRecords = 300                    // near the top, in which a refresh sees pending records again
	maxLosses    = 3                      // lost places in a row
	maxTold      = 200                    // records that other screens are told
	stillFor     = 100 * time.Millisecond // the selection, before its details are shown
	minListLines = 6
)

// chainsColumn is the index of the column with the chains.
const chainsColumn = 3

// asking says where keys go.
type asking int

const (
	askNothing asking = iota
	askExport         // c or j
	askName           // the name of a view
	askMonths         // the panel with the totals of every month
)

// Model is the screen.
type Model struct {
	ctx   screen.Context
	src   Source
	later func(time.Duration, tea.Msg) tea.Cmd // timers

	most int // records in memory

	book   *book
	format *formatter
	loaded bool // the top has been read
	at     time.Time
	keptAt time.Time // time of the cached records

	job       job
	loading   bool
	searching bool // m reads further for the filter
	alone     int  // pages read since the last key
	losses    int
	since     time.Time
	gen       int
	err       error
	cancel    context.CancelFunc

	dirty, saving, saveDue, saveTold bool
	savedAt                          time.Time

	table   *kit.Table
	filter  *kit.Field
	query   query
	shown   []*record // the matches of the filter; without one the book is shown
	chosen  *record
	visible []string // ids on the screen, by line
	touched bool     // the person moved the selection
	months  []monthSum

	views  []view
	choice *kit.Choice
	name   *kit.Field
	asking asking

	detailed  *record // the record whose details are shown: the chosen one once the selection holds still
	detailTop int     // first line of the list's window at that time
	moves     int
	still     bool // no details are awaited

	details bool // the pane below is open
	inside  bool // the keyboard is in the details
	field   int  // the selected one
	fields  []field
	pane    kit.Scroll
	paneH   int
	theme   theme.Theme
	hidden  bool // amounts are hidden
	w, h    int
}

// New makes the screen.
func New(ctx screen.Context, src Source) *Model {
	m := &Model{
		ctx: ctx, src: src, later: later, most: MaxRecords, format: newFormatter(ctx.Receipts()),
		filter: kit.NewField("", maxFilter), name: kit.NewField("name", maxName),
		choice: kit.NewChoice("Saved views"), hidden: ctx.Settings.Hidden,
		table: kit.NewTable(
			kit.Column{Title: "time", Min: 12},
			kit.Column{Title: "type", Min: 8, Hide: 5},
			kit.Column{Title: "what", Min: 28, Max: 64, Grow: 3},
			kit.Column{Title: "chains", Min: 11, Max: 30, Grow: 1, Hide: 4},
			kit.Column{Title: "value", Min: 10, Max: 14, Grow: 1, Hide: 3, Align: kit.Right},
			kit.Column{Title: "status", Min: 13, Max: 20, Grow: 3},
		),
	}
	m.book = &book{byID: map[string]*chunk{}, months: func(rows []*record) []monthSum {
		return m.format.sums(rows, ctx.Clock().Location())
	}}
	return m
}

// Title names the tab.
func (m *Model) Title() string { return "History" }

// Init shows the cached records and reads the first page.
func (m *Model) Init() tea.Cmd {
	m.since = m.ctx.Clock()
	if m.ctx.Keep != nil {
		return m.load()
	}
	return m.startRefresh(0)
}

// Close cancels the pending request.
func (m *Model) Close() {
	if m.cancel != nil {
		m.cancel()
	}
}

// Capturing reports whether a field, a list or a question has the keyboard.
func (m *Model) Capturing() bool {
	return m.filter.Focused() || m.choice.IsOpen() || m.asking != askNothing
}

// panes are the widths of the list and of the details beside it.
func (m *Model) panes() []int { return kit.PaneWidths(m.w, 2, 1) }

// side reports whether details are beside the list.
func (m *Model) side() bool { return len(m.panes()) > 1 }

// Lines of the body outside the list: its state, the totals, the end line.
const frameLines = 3

func (m *Model) resize(w, h int) {
	m.w, m.h = w, h
	list := h - frameLines
	switch {
	case m.side():
		m.paneH = list
	case m.details:
		m.paneH = max(0, list-min(minListLines, m.rows()+1)-1)
		list -= m.paneH + 1
	}
	m.pane.Resize(m.paneH)
	m.table.Resize(list)
}

// rows is the number of lines of the list.
func (m *Model) rows() int {
	if m.query.active() {
		return len(m.shown)
	}
	return m.book.lines()
}

// row is the record of a line, nil for a gap and for a released row.
func (m *Model) row(i int) *record {
	if m.query.active() {
		if i < 0 || i >= len(m.shown) {
			return nil
		}
		return m.shown[i]
	}
	_, r := m.book.at(i)
	return r
}

func (m *Model) lineOf(id string) int {
	if !m.query.active() {
		return m.book.indexOf(id)
	}
	for i, r := range m.shown {
		if r.id == id {
			return i
		}
	}
	return -1
}

// found is the number of records in the list.
func (m *Model) found() int {
	if m.query.active() {
		return len(m.shown)
	}
	return m.book.count()
}

// records are those of the list that are in memory.
func (m *Model) records() []*record {
	out := []*record{}
	if m.query.active() {
		return append(out, m.shown...)
	}
	m.book.each(func(r *record) bool { out = append(out, r); return true })
	return out
}

// refilter computes the matches of the filter.
func (m *Model) refilter() {
	m.shown = m.shown[:0:0]
	if m.query.active() {
		m.book.each(func(r *record) bool {
			if m.query.match(m.format, r) {
				m.shown = append(m.shown, r)
			}
			return true
		})
	}
}

// choose applies the filter. The selected record stays selected, at the same line of the window unless that shows the
// top. When the record is gone, its neighbours keep their place.
func (m *Model) choose() {
	from, _ := m.table.Window()
	line := m.table.Selected() - from
	old := m.chosen
	m.refilter()
	m.table.SetRows(m.rows())
	if i := m.place(line); i >= 0 && !m.touched {
		m.table.Select(0) // the selection never moved: the newest record
	} else if i >= 0 {
		if from == 0 {
			line = i // at the top of the list new records come into view
		}
		m.table.SelectAt(i, line)
	}
	m.remember()
	m.resize(m.w, m.h)
	if top, _ := m.table.Window(); m.still || top != from || old == nil || m.chosen == nil || old.id != m.chosen.id {
		m.showDetails()
	}
}

// place is the line where the selection belongs now; -1: it stays.
func (m *Model) place(line int) int {
	if m.chosen != nil {
		if i := m.lineOf(m.chosen.id); i >= 0 {
			return i
		}
	}
	for k, id := range m.visible {
		if id == "" {
			continue
		}
		if i := m.lineOf(id); i >= 0 {
			return max(0, i+line-k)
		}
	}
	return -1
}

// remember notes the selected record and its neighbours.
func (m *Model) remember() {
	from, to := m.table.Window()
	m.visible = m.visible[:0]
	for i := from; i < to; i++ {
		id := ""
		if r := m.row(i); r != nil {
			id = r.id
		}
		m.visible = append(m.visible, id)
	}
	m.chosen = m.row(m.table.Selected())
	if m.chosen == nil {
		m.inside = false
	}
}
