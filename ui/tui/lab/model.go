package lab

import (
	"context"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"coffer/api"
	"coffer/ui/present"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/screen"
	"coffer/wallet/intent"
)

// pin is a result set aside for comparison.
type pin struct {
	set    bool
	key    string
	label  string
	result Result
}

// Model is the lab. It is used on the event loop only.
type Model struct {
	ctx    screen.Context
	deps   Deps
	life   context.Context
	cancel context.CancelFunc
	w, h   int

	draft    intent.Draft
	have     bool
	wrong    string // why the draft cannot be quoted
	held     *api.AggregatedBalance
	heldWhy  string // why the balances are unknown
	heldGen  int
	axes     axes
	variants []*variant
	total    int

	series map[string][]Result // by variant, oldest first
	book   []entry             // all of them, in their order

	gen      int
	asking   int             // index of the variant in progress; -1: none
	round    context.Context // of the round in progress
	end      context.CancelFunc
	watching bool
	rounds   int
	every    time.Duration
	last     time.Time
	why      string // why watching ended
	drawn    bool   // the screen was drawn since the last answer

	table   *kit.Table
	pane    kit.Scroll
	a, b    pin
	compare bool
	hidden  bool
}

// waits are the choices for the pause between the rounds of watching.
func waits() []time.Duration {
	return []time.Duration{5 * time.Second, 10 * time.Second, 20 * time.Second, 30 * time.Second, time.Minute}
}

// New makes the screen.
func New(ctx screen.Context, d Deps) *Model {
	life, cancel := context.WithCancel(context.Background())
	m := &Model{ctx: ctx, deps: d, life: life, cancel: cancel, axes: axes{funding: true}, series: map[string][]Result{},
		asking: -1, every: waits()[1]}
	m.table = kit.NewTable(
		kit.Column{Title: "", Min: 2, Max: 2}, kit.Column{Title: "pays with", Min: 15, Grow: 2, Max: 30},
		kit.Column{Title: "slippage", Min: 8, Hide: 3, Align: kit.Right},
		kit.Column{Title: "accounts", Min: 18, Grow: 1, Max: 40, Hide: 9},
		kit.Column{Title: "pays", Min: 15, Grow: 1, Max: 24, Hide: 6, Align: kit.Right},
		kit.Column{Title: "delivered", Min: 15, Grow: 1, Max: 26, Align: kit.Right},
		kit.Column{Title: "minimum", Min: 15, Max: 26, Hide: 8, Align: kit.Right},
		kit.Column{Title: "fees", Min: 7, Align: kit.Right},
		kit.Column{Title: "cost", Min: 7, Hide: 2, Align: kit.Right},
		kit.Column{Title: "life", Min: 5, Hide: 4, Align: kit.Right},
		kit.Column{Title: "ms", Min: 5, Hide: 5, Align: kit.Right},
		kit.Column{Title: "call type", Min: 20, Max: 34, Grow: 1, Hide: 10},
		kit.Column{Title: "checks", Min: 11},
	)
	return m
}

// Title is the name of the tab.
func (m *Model) Title() string { return "Lab" }

// Init reads the saved results.
func (m *Model) Init() tea.Cmd {
	keep := m.ctx.Keep
	if keep == nil {
		return nil
	}
	return func() tea.Msg {
		b, err := keep.Load(document)
		if err != nil || b == nil {
			return keptMsg{err: err}
		}
		all, err := decode(b)
		return keptMsg{all, err}
	}
}

// Close cancels what is in progress.
func (m *Model) Close() { m.cancel() }

// Capturing reports false: the lab takes no text.
func (m *Model) Capturing() bool { return false }

// Wake draws again when the age in the title changes.
func (m *Model) Wake(now time.Time) time.Duration { return kit.AgeChanges(now, m.last) }

// take reads the builder's draft. Without force, a draft in use stays, with its results.
func (m *Model) take(force bool) tea.Cmd {
	if m.deps.Draft == nil {
		return nil
	}
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
	gen, life, read := m.heldGen, m.life, m.deps.Balances
	return func() tea.Msg {
		b, err := read(life)
		return heldMsg{gen, b, err}
	}
}

// replan makes the variants anew, and keeps the selection and the variants that were left out.
func (m *Model) replan() {
	m.halt("")
	off := map[string]bool{}
	for _, v := range m.variants {
		off[v.key] = v.off
	}
	selected := ""
	if v := m.selected(); v != nil {
		selected = v.key
	}
	p := planner{draft: m.draft, rules: api.Rules{Catalog: m.ctx.Catalog, Now: m.ctx.Clock()}, accounts: m.ctx.Accounts,
		held: m.held}
	var err error
	m.variants, m.total, err = p.plan(m.axes)
	m.wrong = ""
	if err != nil {
		m.wrong = present.Clean(err.Error(), 300)
		if broken := present.Failures(err); len(broken) > 0 {
			m.wrong = present.Clean(broken[0].String(), 300)
		}
	}
	m.table.SetRows(len(m.variants))
	for i, v := range m.variants {
		v.off = off[v.key]
		if v.key == selected {
			m.table.Select(i)
		}
	}
	m.resize(m.w, m.h)
}

func (m *Model) selected() *variant {
	v, _ := kit.Chosen(m.table, m.variants)
	return v
}

// latest is the last result of a variant; false without one.
func (m *Model) latest(key string) (Result, bool) {
	s := m.series[key]
	if len(s) == 0 {
		return Result{}, false
	}
	return s[len(s)-1], true
}

// active counts the variants in the rounds.
func (m *Model) active() int {
	n := 0
	for _, v := range m.variants {
		if !v.off {
			n++
		}
	}
	return n
}

// The lines outside the table and the details: two titles, a rule and the state.
const ownLines = 4

// smallest is the minimum number of lines for the details.
const smallest = 8

func (m *Model) resize(w, h int) {
	m.w, m.h = w, h
	table := max(3, min(len(m.variants)+1, h-ownLines-smallest))
	m.table.Resize(table)
	m.pane.Resize(max(1, h-ownLines-table))
}

// label names a variant.
func (v *variant) label(a axes) string {
	s := v.fund
	if a.slippage {
		s += ", " + bpsText(v.bps)
	}
	if a.accounts {
		s += ", " + v.accounts
	}
	return s
}
