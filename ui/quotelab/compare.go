package quotelab

import (
	"cmp"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"

	"coffer/ui/present"
)

// MaxBeside is how many variants are shown side by side.
const MaxBeside = 6

// Compared is a variant with its answer.
type Compared struct {
	*Variant
	Answer Answer
}

// Measure is what decides which answer is the best.
type Measure int

// The measures.
const (
	ByCost Measure = iota
	ByMinimum
	BySignatures
	ByLifetime
	measures
)

// String names a measure.
func (m Measure) String() string {
	return [...]string{"lowest cost", "highest minimum", "fewest signatures", "longest lifetime"}[m%measures]
}

// Next is the measure after this one.
func (m Measure) Next() Measure { return (m + 1) % measures }

// Best is the index of the best answer; of equal ones the one with the higher minimum, then the first; -1 when fewer
// than two can be compared. An answer without figures, or whose figure is not known, takes no part; nor does a minimum
// of another asset than that of the first answer that has one.
func Best(all []Compared, by Measure) int {
	best, n := -1, 0
	for i, c := range all {
		if !c.Answer.Figures() || by.figure(c.Answer) == nil || by == ByMinimum && n > 0 &&
			c.Answer.Minimum.Asset != all[best].Answer.Minimum.Asset {
			continue
		}
		if n++; best < 0 || by.better(c.Answer, all[best].Answer) {
			best = i
		}
	}
	if n < 2 {
		return -1
	}
	return best
}

// better reports whether a is better than b; both have the figure of the measure.
func (m Measure) better(a, b Answer) bool {
	d := m.figure(a).Cmp(m.figure(b))
	if d != 0 || a.Minimum == nil || b.Minimum == nil || a.Minimum.Asset != b.Minimum.Asset {
		return d < 0
	}
	return a.Minimum.Amount.Cmp(b.Minimum.Amount) > 0
}

// figure is what a measure compares, the smallest the best; nil is unknown.
func (m Measure) figure(a Answer) *big.Int {
	switch m {
	case ByMinimum:
		if a.Minimum == nil || a.Minimum.Amount == nil {
			return nil
		}
		return new(big.Int).Neg(a.Minimum.Amount)
	case BySignatures:
		if a.Signs == 0 {
			return nil
		}
		return big.NewInt(int64(a.Signs))
	case ByLifetime:
		if a.Lifetime == 0 {
			return nil
		}
		return big.NewInt(-int64(a.Lifetime))
	}
	return a.CostMicro
}

// Fact is one line of a comparison: a value for each variant. Differs says that the known ones are not all equal.
type Fact struct {
	Name    string
	Values  []string
	Differs bool
}

// Facts compares variants line by line, what was asked before what was answered.
func Facts(all []Compared) []Fact {
	var out []Fact
	add := func(name string, value func(Compared) string) {
		f := Fact{Name: name}
		for _, c := range all {
			v := value(c)
			f.Differs = f.Differs || slices.ContainsFunc(f.Values, func(x string) bool {
				return x != v && x != present.UnknownText && v != present.UnknownText
			})
			f.Values = append(f.Values, v)
		}
		out = append(out, f)
	}
	figures := func(value func(Answer) string) func(Compared) string {
		return func(c Compared) string {
			if !c.Answer.Figures() {
				return present.UnknownText
			}
			return value(c.Answer)
		}
	}
	add("pays with", func(c Compared) string { return c.Fund })
	add("slippage", func(c Compared) string { return Bps(c.Bps) })
	add("arrives on", func(c Compared) string { return c.Arrives })
	add("accounts", func(c Compared) string { return c.Accounts })
	add("answer", func(c Compared) string { _, s := c.Answer.Outcome(); return s })
	add("leaves", figures(func(a Answer) string { return Texts(a.Pays, a.Estimate) }))
	add("from", figures(func(a Answer) string { return a.sources() }))
	add("receives", figures(func(a Answer) string { return a.Delivered.Text() }))
	add("minimum", figures(func(a Answer) string { return a.Minimum.Text() }))
	add("cost", figures(func(a Answer) string { return a.about(present.USD(a.CostMicro)) }))
	add("cost share", figures(func(a Answer) string { return a.about(a.Share()) }))
	add("fees", figures(func(a Answer) string { return a.about(present.USD(a.FeesMicro)) }))
	add("call type", figures(func(a Answer) string { return CallType(a.CallType) }))
	add("signatures", figures(func(a Answer) string { return strconv.Itoa(a.Signs) }))
	add("good for", figures(func(a Answer) string { return Seconds(a.Lifetime) }))
	add("answered in", func(c Compared) string {
		return strconv.FormatInt(c.Answer.Latency.Milliseconds(), 10) + " ms"
	})
	return out
}

// about marks a figure of an estimate.
func (a Answer) about(s string) string {
	if a.Estimate && s != present.UnknownText {
		return "~" + s
	}
	return s
}

// Texts writes amounts in full; none is unknown.
func Texts(all []Money, estimate bool) string {
	var out []string
	for _, m := range all {
		out = append(out, (Answer{Estimate: estimate}).about(m.Text()))
	}
	return cmp.Or(strings.Join(out, ", "), present.UnknownText)
}

// sources are the chains that pay.
func (a Answer) sources() string {
	var out []string
	for _, l := range a.Legs {
		out = append(out, present.Clean(l.Pays.Chain, 40))
	}
	return cmp.Or(strings.Join(out, ", "), present.UnknownText)
}

// CallType puts a call type into words.
func CallType(s string) string {
	return cmp.Or(strings.ReplaceAll(present.Clean(s, 60), "_", " "), present.UnknownText)
}

// Seconds writes a lifetime; none is unknown.
func Seconds(d time.Duration) string {
	if d <= 0 {
		return present.UnknownText
	}
	return strconv.Itoa(int(d.Round(time.Second)/time.Second)) + " s"
}
