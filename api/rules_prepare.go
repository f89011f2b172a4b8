package api

import "strconv"

// Prepare checks the body of POST /v3/quote/prepare-call-quote and returns every failure.
func (r Rules) Prepare(doc *Document) []Failure {
	c, body := newChecker(doc)
	if !body.object() {
		return c.failures
	}
	types := r.accounts(body.get("accounts"))
	if len(types) == 1 && types[AccountSolana] {
		body.get("accounts").failGot("an EVM account: a Solana account cannot make EVM calls by itself", "a single solana account")
	}
	r.prepared(body)
	r.fromAsset(body.get("fromAssetId"))
	return c.finish(PrepareRequest{})
}

// PrepareV1 checks the body of POST /quotes/prepare-call-quote and returns every failure.
func (r Rules) PrepareV1(doc *Document) []Failure {
	c, body := newChecker(doc)
	if !body.object() {
		return c.failures
	}
	r.accountV1(body.get("account"))
	if t := body.get("tokensRequired"); !t.present() {
		t.fail("an array of token requirements, empty when nothing is needed")
	}
	r.prepared(body)
	return c.finish(PrepareRequestV1{})
}

// prepared checks what both forms of prepare have in common.
func (r Rules) prepared(body place) {
	chain, chainOK := r.targetChain(body.get("targetChain"))
	targets := r.calls(body.get("calls"))
	r.tokensRequired(body.get("tokensRequired"), chain, chainOK)
	r.allowances(body.get("allowanceRequirements"), chain, chainOK, targets)
	r.overrides(body.get("overrides"))
	r.window(body)
	slippage(body)
}

// slippage checks slippageTolerance, which may be absent: an integer in basis points.
func slippage(body place) {
	if s := body.get("slippageTolerance"); s.present() {
		s.integer(1, MaxSlippageBps)
	}
}

func (r Rules) overrides(p place) {
	for _, o := range p.optionalList("state overrides", MaxListed) {
		if !o.object() {
			continue
		}
		o.get("address").str("a 0x address", isAddress)
		o.get("balance").optional("a balance as 0x hex", reHexNumber.MatchString)
		o.get("code").optional("code as 0x hex", isHexBytes)
		diff := o.get("stateDiff")
		if !diff.present() || !diff.object() {
			continue
		}
		for _, m := range diff.e.members {
			slot := place{p.c, diff.path + "." + m.name, m.val}
			if !reWord.MatchString(m.name) {
				slot.failGot("a 32-byte slot as 0x hex", m.name)
			}
			slot.str("a 32-byte value as 0x hex", reWord.MatchString)
		}
	}
}

// window checks validAfter and validUntil (protocol §2.2).
func (r Rules) window(body place) {
	after, okAfter := unix(body.get("validAfter"))
	until, okUntil := unix(body.get("validUntil"))
	if okAfter && after >= r.Now.Add(Validity).Unix() {
		body.get("validAfter").fail("a time within the " + strconv.Itoa(int(Validity.Minutes())) + " minutes that an operation stays valid")
	}
	if okUntil && until < r.Now.Add(MinValidity).Unix() {
		body.get("validUntil").fail("a time at least 60 seconds from now")
	}
	if okAfter && okUntil && until <= after {
		body.get("validUntil").fail("a time later than validAfter")
	}
}

func unix(p place) (int64, bool) {
	s, ok := p.optional("Unix seconds in a decimal string", reUnix.MatchString)
	if !ok {
		return 0, false
	}
	n, err := strconv.ParseInt(s, 10, 64)
	return n, err == nil
}
