package balances

import (
	"cmp"
	"math/big"
	"time"

	"coffer/api/amount"
	"coffer/ui/present"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/screen"
)

// period is the range of the line of totals.
type period int

const (
	lastDay period = iota
	lastMonth
	lastYears
	periods
)

func (p period) span() time.Duration { return [...]time.Duration{day, month, longest}[p] }

func (p period) words() string { return [...]string{"24 h", "30 d", "2 y"}[p] }

// trend is the line of totals and the change of the total.
type trend struct {
	values []*big.Int // one per cell, nil where there is no snapshot
	change string     // "+1.2 %", "" without a total to compare with
	since  string     // start of the comparison, "" for the whole period
}

// trendOf spreads comparable points and the present total over cells of equal time. A cell without a point stays empty:
// the line does not bridge a gap. It is nil while fewer than two cells have a point.
func trendOf(points []point, now point, p period, at time.Time, cells int) *trend {
	span := int64(p.span() / time.Second)
	start := at.Unix() - span
	t := &trend{values: make([]*big.Int, cells)}
	filled := 0
	for k := range len(points) + 1 {
		x := now
		if k < len(points) {
			x = points[k]
		}
		i := int((x.at - start) * int64(cells) / span)
		if x.at <= start || x.at > at.Unix() {
			continue
		}
		i = min(i, cells-1)
		if t.values[i] == nil {
			filled++
		}
		t.values[i] = x.micro
	}
	if filled < 2 {
		return nil
	}
	t.compare(points, now, p, at)
	return t
}

// compare takes the last snapshot at the start of the period, or a little before it, else the oldest one within.
func (t *trend) compare(points []point, now point, p period, at time.Time) {
	span := int64(p.span() / time.Second)
	var from *point
	for i := range points {
		x := &points[i]
		switch age := now.at - x.at; {
		case age >= span+span/12, age < int64(snapEvery/time.Second):
		case age >= span:
			from = x // the later one
		case from == nil:
			from = x
			t.since = time.Unix(x.at, 0).In(at.Location()).Format("2006-01-02")
			if p == lastDay {
				t.since = time.Unix(x.at, 0).In(at.Location()).Format("15:04")
			}
		}
	}
	if from != nil {
		t.change = change(from.micro, now.micro)
	}
	if t.change == "" {
		t.since = ""
	}
}

// change writes the difference of to and from as a share of from, in percent with a sign, rounded half away from zero;
// "" when from is not above zero.
func change(from, to *big.Int) string {
	if from.Sign() <= 0 {
		return ""
	}
	d := new(big.Int).Sub(to, from)
	sign := "+"
	switch d.Sign() {
	case 0:
		return "0.0 %"
	case -1:
		sign = "-"
	}
	d.Abs(d).Mul(d, big.NewInt(2000)).Add(d, from)
	d.Quo(d, new(big.Int).Lsh(from, 1))
	if d.Sign() == 0 {
		return sign + "<0.1 %"
	}
	return sign + amount.Group(amount.Format(d, 1)) + " %"
}

// retrend selects the snapshots that compare with the present total, and takes the present values of the parts.
func (m *Model) retrend() {
	m.alike = nil
	if m.real != nil {
		m.alike, m.worths = comparable(m.points, m.real.Without), partsOf(m.real, m.at)
	}
}

// hasTrend reports whether there is a line of totals: a snapshot is older than the present total.
func (m *Model) hasTrend() bool {
	return m.real != nil && !m.hidden && len(m.alike) > 0 && m.at.Unix()-m.alike[0].at >= int64(snapEvery/time.Second)
}

// trend is the past of the total in so many cells, without the person's payments, and what it leaves in.
func (m *Model) trend(now time.Time, cells int) (t *trend, kept string) {
	p := snapshotOf(m.real, m.at)
	if p == nil || p.at > now.Unix() {
		return nil, ""
	}
	points, kept := m.without(m.alike, now.Add(-m.period.span()).Unix(), "")
	return trendOf(points, *p, m.period, now, cells), kept
}

// trendLine draws the past of the total in one line: period, bars, change.
func (m *Model) trendLine(f screen.Frame, w int) string {
	th := f.Theme
	cells := min(96, max(12, w-61))
	t, kept := m.trend(f.Now, cells)
	if t == nil {
		return kit.Fit(th.Dim.Render("  "+m.period.words()+"  no earlier totals to draw yet; p shows a longer time"), w)
	}
	line := "  " + th.Dim.Render(m.period.words()) + " " + th.Accent.Render(kit.Spark(th, t.values, cells))
	if t.change != "" {
		line += "  " + t.change
	}
	if t.since != "" {
		line += th.Dim.Render(" since " + t.since)
	}
	return kit.Fit(line+th.Dim.Render("; "+m.leftOut(kept)), w)
}

// leftOut says what a past of the total does not have, and what of it cannot be told apart.
func (m *Model) leftOut(kept string) string {
	words := cmp.Or(kept, "your payments left out")
	if n := m.unpricedCount(); n > 0 {
		words += "; " + present.Plural(n, "asset", "assets") + " without a price"
	}
	return words
}

// Heights of the past of the total as an area, and what it has beside that: a blank line, title, axis, two lines of
// words.
const (
	chartLeast = 3
	chartMost  = 6
	chartFrame = 5
)

// chart draws the past of the total as a pane of w cells: an area of h lines, its axis and what it leaves out.
func (m *Model) chart(f screen.Frame, w, h int) (kit.Pane, []string) {
	p := kit.Pane{W: w, Title: "Total, " + m.period.words()}
	t, kept := m.trend(f.Now, w-4)
	if t == nil {
		return p, []string{"  " + f.Theme.Dim.Render("no earlier totals to draw yet; p shows a longer time")}
	}
	p.State = t.change
	return p, m.area(f, t, w, h, m.leftOut(kept))
}

// area draws a past in h lines, its axis, and words about it.
func (m *Model) area(f screen.Frame, t *trend, w, h int, words string) []string {
	th := f.Theme
	var lines []string
	for _, l := range kit.Area(th, t.values, h) {
		lines = append(lines, "  "+th.Accent.Render(l))
	}
	start := f.Now.Add(-m.period.span()).Format("2006-01-02")
	if m.period == lastDay {
		start = f.Now.Add(-m.period.span()).Format("15:04")
	}
	lines = append(lines, "  "+th.Dim.Render(kit.Sides(start, "now", len(t.values))))
	if t.since != "" {
		words = "since " + t.since + "; " + words
	}
	return append(lines, kit.Prose(w-1, 2, th.Dim.Span(words))...)
}

// The past of an asset or a chain: the height of its area, and the most cells. More would leave gaps between snapshots.
const (
	partHeight = 4
	partCells  = 44
)

// pastLines draw the past of an asset or a chain, as far as snapshots of it are kept. Of an asset the person's payments
// in it are left out; what else was paid, swapped or moved is in it, and of a chain all of that.
func (m *Model) pastLines(f screen.Frame, r row, w int) []string {
	if m.hidden || r.kind != groupRow || m.view == byAccount || len(r.ids) == 0 {
		return nil
	}
	points, now := m.parts[r.ids[0]], m.worths[r.ids[0]]
	if len(points) == 0 || now.micro == nil || now.at-points[0].at < int64(snapEvery/time.Second) {
		return nil
	}
	th, kept := f.Theme, "what you paid, swapped or moved is in it"
	if m.view == byAsset {
		points, kept = m.without(points, f.Now.Add(-m.period.span()).Unix(), r.ids[0])
		kept = cmp.Or(kept, "your payments left out")
	}
	t := trendOf(points, now, m.period, f.Now, min(partCells, w-4))
	if t == nil {
		return nil
	}
	head := kit.Sides(" "+th.Strong.Render("Value, "+m.period.words()), t.change+" ", w)
	return append([]string{"", head}, m.area(f, t, w, partHeight, kept)...)
}
