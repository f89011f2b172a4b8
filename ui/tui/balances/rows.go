package balances

import (
	"cmp"
	"math/big"
	"slices"
	"strings"

	"coffer/ui/tui/kit"
	"coffer/ui/tui/screen"
)

// rowKind is what a line of the table is.
type rowKind int

const (
	groupRow rowKind = iota // an asset or a chain that opens into parts
	partRow
	headRow // the heading of the unpriced assets
	noteRow // how many zero balances are hidden
)

const unpricedKey = "unpriced"

// row is one line, ready to draw.
type row struct {
	kind     rowKind
	key      string
	title    string
	name     string
	amount   *big.Int
	decimals int
	figure   bool // the line has an amount
	deep     bool // the line stands under the heading of the unpriced assets
	micro    *big.Int
	partial  bool // micro leaves out something without a price
	warn     string
	parts    int
	ids      []string // for inspection
	arg      screen.AssetArg
}

// group is a line with its parts, before sorting. via: the filter found its parts, not itself, so they are shown.
type group struct {
	row
	parts []row
	via   bool
}

// arrange builds the lines from the data and what the person chose, and keeps the selection on its line.
func (m *Model) arrange() {
	m.rows, m.zeros = m.rows[:0], 0
	if m.data == nil {
		m.table.SetRows(0)
		return
	}
	m.largest = m.data.total
	groups := m.assetGroups()
	if m.view == byChain {
		groups = m.chainGroups()
	}
	groups = m.filtered(groups)
	var priced, unpriced []group
	for _, g := range groups {
		switch {
		case !m.zero && m.isZeroGroup(g):
			m.zeros++
		case g.micro == nil:
			unpriced = append(unpriced, g)
		default:
			priced = append(priced, g)
		}
	}
	m.sort(priced)
	m.sort(unpriced)
	m.add(priced)
	if len(unpriced) > 0 {
		m.rows = append(m.rows, row{kind: headRow, key: unpricedKey, parts: len(unpriced)})
		if m.open[unpricedKey] {
			for i := range unpriced {
				unpriced[i].deep = true
			}
			m.add(unpriced)
		}
	}
	if m.zeros > 0 {
		m.rows = append(m.rows, row{kind: noteRow, key: "zero"})
	}
	m.table.SetRows(len(m.rows))
	for i, r := range m.rows {
		if r.key == m.selected {
			m.table.Select(i)
			return
		}
	}
	m.remember()
}

// isZeroGroup is true when nothing in the group is above zero or unknown.
func (m *Model) isZeroGroup(g group) bool {
	if m.view == byAsset {
		return isZero(g.amount, g.micro)
	}
	for _, p := range g.parts {
		if !isZero(p.amount, p.micro) {
			return false
		}
	}
	return true
}

func (m *Model) add(groups []group) {
	for _, g := range groups {
		parts := g.parts
		if !m.zero {
			parts = slices.DeleteFunc(slices.Clone(parts), func(p row) bool { return isZero(p.amount, p.micro) })
		}
		g.row.parts = len(parts)
		m.rows = append(m.rows, g.row)
		if m.open[g.key] || g.via {
			m.rows = append(m.rows, parts...)
		}
	}
}

func (m *Model) assetGroups() []group {
	out := make([]group, 0, len(m.data.assets))
	for _, a := range m.data.assets {
		g := group{row: row{
			key: a.id, title: a.symbol, name: a.name, amount: a.amount, decimals: a.decimals, figure: true, micro: a.micro, warn: a.warn,
			arg: screen.AssetArg{Aggregate: a.id}, ids: []string{a.id},
		}}
		for _, p := range a.parts {
			g.ids = append(g.ids, p.id)
			g.parts = append(g.parts, partOf(p, p.chainTo, "", a))
		}
		m.sortParts(g.parts)
		out = append(out, g)
	}
	return out
}

func partOf(p holding, title, name string, a asset) row {
	return row{
		kind: partRow, key: a.id + " " + p.id, title: title, name: name, amount: p.amount, decimals: p.decimals, figure: true, micro: p.micro,
		arg: screen.AssetArg{Aggregate: a.id, Chain: p.chain.String()}, ids: []string{p.id},
	}
}

func (m *Model) chainGroups() []group {
	var out []group
	at := map[string]int{}
	for _, a := range m.data.assets {
		for _, p := range a.parts {
			i, ok := at[p.chainTo]
			if !ok {
				i = len(out)
				at[p.chainTo] = i
				out = append(out, group{row: row{key: "chain " + p.chainTo, title: p.chainTo, arg: screen.AssetArg{Chain: p.chain.String()}, ids: []string{p.chain.String()}}})
			}
			g := &out[i]
			g.parts = append(g.parts, partOf(p, p.symbol, a.name, a))
			switch {
			case isZero(p.amount, p.micro):
			case p.micro != nil:
				g.micro = sum(g.micro, p.micro)
			default:
				g.partial = true
			}
		}
	}
	for i := range out {
		if out[i].micro == nil && !out[i].partial {
			out[i].micro = new(big.Int)
		}
		m.sortParts(out[i].parts)
	}
	return out
}

func (m *Model) sort(groups []group) {
	slices.SortStableFunc(groups, func(a, b group) int { return m.compare(a.row, b.row) })
}

func (m *Model) sortParts(parts []row) { slices.SortStableFunc(parts, m.compare) }

// compare orders two lines; those without a value come last.
func (m *Model) compare(a, b row) int {
	name := cmp.Compare(strings.ToLower(a.title), strings.ToLower(b.title))
	switch {
	case m.order == byName || a.micro == nil && b.micro == nil:
		return name
	case a.micro == nil:
		return 1
	case b.micro == nil:
		return -1
	}
	c := a.micro.Cmp(b.micro)
	if m.order == valueDown {
		c = -c
	}
	return cmp.Or(c, name)
}

// filtered keeps the groups that have the text of the filter, and those with parts that have it, then with these parts only.
func (m *Model) filtered(groups []group) []group {
	want := strings.ToLower(m.filter.Value())
	if want == "" {
		return groups
	}
	has := func(r row) bool { return strings.Contains(strings.ToLower(r.title+" "+r.name+" "+r.ids[0]), want) }
	out := groups[:0]
	for _, g := range groups {
		if has(g.row) {
			out = append(out, g)
			continue
		}
		g.parts = slices.DeleteFunc(g.parts, func(p row) bool { return !has(p) || !m.zero && isZero(p.amount, p.micro) })
		if g.via = len(g.parts) > 0; g.via {
			out = append(out, g)
		}
	}
	return out
}

// remember notes the selected line so that it stays selected when lines come and go.
func (m *Model) remember() {
	m.selected = ""
	if i := m.table.Selected(); i >= 0 && i < len(m.rows) {
		m.selected = m.rows[i].key
	}
}

// current is the selected line.
func (m *Model) current() (row, bool) {
	if i := m.table.Selected(); i >= 0 && i < len(m.rows) {
		return m.rows[i], true
	}
	return row{}, false
}

// counted says what is listed, such as "5 assets on 7 chains".
func (m *Model) counted() string {
	chains := map[string]bool{}
	held := 0
	for _, a := range m.data.assets {
		if isZero(a.amount, a.micro) {
			continue
		}
		held++
		for _, p := range a.parts {
			if !isZero(p.amount, p.micro) {
				chains[p.chainTo] = true
			}
		}
	}
	return kit.Plural(held, "asset", "assets") + " on " + kit.Plural(len(chains), "chain", "chains")
}
