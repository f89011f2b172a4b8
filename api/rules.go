package api

import (
	"math/big"
	"regexp"
	"strconv"
	"time"

	"coffer/api/amount"
	"coffer/api/caip"
	"coffer/api/catalog"
)

// Rules are the validation rules of requests, one set for wallet and service. They need no chain state: what only the chain can tell
// (balances, nonces, code) is checked by the use cases.
type Rules struct {
	Catalog *catalog.Catalog
	Now     time.Time
}

// MaxListed bounds calls, allowances, requirements and overrides of one request.
const MaxListed = 100

// MinValidity is how far validUntil must lie in the future (protocol §2.2).
const MinValidity = 60 * time.Second

// MaxSlippageBps is the largest slippage tolerance, 100 %.
const MaxSlippageBps = 10_000

var (
	reTargetChain = regexp.MustCompile(`^[a-z0-9]+:[0-9]+$`)
	reHexBytes    = regexp.MustCompile(`^0x([0-9a-fA-F]{2})*$`)
	reHexNumber   = regexp.MustCompile(`^0x[0-9a-fA-F]{1,64}$`)
	reWord        = regexp.MustCompile(`^0x[0-9a-fA-F]{64}$`)
	reSolana      = regexp.MustCompile(`^[1-9A-HJ-NP-Za-km-z]{32,44}$`)
	reUnix        = regexp.MustCompile(`^[0-9]{1,12}$`)
)

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
	chain, chainOK := r.targetChain(body.get("targetChain"))
	targets := r.calls(body.get("calls"))
	r.tokensRequired(body.get("tokensRequired"), chain, chainOK)
	r.allowances(body.get("allowanceRequirements"), chain, chainOK, targets)
	r.overrides(body.get("overrides"))
	r.window(body)
	r.fromAsset(body.get("fromAssetId"))
	if s := body.get("slippageTolerance"); s.present() {
		s.integer(1, MaxSlippageBps)
	}
	return c.failures
}

// CallQuote checks the body of POST /v3/quote/call-quote and returns every failure.
func (r Rules) CallQuote(doc *Document) []Failure {
	c, body := newChecker(doc)
	if !body.object() {
		return c.failures
	}
	r.accounts(body.get("accounts"))
	r.operation(body.get("chainOperation"), true)
	body.get("tamperProofSignature").str("a 0x hex string", isHexBytes)
	if p := body.get("fromAggregatedAssetId"); p.present() {
		p.str("a known aggregated asset id such as ob:usdc", r.knownAggregate)
	}
	if p := body.get("fromAssetId"); p.present() {
		p.str("a known CAIP-19 asset type", r.knownAsset)
	}
	if s := body.get("slippageTolerance"); s.present() {
		s.integer(1, MaxSlippageBps)
	}
	return c.failures
}

// Execute checks the shape of the body of POST /v3/quote/execute-quote and returns every failure.
func (r Rules) Execute(doc *Document) []Failure {
	c, body := newChecker(doc)
	if !body.object() {
		return c.failures
	}
	body.get("id").str("a quote id: 0x and 64 hex digits", reWord.MatchString)
	r.accounts(body.get("accounts"))
	for _, op := range body.get("originChainsOperations").list("operations", 1, 10) {
		r.operation(op, true)
	}
	body.get("originToken").object()
	body.get("destinationToken").object()
	body.get("expirationTimestamp").str("Unix seconds in a decimal string", reUnix.MatchString)
	body.get("tamperProofSignature").str("a 0x hex string", isHexBytes)
	return c.failures
}

// Predict checks the body of POST /account/predict-address and returns every failure.
func (r Rules) Predict(doc *Document) []Failure {
	c, body := newChecker(doc)
	if !body.object() {
		return c.failures
	}
	kind, _ := body.get("type").optional(`"kernel-v3.1-ecdsa" or no type for a role-based account`, func(s string) bool {
		return s == AccountKernelV31 || s == AccountRoleBased
	})
	switch {
	case kind == AccountKernelV31:
		body.get("signerAddress").str("a 0x address", isAddress)
	case !body.get("type").present() || kind == AccountRoleBased:
		differentRoles(body)
	}
	return c.failures
}

func (r Rules) targetChain(p place) (caip.Chain, bool) {
	s, ok := p.str("a CAIP-2 chain such as eip155:8453", reTargetChain.MatchString)
	if !ok {
		return caip.Chain{}, false
	}
	chain, err := caip.ParseChain(s)
	if err != nil {
		p.fail("a CAIP-2 chain such as eip155:8453")
		return caip.Chain{}, false
	}
	if _, known := r.Catalog.Chain(chain); !known {
		p.fail("a supported chain")
		return caip.Chain{}, false
	}
	return chain, true
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

func (r Rules) fromAsset(p place) {
	p.optional("a known aggregated asset id such as ob:usdc, or a known CAIP-19 asset type", func(s string) bool {
		return r.knownAggregate(s) || r.knownAsset(s)
	})
}

func (r Rules) knownAggregate(s string) bool {
	id, err := caip.ParseAggregate(s)
	if err != nil {
		return false
	}
	_, ok := r.Catalog.Aggregate(id)
	return ok
}

func (r Rules) knownAsset(s string) bool {
	a, err := caip.ParseAsset(s)
	if err != nil {
		return false
	}
	_, ok := r.Catalog.Entity(a)
	return ok
}

func isAddress(s string) bool  { _, err := caip.ParseAddress(s); return err == nil }
func isHexBytes(s string) bool { return reHexBytes.MatchString(s) }
func isAmount(s string) bool   { _, err := amount.ParseBase(s); return err == nil }

func isWei(s string) bool {
	_, ok := ParseWei(s)
	return ok
}

// ParseWei reads a call value: decimal or 0x hex wei, below 2^256. The empty string is zero (protocol §7).
func ParseWei(s string) (*big.Int, bool) {
	if s == "" {
		return new(big.Int), true
	}
	if reHexNumber.MatchString(s) {
		return new(big.Int).SetString(s[2:], 16)
	}
	v, err := amount.ParseBase(s)
	return v, err == nil
}
