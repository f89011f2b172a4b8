// Package balances is the screen of what an account holds: the total, each asset summed over its chains or each chain with its assets,
// shares, and the account's address for receiving.
//
// Promise: decimals, symbols and names come from the catalog, never from an answer (TH-B1, TH-B2, TH-B4); an asset that the catalog does
// not know shows "?" for its amount. Fiat values are the service's and for display only. A missing figure is "?", never zero; assets
// without a price stand in a group of their own. An aggregate that is not the sum of its parts is marked. Data is read at the start, every
// 15 seconds, on request and when balances are known to have changed; the last good data stays on the screen, with its age, when a
// reading fails.
package balances

import (
	"context"
	"math/big"
	"time"

	tea "charm.land/bubbletea/v2"

	"coffer/api"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/screen"
)

// Source answers what the accounts of the profile hold. Every asset of the service is listed, zero balances included.
type Source interface {
	Balances(ctx context.Context) (api.AggregatedBalance, error)
}

// Timing of the readings.
const (
	Refresh    = 15 * time.Second
	retryLimit = time.Minute
	patience   = 30 * time.Second // for one answer
)

// view is how the rows are grouped.
type view int

const (
	byAsset view = iota
	byChain
)

type order int

const (
	valueDown order = iota
	valueUp
	byName
	orders
)

// Model is the screen.
type Model struct {
	ctx screen.Context
	src Source

	data     *holdings // last good data; nil before the first
	at       time.Time // when it was read
	err      error     // of the last reading
	loading  bool
	since    time.Time // start of the reading under way
	retryAt  time.Time // next reading after a failure
	failures int
	gen      int
	cancel   context.CancelFunc

	view     view
	order    order
	zero     bool // zero balances are shown
	hidden   bool // amounts are hidden
	open     map[string]bool
	rows     []row
	zeros    int      // hidden zero balances
	largest  *big.Int // total of what is priced
	table    *kit.Table
	filter   *kit.Field
	w, h     int
	receive  bool
	inspect  bool
	facts    kit.Scroll // what inspection shows
	selected string     // key of the selected row, kept over refreshes
}

// New makes the screen.
func New(ctx screen.Context, src Source) *Model {
	return &Model{
		ctx: ctx, src: src, open: map[string]bool{unpricedKey: true}, filter: kit.NewField("", 60),
		table: kit.NewTable(
			kit.Column{Title: "asset", Min: 16, Max: 18, Grow: 1},
			kit.Column{Title: "name", Min: 13, Max: 28, Grow: 2, Hide: 2},
			kit.Column{Title: "amount  ", Min: 18, Max: 26, Grow: 1, Align: kit.Right},
			kit.Column{Title: "share", Min: 10, Max: 24, Grow: 2, Hide: 1},
			kit.Column{Title: "", Min: 7, Hide: 3, Align: kit.Right},
			kit.Column{Title: "value", Min: 13, Max: 16, Grow: 1, Align: kit.Right},
		),
	}
}

// Title names the tab.
func (m *Model) Title() string { return "Balances" }

// Init reads the balances for the first time.
func (m *Model) Init() tea.Cmd { return m.load() }

// Close cancels the reading under way.
func (m *Model) Close() {
	if m.cancel != nil {
		m.cancel()
	}
}

// Capturing is true while the filter or a panel has the keyboard.
func (m *Model) Capturing() bool { return m.filter.Focused() || m.receive || m.inspect }

// resize fits the table between the state line and the note line.
func (m *Model) resize(w, h int) {
	m.w, m.h = w, h
	m.table.Resize(h - 2)
}
