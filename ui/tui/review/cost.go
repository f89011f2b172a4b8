package review

import (
	"math/big"

	"coffer/api/amount"
	"coffer/ui/present"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/screen"
	"coffer/ui/tui/theme"
	"coffer/wallet/verify"
)

// costLines lists the payment, the delivery, the minimum, the fees, and the share of the cost that the fees explain.
func (s *Screen) costLines(f screen.Frame) []string {
	th, v, w := f.Theme, s.summed(s.snap.Review2), f.W-1
	labels := costW
	if s.exchange() {
		labels = exchangeW
	}
	var entries []kit.Entry
	for _, a := range v.Pay {
		e := entry(th, "You pay", a)
		e.FigureLook = th.Strong
		if n := len(v.Legs); n > 1 && len(v.Pay) == 1 {
			e.Note = noted(e.Note, kit.Span{Text: legsWord(n), Style: th.Dim})
		}
		entries = append(entries, e)
	}
	if len(v.Pay) == 0 {
		entries = append(entries, kit.Entry{Label: "You pay", Figure: kit.Figure{Main: "nothing more"}})
	}
	gets, exact := s.getEntries(th, v)
	entries = append(entries, gets...)
	for _, a := range v.Fees {
		entries = append(entries, entry(th, "Fees", a))
	}
	out := kit.Ledger(th, w, indent, labels, feeNote(th, v, entries))
	row := func(label string, spans ...kit.Span) {
		out = append(out, kit.Row(th, w, indent, labels, label, spans...)...)
	}
	if exact {
		row("Minimum", append(amountSpans(th, v.Minimum),
			kit.Span{Text: "  exactly what is delivered", Style: th.Dim})...)
	}
	if v.Recipient != "" && !s.exchange() {
		row("Delivered to", s.recipientSpans(th, v)...)
	}
	out = append(out, s.worstRow(f, labels)...)
	row("Cost", costSpans(th, v)...)
	for _, x := range arithmetic(th, v) {
		row("", x...)
	}
	row("Slippage", slippageSpans(th, v)...)
	if s.exchange() {
		row("", kit.Span{Text: "below the least above nothing is taken: you are paid back", Style: th.Dim})
	}
	row("Unknown", missingSpans(th, s.missing(v))...)
	return out
}

const exchangeW = 17

// getEntries lists the delivery. For a swap or a transfer the minimum comes first, because only that is promised. exact
// reports that the minimum of a call equals its delivery.
func (s *Screen) getEntries(th theme.Theme, v *verify.QuoteView) (out []kit.Entry, exact bool) {
	if s.exchange() {
		least := entry(th, "You get at least", v.Minimum)
		if !v.RecipientOwn {
			least.Label = "Arrives at least"
		}
		least.FigureLook = th.Strong
		if v.Minimum.ChainName != "" {
			least.Note = noted(least.Note, kit.Span{Text: "on " + present.Clean(v.Minimum.ChainName, 40),
				Style: th.Dim})
		}
		return []kit.Entry{least, entry(th, "Expected", v.Delivered)}, false
	}
	if v.Delivered.Amount != nil {
		e := entry(th, "The call gets", v.Delivered)
		e.Note = noted(e.Note, deliveredNote(th, v)...)
		out = append(out, e)
	}
	exact = v.Minimum.Amount != nil && v.Delivered.Amount != nil && v.Minimum.Amount.Cmp(v.Delivered.Amount) == 0
	if !exact {
		out = append(out, entry(th, "Minimum", v.Minimum))
	}
	return out, exact
}

// recipientSpans writes the recipient in full, and whether it is the person's own or was never paid before.
func (s *Screen) recipientSpans(th theme.Theme, v *verify.QuoteView) []kit.Span {
	spans := s.named(v.Recipient)
	mark := func(m theme.Meaning, text string) {
		spans = append(spans, kit.Plain(" "), kit.Span{Text: text + " " + th.Sign(m), Style: th.Style(m), Whole: true})
	}
	switch {
	case v.RecipientOwn:
		mark(theme.Good, "yours")
	case v.RecipientFirstTime:
		mark(theme.Warn, "first time")
	case !s.exchange():
	default:
		mark(theme.None, "not your own, paid before")
	}
	return spans
}

// deliveredNote says which part of what the call gets this quote pays for; the rest is on the chain already.
func deliveredNote(th theme.Theme, v *verify.QuoteView) []kit.Span {
	for _, n := range v.Needs {
		if n.Need.Asset == v.Delivered.Asset && n.Short != nil && v.Delivered.Decimals >= 0 &&
			n.Short.Cmp(v.Delivered.Amount) < 0 {
			return []kit.Span{{Text: amount.Human(n.Short, v.Delivered.Decimals) + " of it comes from elsewhere",
				Style: th.Dim}}
		}
	}
	return nil
}

// feeNote puts the service's remark on its fees beside the last fee, or on its own line.
func feeNote(th theme.Theme, v *verify.QuoteView, entries []kit.Entry) []kit.Entry {
	if v.FeesMicro == nil && len(v.Fees) == 0 {
		e := kit.Entry{Label: "Fees", Figure: kit.Figure{Main: amount.Unknown}, FigureLook: th.Unknown}
		e.Note = []kit.Span{{Text: "the quote does not say; they are part of what you pay", Style: th.Dim}}
		return append(entries, e)
	}
	said := amount.Unknown
	if v.FeeUSD != "" {
		said = "$" + present.Clean(v.FeeUSD, 40)
	}
	note := []kit.Span{{Text: "the service says " + said, Style: th.Dim}}
	if len(v.Fees) == 0 {
		return append(entries, kit.Entry{Label: "Fees", Figure: kit.Figure{Main: "none"}, Note: note})
	}
	last := &entries[len(entries)-1]
	last.Note = noted(last.Note, note...)
	return entries
}

// noted appends to a remark.
func noted(note []kit.Span, more ...kit.Span) []kit.Span {
	if len(note) > 0 && len(more) > 0 {
		note = append(note, kit.Plain("  "))
	}
	return append(note, more...)
}

// costSpans writes the loss on the way and the part of it that the fees explain.
func costSpans(th theme.Theme, v *verify.QuoteView) []kit.Span {
	unknown := kit.Span{Text: amount.Unknown, Style: th.Unknown}
	spans := []kit.Span{unknown}
	if v.CostMicro != nil {
		spans = []kit.Span{kit.Plain(present.USD(v.CostMicro))}
		if v.CostBps >= 0 {
			spans = append(spans, kit.Plain(" ("+present.Percent(v.CostBps)+" of what you pay)"))
		}
	}
	switch share, ok := explained(v); {
	case !ok:
		return append(spans, kit.Plain(", explained by fees: "), unknown)
	case v.Explained && v.UnexplainedMicro.Sign() <= 0:
		return append(spans, kit.Span{Text: ", explained by fees: " + share + " " + th.Sign(theme.Good),
			Style: th.Good})
	case v.Explained: // the rest lies within the error of the prices, so it is neither good nor bad
		return append(spans, kit.Plain(", explained by fees: "+share))
	default:
		return append(spans, kit.Span{Text: ", explained by fees: only " + share + " " + th.Sign(theme.Warn),
			Style: th.Warn})
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
