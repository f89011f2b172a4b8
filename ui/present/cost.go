package present

import (
	"math/big"
	"strconv"
	"strings"

	"coffer/api/amount"
	"coffer/wallet/verify"
)

// costs lists the payment, the delivery, the minimum, the fees, and the share of the cost that the fees explain.
func (p *Page) costs(r Review) {
	v := r.Quote
	b := Block{Kind: KindLedger, Table: TableCosts}
	if r.Exchange() {
		b.Table = TableExchanged
	}
	pays := r.sums(v.Pay)
	for i := range pays {
		e := Entry{Label: "You pay", Amount: &pays[i], Tone: ToneStrong}
		if n := len(v.Legs); n > 1 && len(pays) == 1 {
			e.Note = []Span{dim("in " + strconv.Itoa(n) + " payments")}
		}
		b.Entries = append(b.Entries, e)
	}
	if len(pays) == 0 {
		b.Entries = append(b.Entries, Entry{Label: "You pay", Text: "nothing more"})
	}
	exact := b.delivery(r)
	b.fees(r)
	p.add(b)
	row := func(label string, paths []string, spans ...Span) { p.row(b.Table, 0, label, paths, spans...) }
	if exact {
		row("Minimum", []string{"quote.minimum"}, append(amountSpans(v.Minimum), gap(),
			dim("exactly what is delivered"))...)
	}
	if v.Recipient != "" && !r.Exchange() {
		p.recipient(r, b.Table)
	}
	worst := say(WorstCase(r.Catalog, v, r.Call))
	if r.Call != nil && len(v.Legs) > 0 { // more can leave than is paid
		worst.Tone, worst.Sign = ToneWarn, After
	}
	var paths []string
	for i := range v.Worst {
		paths = append(paths, item("quote.worst", i))
	}
	row("Worst case", paths, worst)
	row("Cost", nil, costSpans(v)...)
	gets := "delivered"
	if !exchanged(v) {
		gets = "arrives" // a call also gets what was on the chain already
	}
	row("", []string{"quote.payMicro", "quote.deliverMicro", "quote.costMicro"}, subtraction(figure{"paid", v.PayMicro},
		figure{gets, v.DeliverMicro}, figure{"cost", v.CostMicro})...)
	row("", []string{"quote.feesMicro", "quote.unexplainedMicro"}, subtraction(figure{"cost", v.CostMicro},
		figure{"fees", v.FeesMicro}, figure{"unexplained", v.UnexplainedMicro})...)
	row("Slippage", []string{"quote.slippageBps"}, slippageSpans(v)...)
	switch {
	case r.Exchange():
		row("", nil, dim("below the least above nothing is taken: you are paid back"))
	case len(v.Legs) > 0:
		row("", nil, dim("below the minimum nothing is taken: you are paid back"))
	}
	p.unknowns(b.Table, v)
}

// delivery lists what arrives. For a swap or a transfer the minimum comes first, because only that is promised. exact
// reports that the minimum of a call equals its delivery, and that it is not listed here.
func (b *Block) delivery(r Review) (exact bool) {
	v := r.Quote
	if r.Exchange() {
		least := Entry{Label: "You get at least", Amount: &v.Minimum, Tone: ToneStrong}
		if !v.RecipientOwn {
			least.Label = "Arrives at least"
		}
		if v.Minimum.ChainName != "" {
			least.Note = []Span{dim("on " + Clean(v.Minimum.ChainName, 40))}
		}
		b.Entries = append(b.Entries, least, Entry{Label: "Expected", Amount: &v.Delivered})
		b.Paths = append(b.Paths, "quote.minimum", "quote.delivered")
		return false
	}
	if v.Delivered.Amount != nil {
		b.Entries = append(b.Entries, Entry{Label: "The call gets", Amount: &v.Delivered, Note: elsewhere(v)})
		b.Paths = append(b.Paths, "quote.delivered")
	}
	if v.Minimum.Amount != nil && v.Delivered.Amount != nil && v.Minimum.Amount.Cmp(v.Delivered.Amount) == 0 {
		return true
	}
	b.Entries = append(b.Entries, Entry{Label: "Minimum", Amount: &v.Minimum})
	b.Paths = append(b.Paths, "quote.minimum")
	return false
}

// elsewhere says which part of what the call gets this quote pays for; the rest is on the chain already.
func elsewhere(v *verify.QuoteView) []Span {
	for _, n := range v.Needs {
		if n.Need.Asset == v.Delivered.Asset && n.Short != nil && v.Delivered.Decimals >= 0 &&
			n.Short.Cmp(v.Delivered.Amount) < 0 {
			return []Span{dim(amount.Human(n.Short, v.Delivered.Decimals) + " of it comes from elsewhere")}
		}
	}
	return nil
}

// fees lists the fees, with the service's remark beside the last of them or on its own line.
func (b *Block) fees(r Review) {
	v := r.Quote
	fees := r.sums(v.Fees)
	for i := range v.Fees {
		b.Paths = append(b.Paths, item("quote.fees", i))
	}
	b.Paths = append(b.Paths, "quote.feeUSD")
	said := amount.Unknown
	if v.FeeUSD != "" {
		said = "$" + Clean(v.FeeUSD, 40)
	}
	note := []Span{dim("the service says " + said)}
	switch {
	case v.FeesMicro == nil && len(fees) == 0:
		e := Entry{Label: "Fees", Text: amount.Unknown, Tone: ToneUnknown,
			Note: []Span{dim("the quote does not say; they are part of what you pay")}}
		if v.FeeUSD != "" {
			e.Note = append(append(e.Note, gap()), note...)
		}
		b.Entries = append(b.Entries, e)
	case len(fees) == 0:
		b.Entries = append(b.Entries, Entry{Label: "Fees", Text: "none", Note: note})
	default:
		for i := range fees {
			b.Entries = append(b.Entries, Entry{Label: "Fees", Amount: &fees[i]})
		}
		b.Entries[len(b.Entries)-1].Note = note
	}
}

// costSpans writes the loss on the way and the part of it that the fees explain.
func costSpans(v *verify.QuoteView) []Span {
	spans := []Span{missing()}
	if v.CostMicro != nil {
		spans = []Span{say(USD(v.CostMicro))}
		if v.CostBps >= 0 {
			spans = append(spans, say(" ("+Percent(v.CostBps)+" of what you pay)"))
		}
	}
	switch share, ok := explained(v); {
	case !ok:
		return append(spans, say(", explained by fees: "), missing())
	case v.Explained && v.UnexplainedMicro.Sign() <= 0:
		return append(spans, ended(ToneGood, ", explained by fees: "+share))
	case v.Explained: // the rest lies within the error of the prices, so it is neither good nor bad
		return append(spans, say(", explained by fees: "+share))
	default:
		return append(spans, ended(ToneWarn, ", explained by fees: only "+share))
	}
}

// explained returns the share of the cost that the fees account for, in percent; false when it is unknown: nothing is
// left to explain, and verify still does not call the cost explained.
func explained(v *verify.QuoteView) (string, bool) {
	if v.CostMicro == nil || v.UnexplainedMicro == nil || !v.Explained && v.UnexplainedMicro.Sign() <= 0 {
		return "", false
	}
	if v.CostMicro.Sign() <= 0 || v.UnexplainedMicro.Sign() <= 0 {
		return "100 %", true
	}
	part := new(big.Int).Sub(v.CostMicro, v.UnexplainedMicro)
	if part.Sign() < 0 {
		part.SetInt64(0)
	}
	part.Mul(part, big.NewInt(100)).Quo(part, v.CostMicro)
	return part.String() + " %", true
}

// rounding is the largest error, in micro USD, of a sum of separately rounded values.
const rounding = 24

// figure is a value in micro USD with its name; nil is unknown.
type figure struct {
	name  string
	micro *big.Int
}

func (f figure) span() Span {
	if f.micro == nil {
		return Span{Text: f.name + " " + amount.Unknown, Tone: ToneUnknown}
	}
	return dim(f.name + " " + exactUSD(f.micro))
}

// exactUSD writes micro USD with all their digits, so that the sums of a page add up.
func exactUSD(micro *big.Int) string {
	if micro.Sign() < 0 {
		return "-" + exactUSD(new(big.Int).Neg(micro))
	}
	return "$" + amount.Group(amount.Format(micro, 6))
}

// subtraction writes a - b = rest, and says when the figures do not add up. A negative rest counts as zero: a quote has
// no negative cost.
func subtraction(a, b, rest figure) []Span {
	out := []Span{a.span(), dim(" - "), b.span(), dim(" = "), rest.span()}
	if a.micro == nil || b.micro == nil || rest.micro == nil {
		return out
	}
	diff := new(big.Int).Sub(a.micro, b.micro)
	off := new(big.Int).Sub(diff, rest.micro)
	switch {
	case off.Sign() == 0:
	case off.CmpAbs(big.NewInt(rounding)) <= 0:
		out = append(out, dim(" (rounded)"))
	case diff.Sign() < 0 && rest.micro.Sign() == 0:
		out = append(out, dim(" (below zero: counts as none)"))
	default:
		out = append(out, say(" "), remark(ToneDanger, "does not add up"))
	}
	return out
}

// slippageSpans compares the slippage that the minimum implies with the one that was asked for, both in hundredths of a
// percent. It rounds the implied one up, so that it never looks smaller than it is; but the last unit of a minimum,
// which is a whole number, does not lift it above the tolerance.
func slippageSpans(v *verify.QuoteView) []Span {
	allowed := "you allowed " + Percent(v.SlippageBps)
	if v.Minimum.Asset != v.Delivered.Asset || v.Minimum.Amount == nil || v.Delivered.Amount == nil ||
		v.Delivered.Amount.Sign() <= 0 {
		return []Span{say("(expected - least) / expected = "), missing(), say(", " + allowed)}
	}
	// hundredths of a basis point
	implied := roundedUp(new(big.Int).Mul(new(big.Int).Sub(v.Delivered.Amount, v.Minimum.Amount),
		big.NewInt(1_000_000)), v.Delivered.Amount)
	limit := big.NewInt(int64(v.SlippageBps))
	within := implied.Cmp(new(big.Int).Add(new(big.Int).Mul(limit, big.NewInt(100)), big.NewInt(1))) <= 0
	bps := roundedUp(implied, big.NewInt(100))
	if within && bps.Cmp(limit) > 0 {
		bps = limit
	}
	measured := "(expected - least) / expected = " + amount.Format(bps, 2) + " %, "
	if !within {
		return []Span{say(measured), ended(ToneWarn, "more than the "+Percent(v.SlippageBps)+" that you allowed")}
	}
	return []Span{say(measured + allowed + " "), ended(ToneGood, "")}
}

// roundedUp returns a / b for b > 0, rounded up.
func roundedUp(a, b *big.Int) *big.Int {
	q, rest := new(big.Int).QuoRem(a, b, new(big.Int))
	if rest.Sign() > 0 {
		q.Add(q, big.NewInt(1))
	}
	return q
}

// unknowns counts and names the unknown figures of a quote. None of them ever counts as zero.
func (p *Page) unknowns(t Table, v *verify.QuoteView) {
	var names, paths []string
	add := func(unknown bool, name string) {
		if unknown {
			names = append(names, name)
		}
	}
	add(v.PayMicro == nil, "the value of what you pay")
	add(v.Delivered.Amount != nil && v.DeliverMicro == nil, "the value of what is delivered")
	add(v.Delivered.Amount == nil, "what is delivered")
	add(v.Minimum.Amount == nil, "the least that is delivered")
	add(v.FeesMicro == nil, "the fees")
	add(v.FeeUSD == "", "what the service says of its fees")
	add(v.CostMicro == nil, "the cost")
	add(v.UnexplainedMicro == nil, "what of the cost is unexplained")
	for _, n := range v.Needs {
		unit := Clean(n.Need.Symbol, 60)
		if n.Need.Decimals < 0 || unit == "" {
			unit = Clean(n.Need.Asset.Display(), 120)
		}
		add(n.Have == nil, "what is there of "+unit)
	}
	for _, l := range v.Legs {
		where := " on " + chainName(l.Chain)
		add(l.Pays.Micro == nil, "the value of the payment"+where)
		add(l.Solana == nil && l.RefundAfter.IsZero() && len(l.Parts) == 0,
			"when the payment"+where+" can be reclaimed")
		add(l.Solana == nil && l.Until.IsZero(), "when the payment"+where+" stops being valid")
	}
	if v.Delivered.Amount == nil && !exchanged(v) {
		paths = []string{"quote.delivered"} // there is no line for it
	}
	if len(names) == 0 {
		p.row(t, 0, "Unknown", paths, say("nothing: "), ended(ToneGood, "every figure is known"))
		return
	}
	p.row(t, 0, "Unknown", paths, ended(ToneUnknown, Plural(len(names), "figure", "figures")),
		say(": "+strings.Join(names, ", ")))
}
