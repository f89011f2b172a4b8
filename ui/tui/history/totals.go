package history

import (
	"math/big"
	"slices"
	"strconv"
	"time"

	"coffer/api/amount"
	"coffer/ui/present"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/screen"
	"coffer/ui/tui/theme"
)

// monthSum is the sum of a month over COMPLETED records: nothing else moved money for good. Volume is the value of the
// deliveries, fees those of present.Receipts. Records with an unknown figure are counted, not guessed.
type monthSum struct {
	month        int // year*12 + month-1; undated: the time was unreadable
	done         int
	volume, fees *big.Int // micro USD
	noVolume     int      // completed records without a value
	noFees       int      // completed records whose fees are unknown
}

const undated = -1

// sums adds up records by month, in the time zone loc.
func (ln *formatter) sums(rows []*record, loc *time.Location) []monthSum {
	out := []monthSum{}
	for _, r := range rows {
		if !r.success() {
			continue
		}
		s := ln.sum(r, loc)
		add(&out, s)
	}
	return out
}

func (ln *formatter) sum(r *record, loc *time.Location) monthSum {
	s := monthSum{month: undated, done: 1, volume: new(big.Int), fees: new(big.Int)}
	if r.when != noTime {
		t := r.at().In(loc)
		s.month = t.Year()*12 + int(t.Month()) - 1
	}
	if v := r.micro(); v != nil {
		s.volume = v
	} else {
		s.noVolume = 1
	}
	if f := ln.receipts.FeesMicro(ln.facts(r)); f != nil {
		s.fees = f
	} else {
		s.noFees = 1
	}
	return s
}

// add adds one sum to the one of its month.
func add(list *[]monthSum, s monthSum) {
	i := slices.IndexFunc(*list, func(x monthSum) bool { return x.month == s.month })
	if i < 0 {
		s.volume, s.fees = new(big.Int).Set(s.volume), new(big.Int).Set(s.fees)
		*list = append(*list, s)
		return
	}
	x := &(*list)[i]
	x.done, x.noVolume, x.noFees = x.done+s.done, x.noVolume+s.noVolume, x.noFees+s.noFees
	x.volume.Add(x.volume, s.volume)
	x.fees.Add(x.fees, s.fees)
}

// sumsOf are the sums of a chunk, even of a released one.
func (b *book) sumsOf(c *chunk) []monthSum {
	if c.sums == nil {
		c.sums = b.months(c.rows)
	}
	return c.sums
}

// allMonths adds up the list by month, newest first.
func (m *Model) allMonths() []monthSum {
	if m.months != nil {
		return m.months
	}
	m.months = []monthSum{}
	if m.query.active() {
		m.months = m.format.sums(m.shown, m.ctx.Clock().Location())
	} else {
		for _, s := range m.book.layout() {
			if s.chunk != nil {
				for _, x := range m.book.sumsOf(s.chunk) {
					add(&m.months, x)
				}
			}
		}
	}
	slices.SortFunc(m.months, func(a, b monthSum) int { return b.month - a.month })
	return m.months
}

// totalsLine sums up the month of the selected record.
func (m *Model) totalsLine(f screen.Frame, w int) string {
	all := m.allMonths()
	want, ok := m.monthHere()
	i := slices.IndexFunc(all, func(s monthSum) bool { return s.month == want })
	if !ok || i < 0 {
		if len(all) == 0 {
			return ""
		}
		i = 0
	}
	words := m.monthWords(f.Theme, all[i], w-2)
	hint := f.Theme.Accent.Render("t") + f.Theme.Dim.Render(" all months ")
	if len(all) < 2 || present.Width(words)+present.Width(hint)+3 > w {
		hint = ""
	}
	return kit.Sides("  "+words, hint, w)
}

func (m *Model) monthHere() (int, bool) {
	if m.chosen == nil || m.chosen.when == noTime {
		return undated, m.chosen != nil
	}
	t := m.chosen.at().In(m.ctx.Clock().Location())
	return t.Year()*12 + int(t.Month()) - 1, true
}

// monthWords writes one month in w cells: the volume, its fees, and how much of that is unknown. In little room it says
// the same in fewer words.
func (m *Model) monthWords(th theme.Theme, s monthSum, w int) string {
	done := "  " + grouped(s.done) + " completed"
	words := ""
	for _, form := range [][2]string{{done, " " + amount.Unknown}, {"", " " + amount.Unknown},
		{"", present.UnknownText}} {
		volume, fees := m.money(th, s.volume, s.noVolume, s.done, form[1]),
			m.money(th, s.fees, s.noFees, s.done, form[1])
		words = th.Strong.Render(monthName(s.month)) + th.Dim.Render(form[0]+"  moved ") + volume +
			th.Dim.Render("  fees ") + fees
		if present.Width(words) <= w {
			break
		}
	}
	return words
}

// money writes a sum, and how many of its figures are missing.
func (m *Model) money(th theme.Theme, sum *big.Int, unknown, all int, name string) string {
	if unknown == all {
		return th.Unknown.Render(amount.Unknown)
	}
	text := present.USD(sum)
	if m.hidden {
		text = kit.Masked(th)
	}
	if unknown > 0 {
		text += th.Dim.Render(", ") + th.Unknown.Render(grouped(unknown)+name)
	}
	return text
}

func monthName(month int) string {
	if month == undated {
		return "no date"
	}
	return time.Month(month%12 + 1).String()[:3] + " " + strconv.Itoa(month/12)
}

func grouped(n int) string { return amount.Group(strconv.Itoa(n)) }

// monthLines lists every month, for the panel.
func (m *Model) monthLines(th theme.Theme, w int) []string {
	var out []string
	for _, s := range m.allMonths() {
		out = append(out, m.monthWords(th, s, w))
	}
	return out
}
