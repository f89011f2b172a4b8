package present

import (
	"strconv"
	"strings"

	"coffer/wallet/verify"
)

// Refuses reports a reason that forbids a signature.
func Refuses(x verify.Reason) bool {
	return x.Level == verify.Refuse || x.Level == verify.Gate && !x.Open
}

// Policy reports a row of the user's own policy.
func Policy(x verify.Reason) bool { return strings.HasPrefix(x.Code, "Y") }

// causes counts the refusals by cause: the user's policy, a closed gate, or the answer itself.
func causes(r verify.Report) (policy, gates, answer int) {
	for _, x := range r.Reasons {
		switch {
		case !Refuses(x):
		case Policy(x):
			policy++
		case x.Level == verify.Gate:
			gates++
		default:
			answer++
		}
	}
	return policy, gates, answer
}

// Refused is the first sentence of a refusal.
func Refused(r verify.Report) string {
	policy, gates, answer := causes(r)
	switch {
	case policy+gates+answer == 0:
		return "The answer of the service cannot be signed."
	case answer == 0 && gates == 0:
		return "Your own policy forbids this. It cannot be signed."
	case answer == 0 && policy == 0:
		return "This is behind a closed gate. It cannot be signed."
	case answer == 0:
		return "Your own policy forbids this, and it is behind a closed gate. It cannot be signed."
	case policy+gates+answer == 1:
		return "The service's answer fails 1 check. It cannot be signed."
	}
	return "The service's answer fails " + strconv.Itoa(policy+gates+answer) +
		" checks. It cannot be signed."
}

// Advice is what to do about a refusal.
func Advice(r verify.Report) string {
	policy, gates, answer := causes(r)
	switch {
	case policy > 0 && answer == 0:
		return "The service did nothing wrong. Ask for something that your policy allows, or change the policy file " +
			"(docs/policy.md; it also lists the limits without one) and restart Coffer."
	case gates > 0 && answer == 0:
		return "Leave the gate closed unless you know why it is there: behind it Coffer cannot protect you from the " +
			"service."
	}
	return "If you do not know why, do not try again with this service: its answer is not what you asked for."
}

// Title is the sentence of a reason. A refusal by the user's policy has its own words.
func Title(x verify.Reason) string {
	if x.Level != verify.Refuse || !Policy(x) {
		return x.Title
	}
	check := strings.TrimSuffix(strings.TrimPrefix(x.Title, "Not true: "), ".")
	if words := policyWords(x.Code, check); words != "" {
		return words
	}
	return x.Title
}

// Fact is one compared thing.
type Fact struct{ Label, Text string }

// Compared is what was expected, what was found and where; it leaves out what a reason does not have.
func Compared(x verify.Reason) []Fact {
	want, got := "wanted", "found"
	if Policy(x) {
		want, got = "allowed", "this is"
	}
	var out []Fact
	for _, f := range []Fact{{want, x.Want}, {got, x.Got}, {"at", x.Path}} {
		if f.Text != "" {
			out = append(out, f)
		}
	}
	return out
}

// Gate names the setting that holds a gate open, or would open it; "" when x is no gate or has no setting.
func Gate(x verify.Reason) string {
	switch {
	case x.Level != verify.Gate || x.Setting == "":
		return ""
	case x.Open:
		return "Normally refused; your policy file allows \"" + x.Setting + "\"."
	}
	return "Closed gate. \"" + x.Setting + "\" under allow in your policy file would open it; each signature behind " +
		"it then requires a typed sentence (docs/policy.md)."
}

// policyWords turns the name of a policy check into the sentence of its failure; "" for an unknown one. Two checks
// have more than one way to fail.
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
		"Y5": "With everything signed in the last 24 hours, refunds included, this exceeds your policy's limit for a " +
			"day.",
		"Y6": "This costs more than your policy allows.",
		"Y7": "Your policy never lets your EOA be delegated.",
		"Y8": "Your slippage tolerance is larger than your policy allows.",
	}[code]
}
