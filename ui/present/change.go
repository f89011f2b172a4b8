package present

import (
	"math/big"
	"strconv"

	"coffer/api/amount"
	"coffer/wallet/consent"
	"coffer/wallet/verify"
)

// Change is one figure of the previous quote beside the new one. Diff is "" when they are equal. Worse: more leaves,
// less arrives, or it is not known.
type Change struct {
	Label, Old, New, Diff string
	Worse                 bool
	apart                 bool // it has no place of its own on the page
}

// renewed says that figures of a new quote are worse than those of the one before. Each is marked where it is, those
// that have no place of their own are here.
func (p *Page) renewed(r Review) {
	list, worse := r.differences()
	if worse == 0 {
		return
	}
	p.text(marked(ToneWarn, "New quote, worse where marked. Confirm again: what you typed is void."))
	for _, c := range list {
		if c.Worse && c.apart {
			p.prose(1, nil, remark(ToneWarn, c.Label+" "+c.New+", was "+c.Old))
		}
	}
	p.blank()
}

// before is the review of the previous quote; it has no quote where there was none.
func (r Review) before() Review {
	r.Quote, r.Previous = r.Previous, nil
	return r
}

// was marks a figure that is worse than the old one with the old one; nothing where it is not, or where there was no
// quote before.
func (r Review) was(old *verify.AmountView, now verify.AmountView, way Way) []Span {
	if r.Previous == nil {
		return nil
	}
	switch c := amountChange("", old, &now, way); {
	case !c.Worse || c.Diff == "":
		return nil
	case old == nil:
		return []Span{remark(ToneWarn, "new")}
	case old.Amount == nil || old.Asset != now.Asset:
		return []Span{remark(ToneWarn, "was "+Amount(*old))}
	}
	return []Span{remark(ToneWarn, "was "+figureOf(old.Amount, *old))}
}

// left is the figure of the previous quote for something that leaves; nil: it had none.
func (x leaving) in(list []leaving) *verify.AmountView {
	for i, o := range list {
		if o.chain == x.chain && o.Asset == x.Asset && (o.leg < 0) == (x.leg < 0) {
			return &list[i].AmountView
		}
	}
	return nil
}

// notes joins remarks, two blanks apart.
func notes(list ...[]Span) []Span {
	var out []Span
	for _, x := range list {
		if len(out) > 0 && len(x) > 0 {
			out = append(out, gap())
		}
		out = append(out, x...)
	}
	return out
}

// differences are the figures that differ from the previous quote, and how many of them are worse; none where there was
// none.
func (r Review) differences() (list []Change, worse int) {
	if r.Previous == nil {
		return nil, 0
	}
	for _, c := range r.changed(r.Previous, r.Quote) {
		if c.Diff != "" {
			list = append(list, c)
		}
		if c.Worse && c.Diff != "" {
			worse++
		}
	}
	return list, worse
}

// changed lists the figures that a person decides on: payments, what arrives, fees, cost and tolerance.
func (r Review) changed(old, now *verify.QuoteView) []Change {
	list := sumChanges("You pay", r.sums(old.Pay), r.sums(now.Pay))
	if exchanged(now) {
		list = append(list, amountChange("At least", &old.Minimum, &now.Minimum, Arrives),
			amountChange("Expected", &old.Delivered, &now.Delivered, Arrives))
	} else if now.Delivered.Amount != nil || old.Delivered.Amount != nil {
		list = append(list, amountChange("The call gets", &old.Delivered, &now.Delivered, Arrives))
	}
	list = append(list, sumChanges("Fees", r.sums(old.Fees), r.sums(now.Fees))...)
	list = append(list, microChange("Cost", old.CostMicro, now.CostMicro))
	for _, c := range []Change{
		{Label: "Slippage", Old: Percent(old.SlippageBps), New: Percent(now.SlippageBps), apart: true},
		{Label: "Delivered to", Old: Address(old.Recipient), New: Address(now.Recipient), apart: true},
		{Label: "Payments", Old: strconv.Itoa(len(old.Legs)), New: strconv.Itoa(len(now.Legs)), apart: true},
	} {
		if c.Old != c.New {
			c.Diff, c.Worse = "changed", true
			list = append(list, c)
		}
	}
	return list
}

// sumChanges compares two lists by asset: new, changed and gone.
func sumChanges(label string, old, now []verify.AmountView) []Change {
	var out []Change
	for i := range now {
		out = append(out, amountChange(label, findAmount(old, now[i]), &now[i], Leaves))
	}
	for i := range old {
		if findAmount(now, old[i]) == nil {
			out = append(out, amountChange(label, &old[i], nil, Leaves))
		}
	}
	return out
}

func findAmount(list []verify.AmountView, a verify.AmountView) *verify.AmountView {
	for i := range list {
		if list[i].Asset == a.Asset && list[i].Amount != nil {
			return &list[i]
		}
	}
	return nil
}

// amountChange compares two amounts that leave or arrive. Different assets have no difference; nil is no amount.
func amountChange(label string, old, now *verify.AmountView, way Way) Change {
	c := Change{Label: label, Old: "nothing", New: "nothing", Diff: "new", Worse: true}
	if old != nil {
		c.Old = Amount(*old)
	}
	switch {
	case now == nil:
		c.Diff, c.Worse = "gone", way == Arrives
		return c
	case old == nil:
		c.New = Amount(*now)
		return c
	}
	c.New, c.Diff = Amount(*now), "changed"
	if old.Asset != now.Asset || old.Amount == nil || now.Amount == nil {
		c.Worse = old.Asset != now.Asset || old.Amount != nil
		return c
	}
	x, y, decimals := now.Amount, old.Amount, now.Decimals
	if now.Decimals >= 0 && old.Decimals >= 0 {
		x, y, decimals = consent.SameDecimals(*now, *old)
	}
	diff := new(big.Int).Sub(x, y)
	c.Worse = diff.Sign() != 0 && diff.Sign() > 0 == (way == Leaves)
	c.Diff = signed(diff, func(v *big.Int) string {
		if decimals < 0 {
			return amount.Group(v.String())
		}
		digits, _ := Exact(v, decimals)
		return digits
	})
	return c
}

// microChange compares two values in micro USD.
func microChange(label string, old, now *big.Int) Change {
	c := Change{Label: label, Old: knownUSD(old), New: knownUSD(now)}
	switch {
	case old != nil && now != nil:
		c.Diff, c.Worse = signed(new(big.Int).Sub(now, old), exactUSD), now.Cmp(old) > 0
	case c.Old != c.New:
		c.Diff, c.Worse = "changed", now == nil
	}
	return c
}

func knownUSD(v *big.Int) string {
	if v == nil {
		return amount.Unknown
	}
	return exactUSD(v)
}

// signed writes a difference with its sign; "" for none.
func signed(v *big.Int, write func(*big.Int) string) string {
	switch v.Sign() {
	case 0:
		return ""
	case 1:
		return "+" + write(v)
	}
	return write(v)
}
