package linear

import (
	"math/big"
	"slices"
	"strconv"

	"coffer/ui/present"
	"coffer/wallet/verify"
)

// report returns the findings on the last answer that was judged.
func (c *reviewSession) report() verify.Report {
	if c.snap.Report2.Refused() || c.snap.Review2 != nil {
		return c.snap.Report2
	}
	return c.snap.Report1
}

// coded prints one finding with the code of its check, for the two places where a person looks codes up: the list of
// checks and the page of a refusal.
func (c *reviewSession) coded(level string, x verify.Reason) {
	x.Title = sentence(clean(present.Title(x), 400)) + " Check " + clean(x.Code, 8) + "."
	c.reason(level, x)
}

// reason prints one finding with the expected and the actual value.
func (c *reviewSession) reason(level string, x verify.Reason) {
	c.out.put(2, plain(level+": "+sentence(clean(x.Title, 420))))
	for _, f := range present.Compared(x) {
		c.out.fact(4, f.Label, plain(clean(f.Text, 600)))
	}
	if words := present.Gate(x); words != "" {
		c.out.put(4, plain(clean(words, 300)))
	}
}

// gates prints every open gate of a review.
func (c *reviewSession) gates(r verify.Report) {
	for _, x := range r.Reasons {
		if x.Level == verify.Gate && x.Open {
			c.reason("Open gate", x)
		}
	}
}

// findings counts the checks and prints every one that needs attention or could not be checked.
func (c *reviewSession) findings(r verify.Report) {
	text := plural(len(r.Passed), "check", "checks") + " passed, " + itoa(r.Count(verify.Warn)) + " to read, " +
		itoa(r.Count(verify.Refuse)) + " refused, " +
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

// checks prints every check: refused, needs attention, could not be checked, passed.
func (c *reviewSession) checks() {
	r := c.report()
	for _, g := range []struct {
		in           func(verify.Reason) bool
		title, level string
	}{
		{func(x verify.Reason) bool { return x.Level == verify.Refuse }, "Refused:", "Refused"},
		{func(x verify.Reason) bool { return x.Level == verify.Gate && !x.Open }, "Refused by a closed gate:",
			"Closed gate"},
		{func(x verify.Reason) bool { return x.Level == verify.Gate && x.Open }, "Behind an open gate:", "Open gate"},
		{func(x verify.Reason) bool { return x.Level == verify.Warn }, "To read:", "Warning"},
		{func(x verify.Reason) bool { return x.Level == verify.Unknown },
			"Could not be checked; take it neither for right nor for wrong:", "Not checked"},
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
		c.out.put(2, plain(itoa(i+1)+". "+sentence(clean(x.Title, 400))+" Check "+clean(x.Code, 8)+"."))
	}
}

// inspect prints bytes and hashes in groups of four, for comparing with a second machine.
func (c *reviewSession) inspect(st stage) {
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
				c.out.fact(2, "value", plain(l.Value.String()+" wei"))
			}
			c.hex("data", l.Data)
		}
		for _, a := range v.Sources {
			c.out.fact(0, "Usable, says the service", plain(worth(a)+", on "+clean(a.ChainName, 40)+"."))
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

func (c *reviewSession) hex(label, v string) {
	if v != "" {
		c.out.fact(2, label, plain(present.Groups(v)))
	}
}

func (c *reviewSession) hexDelegation(d *verify.DelegationView) {
	if d != nil {
		c.hex("delegates", d.Authority)
		c.hex("to the code", d.Contract)
		c.hex("with nonce", strconv.FormatUint(d.Nonce, 10))
	}
}

// decimalHex writes a decimal nonce as hex, because its parts are bytes; anything else it returns unchanged.
func decimalHex(s string) string {
	v, ok := new(big.Int).SetString(s, 10)
	if !ok || v.Sign() < 0 {
		return s
	}
	return "0x" + v.Text(16)
}
