package review

import (
	"math/big"

	"coffer/api/amount"
	"coffer/ui/present"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/theme"
	"coffer/wallet/consent"
	"coffer/wallet/intent"
	"coffer/wallet/verify"
)

// change is one figure of the previous quote beside the new one. diff is "" when they are equal.
type change struct{ label, old, now, diff string }

// changeLines puts the figures of the previous quote, dim, beside the new ones, with the difference. Where the columns
// do not fit, it lists one figure after another and cuts nothing.
func changeLines(th theme.Theme, old, now *verify.QuoteView, w int) []string {
	out := kit.Prose(w, indent, kit.Span{
		Text:  "New quote. The old figures are dim; what was confirmed or typed for them does not count.",
		Style: th.Strong})
	return append(append(out, changeTable(th, changes(old, now), w)...), "")
}

// changes lists the figures that a person decides on: payments, what arrives, fees, cost and tolerance.
func changes(old, now *verify.QuoteView) []change {
	list := sumChanges("You pay", old.Pay, now.Pay)
	if now.Kind == intent.KindSwap || now.Kind == intent.KindTransfer {
		list = append(list, amountChange("At least", &old.Minimum, &now.Minimum),
			amountChange("Expected", &old.Delivered, &now.Delivered))
	} else if now.Delivered.Amount != nil || old.Delivered.Amount != nil {
		list = append(list, amountChange("The call gets", &old.Delivered, &now.Delivered))
	}
	list = append(list, sumChanges("Fees", old.Fees, now.Fees)...)
	list = append(list, microChange("Cost", old.CostMicro, now.CostMicro))
	if old.SlippageBps != now.SlippageBps {
		list = append(list, change{"Slippage", present.Percent(old.SlippageBps), present.Percent(now.SlippageBps),
			"changed"})
	}
	if old.Recipient != now.Recipient {
		list = append(list, change{"Delivered to", present.Address(old.Recipient), present.Address(now.Recipient),
			"changed"})
	}
	return list
}

// sumChanges compares two lists by asset: new, changed and gone.
func sumChanges(label string, old, now []verify.AmountView) []change {
	var out []change
	for i := range now {
		out = append(out, amountChange(label, findAmount(old, now[i]), &now[i]))
	}
	for i := range old {
		if findAmount(now, old[i]) == nil {
			out = append(out, amountChange(label, &old[i], nil))
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

// amountChange compares two amounts. Different assets have no difference; nil is no amount.
func amountChange(label string, old, now *verify.AmountView) change {
	c := change{label: label, old: "nothing", now: "nothing", diff: "new"}
	if old != nil {
		c.old = present.Amount(*old)
	}
	switch {
	case now == nil:
		c.diff = "gone"
		return c
	case old == nil:
		c.now = present.Amount(*now)
		return c
	}
	c.now, c.diff = present.Amount(*now), "changed"
	if old.Asset != now.Asset || old.Amount == nil || now.Amount == nil {
		return c
	}
	x, y, decimals := now.Amount, old.Amount, now.Decimals
	if now.Decimals >= 0 && old.Decimals >= 0 {
		x, y, decimals = consent.SameDecimals(*now, *old)
	}
	c.diff = signed(new(big.Int).Sub(x, y), func(v *big.Int) string {
		if decimals < 0 {
			return amount.Group(v.String())
		}
		return kit.Exact(v, decimals).Main
	})
	return c
}

// microChange compares two values in micro USD.
func microChange(label string, old, now *big.Int) change {
	c := change{label: label, old: knownUSD(old), now: knownUSD(now)}
	switch {
	case old != nil && now != nil:
		c.diff = signed(new(big.Int).Sub(now, old), exactUSD)
	case c.old != c.now:
		c.diff = "changed"
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

const changeGap = 2

// changeTable draws the changes in columns when all of them fit into w cells.
func changeTable(th theme.Theme, list []change, w int) []string {
	head := change{old: "old quote", now: "new quote", diff: "difference"}
	label, old, now, diff := costW, present.Width(head.old), present.Width(head.now), present.Width(head.diff)
	for _, c := range list {
		label, old = max(label, present.Width(c.label)+1), max(old, present.Width(c.old))
		now, diff = max(now, present.Width(c.now)), max(diff, present.Width(diffText(th, c)))
	}
	if indent+label+old+now+diff+2*changeGap > w {
		return changeRows(th, list, w)
	}
	line := func(c change, a, b, d theme.Style) string {
		return kit.Fit("", indent) + th.Dim.Render(kit.Fit(c.label, label)) + a.Render(kit.FitRight(c.old, old)) +
			kit.Fit("", changeGap) +
			b.Render(kit.FitRight(c.now, now)) + kit.Fit("", changeGap) + d.Render(diffText(th, c))
	}
	out := []string{line(head, th.Dim, th.Dim, th.Dim)}
	for _, c := range list {
		out = append(out, line(c, th.Dim, th.Strong, diffLook(th, c)))
	}
	return out
}

func changeRows(th theme.Theme, list []change, w int) []string {
	var out []string
	for _, c := range list {
		out = append(out, kit.Row(th, w, indent, costW, c.label, kit.Span{Text: c.now, Style: th.Strong},
			kit.Span{Text: "  was " + c.old + "  ", Style: th.Dim},
			kit.Span{Text: diffText(th, c), Style: diffLook(th, c)})...)
	}
	return out
}

// diffText is the difference with its sign beside it; the head of the table has no sign.
func diffText(th theme.Theme, c change) string {
	switch {
	case c.label == "":
		return c.diff
	case c.diff == "":
		return "the same"
	}
	return c.diff + " " + th.Sign(theme.Warn)
}

func diffLook(th theme.Theme, c change) theme.Style {
	if c.diff == "" {
		return th.Dim
	}
	return th.Warn
}
