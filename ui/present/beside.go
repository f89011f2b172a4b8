package present

import (
	"fmt"
	"math/big"
	"strconv"

	"coffer/api/amount"
	"coffer/wallet/verify"
)

// Section is a part of what a wide screen has beside a review: a title and what is below it. Key is the letter of the
// fold that says the same in full; "": there is none.
type Section struct {
	Title string
	Key   string
	Page  Page
}

// Beside is what a wide screen has beside a review: the signatures, the results of the checks, the arithmetic, what
// changed since the last quote, the slippage and the fingerprint. All of it explains: no page here shows a fact that a
// consent needs.
func Beside(r Review) []Section {
	all := []Section{{Title: "Signatures", Page: r.signing()}, {Title: "Checks", Page: checked(r.Report)}}
	fingerprint := ""
	switch v := r.Quote; {
	case v != nil:
		all = append(all, Section{Title: "Arithmetic", Key: ArithmeticKey, Page: r.sum()},
			Section{Title: "Since the last quote", Key: SinceKey, Page: r.since()},
			Section{Title: "You allowed", Page: allowed(v)})
		fingerprint = v.Fingerprint
	case r.Call != nil:
		fingerprint = r.Call.Fingerprint
	}
	all = append(all, Section{Title: "Review code", Page: Page{{Level: 1, Spans: []Span{grouped(fingerprint)}}}})
	out := all[:0]
	for _, x := range all {
		if len(x.Page) > 0 {
			out = append(out, x)
		}
	}
	return out
}

// signing ticks off the signatures of the operation.
func (r Review) signing() Page {
	var p Page
	for i, name := range r.SignatureNames() {
		s := Span{Text: strconv.Itoa(i + 1), Sign: Pending}
		if r.Quote != nil && i < r.First() {
			s.Tone, s.Sign = ToneGood, Given
		}
		p.prose(1, nil, s, say(" "+name))
	}
	return p
}

// checked are the results of the checks, one below the other.
func checked(report verify.Report) Page {
	var p Page
	list, w := counts(report), 0
	for _, c := range list {
		w = max(w, len(strconv.Itoa(c.n)))
	}
	for _, c := range list {
		s := remark(c.tone, fmt.Sprintf("%*d %s", w, c.n, c.words))
		switch {
		case c.n == 0 && c.tone == ToneWarn:
			continue // a warning of another source may stand beside it
		case c.n == 0:
			s = aside(s.Text)
		}
		p.prose(1, nil, s)
	}
	return p
}

// sum is what leaves less what arrives, and how much of that the fees are: in the asset where all of it is one and the
// fees are all of the cost, else in dollars.
func (r Review) sum() Page {
	v := r.Quote
	b := Block{Kind: KindLedger, Table: TableBeside, Level: 1}
	add := func(label, text string, note ...Span) {
		b.Entries = append(b.Entries, Entry{Label: label, Text: text, Note: note})
	}
	var met []Span // behind the fees
	if v.Explained && v.UnexplainedMicro != nil && v.UnexplainedMicro.Sign() <= 0 {
		met = []Span{ended(ToneGood, "")}
	}
	in, fees := r.arriving(), r.sums(v.Fees)
	if lost, ok := r.lost(in); ok && met != nil && len(fees) == 1 && fees[0].Asset == in[0].Asset &&
		fees[0].Amount != nil && fees[0].Decimals == lost.Decimals && in[0].Decimals == lost.Decimals {
		unit := func(x *big.Int) string {
			return amount.Group(amount.Format(x, lost.Decimals)) + " " + Clean(lost.Symbol, 20)
		}
		add("leaves", unit(new(big.Int).Add(in[0].Amount, lost.Amount)))
		add("arrives", unit(in[0].Amount))
		add("cost", unit(lost.Amount))
		add("fees", unit(fees[0].Amount), met...)
		return Page{b}
	}
	dollars := func(label string, x *big.Int, note ...Span) {
		if x == nil {
			b.Entries = append(b.Entries, Entry{Label: label, Text: amount.Unknown, Tone: ToneUnknown})
			return
		}
		add(label, exactUSD(x), note...)
	}
	leaves := "paid"
	if r.Exchange() {
		leaves = "leaves"
	}
	dollars(leaves, v.PayMicro)
	dollars("arrives", v.DeliverMicro)
	dollars("cost", v.CostMicro)
	dollars("fees", v.FeesMicro, met...)
	switch rest := v.UnexplainedMicro; {
	case rest == nil || rest.Sign() <= 0:
	case v.Explained:
		add("left over", exactUSD(rest))
	default:
		add("left over", exactUSD(rest), ended(ToneWarn, ""))
	}
	return Page{b}
}

// since says what is worse than in the last quote; nothing where there was none.
func (r Review) since() Page {
	if r.Previous == nil {
		return nil
	}
	list, worse := r.differences()
	var p Page
	if worse == 0 {
		p.prose(1, nil, ended(ToneGood, "nothing is worse"))
	}
	for _, c := range list {
		text := say(c.Label + " " + c.New + ", was " + c.Old)
		if c.Worse {
			text.Tone, text.Sign = ToneWarn, After
		}
		p.prose(1, nil, text)
	}
	return p
}

// allowed is the slippage that the person allowed, and what of it the minimum uses.
func allowed(v *verify.QuoteView) Page {
	used, within, known := slippage(v)
	text := "slippage " + Percent(v.SlippageBps) + ", used "
	switch {
	case !known:
		return Page{{Level: 1, Spans: []Span{say(text), missing()}}}
	case !within:
		return Page{{Level: 1, Spans: []Span{ended(ToneWarn, text+used)}}}
	}
	return Page{{Level: 1, Spans: []Span{ended(ToneGood, text+used)}}}
}
