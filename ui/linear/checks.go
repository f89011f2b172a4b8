package linear

import (
	"math/big"
	"slices"
	"strconv"
	"strings"

	"coffer/ui/tui/kit"
	"coffer/wallet/verify"
)

// report is that of the answer which was judged last.
func (c *course) report() verify.Report {
	if c.snap.Report2.Refused() || c.snap.Review2 != nil {
		return c.snap.Report2
	}
	return c.snap.Report1
}

// refuses reports a reason that forbids a signature.
func refuses(x verify.Reason) bool {
	return x.Level == verify.Refuse || x.Level == verify.Gate && !x.Open
}

// isPolicy reports a row of the person's own policy.
func isPolicy(x verify.Reason) bool { return strings.HasPrefix(x.Code, "Y") }

// causes counts the refusals by where they come from.
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

func refusedHead(r verify.Report) string {
	policy, gates, answer := causes(r)
	switch n := policy + gates + answer; n {
	case 0:
		return "the answer of the service cannot be signed."
	case policy:
		return "your own policy forbids this. It cannot be signed."
	case gates:
		return "this stands behind a closed gate. It cannot be signed."
	default:
		return "the answer of the service does not pass " + plural(n, "check", "checks") + ". It cannot be signed."
	}
}

func refusedAdvice(r verify.Report) string {
	policy, gates, answer := causes(r)
	switch n := policy + gates + answer; {
	case n > 0 && n == policy:
		return "the service did nothing wrong. Ask for something that your policy allows, or change the policy file (docs/policy.md) and start Coffer again."
	case n > 0 && n == gates:
		return "leave the gate closed unless you know why it is there: behind it Coffer cannot protect you from the service."
	}
	return "if you do not know why, do not try again with this service: its answer is not what you asked for."
}

// coded reads out one finding with the code of its check, where somebody looks it up: in the list of checks, and where it refused.
func (c *course) coded(level string, x verify.Reason) {
	x.Title = sentence(clean(x.Title, 400)) + " Check " + clean(x.Code, 8) + "."
	c.reason(level, x)
}

// reason reads out one finding with what was wanted and what was found.
func (c *course) reason(level string, x verify.Reason) {
	c.out.put(2, kit.Plain(level+": "+sentence(clean(x.Title, 420))))
	want, got := "wanted", "found"
	if isPolicy(x) {
		want, got = "allowed", "this is"
	}
	for _, p := range []struct{ label, text string }{{want, x.Want}, {got, x.Got}, {"at", x.Path}} {
		if p.text != "" {
			c.out.fact(4, p.label, kit.Plain(clean(p.text, 600)))
		}
	}
	if x.Level == verify.Gate && !x.Open && x.Setting != "" {
		c.out.put(4, kit.Plain("\""+clean(x.Setting, 60)+"\" under allow in your policy file would open this gate; each signature behind it then asks for a typed sentence (docs/policy.md)."))
	}
}

// gates reads out every open gate behind which a review stands.
func (c *course) gates(r verify.Report) {
	for _, x := range r.Reasons {
		if x.Level == verify.Gate && x.Open {
			c.reason("Open gate", x)
			c.out.put(4, kit.Plain("It would be refused, but your policy file allows \""+clean(x.Setting, 60)+"\"."))
		}
	}
}

// findings counts the checks and reads out everything that needs attention or could not be checked.
func (c *course) findings(r verify.Report) {
	text := plural(len(r.Passed), "check", "checks") + " passed, " + itoa(r.Count(verify.Warn)) + " to read, " + itoa(r.Count(verify.Refuse)) + " refused, " +
		itoa(r.Count(verify.Unknown)) + " could not be checked"
	if n := r.Count(verify.Gate); n > 0 {
		text += ", " + plural(n, "open gate", "open gates")
	}
	c.out.say(text + ".")
	for _, x := range r.Reasons {
		switch x.Level {
		case verify.Warn:
			c.reason("Warning", x)
		case verify.Unknown:
			c.reason("Not checked", x)
		}
	}
}

// checks reads out every check: what refused, what to read, what could not be checked, what passed.
func (c *course) checks() {
	r := c.report()
	for _, g := range []struct {
		in           func(verify.Reason) bool
		title, level string
	}{
		{func(x verify.Reason) bool { return x.Level == verify.Refuse }, "Refused:", "Refused"},
		{func(x verify.Reason) bool { return x.Level == verify.Gate && !x.Open }, "Refused by a closed gate:", "Closed gate"},
		{func(x verify.Reason) bool { return x.Level == verify.Gate && x.Open }, "Behind an open gate:", "Open gate"},
		{func(x verify.Reason) bool { return x.Level == verify.Warn }, "To read:", "Warning"},
		{func(x verify.Reason) bool { return x.Level == verify.Unknown }, "Could not be checked; take it neither for right nor for wrong:", "Not checked"},
		{func(x verify.Reason) bool { return x.Level == verify.Show }, "For your information:", "Note"},
	} {
		if !slices.ContainsFunc(r.Reasons, g.in) {
			continue
		}
		c.out.say(g.title)
		for _, x := range r.Reasons {
			if g.in(x) {
				c.coded(g.level, x)
			}
		}
	}
	c.out.say(itoa(len(r.Passed)) + " passed:")
	for i, x := range r.Passed {
		c.out.put(2, kit.Plain(itoa(i+1)+". "+sentence(clean(x.Title, 400))+" Check "+clean(x.Code, 8)+"."))
	}
}

// inspect reads out bytes and hashes in groups of four, for comparing with a second machine.
func (c *course) inspect(st stage) {
	if v := c.snap.Review1; v != nil {
		c.out.say("Prepared operation on " + clean(v.Chain.Name, 40) + ".")
		c.hex("fingerprint", v.Fingerprint)
		c.hex("what is signed", v.Digest)
		c.hex("userOpHash", v.OpHash)
		c.hex("account type", v.AccountType)
		c.hex("nonce", decimalHex(v.Nonce))
		c.hex("account", v.Sender)
		c.hex("signer", v.Signer)
		c.hex("network", v.Network)
		c.hexDelegation(v.Delegation)
		for _, l := range v.Lines {
			c.out.say("Call " + itoa(l.Index) + ", " + clean(l.Role, 12) + ".")
			c.hex("to", l.To)
			if l.Value != nil {
				c.out.fact(2, "value", kit.Plain(l.Value.String()+" wei"))
			}
			c.hex("data", l.Data)
		}
		for _, a := range v.Sources {
			c.out.fact(0, "Usable, says the service", kit.Plain(worth(a)+", on "+clean(a.ChainName, 40)+"."))
		}
	}
	v := c.snap.Review2
	if st != stageReview2 || v == nil {
		return
	}
	c.out.say("Quote.")
	c.hex("id", v.ID)
	c.hex("fingerprint", v.Fingerprint)
	c.hex("delivered to", v.Recipient)
	for i, l := range v.Legs {
		c.out.say("Payment " + itoa(i+1) + " on " + clean(l.Chain.Name, 40) + ".")
		c.hex("account type", l.AccountType)
		if l.Solana != nil {
			c.hex("SHA-256 of the message", l.OpHash)
			c.hex("block hash", l.Solana.BlockHash)
			c.hex("fee payer", l.Solana.FeePayer)
		} else {
			c.hex("userOpHash", l.OpHash)
			c.hex("nonce", decimalHex(l.Nonce))
		}
		c.hex("held in", l.Escrow)
		c.hexDelegation(l.Delegation)
	}
}

func (c *course) hex(label, v string) {
	if v != "" {
		c.out.fact(2, label, kit.Plain(kit.Groups(v)))
	}
}

func (c *course) hexDelegation(d *verify.DelegationView) {
	if d != nil {
		c.hex("delegates", d.Authority)
		c.hex("to the code", d.Contract)
		c.hex("with nonce", strconv.FormatUint(d.Nonce, 10))
	}
}

// decimalHex writes a decimal nonce as hex, because its parts are bytes; anything else is returned as it is.
func decimalHex(s string) string {
	v, ok := new(big.Int).SetString(s, 10)
	if !ok || v.Sign() < 0 {
		return s
	}
	return "0x" + v.Text(16)
}
