package review

import (
	"strings"

	"coffer/ui/tui/kit"
	"coffer/ui/tui/theme"
	"coffer/wallet/verify"
)

// gateLines name every open gate behind which the review stands. What has to be typed stands at the end of the text.
func gateLines(th theme.Theme, r verify.Report, w int) []string {
	var out []string
	for _, x := range r.Reasons {
		if x.Level != verify.Gate || !x.Open {
			continue
		}
		out = append(out, comparedLines(th, reasonSpans(th, theme.Danger, x), x, w)...)
		out = append(out, kit.Prose(w, indent+2, kit.Plain("It would be refused, but your policy file allows \""+kit.Clean(x.Setting, 60)+"\"."))...)
		out = blank(out)
	}
	return out
}

// phraseLines are the sentence that confirms behind an open gate, whole and exactly as it has to be typed.
func phraseLines(th theme.Theme, phrase string, w int) []string {
	if phrase == "" {
		return nil
	}
	out := kit.Prose(w, indent, marked(th, theme.Danger, "To sign in spite of the open gate, type this sentence exactly:")...)
	return append(out, kit.Prose(w, indent+2, kit.Span{Text: phrase, Style: th.Strong})...)
}

// closedGate says which setting would open a gate and where it stands.
func closedGate(w int, x verify.Reason) []string {
	if x.Setting == "" {
		return nil
	}
	return kit.Prose(w, indent+2, kit.Plain("Closed gate. \""+kit.Clean(x.Setting, 60)+
		"\" under allow in your policy file would open it; each signature behind it then asks for a typed sentence (docs/policy.md)."))
}

// refuses reports a reason that forbids a signature.
func refuses(x verify.Reason) bool {
	return x.Level == verify.Refuse || x.Level == verify.Gate && !x.Open
}

// isPolicy reports a row of the person's own policy.
func isPolicy(x verify.Reason) bool { return strings.HasPrefix(x.Code, "Y") }

// causes counts the refusals by where they come from: the person's policy, a closed gate, or the answer itself.
func causes(r verify.Report) (policy, gates, answer int) {
	for _, x := range r.Reasons {
		switch {
		case !refuses(x):
		case isPolicy(x):
			policy++
		case x.Level == verify.Gate:
			gates++
		default:
			answer++
		}
	}
	return policy, gates, answer
}

// refusedHead is the first sentence of a refusal.
func refusedHead(r verify.Report) string {
	policy, gates, answer := causes(r)
	n := policy + gates + answer
	switch n {
	case 0:
		return "The answer of the service cannot be signed."
	case policy:
		return "Your own policy forbids this. It cannot be signed."
	case gates:
		return "This stands behind a closed gate. It cannot be signed."
	}
	return "The answer of the service does not pass " + kit.Plural(n, "check", "checks") + ". It cannot be signed."
}

// refusedAdvice says what to do about a refusal.
func refusedAdvice(r verify.Report) string {
	const keys = " e changes what you ask, c lists all checks."
	policy, gates, answer := causes(r)
	switch n := policy + gates + answer; {
	case n > 0 && n == policy:
		return "The service did nothing wrong. Ask for something that your policy allows, or change the policy file (docs/policy.md) and start Coffer again." + keys
	case n > 0 && n == gates:
		return "Leave the gate closed unless you know why it is there: behind it Coffer cannot protect you from the service." + keys
	}
	return "If you do not know why, do not try again with this service: its answer is not what you asked for." + keys
}

// reasonTitle is the sentence of a reason. A refusal by the person's policy has words of its own.
func reasonTitle(x verify.Reason) string {
	title := kit.Clean(x.Title, 400)
	if x.Level != verify.Refuse || !isPolicy(x) {
		return title
	}
	check := strings.TrimSuffix(strings.TrimPrefix(title, "Not true: "), ".")
	if words := policyWords(x.Code, check); words != "" {
		return words
	}
	return title
}

// policyWords turns the name of a policy check into the sentence of its failure; "" when it is not known here. Two of them have more than one way to fail.
func policyWords(code, check string) string {
	switch {
	case strings.Contains(check, "known price"):
		return "Your policy caps what is spent, and something here has no known price, so the cap cannot be kept."
	case strings.Contains(check, "can be read"):
		return map[string]string{
			"Y2": "Your policy names who may receive. Coffer cannot read who receives something in this call.",
			"Y4": "Your policy caps what is spent. Coffer cannot read what this call spends.",
		}[code]
	case strings.Contains(check, "is known"):
		return "Your policy caps what is spent in a day, and what was spent today is not known in full."
	}
	return map[string]string{
		"Y1": "Your policy does not allow this chain.",
		"Y2": "Your policy does not allow this recipient.",
		"Y3": "Your policy does not allow this contract.",
		"Y4": "This spends more than your policy allows at once.",
		"Y5": "With what was spent in the last 24 hours, this is more than your policy allows in a day.",
		"Y6": "This costs more than your policy allows.",
		"Y7": "Your policy never lets your EOA be delegated.",
		"Y8": "Your slippage tolerance is larger than your policy allows.",
	}[code]
}

// comparedLines is one finding, said by head, with what was expected and what was found.
func comparedLines(th theme.Theme, head []kit.Span, x verify.Reason, w int) []string {
	want, got, labels := "wanted", "found", 8
	if isPolicy(x) {
		want, got, labels = "allowed", "this is", 10
	}
	out := kit.Prose(w, indent, head...)
	for _, p := range []struct{ label, text string }{{want, x.Want}, {got, x.Got}, {"at", x.Path}} {
		if p.text != "" {
			out = append(out, kit.Row(th, w, indent+2, labels, p.label, kit.Plain(kit.Clean(p.text, 600)))...)
		}
	}
	if x.Level == verify.Gate && !x.Open {
		out = append(out, closedGate(w, x)...)
	}
	return out
}

// reasonSpans say a reason; a review has no place for its code.
func reasonSpans(th theme.Theme, m theme.Meaning, x verify.Reason) []kit.Span {
	return marked(th, m, reasonTitle(x))
}

// codedSpans say a reason with the code of its check, where somebody looks it up: in the list of checks, and where it refused.
func codedSpans(th theme.Theme, m theme.Meaning, x verify.Reason) []kit.Span {
	return append(reasonSpans(th, m, x), kit.Span{Text: "  " + kit.Clean(x.Code, 8), Style: th.Dim})
}
