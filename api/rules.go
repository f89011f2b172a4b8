package api

import (
	"math/big"
	"regexp"
	"strconv"
	"strings"
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

// approvalSelectors are the functions that grant rights and are refused as calls: approvals are declared as allowances.
func approvalName(data string) string {
	if len(data) < 10 {
		return ""
	}
	switch strings.ToLower(data[2:10]) {
	case "095ea7b3":
		return "approve"
	case "39509351":
		return "increaseAllowance"
	case "d505accf":
		return "permit"
	case "a22cb465":
		return "setApprovalForAll"
	case "87517c45":
		return "Permit2 approve"
	}
	return ""
}

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

func differentRoles(p place) {
	session, okS := p.get("sessionAddress").str("a 0x address", isAddress)
	admin, okA := p.get("adminAddress").str("a 0x address", isAddress)
	if okS && okA && strings.EqualFold(session, admin) {
		p.get("adminAddress").fail("an address that differs from sessionAddress")
	}
}

// accounts checks 1 to 10 accounts of different types with one EVM type at most, and returns the types found.
func (r Rules) accounts(p place) map[string]bool {
	types := map[string]bool{}
	evm := 0
	for _, a := range p.list("accounts", 1, 10) {
		kind, ok := r.account(a)
		if !ok {
			continue
		}
		if types[kind] {
			a.get("type").fail("each account type at most once")
		} else if kind != AccountSolana {
			if evm++; evm > 1 {
				a.get("type").fail("one EVM account at most")
			}
		}
		types[kind] = true
	}
	return types
}

// account checks one account object and returns its type.
func (r Rules) account(p place) (string, bool) {
	if !p.object() {
		return "", false
	}
	kind, ok := p.get("type").str("role-based, kernel-v3.1-ecdsa, kernel-v3.3-ecdsa or solana", func(s string) bool {
		return s == AccountRoleBased || s == AccountKernelV31 || s == AccountKernelV33 || s == AccountSolana
	})
	if !ok {
		return "", false
	}
	deployment, _ := p.get("deploymentType").optional("ERC4337 or EIP7702", func(s string) bool {
		return s == DeploymentERC4337 || s == DeploymentEIP7702
	})
	if deployment == DeploymentEIP7702 && kind != AccountKernelV33 {
		p.get("deploymentType").fail("EIP7702 only with account type kernel-v3.3-ecdsa")
	}
	for _, name := range foreignMembers(kind) {
		p.get(name).optional("a 0x address", isAddress)
	}
	if kind == AccountSolana {
		p.get("accountAddress").str("a base58 Solana address", reSolana.MatchString)
		return kind, true
	}
	address, okA := p.get("accountAddress").str("a 0x address", isAddress)
	switch kind {
	case AccountRoleBased:
		differentRoles(p)
	case AccountKernelV31:
		p.get("signerAddress").str("a 0x address", isAddress)
	case AccountKernelV33:
		signer, okS := p.get("signerAddress").str("a 0x address", isAddress)
		if deployment != DeploymentEIP7702 {
			p.get("deploymentType").fail("EIP7702 for kernel-v3.3-ecdsa")
		}
		if okA && okS && !strings.EqualFold(signer, address) {
			p.get("signerAddress").fail("the account address itself, as the account is the EOA")
		}
	}
	return kind, true
}

// foreignMembers are the addresses of an account object that belong to other types: nobody reads them, but they come back in answers.
func foreignMembers(kind string) []string {
	switch kind {
	case AccountRoleBased:
		return []string{"signerAddress"}
	case AccountSolana:
		return []string{"sessionAddress", "adminAddress", "signerAddress"}
	}
	return []string{"sessionAddress", "adminAddress"}
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

// calls checks the calls and returns the lower-case addresses they go to.
func (r Rules) calls(p place) []string {
	var targets []string
	for _, call := range p.list("calls", 1, MaxListed) {
		if !call.object() {
			continue
		}
		if to, ok := call.get("to").str("a 0x address", isAddress); ok {
			targets = append(targets, strings.ToLower(to))
		}
		if data, ok := call.get("data").optional("call data: a hex string that starts with 0x", isHexBytes); ok {
			if name := approvalName(data); name != "" {
				call.get("data").failGot("no approval in calls: declare it in allowanceRequirements", name)
			}
		}
		call.get("value").optional("wei as a decimal or 0x hex string", isWei)
	}
	return targets
}

func (r Rules) tokensRequired(p place, chain caip.Chain, chainOK bool) {
	seen := map[caip.Asset]bool{}
	for _, t := range p.optionalList("token requirements", MaxListed) {
		if !t.object() {
			continue
		}
		asset, okAsset := r.assetOn(t.get("assetType"), chain, chainOK)
		v, okAmount := t.get("amount").str("an amount in base units", isAmount)
		if !okAsset {
			continue
		}
		if seen[asset] {
			t.get("assetType").fail("each asset at most once")
		}
		seen[asset] = true
		if okAmount && v != "0" && !r.priced(asset) {
			t.get("assetType").failGot("an asset with a known price, or amount 0", "an unpriced asset")
		}
	}
}

// assetOn demands a known CAIP-19 asset on the target chain.
func (r Rules) assetOn(p place, chain caip.Chain, chainOK bool) (caip.Asset, bool) {
	s, ok := p.str("a CAIP-19 asset type. Must be a valid CAIP-19 asset type", func(s string) bool {
		_, err := caip.ParseAsset(s)
		return err == nil
	})
	if !ok {
		return caip.Asset{}, false
	}
	asset, _ := caip.ParseAsset(s)
	if chainOK && asset.Chain != chain {
		p.fail("an asset on the target chain " + chain.String())
		return caip.Asset{}, false
	}
	if _, known := r.Catalog.Entity(asset); !known {
		p.fail("a supported asset")
		return caip.Asset{}, false
	}
	return asset, true
}

func (r Rules) priced(a caip.Asset) bool {
	e, ok := r.Catalog.Entity(a)
	if !ok {
		return false
	}
	agg, ok := r.Catalog.Aggregate(e.Aggregate)
	return ok && agg.PriceMicroUSD != nil
}

func (r Rules) allowances(p place, chain caip.Chain, chainOK bool, targets []string) {
	seen := map[string]bool{}
	for _, a := range p.optionalList("allowance requirements", MaxListed) {
		if !a.object() {
			continue
		}
		asset, ok := r.allowanceAsset(a.get("assetType"), chain, chainOK)
		a.get("amount").str("an amount in base units", isAmount)
		spender, given := a.get("spender").optional("a 0x address", isAddress)
		if !ok || (a.get("spender").present() && !given) {
			continue
		}
		token, _ := asset.Token()
		if !given {
			if spender, given = onlyOther(targets, strings.ToLower(token.Hex())); !given {
				a.get("spender").failGot("a spender: the calls have no single target that is not the token", "nothing")
				continue
			}
		}
		key := asset.String() + strings.ToLower(spender)
		if seen[key] {
			a.fail("each token and spender at most once")
		}
		seen[key] = true
	}
}

// allowanceAsset demands a token contract on the target chain; it need not be in the catalogue.
func (r Rules) allowanceAsset(p place, chain caip.Chain, chainOK bool) (caip.Asset, bool) {
	s, _ := p.text()
	asset, err := caip.ParseAsset(s)
	if err != nil {
		p.fail("a CAIP-19 asset type. Must be a valid CAIP-19 asset type")
		return asset, false
	}
	if chainOK && asset.Chain != chain {
		p.fail("an asset on the target chain " + chain.String())
		return asset, false
	}
	if _, token := asset.Token(); !token {
		p.fail("a token: a native asset has no allowances")
		return asset, false
	}
	return asset, true
}

// onlyOther returns the one target that is not the token (protocol §2.7).
func onlyOther(targets []string, token string) (string, bool) {
	found := ""
	for _, t := range targets {
		if t == token || t == found {
			continue
		}
		if found != "" {
			return "", false
		}
		found = t
	}
	return found, found != ""
}

// SpenderOf returns the spender of an allowance requirement: the named one, or the only call target that is not the token. The bool is
// false when there is no such single target (protocol §2.7).
func SpenderOf(a AllowanceRequirement, calls []Call) (string, bool) {
	if a.Spender != "" {
		return strings.ToLower(a.Spender), true
	}
	asset, err := caip.ParseAsset(a.AssetType)
	if err != nil {
		return "", false
	}
	token, _ := asset.Token()
	targets := make([]string, len(calls))
	for i, c := range calls {
		targets[i] = strings.ToLower(c.To)
	}
	return onlyOther(targets, strings.ToLower(token.Hex()))
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

// operation checks the shape of a chain operation; signed demands a signature.
func (r Rules) operation(p place, signed bool) {
	if !p.object() {
		return
	}
	if kind, _ := p.get("type").text(); kind == AccountSolana {
		p.get("dataToSign").str("a base64 message", func(s string) bool { return s != "" })
		if signed {
			p.get("signature").str("a base58 signature", func(s string) bool { return s != "" })
		}
		return
	}
	op := p.get("userOp")
	if !op.object() {
		return
	}
	op.get("sender").str("a 0x address", isAddress)
	op.get("callData").str("a hex string that starts with 0x", isHexBytes)
	for _, name := range []string{"nonce", "callGasLimit", "verificationGasLimit", "preVerificationGas", "maxFeePerGas", "maxPriorityFeePerGas"} {
		op.get(name).str("a decimal string", isAmount)
	}
	for _, name := range []string{"factory", "paymaster"} {
		op.get(name).optional("a 0x address", isAddress)
	}
	for _, name := range []string{"factoryData", "paymasterData"} {
		op.get(name).optional("a hex string that starts with 0x", isHexBytes)
	}
	for _, name := range []string{"paymasterVerificationGasLimit", "paymasterPostOpGasLimit"} {
		op.get(name).optional("a decimal string", isAmount)
	}
	if signed {
		op.get("signature").str("a signature: 0x and hex digits", func(s string) bool { return isHexBytes(s) && len(s) > 2 })
	}
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
