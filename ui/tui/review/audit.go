package review

import (
	"math/big"
	"strconv"
	"strings"

	"coffer/api"
	"coffer/api/amount"
	"coffer/ui/present"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/theme"
	"coffer/wallet/intent"
	"coffer/wallet/verify"
)

// rounding is the largest error, in micro USD, of a sum of separately rounded values.
const rounding = 24

// arithmetic shows how the cost and its unexplained part are computed, with every figure in full. Values use the
// catalogue's prices.
func arithmetic(th theme.Theme, v *verify.QuoteView) [][]kit.Span {
	gets := "delivered"
	if v.Kind != intent.KindSwap && v.Kind != intent.KindTransfer {
		gets = "arrives" // a call also gets what was on the chain already
	}
	return [][]kit.Span{
		subtraction(th, figure{"paid", v.PayMicro}, figure{gets, v.DeliverMicro}, figure{"cost", v.CostMicro}),
		subtraction(th, figure{"cost", v.CostMicro}, figure{"fees", v.FeesMicro},
			figure{"unexplained", v.UnexplainedMicro}),
	}
}

// figure is a value in micro USD with its name; nil is unknown.
type figure struct {
	name  string
	micro *big.Int
}

func (f figure) span(th theme.Theme) kit.Span {
	if f.micro == nil {
		return kit.Span{Text: f.name + " " + amount.Unknown, Style: th.Unknown}
	}
	return kit.Span{Text: f.name + " " + exactUSD(f.micro), Style: th.Dim}
}

// exactUSD writes micro USD with all their digits, so that the sums on the screen add up.
func exactUSD(micro *big.Int) string {
	if micro.Sign() < 0 {
		return "-" + exactUSD(new(big.Int).Neg(micro))
	}
	return "$" + amount.Group(amount.Format(micro, 6))
}

// subtraction writes a - b = rest, and says when the figures do not add up. A negative rest counts as zero: a quote has
// no negative cost.
func subtraction(th theme.Theme, a, b, rest figure) []kit.Span {
	dim := func(s string) kit.Span { return kit.Span{Text: s, Style: th.Dim} }
	out := []kit.Span{a.span(th), dim(" - "), b.span(th), dim(" = "), rest.span(th)}
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
		out = append(out, kit.Plain(" "), kit.Span{Text: "does not add up " + th.Sign(theme.Danger), Style: th.Danger,
			Whole: true})
	}
	return out
}

// slippageSpans compares the slippage that the minimum implies with the one that was asked for, both in hundredths of a
// percent. It rounds the implied one up, so that it never looks smaller than it is; but the last unit of a minimum,
// which is a whole number, does not lift it above the tolerance.
func slippageSpans(th theme.Theme, v *verify.QuoteView) []kit.Span {
	allowed := kit.Plain("you allowed " + present.Percent(v.SlippageBps))
	if v.Minimum.Asset != v.Delivered.Asset || v.Minimum.Amount == nil || v.Delivered.Amount == nil ||
		v.Delivered.Amount.Sign() <= 0 {
		return []kit.Span{kit.Plain("(expected - least) / expected = "), {Text: amount.Unknown, Style: th.Unknown},
			kit.Plain(", "), allowed}
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
	spans := []kit.Span{kit.Plain("(expected - least) / expected = " + amount.Format(bps, 2) + " %, ")}
	if !within {
		return append(spans, kit.Span{Text: "more than the " + present.Percent(v.SlippageBps) + " that you allowed " +
			th.Sign(theme.Warn), Style: th.Warn})
	}
	return append(spans, allowed, kit.Span{Text: " " + th.Sign(theme.Good), Style: th.Good})
}

// roundedUp returns a / b for b > 0, rounded up.
func roundedUp(a, b *big.Int) *big.Int {
	q, rest := new(big.Int).QuoRem(a, b, new(big.Int))
	if rest.Sign() > 0 {
		q.Add(q, big.NewInt(1))
	}
	return q
}

// missing names the unknown figures of a quote. None of them ever counts as zero.
func (s *Screen) missing(v *verify.QuoteView) []string {
	var out []string
	add := func(unknown bool, name string) {
		if unknown {
			out = append(out, name)
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
		add(n.Have == nil, "what is there of "+unitOf(n.Need))
	}
	for _, l := range v.Legs {
		where := " on " + present.Clean(l.Chain.Name, 40)
		add(l.Pays.Micro == nil, "the value of the payment"+where)
		add(l.Solana == nil && l.RefundAfter.IsZero() && len(l.Parts) == 0,
			"when the payment"+where+" can be reclaimed")
		add(l.Solana == nil && l.Until.IsZero(), "when the payment"+where+" stops being valid")
	}
	return out
}

func unitOf(a verify.AmountView) string {
	if a.Decimals < 0 || a.Symbol == "" {
		return present.Clean(a.Asset.Display(), 120)
	}
	return present.Clean(a.Symbol, 60)
}

func missingSpans(th theme.Theme, names []string) []kit.Span {
	if len(names) == 0 {
		return []kit.Span{kit.Plain("nothing: "), {Text: "every figure is known " + th.Sign(theme.Good),
			Style: th.Good}}
	}
	head := present.Plural(len(names), "figure ", "figures ") + th.Sign(theme.Unknown)
	return []kit.Span{{Text: head, Style: th.Unknown}, kit.Plain(": " + strings.Join(names, ", "))}
}

// wayLines explains how a quote is paid, and what follows from that.
func wayLines(th theme.Theme, v *verify.QuoteView, w int) []string {
	out := kit.Prose(w, indent, kit.Plain(present.Clean(v.CallTypeWords, 400)))
	if text := consequence(v); text != "" {
		out = append(out, kit.Prose(w, indent, kit.Span{Text: text, Style: th.Dim})...)
	}
	return out
}

// consequence explains what a way of paying means for the calls. Where several chains pay, some services let their
// solver make the calls.
func consequence(v *verify.QuoteView) string {
	const lends = "The solver lends what is missing and should get these payments only once your calls ran; the " +
		"operator decides that."
	switch v.CallType {
	case api.CallSameChainExcludeSolver:
		return "Nobody lends anything: your account uses what is there."
	case api.CallSameChainWithSolver:
		return lends
	case api.CallCrossChain, api.CallCrossChainSwaps:
		if present.Credits(v) {
			return lends + " " + present.CreditsWords
		}
		return lends
	}
	return ""
}

// fingerprintW is the width of the label column of a fingerprint.
const fingerprintW = 13

// fingerprintLines shows the fingerprint of exactly this document and intent, as a second machine prints it.
func fingerprintLines(th theme.Theme, w int, fingerprint string) []string {
	return kit.Row(th, w, indent, fingerprintW, "fingerprint", kit.Plain(present.Groups(fingerprint)), kit.Plain("  "),
		kit.Span{Text: "(coffer verify)", Style: th.Dim, Whole: true})
}

// legsWord counts payments in words.
func legsWord(n int) string { return "in " + strconv.Itoa(n) + " payments" }
