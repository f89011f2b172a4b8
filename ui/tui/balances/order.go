package balances

import (
	"cmp"
	"math/big"
	"slices"
	"strings"

	"coffer/api/amount"
)

// column is the sort key of the lines. The share sorts like the value.
type column int

const (
	valueColumn column = iota
	titleColumn
	nameColumn
	amountColumn
	columns
)

// Places of the columns in the table.
const (
	titleAt = iota
	amountAt
	shareAt
	percentAt
	valueAt
)

// order is the direction of sorting: figures from the largest and words from A, or the reverse.
type order struct {
	by       column
	reversed bool
}

// down reports whether the largest figure, or the last word, comes first.
func (o order) down() bool {
	figures := o.by == valueColumn || o.by == amountColumn
	return figures != o.reversed
}

// words names the order in the state line of a view. The third order is by the names of assets, by how many assets are
// on a chain, or by the addresses of accounts.
func (o order) words(v view) string {
	way := map[bool]string{true: "largest first", false: "smallest first"}[o.down()]
	switch {
	case o.by == nameColumn && v == byChain:
		return map[bool]string{true: "most assets first", false: "fewest assets first"}[o.down()]
	case o.by == titleColumn || o.by == nameColumn:
		way = map[bool]string{true: "Z to A", false: "A to Z"}[o.down()]
	}
	names := [...]string{"names ", "", "addresses "}[v]
	return [columns]string{valueColumn: "", titleColumn: "", nameColumn: names, amountColumn: "amounts "}[o.by] + way
}

func (m *Model) sort(groups []group) {
	slices.SortStableFunc(groups, func(a, b group) int { return m.compare(a.row, b.row) })
}

func (m *Model) sortParts(parts []row) { slices.SortStableFunc(parts, m.compare) }

// compare orders two lines; those without the figure come last in both directions.
func (m *Model) compare(a, b row) int {
	c, known := 0, true
	switch m.order.by {
	case valueColumn:
		c, known = figures(a.micro, b.micro)
	case amountColumn:
		c, known = m.amounts(a, b)
	case nameColumn:
		c = cmp.Compare(strings.ToLower(a.name), strings.ToLower(b.name))
		if a.name == "" && b.name == "" {
			c = cmp.Compare(a.parts, b.parts)
		}
	case titleColumn:
		c = cmp.Compare(strings.ToLower(a.title), strings.ToLower(b.title))
	}
	if known && m.order.down() {
		c = -c
	}
	return cmp.Or(c, cmp.Compare(strings.ToLower(a.title), strings.ToLower(b.title)), cmp.Compare(a.key, b.key))
}

// amounts compares amounts of any decimals.
func (m *Model) amounts(a, b row) (c int, known bool) {
	x, y := a.amount, b.amount
	if !a.figure || a.decimals < 0 {
		x = nil
	}
	if !b.figure || b.decimals < 0 {
		y = nil
	}
	most := max(a.decimals, b.decimals, 0)
	return figures(amount.Scale(x, max(0, a.decimals), most), amount.Scale(y, max(0, b.decimals), most))
}

// figures compares two figures; known is false when one of them is missing, which alone decides the order then.
func figures(a, b *big.Int) (c int, known bool) {
	switch {
	case a == nil && b == nil:
		return 0, false
	case a == nil:
		return 1, false
	case b == nil:
		return -1, false
	}
	return a.Cmp(b), true
}
