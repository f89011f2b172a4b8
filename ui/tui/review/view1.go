package review

import (
	"strconv"
	"strings"

	"coffer/ui/present"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/screen"
	"coffer/ui/tui/theme"
	"coffer/wallet/consent"
	"coffer/wallet/verify"
)

// lines1 is the text of review 1.
func (s *Screen) lines1(f screen.Frame) []string {
	th, v, w := f.Theme, s.snap.Review1, f.W-1
	out := append(s.unsignedLines(th, w), gateLines(th, s.snap.Report1, w)...)
	if v.Delegation != nil {
		out = append(out, delegationCards(th, w, []delegationAt{{v.Delegation, 0}})...)
	}
	out = append(out, s.diffLines(th, w)...)
	out = append(out, s.outflowLines(f)...)
	out = append(out, s.recipientLines(th, v, w)...)
	if v.Deploys {
		out = append(out, kit.Prose(w, indent, kit.Plain("Creates your account on "+v.Chain.Name+
			": it is used there for the first time."))...)
	}
	out = append(out, accountLines(f, v)...)
	out = append(out, reportLines(th, s.snap.Report1, w)...)
	out = append(out, fingerprintLines(th, w, v.Fingerprint)...)
	out = append(out, kit.Prose(w, indent, kit.Plain(present.Clean(v.CallTypeWords, 400)))...)
	if v.WholeConsent {
		out = append(out, kit.Prose(w, indent, kit.Span{
			Text:  "This one signature is your whole consent: with it the calls above run. There is no second review.",
			Style: th.Strong})...)
	} else {
		out = append(out, kit.Row(th, w, indent, labelW, "slippage",
			kit.Plain(present.SlippageWords(s.snap.Intent)))...)
		out = append(out, kit.Prose(w, indent, kit.Span{Text: "Fees are known only after this signature.",
			Style: th.Strong}, kit.Plain(" Once funded, the calls run. "+present.OnTopWords))...)
	}
	return append(append(out, tailLines(th, s.atStake(), w)...), phraseLines(th, v.Phrase, w)...)
}

// unsignedLines says at the top that this review can be read but not confirmed.
func (s *Screen) unsignedLines(th theme.Theme, w int) []string {
	if s.deps.NoSigner == "" {
		return nil
	}
	return append(kit.Prose(w, indent, marked(th, theme.Warn,
		"Read only: "+s.deps.NoSigner+". You can look at everything; nothing can be signed.")...), "")
}

// tailLines shows the address whose end is typed, whole at any width, and why.
func tailLines(th theme.Theme, k consent.Demand, w int) []string {
	if !k.TypesTail() {
		return nil
	}
	out := kit.Prose(w, indent, kit.Span{Text: "To confirm, the end of this address has to be typed, because " +
		present.Because(k) +
		":", Style: th.Strong})
	return append(out, kit.Prose(w, indent+2, address(k.Tail))...)
}

func callTitle(th theme.Theme, l verify.CallView) []kit.Span {
	strong := func(s string) kit.Span { return kit.Span{Text: s, Style: th.Strong} }
	switch l.Role {
	case verify.RoleApprove:
		return []kit.Span{strong("allowance"), kit.Plain(" before your calls: " + shortName(l.Function))}
	case verify.RoleRevoke:
		return []kit.Span{strong("allowance taken back"), kit.Plain(": " + shortName(l.Function))}
	}
	n := strconv.Itoa(l.Asked) + " "
	switch {
	case l.Function != "":
		return []kit.Span{strong(n + present.Clean(l.Function, 600))}
	case l.Decoded:
		return []kit.Span{strong(n + "plain transfer of the chain's own coin")}
	}
	selector := l.Data
	if len(selector) > 10 {
		selector = selector[:10]
	}
	return []kit.Span{strong(n + "unknown function " + present.Clean(selector, 10))}
}

// shortName is the name of a function without its arguments, which follow below it.
func shortName(function string) string {
	name, _, _ := strings.Cut(function, "(")
	return present.Clean(name, 600)
}

func nameOn(name, chain string) string {
	if name == "" {
		return "an unknown contract, " + chain
	}
	return name + ", " + chain
}

func argLabel(a verify.ArgView, i int) string {
	if a.Name == "" {
		return "#" + strconv.Itoa(i)
	}
	return present.Clean(a.Name, 60)
}

// argSpans writes one argument: addresses in groups, the moved amount with its unit, everything else as decoded.
func argSpans(th theme.Theme, a verify.ArgView, l verify.CallView) []kit.Span {
	switch {
	case a.Type == "address":
		return []kit.Span{address(a.Value)}
	case movedBy(a, l):
		return amountSpans(th, *l.Amount)
	case strings.HasPrefix(a.Type, "bytes") && !strings.Contains(a.Type, "["):
		return []kit.Span{kit.Plain(present.Groups(a.Value))}
	}
	return []kit.Span{kit.Plain(present.Clean(a.Value, max(1, len(a.Value)))),
		{Text: "  " + present.Clean(a.Type, 200), Style: th.Dim}}
}

// outflowLines lists what can leave the account on the target chain.
func (s *Screen) outflowLines(f screen.Frame) []string {
	th, v, w := f.Theme, s.snap.Review1, f.W-1
	if len(v.Outflow) == 0 {
		return kit.Prose(w, indent, kit.Plain("As far as the bytes show, nothing leaves your account on "+v.Chain.Name+
			"."))
	}
	entries := make([]kit.Entry, len(v.Outflow))
	for i, a := range v.Outflow {
		entries[i] = entry(th, "", a)
	}
	out := kit.Prose(w, indent, kit.Span{Text: "Leaves your account on " + v.Chain.Name, Style: th.Strong})
	lines := kit.Ledger(th, w, indent+2, 0, entries)
	if len(lines) == 1 && present.Width(out[0])+present.Width(strings.TrimLeft(lines[0], " "))+3 <= w {
		return []string{out[0] + "   " + strings.TrimLeft(lines[0], " ")}
	}
	return append(out, lines...)
}

// recipientLines lists every recipient and spender, each once and in full.
func (s *Screen) recipientLines(th theme.Theme, v *verify.PreparedView, w int) []string {
	var out []string
	seen := map[string]bool{}
	for _, l := range v.Lines {
		if l.Recipient == "" || seen[l.Recipient] || l.Role == verify.RoleRevoke {
			continue
		}
		seen[l.Recipient] = true
		label := "sent to"
		if l.Role == verify.RoleApprove {
			label = "spender"
		}
		spans := s.named(l.Recipient)
		if l.FirstTime && l.Role == verify.RoleCall {
			spans = append(spans, kit.Plain(" "), kit.Span{Text: "first time " + th.Sign(theme.Warn), Style: th.Warn,
				Whole: true})
		}
		out = append(out, kit.Row(th, w, indent, labelW, label, spans...)...)
	}
	return out
}

// reportLines counts the checks and names everything that needs attention or could not be checked.
func reportLines(th theme.Theme, r verify.Report, w int) []string {
	count := func(l verify.Level, m theme.Meaning, words string) []kit.Span {
		n := r.Count(l)
		if n == 0 {
			return []kit.Span{kit.Plain("  "), {Text: "0 " + words, Style: th.Dim, Whole: true}}
		}
		return []kit.Span{kit.Plain("  "), {Text: strconv.Itoa(n) + " " + words + " " + th.Sign(m), Style: th.Style(m),
			Whole: true}}
	}
	spans := []kit.Span{{Text: strconv.Itoa(len(r.Passed)) + " passed " + th.Sign(theme.Good), Style: th.Good}}
	spans = append(spans, count(verify.Warn, theme.Warn, "to read")...)
	spans = append(spans, count(verify.Refuse, theme.Danger, "refused")...)
	spans = append(spans, count(verify.Unknown, theme.Unknown, "could not be checked")...)
	if n := r.Count(verify.Gate); n > 0 {
		spans = append(spans, kit.Plain("  "), kit.Span{Text: present.Plural(n, "open gate", "open gates") + " " +
			th.Sign(theme.Danger), Style: th.Danger, Whole: true})
	}
	out := kit.Row(th, w, indent, labelW, "checks", append(spans, kit.Plain("  "),
		kit.Span{Text: "(c list)", Style: th.Dim, Whole: true})...)
	for _, x := range r.Reasons {
		switch x.Level {
		case verify.Warn:
			out = append(out, kit.Prose(w, indent+2, reasonSpans(th, theme.Warn, x)...)...)
		case verify.Unknown:
			out = append(out, kit.Prose(w, indent+2, reasonSpans(th, theme.Unknown, x)...)...)
		}
	}
	return out
}
