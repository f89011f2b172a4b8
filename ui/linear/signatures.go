package linear

import (
	"strconv"

	"coffer/ui/present"
)

func itoa(n int) string { return strconv.Itoa(n) }

func (c *reviewSession) exchange() bool { return c.snap.Intent.Exchanges() }

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
func (c *reviewSession) verb(st stage) string { return c.about(st).Verb() }

// stillLive says what was signed and can still be used, when there is nothing to confirm; "": nothing was signed.
func (c *reviewSession) stillLive() string {
	if !c.signed {
		return ""
	}
	return c.about(stageReview2).StillLive(c.paidFor[c.snap.ID], c.before())
}
