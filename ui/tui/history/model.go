// Package history is the screen of what was done: an endless list of the service's records with details.
//
// Promise: a page is asked for only when the last loaded record is on the screen, so seeing n records costs at most n/PageSize + 1 requests.
// Records are kept compact (what a line and its details need; repeated text is stored once) and at most MaxRecords are held; the list
// says so when it stops there. A refresh reads from the top until it meets a known record, puts new ones above, and selection and window stay
// where they are. When the service no longer knows the place in the list, it is read again from the top without doubling or
// losing a record (records are told apart by quote id). The same continuation twice ends the list (TH-H3).
//
// Only COMPLETED is drawn as success, and a status that is not known as unknown (TH-H4). Explorer addresses are text and are never
// opened; one that is not the known explorer of its chain is marked, and the chains inside this program
// have none (TH-H2). No id, address, amount or link of the details is cut. Amounts use the catalog's decimals; values are the service's.
package history

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"coffer/api"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/screen"
)

// Source reads a page of history, newest first. An empty continuation asks for the first page; the last page has none.
type Source interface {
	History(ctx context.Context, limit int, continuation string) (api.HistoryPage, error)
}

// Bounds of the list.
const (
	PageSize   = 50
	MaxRecords = 20_000
)

const (
	maxCursor    = 4096 // bytes of a continuation (TH-H3)
	patience     = 30 * time.Second
	followEvery  = 10 * time.Second // while a record near the top is under way
	freshFor     = 5 * time.Second  // opening the tab sooner does not read again
	sideFrom     = 110              // columns from which details stand beside the list
	selectLimit  = 60
	minListLines = 6
)

// chainsColumn is the index of the column that says from where to where.
const chainsColumn = 3

// job is why a page was asked for.
type job int

const (
	jobMore    job = iota // the next page at the end
	jobRefresh            // from the top until a known record
	jobRestart            // from the top until the end of what is held, after the place was lost
)

// Model is the screen.
type Model struct {
	ctx screen.Context
	src Source

	book    book
	cursor  string // continuation after the last record held
	ended   bool   // the service has no more
	stopped string // why reading stopped before the end
	loaded  bool   // the first page was read
	at      time.Time

	job     job
	at0     int             // where the next unknown record of a refresh or restart goes
	used    map[string]bool // continuations used on the way to the end
	jobSeen map[string]bool // continuations used by this job
	loading bool
	since   time.Time
	gen     int
	err     error
	cancel  context.CancelFunc

	table   *kit.Table
	filter  *kit.Field
	shown   []*record // what the filter leaves; book.rows without one
	chosen  *record
	details bool // the pane below is open
	pane    kit.Scroll
	hidden  bool // amounts are hidden
	w, h    int
}

// New makes the screen.
func New(ctx screen.Context, src Source) *Model {
	return &Model{
		ctx: ctx, src: src, filter: kit.NewField("", selectLimit), book: newBook(), used: map[string]bool{},
		table: kit.NewTable(
			kit.Column{Title: "time", Min: 12},
			kit.Column{Title: "type", Min: 8, Hide: 4},
			kit.Column{Title: "what", Min: 18, Max: 44, Grow: 3},
			kit.Column{Title: "chains", Min: 15, Max: 30, Grow: 2, Hide: 2},
			kit.Column{Title: "value", Min: 10, Max: 14, Grow: 1, Hide: 3, Align: kit.Right},
			kit.Column{Title: "status", Min: 13},
		),
	}
}

// Title names the tab.
func (m *Model) Title() string { return "History" }

// Init reads the first page.
func (m *Model) Init() tea.Cmd { return m.start(jobMore) }

// Close cancels the request under way.
func (m *Model) Close() {
	if m.cancel != nil {
		m.cancel()
	}
}

// Capturing is true while the filter has the keyboard.
func (m *Model) Capturing() bool { return m.filter.Focused() }

// side reports whether details stand beside the list.
func (m *Model) side() bool { return m.w >= sideFrom }

// sideW is the width of the pane beside the list, its divider included.
func (m *Model) sideW() int { return min(60, max(42, m.w/3)) }

func (m *Model) resize(w, h int) {
	m.w, m.h = w, h
	list := h - 2
	switch {
	case m.side():
		m.pane.Resize(h - 2)
	case m.details:
		below := max(0, list-min(minListLines, len(m.shown)+1)-1)
		m.pane.Resize(below)
		list -= below + 1
	}
	m.table.Resize(list)
}
