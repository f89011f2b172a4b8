package api

import (
	"cmp"
	"fmt"
	"strconv"
)

// Bounds of the overrides of a request in bytes: MaxCode of one code (EIP-170), MaxOverrides of all overrides together.
// They count their code, and OverrideAddress for each address, OverrideBalance for each balance and OverrideSlot for
// each slot.
const (
	MaxCode         = 24_576
	MaxOverrides    = 128 << 10
	OverrideAddress = 20
	OverrideBalance = 32
	OverrideSlot    = 64
)

// Prepare checks the body of POST /v3/quote/prepare-call-quote and returns every failure.
func (r Rules) Prepare(doc *Document) []Failure {
	return check(doc, PrepareRequest{}, func(body place) {
		types := r.accounts(body.get("accounts"))
		if len(types) == 1 && types[AccountSolana] {
			body.get("accounts").failGot("an EVM account: a Solana account cannot make EVM calls by itself",
				"a single solana account")
		}
		r.prepared(body)
		body.get("fromAssetId").optional(wantKnown, r.known)
	})
}

// PrepareV1 checks the body of POST /quotes/prepare-call-quote and returns every failure.
func (r Rules) PrepareV1(doc *Document) []Failure {
	return check(doc, PrepareRequestV1{}, func(body place) {
		r.accountV1(body.get("account"))
		if t := body.get("tokensRequired"); !t.present() {
			t.fail("an array of token requirements, empty when nothing is needed")
		}
		r.prepared(body)
	})
}

// prepared checks what both forms of prepare have in common.
func (r Rules) prepared(body place) {
	chain, chainOK := r.targetChain(body.get("targetChain"))
	targets := r.calls(body)
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

// overrides checks the changes of state for the simulation, one by one and all together: they are kept with the
// operation as long as it is valid.
func (r Rules) overrides(p place) {
	size := 0
	for _, o := range p.optionalList("state overrides", MaxListed) {
		if o.object() {
			size += override(o)
		}
	}
	if size > MaxOverrides {
		p.failGot(fmt.Sprintf("at most %d bytes of overrides: those of their code, %d for each address, %d for each "+
			"balance and %d for each slot",
			MaxOverrides, OverrideAddress, OverrideBalance, OverrideSlot), strconv.Itoa(size)+" bytes")
	}
}

// override checks one address and returns how many bytes its new state counts.
func override(o place) (size int) {
	o.get("address").str("a 0x address", isAddress)
	size = OverrideAddress
	balance, code, diff := o.get("balance"), o.get("code"), o.get("stateDiff")
	if !balance.present() && !code.present() && (!diff.present() || diff.e.kind == '{' && len(diff.e.members) == 0) {
		balance.fail("a balance as 0x hex, or code or stateDiff: something to override")
	}
	if balance.present() {
		balance.str("a balance as 0x hex", reHexNumber.MatchString)
		size += OverrideBalance
	}
	if s, ok := code.optional("code as 0x hex", isHexBytes); ok {
		n := len(s)/2 - 1
		if n > MaxCode {
			code.failGot(fmt.Sprintf("code of at most %d bytes", MaxCode), strconv.Itoa(n)+" bytes")
		}
		size += n
	}
	if !diff.present() || !diff.object() {
		return size
	}
	for i, slot := range diff.entries() {
		if name := diff.e.members[i].name; !reWord.MatchString(name) {
			slot.failGot("a 32-byte slot as 0x hex", cmp.Or(name, "an empty name"))
		}
		slot.str("a 32-byte value as 0x hex", reWord.MatchString)
	}
	return size + OverrideSlot*len(diff.e.members)
}

// window checks validAfter and validUntil (protocol §2.2).
func (r Rules) window(body place) {
	after, okAfter := unix(body.get("validAfter"))
	until, okUntil := unix(body.get("validUntil"))
	if okAfter && after >= r.Now.Add(Validity).Unix() {
		body.get("validAfter").fail("a time within the " + strconv.Itoa(int(Validity.Minutes())) +
			" minutes that an operation stays valid")
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
