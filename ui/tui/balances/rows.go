package balances

import (
	"cmp"
	"math/big"
	"slices"
	"strings"

	"coffer/ui/present"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/screen"
	"coffer/ui/tui/theme"
	"coffer/wallet/verify"
)

// rowKind is the kind of a table line.
type rowKind int

const (
	groupRow rowKind = iota // an asset, a chain or an account that opens into parts
	partRow
	headRow // the heading of the unpriced assets, or of dust
	noteRow // the number of hidden zero balances
)

// Keys of the headings. Few assets without a price need none.
const (
	unpricedKey = "unpriced"
	dustKey     = "dust"
	unpricedFew = 5
)

// row is one line, ready to draw.
type row struct {
	kind     rowKind
	key      string
	title    string
	name     string
	amount   *big.Int
	decimals int
	figure   bool // the line has an amount
	deep     bool // the line is below a heading
	micro    *big.Int
	partial  bool // micro leaves out a holding without a price
	untold   bool // the answer does not mention it
	reasons  []verify.Reason
	below    []verify.Reason // of its parts
	parts    int
	under    []row    // the parts that count, whether they are open or not
	alone    bool     // its figures are those of the line above
	ids      []string // for inspection
	address  string   // of an account
	arg      screen.AssetArg
}

// group is a line with its parts, before sorting. via: the filter matched its parts, not itself, so they are shown.
type group struct {
	row
	parts []row
	via   bool
}

// arrange builds the lines from the data and the person's choices, and keeps the selection on its line.
func (m *Model) arrange() {
	m.rows, m.zeros = m.rows[:0], 0
	if m.data == nil {
		m.measure()
		m.table.SetRows(0)
		return
	}
	var main, unpriced, dust []group
	for _, g := range m.filtered(m.groups()) {
		switch {
		case m.view == byAccount:
			main = append(main, g)
		case !m.zero && m.isZeroGroup(g):
			m.zeros++
		case g.micro == nil:
			unpriced = append(unpriced, g)
		case m.isDust(g.row) && !m.isZeroGroup(g): // z asks to see the zeros themselves
			dust = append(dust, g)
		default:
			main = append(main, g)
		}
	}
	m.sort(main)
	if len(unpriced) <= unpricedFew {
		m.sort(unpriced)
		main, unpriced = append(main, unpriced...), nil
	}
	m.roomy = m.hasRoom(main)
	m.add(main)
	m.addUnder(unpricedKey, unpriced)
	m.addUnder(dustKey, dust)
	if m.zeros > 0 {
		m.rows = append(m.rows, row{kind: noteRow, key: "zero"})
	}
	m.measure()
	m.table.SetRows(len(m.rows))
	for i, r := range m.rows {
		if r.key == m.selected {
			m.table.Select(i)
			return
		}
	}
	m.remember()
	m.shown = m.selected
}

func (m *Model) groups() []group {
	switch m.view {
	case byChain:
		return m.chainGroups()
	case byAccount:
		return m.accountGroups()
	}
	return m.assetGroups()
}

// addUnder adds groups below a heading. A filter opens the heading, to show its matches.
func (m *Model) addUnder(key string, groups []group) {
	if len(groups) == 0 {
		return
	}
	m.sort(groups)
	head := row{kind: headRow, key: key, parts: len(groups)}
	for i := range groups {
		groups[i].deep = true
		if key == dustKey {
			head.micro = present.Plus(head.micro, groups[i].micro)
		}
	}
	m.rows = append(m.rows, head)
	if m.isOpen(key) {
		m.add(groups)
	}
}

func (m *Model) isOpen(key string) bool {
	if key == dustKey || key == unpricedKey {
		return m.open[key] || m.filter.Value() != ""
	}
	if open, chosen := m.open[key]; chosen {
		return open
	}
	return m.roomy
}

// hasRoom reports whether a large screen has room for all parts of the groups, and for what is below them.
func (m *Model) hasRoom(groups []group) bool {
	n := len(groups)
	for _, g := range groups {
		for _, p := range g.parts {
			if !present.IsZero(p.amount, p.micro) {
				n++
			}
		}
	}
	return m.w >= kit.ThreePanes && n <= m.h/2 && !m.zero
}

// isDust reports whether a line is priced completely, below the threshold, and free of warnings.
func (m *Model) isDust(r row) bool {
	limit := m.ctx.Settings.Dust
	return limit != nil && r.micro != nil && !r.partial && r.micro.Cmp(limit) < 0 && r.worst() == theme.None &&
		(!r.figure || r.amount != nil)
}

// isZeroGroup reports whether nothing in the group is above zero or unknown.
func (m *Model) isZeroGroup(g group) bool {
	if g.worst() == theme.Danger {
		return false
	}
	if m.view == byAsset {
		return present.IsZero(g.amount, g.micro)
	}
	for _, p := range g.parts {
		if !present.IsZero(p.amount, p.micro) {
			return false
		}
	}
	return true
}

// add appends groups, and the parts of the open ones.
func (m *Model) add(groups []group) {
	for _, g := range groups {
		parts := g.parts
		if !m.zero {
			parts = slices.DeleteFunc(slices.Clone(parts),
				func(p row) bool { return present.IsZero(p.amount, p.micro) && p.worst() != theme.Danger })
		}
		g.row.parts, g.under = len(parts), parts
		if len(parts) == 1 && m.view == byAsset && parts[0].decimals == g.decimals && parts[0].amount != nil &&
			g.amount != nil && parts[0].amount.Cmp(g.amount) == 0 {
			parts = []row{parts[0]}
			parts[0].alone = true
		}
		m.rows = append(m.rows, g.row)
		if m.isOpen(g.key) || g.via {
			m.rows = append(m.rows, parts...)
		}
	}
}

// found lists the findings at the line and at its parts, the worst first.
func (r row) found() []verify.Reason {
	all := slices.Concat(r.reasons, r.below)
	slices.SortStableFunc(all, func(a, b verify.Reason) int {
		return cmp.Compare(weight(meaning(b.Level)),
			weight(meaning(a.Level)))
	})
	return all
}

// worst is the worst meaning among the findings of a line and its parts.
func (r row) worst() theme.Meaning {
	worst := theme.None
	for _, list := range [...][]verify.Reason{r.reasons, r.below} {
		for _, x := range list {
			if m := meaning(x.Level); weight(m) > weight(worst) {
				worst = m
			}
		}
	}
	return worst
}

// weight orders meanings by severity.
func weight(m theme.Meaning) int {
	switch m {
	case theme.Unknown:
		return 1
	case theme.Warn:
		return 2
	case theme.Danger:
		return 3
	}
	return 0
}

// filtered keeps the groups that match the filter; a group that matches only through parts keeps these parts only.
func (m *Model) filtered(groups []group) []group {
	want := strings.ToLower(m.filter.Value())
	if want == "" {
		return groups
	}
	has := func(r row) bool {
		return strings.Contains(strings.ToLower(r.title+" "+r.name+" "+r.address+" "+
			strings.Join(r.ids[:min(1, len(r.ids))], "")), want)
	}
	out := groups[:0]
	for _, g := range groups {
		if has(g.row) {
			out = append(out, g)
			continue
		}
		g.parts = slices.DeleteFunc(g.parts, func(p row) bool {
			return !has(p) ||
				!m.zero && present.IsZero(p.amount, p.micro)
		})
		if g.via = len(g.parts) > 0; g.via {
			out = append(out, g)
		}
	}
	return out
}

// remember notes the selected line, so that it stays selected when lines come and go.
func (m *Model) remember() {
	r, _ := m.current()
	m.selected = r.key
}

// current is the selected line.
func (m *Model) current() (row, bool) { return kit.Chosen(m.table, m.rows) }

// counted counts the listed lines, as in "5 assets on 7 chains", or the matches of a filter.
func (m *Model) counted() string {
	if m.filter.Value() != "" {
		n := 0
		for _, r := range m.rows {
			if r.kind == groupRow {
				n++
			}
		}
		return present.Plural(n, "line matches", "lines match")
	}
	chains := map[string]bool{}
	held := 0
	for _, a := range m.data.Assets {
		if present.IsZero(a.Amount, a.Micro) {
			continue
		}
		held++
		for _, p := range a.Parts {
			if !present.IsZero(p.Amount, p.Micro) {
				chains[p.ChainName] = true
			}
		}
	}
	return present.Plural(held, "asset", "assets") + " on " + present.Plural(len(chains), "chain", "chains")
}

// marked counts the assets with findings, and the findings about the answer as a whole.
func (m *Model) marked() int {
	n := len(m.data.Reasons)
	for _, a := range m.data.Assets {
		found := len(a.Reasons) > 0
		for _, p := range a.Parts {
			found = found || len(p.Reasons) > 0
		}
		if found {
			n++
		}
	}
	return n
}
