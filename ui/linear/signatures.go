package linear

import (
	"strconv"

	"coffer/api"
	"coffer/ui/present"
	"coffer/wallet/verify"
)

func itoa(n int) string { return strconv.Itoa(n) }

func (c *reviewSession) exchange() bool { return c.snap.Intent.Exchanges() }
func (c *reviewSession) noun() string   { return present.Noun(c.snap) }

// firstCount is the number of signatures before the quote.
func (c *reviewSession) firstCount() int {
	switch v := c.snap.Review1; {
	case c.exchange():
		return 0
	case v != nil && v.Signatures > 0:
		return v.Signatures
	}
	return 1
}

// signatureWords says what signature n is for.
func (c *reviewSession) signatureWords(n int) string {
	if all := present.SignatureNames(c.snap); n >= 1 && n <= len(all) {
		return all[n-1]
	}
	return "one that was not announced"
}

// total is the number of all signatures: the flow's count, and at least the number that was announced.
func (c *reviewSession) total() int {
	return max(c.snap.SignaturesTotal, len(present.SignatureNames(c.snap)))
}

// verb says what confirming does.
func (c *reviewSession) verb(st stage) string {
	switch {
	case st == stageReview1 && c.snap.Review1.WholeConsent:
		return "sign and run"
	case st == stageReview1 && c.snap.Review1.Delegation != nil:
		return "sign the delegation and the call"
	case st == stageReview1:
		return "sign the call"
	case c.snap.Review2.SameChainOnly:
		return "run it (nothing more gets signed)"
	}
	legs := c.snap.Review2.Legs
	what := "sign " + present.Plural(len(legs), "payment", "payments")
	if more := delegations(legs); more > 0 {
		what += " and " + present.Plural(more, "delegation", "delegations")
	}
	if c.exchange() {
		return what + " and " + c.noun()
	}
	return what + " and run"
}

func delegations(legs []verify.LegView) int {
	n := 0
	for _, l := range legs {
		if l.Delegation != nil {
			n++
		}
	}
	return n
}

// firstLives says how long the first signature can be used, without a full stop; it covers a delegation beside it.
func (c *reviewSession) firstLives() string {
	until := "until its window ends"
	switch v := c.snap.Review1; {
	case v == nil:
	case v.AccountType == api.AccountRoleBased, v.Window.Until.IsZero():
		until = "with no end of its own"
	default:
		until = "until " + c.clock(v.Window.Until)
	}
	text := "The first signature stays live " + until
	if v := c.snap.Review1; v != nil && v.Delegation != nil {
		text += "; the delegation has no end of its own"
	}
	return text
}

// stillLive says what was signed and can still be used, when there is nothing to confirm.
func (c *reviewSession) stillLive() string {
	const listed = ". Activity lists it under outstanding signatures."
	switch {
	case !c.signed:
		return "Nothing was signed."
	case c.exchange():
		return "What you signed for an earlier quote can still be used until it ends" + listed
	case c.paidFor[c.snap.ID]:
		return "The payments were signed, and nothing shows that they were accepted. Those signatures can still be " +
			"used until they end" + listed
	case c.before():
		return "It was sent before, and nothing shows that it was accepted. What was signed for it can still be used " +
			"until it ends" + listed
	}
	return "No payment was signed. " + c.firstLives() + listed
}
