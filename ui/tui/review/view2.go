package review

import (
	"math/big"
	"time"

	"coffer/api/amount"
	"coffer/ui/present"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/screen"
	"coffer/ui/tui/theme"
	"coffer/wallet/verify"
)

// lines2 is the text of review 2. An expired quote is all dim: nothing in it can be accepted any more.
func (s *Screen) lines2(f screen.Frame) []string {
	g := f
	if s.expired(f.Now) {
		g.Theme = greyed(f.Theme)
	}
	th, v, w := g.Theme, s.snap.Review2, f.W-1
	out := s.unsignedLines(th, w)
	if s.expired(f.Now) {
		out = append(out, kit.Prose(w, indent, marked(f.Theme, theme.Danger,
			"This quote has expired. Its figures can no longer be accepted; r asks for new ones.")...)...)
	}
	if p := s.snap.Previous; p != nil && !s.expired(f.Now) {
		out = append(out, changeLines(th, s.summed(p), s.summed(v), w)...)
	}
	if s.exchange() {
		out = append(out, s.askedLines(th, w)...)
		if v.Recipient != "" {
			out = append(out, kit.Row(th, w, indent, askedW, "delivered to", s.recipientSpans(th, v)...)...)
		}
		out = append(out, wayLines(th, v, w)...)
	}
	out = append(out, gateLines(th, s.snap.Report2, w)...)
	out = append(out, s.legDelegations(th, w)...)
	out = append(out, s.payeeLines(th, w)...)
	out = append(out, needLines(th, v, w)...)
	out = append(out, s.legLines(g)...)
	out = append(blank(out), s.solanaLines(g)...)
	out = append(out, s.costLines(g)...)
	if !s.exchange() {
		out = append(out, wayLines(th, v, w)...)
	}
	out = append(out, reportLines(th, s.snap.Report2, w)...)
	out = append(out, fingerprintLines(th, w, v.Fingerprint)...)
	if v.SameChainOnly {
		out = append(out, kit.Prose(w, indent,
			kit.Plain("Nothing more gets signed: your first signature is all it takes. Confirm to run it."))...)
	}
	k := s.atStake()
	if k.Calls {
		out = append(out, s.outflowLines(g)...)
	}
	return append(append(out, tailLines(th, k, w)...), phraseLines(th, v.Phrase, w)...)
}

// payeeLines repeats the payees of the calls from review 1, so that the person need not go back for them.
func (s *Screen) payeeLines(th theme.Theme, w int) []string {
	if s.exchange() || s.snap.Review1 == nil {
		return nil
	}
	var out []string
	for _, p := range s.snap.Review1.Payees() {
		spans := s.named(p.To)
		if p.Amount != nil {
			spans = append(append(spans, kit.Plain(" gets ")), amountSpans(th, *p.Amount)...)
		}
		if p.FirstTime {
			spans = append(spans, kit.Plain(" "), kit.Span{Text: "first time " + th.Sign(theme.Warn), Style: th.Warn,
				Whole: true})
		}
		out = append(out, kit.Row(th, w, indent, labelW, "payee", spans...)...)
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

// needLines compares the need of the calls on the target chain with what the service says is there.
func needLines(th theme.Theme, v *verify.QuoteView, w int) []string {
	var out []string
	for _, n := range v.Needs {
		spans := append([]kit.Span{kit.Plain("needs ")}, amountSpans(th, n.Need)...)
		if n.Have != nil { // else it counts among the unknown figures
			spans = append(spans, kit.Plain(", has "), figureSpan(n.Have, n.Need),
				kit.Span{Text: " (the service says)", Style: th.Dim})
		}
		if n.Short != nil {
			spans = append(spans, kit.Plain(", short "), figureSpan(n.Short, n.Need))
		}
		out = append(out, kit.Row(th, w, indent, labelW, present.Clean(n.Need.ChainName, 40), spans...)...)
	}
	return out
}

// figureSpan writes a figure of the same asset without its unit and trailing zeros.
func figureSpan(v *big.Int, of verify.AmountView) kit.Span {
	if of.Decimals < 0 {
		return kit.Plain(amount.Group(v.String()))
	}
	return kit.Plain(amount.Human(v, of.Decimals))
}

// legLines is the funding map: one line per signature of the operation, ticked when given, and where the payments are
// held.
func (s *Screen) legLines(f screen.Frame) []string {
	th, v, w := f.Theme, s.snap.Review2, f.W-1
	if len(v.Legs) == 0 {
		return kit.Prose(w, indent, kit.Plain("No payment on any other chain."))
	}
	entries := s.givenEntries(th)
	n, total := s.firstCount(), s.total()
	for _, l := range v.Legs {
		e := entry(th, present.Clean(l.Chain.Name, 40), l.Pays)
		e.Lead = kit.Span{Text: th.Signs.Arrow + " ", Style: th.Accent}
		n += legCount(l)
		if l.Delegation != nil {
			entries = append(entries, kit.Entry{Label: e.Label,
				Note: []kit.Span{tick(th, n-1, total, false), kit.Plain(" delegation")}})
		}
		e.Note = append(e.Note, tick(th, n, total, false))
		if l.Deploys {
			e.Note = append(e.Note, kit.Plain(", opens account"))
		}
		entries = append(entries, e)
	}
	out := kit.Ledger(th, w, indent, labelW, entries)
	out = append(out, partLines(th, w, v.Legs)...)
	return append(out, s.escrowLines(f, v.Legs)...)
}

// givenEntries lists the signatures of review 1, which are given.
func (s *Screen) givenEntries(th theme.Theme) []kit.Entry {
	if s.exchange() || s.snap.Review1 == nil {
		return nil
	}
	var out []kit.Entry
	for i := range s.firstCount() {
		note := " the call"
		if i+1 < s.firstCount() {
			note = " delegation"
		}
		out = append(out, kit.Entry{Label: present.Clean(s.snap.Review1.Chain.Name, 40),
			Note: []kit.Span{tick(th, i+1, s.total(), true), kit.Plain(note)}})
	}
	return out
}

// legDelegations are the cards of the payments' delegations. One that review 1 showed for the same chain is shown
// again, because it is signed again.
func (s *Screen) legDelegations(th theme.Theme, w int) []string {
	var all []delegationAt
	n := s.firstCount()
	for _, l := range s.snap.Review2.Legs {
		if l.Delegation != nil {
			all = append(all, delegationAt{l.Delegation, n + 1})
		}
		n += legCount(l)
	}
	return delegationCards(th, w, all)
}

// partLines names every recipient of a part of a payment into a contract that is not pinned.
func partLines(th theme.Theme, w int, legs []verify.LegView) []string {
	var out []string
	for _, l := range legs {
		for _, p := range l.Parts {
			label, name := "goes to", "unknown contract"
			if p.Approval {
				label = "taken by"
			}
			if p.ToName != "" {
				name = present.Clean(p.ToName, 60)
			}
			spans := append([]kit.Span{address(p.To),
				kit.Plain("  " + name + " on " + present.Clean(l.Chain.Name, 40) + ": ")}, amountSpans(th, p.Amount)...)
			out = append(out, kit.Row(th, w, indent, labelW, label,
				append(spans, kit.Plain(" ("+present.Percent(p.ShareBps)+" of the payment)"))...)...)
		}
	}
	return out
}

// escrowLines names each escrow once, in full, with the time after which its deposits can be reclaimed. partLines lists
// what goes into contracts that are not pinned.
func (s *Screen) escrowLines(f screen.Frame, legs []verify.LegView) []string {
	th := f.Theme
	var out []string
	seen := map[string]bool{}
	for _, l := range legs {
		if l.Escrow == "" || seen[l.Escrow] || len(l.Parts) > 0 {
			continue
		}
		seen[l.Escrow] = true
		latest := l.RefundAfter
		for _, o := range legs {
			if o.Escrow == l.Escrow && o.RefundAfter.After(latest) {
				latest = o.RefundAfter
			}
		}
		when := "released once your call ran"
		if s.exchange() {
			when = "released once it is delivered"
		}
		back := ", reclaimable after " + clockText(latest, f.Now)
		if l.Solana != nil {
			back = "; only the service can pay it back"
		}
		out = append(out, kit.Row(th, f.W-1, indent, labelW, "held in", address(l.Escrow), kit.Plain(" "),
			kit.Span{Text: when + back + ";", Style: th.Dim, Whole: true},
			kit.Plain(" "), kit.Span{Text: present.KeepsWords + " " + th.Sign(theme.Warn), Style: th.Warn,
				Whole: true})...)
	}
	return out
}

// askedW is the width of the label column for the intent and for its recipients.
const askedW = 13

// askedLines repeats the intent, from its frozen form and nothing else.
func (s *Screen) askedLines(th theme.Theme, w int) []string {
	d := s.snap.Intent
	if d.Pay == nil || d.Receive == nil {
		return nil
	}
	spans := append([]kit.Span{{Text: s.noun() + " ", Style: th.Strong}},
		s.askedAmount(th, d.Pay.Asset, d.Pay.Amount)...)
	if s.exchange() && d.Receive.Asset != d.Pay.Asset {
		spans = append(spans, kit.Plain(" for "+present.AssetName(s.ctx.Catalog, d.Receive.Asset)))
	}
	if d.Receive.Minimum != "" {
		spans = append(append(spans, kit.Plain(", at least ")),
			s.askedAmount(th, d.Receive.Asset, d.Receive.Minimum)...)
	}
	return kit.Row(th, w, indent, askedW, "you asked", spans...)
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
