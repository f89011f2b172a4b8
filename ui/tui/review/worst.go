package review

import (
	"strings"

	"coffer/api/catalog"
	"coffer/ui/present"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/screen"
	"coffer/ui/tui/theme"
	"coffer/wallet/verify"
)

// The words about a payment in escrow and about the caller of the calls, for every face of the wallet.
const (
	KeepsWords   = "the operator can keep it"
	CreditsWords = "Where several chains pay, some services let the solver make the calls instead of your account: " +
		"a contract that credits its caller, as for a deposit, could then credit the solver."
	OnTopWords     = "If other chains have to pay for this, their payments come on top; review 2 gives the sum."
	unreadableMore = " A call that cannot be decoded may take more."
)

// WorstWords says what can leave the account in the worst case: every signature of the operation runs and nothing that
// was promised arrives (TH-P6; docs/security.md). first is review 1, nil for a swap or a transfer.
func WorstWords(c *catalog.Catalog, v *verify.QuoteView, first *verify.PreparedView) string {
	worst := Together(c, v.Worst)
	if len(worst) == 0 {
		return "As far as the bytes show, nothing can leave." + unreadable(first)
	}
	var parts []string
	for _, a := range worst {
		parts = append(parts, amountText(a))
	}
	value := "value unknown"
	if sum := Sum(worst); sum != nil {
		value = present.USD(sum)
	}
	when := "."
	if first != nil && len(v.Legs) > 0 {
		when = " if the balances that the service states are false."
	}
	return "Up to " + strings.Join(parts, " and ") + " (" + value + ") can leave" + when + unreadable(first)
}

func unreadable(first *verify.PreparedView) string {
	if first != nil {
		for _, l := range first.Lines {
			if !l.Decoded {
				return unreadableMore
			}
		}
	}
	return ""
}

// Credits reports whether a service could let its solver make the calls of a quote: several chains pay for them.
func Credits(v *verify.QuoteView) bool { return chains(v.Legs) > 1 && v.CallType != "" }

// worstRow is the worst case of review 2. It warns where more can leave than is paid.
func (s *Screen) worstRow(f screen.Frame, labels int) []string {
	v, first := s.snap.Review2, s.snap.Review1
	if s.exchange() {
		first = nil
	}
	span := kit.Span{Text: WorstWords(s.ctx.Catalog, v, first)}
	if first != nil && len(v.Legs) > 0 {
		span.Text, span.Style = span.Text+" "+f.Theme.Sign(theme.Warn), f.Theme.Warn
	}
	return kit.Row(f.Theme, f.W-1, indent, labels, "Worst case", span)
}
