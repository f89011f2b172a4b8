package lab

import (
	"context"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"coffer/api"
	"coffer/ui/compose"
	"coffer/ui/present"
	"coffer/ui/quotelab"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/screen"
	"coffer/wallet/intent"
)

// Model is the lab. It is used on the event loop only.
type Model struct {
	ctx    screen.Context
	deps   Deps
	life   context.Context
	cancel context.CancelFunc
	w, h   int

	draft    intent.Draft
	have     bool
	typed    bool   // the draft is a question that was typed or pasted, not the builder's
	wrong    string // why the draft cannot be quoted
	held     *api.AggregatedBalance
	heldWhy  string // why the balances are unknown
	heldGen  int
	reading  bool // the balances are being read: a round waits for them
	wanted   bool // a round was asked for meanwhile
	axes     quotelab.Axes
	off      map[string]bool // variants left out of the rounds
	variants []*quotelab.Variant
	total    int

	series map[string][]quotelab.Answer // by variant, oldest first
	book   []entry                      // all of them, in their order

	points   []quotelab.Point // of the variant with curveKey
	curveKey string
	by       quotelab.Measure

	gen      int
	asking   int             // index of the variant in progress; -1: none
	round    context.Context // of the round in progress
	end      context.CancelFunc
	watching bool
	rounds   int
	every    time.Duration
	last     time.Time
	why      string // why watching ended
	toCurve  bool   // the curve was asked for and is not in sight yet
	drawn    bool   // the screen was drawn since the last answer

	table              *kit.Table
	pane               kit.Scroll // details, with the curve where it has no pane of its own
	right              kit.Scroll // the curve
	focus              kit.Focus
	field              *kit.Field // of a question
	bestKey, bestWords string     // as of the last drawing
	marks              []string   // keys of the variants chosen for side by side
	from               int        // the first of them that is shown
	compare            bool
	inspect            bool
	hidden             bool
}

// waits are the choices for the pause between the rounds of watching.
func waits() []time.Duration {
	return []time.Duration{5 * time.Second, 10 * time.Second, 20 * time.Second, 30 * time.Second, time.Minute}
}

// New makes the screen.
func New(ctx screen.Context, d Deps) *Model {
	life, cancel := context.WithCancel(context.Background())
	m := &Model{ctx: ctx, deps: d, life: life, cancel: cancel, axes: quotelab.Axes{Funding: true},
		off: map[string]bool{}, series: map[string][]quotelab.Answer{},
		asking: -1, every: waits()[1]}
	m.field = kit.NewField("question", maxTyped)
	m.table = kit.NewTable(
		kit.Column{Title: "", Min: 2, Max: 2}, kit.Column{Title: "pays with", Min: 18, Grow: 2, Max: 30},
		kit.Column{Title: "slippage", Min: 8, Hide: 3, Align: kit.Right},
		kit.Column{Title: "accounts", Min: 18, Grow: 1, Max: 40, Hide: 9},
		kit.Column{Title: "pays", Min: 15, Grow: 1, Max: 24, Hide: 6, Align: kit.Right},
		kit.Column{Title: "delivered", Min: 17, Hide: 1, Grow: 1, Max: 26, Align: kit.Right},
		kit.Column{Title: "minimum", Min: 15, Max: 26, Hide: 8, Align: kit.Right},
		kit.Column{Title: "fees", Min: 7, Hide: 7, Align: kit.Right},
		kit.Column{Title: "cost", Min: 8, Align: kit.Right},
		kit.Column{Title: "life", Min: 5, Hide: 4, Align: kit.Right},
		kit.Column{Title: "ms", Min: 5, Hide: 5, Align: kit.Right},
		kit.Column{Title: "call type", Min: 20, Max: 34, Grow: 1, Hide: 10},
		kit.Column{Title: "answer", Min: 13, Max: 24, Grow: 2},
	)
	return m
}

// Title is the name of the tab.
func (m *Model) Title() string { return "Lab" }

// Init reads the saved results.
func (m *Model) Init() tea.Cmd {
	var ask tea.Cmd
	if m.deps.Question != "" {
		ask = m.question(m.deps.Question)
	}
	keep := m.ctx.Keep
	if keep == nil {
		return ask
	}
	return tea.Batch(ask, func() tea.Msg {
		b, err := keep.Load(document)
		if err != nil || b == nil {
			return keptMsg{err: err}
		}
		all, err := decode(b)
		return keptMsg{all, err}
	})
}

// Close cancels what is in progress.
func (m *Model) Close() { m.cancel() }

// Capturing reports whether a question is being typed.
func (m *Model) Capturing() bool { return m.field.Focused() }

// Wake draws again when the age in the title changes.
func (m *Model) Wake(now time.Time) time.Duration { return kit.AgeChanges(now, m.last) }

// take reads the builder's draft. Without force, a draft in use stays, with its results.
func (m *Model) take(force bool) tea.Cmd {
	if m.deps.Draft == nil || m.typed && !force {
		return nil
	}
	m.typed = false
	d, ok := m.deps.Draft()
	if !ok {
		if m.have && !force {
			return nil
		}
		m.have, m.variants, m.wrong = false, nil, ""
		m.halt("")
		m.table.SetRows(0)
		return nil
	}
	if m.have && !force && sameDraft(m.draft, d) {
		return nil
	}
	m.halt("")
	m.draft, m.have = d, true
	m.replan()
	return m.readHeld()
}

// world is what a question refers to.
func (m *Model) world() *compose.World {
	return &compose.World{Catalog: m.ctx.Catalog, Network: m.ctx.Network.ID, Accounts: m.ctx.Accounts,
		Clock: m.ctx.Clock}
}

// read takes a question in place of the builder's draft; problem says what is wrong with it.
func (m *Model) read(text string) (cmd tea.Cmd, problem string) {
	d, problem := m.world().Question(strings.TrimSpace(text))
	if problem != "" {
		return nil, problem
	}
	m.halt("")
	m.draft, m.have, m.typed = d.Fill(m.ctx.Network.ID, m.ctx.Accounts), true, true
	m.replan()
	return m.readHeld(), ""
}

// sameDraft compares drafts without their times.
func sameDraft(a, b intent.Draft) bool {
	a.ValidAfter, a.ValidUntil, b.ValidAfter, b.ValidUntil = "", "", "", ""
	x, errA := api.Encode(a)
	y, errB := api.Encode(b)
	return errA == nil && errB == nil && slices.Equal(x.Raw(), y.Raw())
}

// readHeld reads the balances of the accounts.
func (m *Model) readHeld() tea.Cmd {
	m.heldGen++
	if m.deps.Balances == nil {
		m.heldWhy = "it is not known what is held"
		return nil
	}
	m.reading = true
	gen, life, read := m.heldGen, m.life, m.deps.Balances
	return func() tea.Msg {
		b, err := read(life)
		return heldMsg{gen, b, err}
	}
}

// replan makes the variants anew, and keeps the selection and the variants that were left out.
func (m *Model) replan() {
	m.halt("")
	selected := ""
	if v := m.selected(); v != nil {
		selected = v.Key
	}
	p := quotelab.Planner{Draft: m.draft, Rules: api.Rules{Catalog: m.ctx.Catalog, Now: m.ctx.Clock()},
		Accounts: m.ctx.Accounts, Held: m.held}
	var err error
	m.variants, m.total, err = p.Plan(m.axes)
	m.wrong = ""
	if err != nil {
		m.wrong = present.Clean(err.Error(), 300)
		if broken := present.Failures(err); len(broken) > 0 {
			m.wrong = present.Clean(broken[0].String(), 300)
		}
	}
	m.table.SetRows(len(m.variants))
	for i, v := range m.variants {
		if v.Key == selected {
			m.table.Select(i)
		}
	}
	m.resize(m.w, m.h)
}

func (m *Model) selected() *quotelab.Variant {
	v, _ := kit.Chosen(m.table, m.variants)
	return v
}

// latest is the last result of a variant; false without one.
func (m *Model) latest(key string) (quotelab.Answer, bool) {
	s := m.series[key]
	if len(s) == 0 {
		return quotelab.Answer{}, false
	}
	return s[len(s)-1], true
}

// active counts the variants in the rounds.
func (m *Model) active() int {
	n := 0
	for _, v := range m.variants {
		if !m.off[v.Key] {
			n++
		}
	}
	return n
}

// unasked counts the variants in the rounds without an answer.
func (m *Model) unasked() int {
	n := 0
	for _, v := range m.variants {
		if _, ok := m.latest(v.Key); !ok && !m.off[v.Key] {
			n++
		}
	}
	return n
}

// ownLines are those outside the table and the details: title, axes and state; smallest is the minimum of the details
// below a table.
const (
	ownLines = 3
	smallest = 9
)

// widths are those of the panes.
func (m *Model) widths() []int { return kit.PaneWidths(m.w, 10, 7, 6) }

func (m *Model) resize(w, h int) {
	m.w, m.h = w, h
	if len(m.widths()) > 1 {
		m.table.Resize(max(1, h-ownLines-1))
		m.pane.Resize(max(1, h-ownLines-1))
		m.right.Resize(max(1, h-ownLines-1))
		return
	}
	table := max(3, min(len(m.variants)+1, h-ownLines-1-smallest))
	m.table.Resize(table)
	m.pane.Resize(max(1, h-ownLines-1-table))
}
