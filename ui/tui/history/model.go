// Package history is the screen of what was done: an endless list of the service's records with details, filters, totals, receipts and exports.
//
// Promise: a page is asked for only when the window needs it, so seeing n records costs at most n/PageSize + 1 requests. At most MaxRecords records are in memory
// however far one scrolls: pages far from the window are given back and read again by their continuations when one comes back to them. A refresh reads from the
// top until it meets a known record and puts new ones above; selection and window stay where they are, by quote id. Where records may be missing between what
// was read and what was held, the list has a row that says so until the gap is closed. When the service no longer knows the place in the list, it is read again
// from the top; what is held stays on the screen until pages have replaced it, so no record is doubled or lost (records are told apart by quote id). The
// same continuation twice ends the list, and so does a page too many, unless one asks for more (verify.Continuation, TH-H3).
//
// The newest MaxKept records are kept between starts (screen.Context.Keep), for one network and one account; they are shown at once, marked as kept.
//
// Only COMPLETED is drawn as success, and a status that is not known as unknown (verify.Status, TH-H4). Explorer addresses are text and are never
// opened; one that is not the known explorer of its chain is marked, and the chains inside this program have none (TH-H2). No id, address, amount or link
// of the details is cut. Amounts use the catalog's decimals; values are the service's; what is unknown is never counted as zero.
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
	patience     = 30 * time.Second
	followEvery  = 10 * time.Second // while a record near the top is under way
	saveEvery    = 5 * time.Second
	freshFor     = 5 * time.Second // opening the tab sooner does not read again
	bridgePages  = 10              // read on to close a gap, or to find what a filter looks for, before a key asks again
	alonePages   = 40              // read since the last key
	coverRecords = 300             // near the top, in which unfinished ones are seen again when one asks to read again
	maxLosses    = 3               // places lost in a row
	sideFrom     = 110             // columns from which details stand beside the list
	minListLines = 6
)

// chainsColumn is the index of the column that says from where to where.
const chainsColumn = 3

// asking is what the keys go to.
type asking int

const (
	askNothing asking = iota
	askExport         // c or j
	askName           // the name of a view
	askMonths         // the totals of every month are shown
)

// Model is the screen.
type Model struct {
	ctx   screen.Context
	src   Source
	later func(time.Duration, tea.Msg) tea.Cmd // timers

	most int // records in memory

	book   *book
	format *formatter
	loaded bool // the top was read
	at     time.Time
	keptAt time.Time // of the kept records

	job       job
	loading   bool
	searching bool // m reads on for the filter
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
	shown   []*record // what the filter leaves; without one the book is shown
	chosen  *record
	visible []string // ids on the screen, by line
	touched bool     // somebody has moved
	months  []monthSum

	views  []view
	choice *kit.Choice
	name   *kit.Field
	asking asking

	details bool // the pane below is open
	inside  bool // the keyboard is in the details
	field   int  // the chosen one
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
		ctx: ctx, src: src, later: later, most: MaxRecords, format: newFormatter(ctx.Catalog), filter: kit.NewField("", maxFilter), name: kit.NewField("name", maxName),
		choice: kit.NewChoice("Saved views"), hidden: ctx.Settings.Hidden,
		table: kit.NewTable(
			kit.Column{Title: "time", Min: 12},
			kit.Column{Title: "type", Min: 8, Hide: 4},
			kit.Column{Title: "what", Min: 18, Max: 44, Grow: 3},
			kit.Column{Title: "chains", Min: 15, Max: 30, Grow: 2, Hide: 2},
			kit.Column{Title: "value", Min: 10, Max: 14, Grow: 1, Hide: 3, Align: kit.Right},
			kit.Column{Title: "status", Min: 13, Max: 22, Grow: 1},
		),
	}
	m.book = newBook(func(rows []*record) []monthSum { return m.format.sums(rows, ctx.Clock().Location()) })
	return m
}

// Title names the tab.
func (m *Model) Title() string { return "History" }

// Init shows what was kept and reads the first page.
func (m *Model) Init() tea.Cmd {
	m.since = m.ctx.Clock()
	if m.ctx.Keep != nil {
		return m.load()
	}
	return m.startRefresh(0)
}

// Close cancels the request under way.
func (m *Model) Close() {
	if m.cancel != nil {
		m.cancel()
	}
}

// Capturing is true while a field, a list or a question has the keyboard.
func (m *Model) Capturing() bool {
	return m.filter.Focused() || m.choice.IsOpen() || m.asking != askNothing
}

// side reports whether details stand beside the list.
func (m *Model) side() bool { return m.w >= sideFrom }

// sideW is the width of the pane beside the list, its divider included.
func (m *Model) sideW() int { return min(60, max(42, m.w/3)) }

// Lines of the body that are not list: what is listed and how it stands, the totals, how much there is.
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

// row is the record of a line, nil for a gap and for one that was given back.
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

// found is how many records the list shows.
func (m *Model) found() int {
	if m.query.active() {
		return len(m.shown)
	}
	return m.book.count()
}

// records are those that the list shows and that are in memory.
func (m *Model) records() []*record {
	out := []*record{}
	if m.query.active() {
		return append(out, m.shown...)
	}
	m.book.each(func(r *record) bool { out = append(out, r); return true })
	return out
}

// refilter works out what the filter leaves.
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

// choose applies the filter and keeps the selected record selected, at the same line of the window unless that shows the top. When it is gone, the records
// around it keep their place.
func (m *Model) choose() {
	from, _ := m.table.Window()
	line := m.table.Selected() - from
	old := m.chosen
	m.refilter()
	m.table.SetRows(m.rows())
	if i := m.place(line); i >= 0 && !m.touched {
		m.table.Select(0) // nobody has moved yet: the newest record
	} else if i >= 0 {
		if from == 0 {
			line = i // at the top of the list new records come into view
		}
		m.table.SelectAt(i, line)
	}
	m.remember()
	if old != nil && m.chosen != nil && old.id != m.chosen.id {
		m.pane.Set(nil)
	}
	m.resize(m.w, m.h)
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

// remember notes the selected record and what is around it.
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
