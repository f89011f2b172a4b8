// Package balances is the screen of the accounts' balances: the total with its past, each asset summed over its chains,
// each chain or each account with its assets, shares, the addresses for receiving, and what contracts were allowed to
// take.
//
// Promise: decimals, symbols and names come from the catalog, never from an answer (TH-B1, TH-B2, TH-B4). An asset that
// the catalog does not know shows "?" for its amount, its symbol is judged, and the findings of a check are at the
// line. Fiat values are the service's and for display only. A missing figure is "?", never zero; assets without a price
// form their own group and never count as dust. The screen reads data at the start, every 15 seconds, on request and
// when balances are known to have changed; when a reading fails, the last good data stays, with its age, and the next
// start shows it, marked.
//
// The cache (Context.Keep) keeps the last answer and snapshots of the total, of each asset and of each chain, under the
// network's id and the accounts. Figures of another network or account are never read back. Scrambled figures exist for
// drawing only: no cache, export or other screen receives them.
package balances

import (
	"context"
	"crypto/rand"
	"io"
	"math/big"
	"time"

	tea "charm.land/bubbletea/v2"

	"coffer/api"
	"coffer/ui/present"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/screen"
	"coffer/wallet/verify"
)

// Source returns the balances of the profile's accounts. It lists every asset of the service, zero balances included.
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
	byAccount
	views
)

func (v view) words() string { return [...]string{"by asset", "by chain", "by account"}[v] }

// Option changes how New builds the screen.
type Option func(*Model)

// Random sets the random source of the factor between scrambled and real amounts; the default is the system's.
func Random(r io.Reader) Option { return func(m *Model) { m.random = r } }

// Model is the screen.
type Model struct {
	ctx      screen.Context
	src      Source
	reader   present.BalanceReader
	random   io.Reader
	identity identity

	real     *present.Holdings // last good data; nil before the first
	data     *present.Holdings // the drawn data: real, or a scrambled copy
	at       time.Time         // when data was read
	last     bool              // data comes from the cache; nothing was read yet
	err      error             // of the last reading
	loading  bool
	since    time.Time // start of the present reading
	retryAt  time.Time // next reading after a failure
	failures int
	gen      int
	cancel   context.CancelFunc

	points  []point            // cached totals, oldest first
	alike   []point            // those that compare with the present total
	parts   map[string][]point // cached values by asset and by chain; nil: not read yet
	partsAt time.Time
	worths  map[string]point // the present ones
	period  period           // period of the line of totals
	savedAt time.Time        // start of the last write
	saving  bool
	keepBad bool // the person knows that nothing can be saved

	view      view
	order     order
	zero      bool // zero balances are shown
	hidden    bool // amounts are hidden
	scrambled bool
	scrambler *scrambler // nil before the first use
	open      map[string]bool
	rows      []row
	zeros     int // hidden zero balances
	table     *kit.Table
	titled    titles
	wide      widths // of the figures of the lines
	filter    *kit.Field
	w, h      int
	receive   receiving
	inspect   bool
	facts     kit.Scroll // the lines of inspection
	selected  string     // key of the selected row, kept across refreshes
	allowed   allowances

	focus  kit.Focus
	sides  [2]kit.Scroll // of the panes beside the lines
	shown  string        // key of the row in detail: the selected one once the selection holds still
	moves  int
	roomy  bool // groups are open unless they were closed
	past   *screen.PastMsg
	under  screen.UnderWayMsg
	symbol int // width of the widest title of a group
	whole  int // of the widest whole part of an amount
}

// New makes the screen.
func New(ctx screen.Context, src Source, options ...Option) *Model {
	m := &Model{
		ctx: ctx, src: src, open: map[string]bool{unpricedKey: true}, filter: kit.NewField("", 60), random: rand.Reader,
		hidden: ctx.Settings.Hidden,
		reader: present.BalanceReader{Catalog: ctx.Catalog, Symbols: verify.NewSymbols(ctx.Catalog),
			Accounts: ctx.Accounts},
		identity: identityOf(ctx),
	}
	for _, o := range options {
		o(m)
	}
	m.measure()
	m.retitle(titles{wide: m.wide})
	return m
}

// titles is the input of the table's titles. They are written when the person chose an order; else their line is blank.
type titles struct {
	view  view
	order order
	up    string // signs of the order; empty: not known yet
	down  string
	wide  widths
}

// retitle makes the table with titles that name the lines and their order. Selection and place stay.
func (m *Model) retitle(t titles) {
	title := func(title string, c column) string {
		switch {
		case t.order == order{}:
			return " "
		case t.order.by != c || t.up == "":
			return title
		case t.order.down():
			return title + " " + t.down
		}
		return title + " " + t.up
	}
	first := title([...]string{"asset", "chain", "account"}[t.view], titleColumn)
	if t.order.by == nameColumn {
		first = title([...]string{"name", "assets", "address"}[t.view], nameColumn)
	}
	old := m.table
	m.titled = t
	m.table = kit.NewTable(
		kit.Column{Title: first, Min: t.wide.title, Max: t.wide.names, Grow: 2},
		kit.Column{Title: title("amount", amountColumn), Min: t.wide.amount},
		kit.Column{Title: title("share", columns), Min: barMin, Max: barMax, Grow: 1, Hide: 1},
		kit.Column{Title: "", Min: 7, Hide: 2, Align: kit.Right},
		kit.Column{Title: title("value", valueColumn), Min: t.wide.value, Align: kit.Right},
	)
	m.resize(m.w, m.h)
	m.table.SetRows(len(m.rows))
	if old != nil && old.Selected() >= 0 {
		from, _ := old.Window()
		m.table.SelectAt(old.Selected(), old.Selected()-from)
	}
}

// Title names the tab.
func (m *Model) Title() string { return "Balances" }

// Init reads the balances for the first time.
func (m *Model) Init() tea.Cmd { return m.load() }

// Close cancels the present reading.
func (m *Model) Close() {
	if m.cancel != nil {
		m.cancel()
	}
}

// Capturing reports whether the filter or a panel has the keyboard.
func (m *Model) Capturing() bool { return m.filter.Focused() || m.receive.open || m.inspect }

// total is the base of all shares; nil while nothing has a price.
func (m *Model) total() *big.Int {
	if m.data == nil {
		return nil
	}
	return m.data.Total
}

// show sets the data to draw.
func (m *Model) show() {
	m.data = m.real
	if m.scrambled && m.real != nil {
		m.data = m.scrambler.holdings(m.real)
	}
	m.retrend()
	m.arrange()
}
