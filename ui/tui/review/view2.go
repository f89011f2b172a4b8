package review

import (
	"math/big"
	"strconv"
	"time"

	"coffer/api/amount"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/screen"
	"coffer/ui/tui/theme"
	"coffer/wallet/flow"
	"coffer/wallet/verify"
)

// lines2 is the text of review 2. An expired quote is drawn dim as a whole: nothing in it can be accepted any more.
func (s *Screen) lines2(f screen.Frame) []string {
	g := f
	if s.expired(f.Now) {
		g.Theme = greyed(f.Theme)
	}
	th, v, w := g.Theme, s.snap.Review2, f.W-1
	var out []string
	if s.expired(f.Now) {
		out = kit.Prose(w, indent, marked(f.Theme, theme.Danger, "This quote has expired. Its figures can no longer be accepted; r asks for new ones.")...)
	}
	if p := s.snap.Previous; p != nil && !s.expired(f.Now) {
		out = append(out, changeLines(th, s.summed(p), s.summed(v), w)...)
	}
	out = append(out, needLines(th, v, w)...)
	out = append(out, s.legLines(g)...)
	out = blank(out)
	out = append(out, s.costLines(g)...)
	out = append(out, reportLines(th, s.snap.Report2, w)...)
	if v.SameChainOnly {
		out = append(out, kit.Prose(w, indent, kit.Plain("Nothing more gets signed: your first signature is all it takes. Confirm to run it."))...)
	}
	return out
}

// greyed is a theme in which every figure is dim.
func greyed(th theme.Theme) theme.Theme {
	for _, s := range []*theme.Style{&th.Text, &th.Strong, &th.Accent, &th.Good, &th.Warn, &th.Unknown} {
		*s = th.Dim
	}
	return th
}

// needLines is what the calls need on the target chain and what the service says is there.
func needLines(th theme.Theme, v *verify.QuoteView, w int) []string {
	var out []string
	for _, n := range v.Needs {
		spans := append([]kit.Span{kit.Plain("needs ")}, amountSpans(th, n.Need)...)
		spans = append(spans, kit.Plain(", has "), figureSpan(th, n.Have, n.Need), kit.Span{Text: " (the service says)", Style: th.Dim})
		spans = append(spans, kit.Plain(", short "), figureSpan(th, n.Short, n.Need))
		out = append(out, kit.Row(th, w, indent, labelW, kit.Clean(n.Need.ChainName, 40), spans...)...)
	}
	return out
}

// figureSpan writes a figure of the same asset without its unit and trailing zeros; an unknown one is said to be so.
func figureSpan(th theme.Theme, v *big.Int, of verify.AmountView) kit.Span {
	switch {
	case v == nil:
		return kit.Span{Text: amount.Unknown, Style: th.Unknown}
	case of.Decimals < 0:
		return kit.Plain(v.String())
	}
	return kit.Plain(amount.Human(v, of.Decimals))
}

// legLines is the funding map: one line for each payment with the tick of its signature, and where it is held.
func (s *Screen) legLines(f screen.Frame) []string {
	th, v, w := f.Theme, s.snap.Review2, f.W-1
	if len(v.Legs) == 0 {
		return kit.Prose(w, indent, kit.Plain("No payment on any other chain."))
	}
	entries := make([]kit.Entry, len(v.Legs))
	total := len(v.Legs) + 1
	for i, l := range v.Legs {
		e := entry(th, kit.Clean(l.Chain.Name, 40), l.Pays)
		e.Lead = kit.Span{Text: th.Signs.Arrow + " ", Style: th.Accent}
		e.Note = append(e.Note, tick(th, i+2, total, s.snap.SignaturesDone))
		if l.Deploys {
			e.Note = append(e.Note, kit.Plain(", opens account"))
		}
		entries[i] = e
	}
	out := kit.Ledger(th, w, indent, labelW, entries)
	return append(out, escrowLines(f, v.Legs)...)
}

func tick(th theme.Theme, n, total, signed int) kit.Span {
	text := "signature " + strconv.Itoa(n) + " of " + strconv.Itoa(total)
	if signed >= n {
		return kit.Span{Text: text + " " + th.Sign(theme.Good), Style: th.Good}
	}
	return kit.Span{Text: text + " [ ]", Style: th.Dim}
}

// escrowLines names each escrow once, in full, with the time after which its deposits can be reclaimed.
func escrowLines(f screen.Frame, legs []verify.LegView) []string {
	th := f.Theme
	var out []string
	seen := map[string]bool{}
	for _, l := range legs {
		if l.Escrow == "" || seen[l.Escrow] {
			continue
		}
		seen[l.Escrow] = true
		latest := l.RefundAfter
		for _, o := range legs {
			if o.Escrow == l.Escrow && o.RefundAfter.After(latest) {
				latest = o.RefundAfter
			}
		}
		out = append(out, kit.Row(th, f.W-1, indent, labelW, "held in", address(l.Escrow), kit.Plain(" "),
			kit.Span{Text: "released once your call ran, reclaimable after " + clockText(latest, f.Now), Style: th.Dim, Whole: true})...)
	}
	return out
}

// costLines is pay, delivered, minimum, fees, and how much of the cost the fees explain.
func (s *Screen) costLines(f screen.Frame) []string {
	th, v, w := f.Theme, s.summed(s.snap.Review2), f.W-1
	var entries []kit.Entry
	for _, a := range v.Pay {
		e := entry(th, "You pay", a)
		e.FigureLook = th.Strong
		if n := len(v.Legs); n > 1 && len(v.Pay) == 1 {
			e.Note = []kit.Span{{Text: "in " + strconv.Itoa(n) + " payments", Style: th.Dim}}
		}
		entries = append(entries, e)
	}
	if len(v.Pay) == 0 {
		entries = append(entries, kit.Entry{Label: "You pay", Figure: kit.Figure{Main: "nothing more"}})
	}
	if v.Delivered.Amount != nil {
		e := entry(th, "The call gets", v.Delivered)
		e.Note = deliveredNote(th, v)
		entries = append(entries, e)
	}
	minimum := v.Minimum.Amount == nil || v.Delivered.Amount == nil || v.Minimum.Amount.Cmp(v.Delivered.Amount) != 0
	if minimum {
		entries = append(entries, entry(th, "Minimum", v.Minimum))
	}
	for _, a := range v.Fees {
		entries = append(entries, entry(th, "Fees", a))
	}
	entries = feeNote(th, v, entries)
	out := kit.Ledger(th, w, indent, costW, entries)
	if !minimum {
		out = append(out, kit.Row(th, w, indent, costW, "Minimum", kit.Plain("exactly what is delivered (a call is exact)"))...)
	}
	out = append(out, kit.Row(th, w, indent, costW, "Cost", costSpans(th, v)...)...)
	out = append(out, kit.Row(th, w, indent, costW, "Price move", kit.Plain(percent(v.SlippageBps)+" allowed before the solver refuses"))...)
	if v.Recipient != "" {
		out = append(out, kit.Row(th, w, indent, costW, "Delivered to", address(v.Recipient))...)
	}
	return out
}

// deliveredNote says which part of what the call gets is paid for by this quote; the rest is there already.
func deliveredNote(th theme.Theme, v *verify.QuoteView) []kit.Span {
	for _, n := range v.Needs {
		if n.Need.Asset == v.Delivered.Asset && n.Short != nil && v.Delivered.Decimals >= 0 && n.Short.Cmp(v.Delivered.Amount) < 0 {
			return []kit.Span{{Text: amount.Human(n.Short, v.Delivered.Decimals) + " of it comes from elsewhere", Style: th.Dim}}
		}
	}
	return nil
}

// feeNote puts what the service says about its fees beside the last fee, or on a line of its own.
func feeNote(th theme.Theme, v *verify.QuoteView, entries []kit.Entry) []kit.Entry {
	said := amount.Unknown
	if v.FeeUSD != "" {
		said = "$" + kit.Clean(v.FeeUSD, 40)
	}
	note := []kit.Span{{Text: "the service says " + said, Style: th.Dim}}
	if len(v.Fees) == 0 {
		return append(entries, kit.Entry{Label: "Fees", Figure: kit.Figure{Main: "none"}, Note: note})
	}
	last := &entries[len(entries)-1]
	if len(last.Note) > 0 {
		last.Note = append(last.Note, kit.Plain("  "))
	}
	last.Note = append(last.Note, note...)
	return entries
}

// costSpans is what is lost on the way and the part of it that the fees explain.
func costSpans(th theme.Theme, v *verify.QuoteView) []kit.Span {
	unknown := kit.Span{Text: amount.Unknown, Style: th.Unknown}
	spans := []kit.Span{unknown}
	if v.CostMicro != nil {
		spans = []kit.Span{kit.Plain(kit.USD(v.CostMicro))}
		if v.CostBps >= 0 {
			spans = append(spans, kit.Plain(" ("+percent(v.CostBps)+" of what you pay)"))
		}
	}
	switch share, ok := explained(v); {
	case !ok:
		return append(spans, kit.Plain(", explained by fees: "), unknown)
	case v.Explained:
		return append(spans, kit.Span{Text: ", explained by fees: " + share + " " + th.Sign(theme.Good), Style: th.Good})
	default:
		return append(spans, kit.Span{Text: ", explained by fees: only " + share + " " + th.Sign(theme.Warn), Style: th.Warn})
	}
}

// explained is the share of the cost that the fees account for, in percent.
func explained(v *verify.QuoteView) (string, bool) {
	if v.CostMicro == nil || v.UnexplainedMicro == nil {
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

// percent writes basis points.
func percent(bps int) string { return amount.Format(big.NewInt(int64(bps)), 2) + " %" }

// changeLines puts the figures of the quote before beside the new ones, with the difference.
func changeLines(th theme.Theme, old, now *verify.QuoteView, w int) []string {
	out := kit.Prose(w, indent, kit.Span{Text: "New quote. The old figures are dim; what was confirmed or typed for them does not count.", Style: th.Strong})
	for _, a := range now.Pay {
		before := findAmount(old.Pay, a)
		out = append(out, kit.Row(th, w, indent, costW, "You pay", changeSpans(th, before, a)...)...)
	}
	for _, b := range old.Pay {
		if findAmount(now.Pay, b) == nil {
			out = append(out, kit.Row(th, w, indent, costW, "You pay", append([]kit.Span{kit.Plain("no more ")}, dimAmount(th, b)...)...)...)
		}
	}
	if now.Delivered.Amount != nil {
		before := &old.Delivered
		if before.Asset != now.Delivered.Asset || before.Amount == nil {
			before = nil
		}
		out = append(out, kit.Row(th, w, indent, costW, "The call gets", changeSpans(th, before, now.Delivered)...)...)
	}
	return blank(out)
}

func findAmount(list []verify.AmountView, a verify.AmountView) *verify.AmountView {
	for i := range list {
		if list[i].Asset == a.Asset && list[i].Amount != nil {
			return &list[i]
		}
	}
	return nil
}

func dimAmount(th theme.Theme, a verify.AmountView) []kit.Span {
	spans := amountSpans(th, a)
	for i := range spans {
		spans[i].Style = th.Dim
	}
	return spans
}

// changeSpans is the new amount, the old one dim, and the difference with its sign.
func changeSpans(th theme.Theme, before *verify.AmountView, a verify.AmountView) []kit.Span {
	spans := amountSpans(th, a)
	if before == nil || a.Amount == nil {
		return append(spans, kit.Span{Text: "  new", Style: th.Warn})
	}
	spans = append(spans, kit.Span{Text: "  was ", Style: th.Dim})
	spans = append(spans, dimAmount(th, *before)...)
	x, y, decimals := a.Amount, before.Amount, a.Decimals
	if a.Decimals >= 0 && before.Decimals >= 0 {
		x, y, decimals = sameDecimals(a, *before)
	}
	diff := new(big.Int).Sub(x, y)
	if diff.Sign() == 0 {
		return append(spans, kit.Span{Text: "  the same", Style: th.Dim})
	}
	sign := ""
	if diff.Sign() > 0 {
		sign = "+"
	}
	text := sign + diff.String()
	if decimals >= 0 {
		text = sign + kit.Exact(diff, decimals).Main
	}
	return append(spans, kit.Span{Text: "  " + text + " " + th.Sign(theme.Warn), Style: th.Warn})
}

// executeView ticks the signatures off as they are made and says how far sending is.
func (s *Screen) executeView(f screen.Frame) string {
	th := f.Theme
	legs := 0
	if s.snap.Review2 != nil && !s.snap.Review2.SameChainOnly {
		legs = len(s.snap.Review2.Legs)
	}
	lines := []string{" " + th.Strong.Render("Signing and sending"), ""}
	mark := func(ok bool, text string) {
		m := th.Dim.Render(th.Signs.Dot)
		if ok {
			m = th.Mark(theme.Good)
		}
		lines = append(lines, "  "+m+" "+text)
	}
	mark(true, "signature 1 of "+strconv.Itoa(legs+1)+": the call")
	for i := range legs {
		_, ok := s.event(flow.EventSigned, i+2)
		mark(ok, "signature "+strconv.Itoa(i+2)+" of "+strconv.Itoa(legs+1)+": payment on "+kit.Clean(s.snap.Review2.Legs[i].Chain.Name, 40))
	}
	for _, x := range []struct{ kind, words string }{
		{flow.EventJournaled, "written to the journal"}, {flow.EventSent, "sent to the service, once"}, {flow.EventAccepted, "accepted by the service"},
	} {
		at, ok := s.event(x.kind, 0)
		words := x.words
		if ok {
			words += th.Dim.Render("  " + clockText(at, f.Now))
		}
		mark(ok, words)
	}
	lines = append(lines, "", " "+th.Dim.Render("You can leave: it goes on, and Activity shows how it ends."))
	return kit.Box(kit.Lines(lines...), f.W, f.H)
}

// event finds an event; index 0 is any.
func (s *Screen) event(kind string, index int) (time.Time, bool) {
	for _, e := range s.events {
		if e.Kind == kind && (index == 0 || e.Index == index) {
			return e.At, true
		}
	}
	return time.Time{}, false
}
