package present

import (
	"math/big"
	"strconv"
	"strings"

	"coffer/api/amount"
	"coffer/wallet/verify"
)

// arithmetic shows how the figures of a quote follow from each other: the request, the needs, the payments, the
// delivery, the fees, and the share of the cost that the fees explain.
func (r Review) arithmetic() Page {
	v := r.Quote
	var p Page
	t := TableCosts
	if r.Exchange() {
		t = TableExchanged
		p.request(t, r)
	}
	p.needs(t, v)
	b := Block{Kind: KindLedger, Table: t}
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
	if v.Delivered.Amount != nil {
		e := Entry{Label: "Expected", Amount: &v.Delivered}
		if !r.Exchange() {
			e.Label, e.Note = "The call gets", elsewhere(v)
		}
		b.Entries = append(b.Entries, e)
	}
	b.fees(r)
	p.add(b)
	if v.Itself() != nil { // what it costs is on top, and nothing is to be explained
		return p
	}
	row := func(label string, paths []string, spans ...Span) { p.row(t, 0, label, paths, spans...) }
	gets := "delivered"
	if !exchanged(v) {
		gets = "arrives" // a call also gets what was on the chain already
	}
	row("Cost", []string{"quote.payMicro", "quote.deliverMicro"}, subtraction(figure{"paid", v.PayMicro},
		figure{gets, v.DeliverMicro}, figure{"cost", v.CostMicro})...)
	row("", []string{"quote.feesMicro", "quote.unexplainedMicro"}, explanation(v)...)
	row("Slippage", []string{"quote.slippageBps"}, slippageSpans(v)...)
	return p
}

// explanation compares the cost with the fees.
func explanation(v *verify.QuoteView) []Span {
	if v.CostMicro != nil && v.FeesMicro != nil && v.UnexplainedMicro != nil && v.UnexplainedMicro.Sign() == 0 &&
		v.FeesMicro.Cmp(v.CostMicro) > 0 {
		return []Span{dim("the fees, " + exactUSD(v.FeesMicro) + ", are more than that: unexplained " +
			exactUSD(v.UnexplainedMicro))}
	}
	return subtraction(figure{"cost", v.CostMicro}, figure{"fees", v.FeesMicro},
		figure{"unexplained", v.UnexplainedMicro})
}

// cost is the loss on the way as a line beneath what leaves and what arrives: in the asset where it is one, its value,
// its share of what is paid, and whether the fees explain it.
func (r Review) cost() Entry {
	v := r.Quote
	e := Entry{Group: "Cost", Text: amount.Unknown, Tone: ToneUnknown}
	if own := v.Itself(); own != nil && len(v.Fees) == 1 {
		e.Amount, e.Text, e.Tone, e.Note = &v.Fees[0], "", TonePlain, []Span{say("Solana's fee, on top")}
		if own.Rent != nil {
			e.Note = []Span{say("Solana's fee and the recipient's new account, on top")}
		}
		return e
	}
	if v.CostMicro == nil {
		return e
	}
	e.Text, e.Tone = USD(v.CostMicro), TonePlain
	if a, ok := r.lost(r.arriving()); ok && v.CostMicro.Sign() > 0 {
		a.Micro = v.CostMicro
		e.Amount = &a
	}
	if v.CostBps >= 0 {
		e.Note = []Span{say(Percent(v.CostBps) + ", ")}
	}
	e.Note = notes(r.costWas(), append(e.Note, explainedSpan(v)))
	return e
}

// costWas marks a cost that is higher than that of the previous quote.
func (r Review) costWas() []Span {
	if r.Previous == nil {
		return nil
	}
	if c := microChange("", r.Previous.CostMicro, r.Quote.CostMicro); !c.Worse || c.Diff == "" {
		return nil
	}
	old := r.before().cost()
	if old.Amount != nil {
		old.Text = figureOf(old.Amount.Amount, *old.Amount)
	}
	return []Span{remark(ToneWarn, "was "+old.Text)}
}

// dearer are the fees that are higher than those of the previous quote, where the cost is not: it is marked itself.
func (r Review) dearer() []Entry {
	if r.Previous == nil || r.costWas() != nil {
		return nil
	}
	var out []Entry
	before, now := r.sums(r.Previous.Fees), r.sums(r.Quote.Fees)
	for i := range now {
		if was := r.was(findAmount(before, now[i]), now[i], Leaves); was != nil {
			out = append(out, Entry{Group: "Fees", Amount: &now[i], Note: was})
		}
	}
	return out
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

// explainedSpan says how much of the cost the fees explain.
func explainedSpan(v *verify.QuoteView) Span {
	switch share, ok := explained(v); {
	case !ok:
		return Span{Text: "explained by fees: unknown", Tone: ToneUnknown, Sign: After}
	case v.Explained && v.UnexplainedMicro.Sign() <= 0:
		return ended(ToneGood, "explained")
	case v.Explained: // the rest lies within the error of the prices, so it is neither good nor bad
		return say("explained " + share)
	default:
		return ended(ToneWarn, "only "+share+" explained")
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

// slippageSpans compares the slippage that the minimum implies with the one that was asked for.
func slippageSpans(v *verify.QuoteView) []Span {
	const of = "(expected - minimum) / expected = "
	limit := Percent(v.SlippageBps)
	switch used, within, known := slippage(v); {
	case !known:
		return []Span{say(of), missing(), say(", you allowed " + limit)}
	case !within:
		return []Span{say(of + used + ", "), ended(ToneWarn, "more than the "+limit+" that you allowed")}
	default:
		return []Span{say(of + used + ", you allowed " + limit + " "), ended(ToneGood, "")}
	}
}

// slippage is the share of what is expected that the minimum gives up, in percent with two decimals, and whether it is
// within the one that was asked for. It is rounded up, so that it never looks smaller than it is; but the last unit of
// a minimum, which is a whole number, does not lift it above the tolerance.
func slippage(v *verify.QuoteView) (used string, within, known bool) {
	if v.Minimum.Asset != v.Delivered.Asset || v.Minimum.Amount == nil || v.Delivered.Amount == nil ||
		v.Delivered.Amount.Sign() <= 0 {
		return "", false, false
	}
	// hundredths of a basis point
	implied := roundedUp(new(big.Int).Mul(new(big.Int).Sub(v.Delivered.Amount, v.Minimum.Amount),
		big.NewInt(1_000_000)), v.Delivered.Amount)
	limit := big.NewInt(int64(v.SlippageBps))
	within = implied.Cmp(new(big.Int).Add(new(big.Int).Mul(limit, big.NewInt(100)), big.NewInt(1))) <= 0
	bps := roundedUp(implied, big.NewInt(100))
	if within && bps.Cmp(limit) > 0 {
		bps = limit
	}
	return amount.Format(bps, 2) + " %", within, true
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
func (p *Page) unknowns(v *verify.QuoteView) {
	var names, paths []string
	add := func(unknown bool, name string, path ...string) {
		if unknown {
			names, paths = append(names, name), append(paths, path...)
		}
	}
	add(v.PayMicro == nil, "the value of what you pay", "quote.payMicro")
	add(v.Delivered.Amount != nil && v.DeliverMicro == nil, "the value of what is delivered", "quote.deliverMicro")
	add(v.Delivered.Amount == nil, "what is delivered")
	add(v.Minimum.Amount == nil, "the least that is delivered")
	itself := v.Itself() != nil // its cost is Solana's fee, in SOL
	add(v.FeesMicro == nil && !itself, "the fees", "quote.feesMicro")
	add(v.FeeUSD == "", "what the service says of its fees", "quote.feeUSD")
	add(v.CostMicro == nil && !itself, "the cost")
	add(v.UnexplainedMicro == nil && !itself, "what of the cost is unexplained", "quote.unexplainedMicro")
	for i, n := range v.Needs {
		unit := Clean(n.Need.Symbol, 60)
		if n.Need.Decimals < 0 || unit == "" {
			unit = Clean(n.Need.Asset.Display(), 120)
		}
		add(n.Have == nil, "what is there of "+unit, item("quote.needs", i)+".have")
	}
	for _, l := range v.Legs {
		where := " on " + chainName(l.Chain)
		add(l.Pays.Micro == nil, "the value of the payment"+where)
		add(l.Solana == nil && l.RefundAfter.IsZero() && len(l.Parts) == 0,
			"when the payment"+where+" can be reclaimed")
		add(l.Solana == nil && l.Until.IsZero(), "when the payment"+where+" stops being valid")
	}
	if len(names) > 0 {
		p.prose(0, paths, marked(ToneUnknown, Plural(len(names), "figure is", "figures are")+" unknown: "+
			strings.Join(names, ", ")))
	}
}
