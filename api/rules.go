package api

import (
	"math/big"
	"slices"
	"time"

	"coffer/api/amount"
	"coffer/api/caip"
	"coffer/api/catalog"
	"coffer/api/pattern"
)

// Rules are the validation rules of requests, one set for wallet and service. They need no chain state: what only the
// chain can tell (balances, nonces, code) is checked by the use cases.
type Rules struct {
	Catalog *catalog.Catalog
	Now     time.Time
}

// MaxListed bounds calls, allowances, requirements and overrides of one request.
const MaxListed = 100

// Validity is how long a prepared operation stays valid at most (protocol §2.2).
const Validity = 10 * time.Minute

// MinValidity is how far validUntil must lie in the future (protocol §2.2).
const MinValidity = 60 * time.Second

// MaxSlippageBps is the largest slippage tolerance, 100 %.
const MaxSlippageBps = 10_000

var (
	reTargetChain = pattern.New(`^[a-z0-9]+:[0-9]+$`)
	reHexBytes    = pattern.New(`^0x([0-9a-fA-F]{2})*$`)
	reHexNumber   = pattern.New(`^0x[0-9a-fA-F]{1,64}$`)
	reWord        = pattern.New(`^0x[0-9a-fA-F]{64}$`)
	reHexDigits   = pattern.New(`^([0-9a-fA-F]{2})*$`)
	reUnix        = pattern.New(`^[0-9]{1,12}$`)
)

// Predict checks the body of POST /account/predict-address and returns every failure.
func (r Rules) Predict(doc *Document) []Failure {
	return check(doc, PredictRequest{}, func(body place) {
		kind, _ := body.get("type").optional(`"kernel-v3.1-ecdsa" or no type for a role-based account`,
			oneOf(AccountKernelV31, AccountRoleBased))
		switch {
		case kind == AccountKernelV31:
			body.get("signerAddress").str(WantKeyAddress, isKeyAddress)
		case !body.get("type").present() || kind == AccountRoleBased:
			differentRoles(body)
		}
	})
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

const wantKnown = "a known aggregated asset id such as ob:usdc, or a known CAIP-19 asset type"

func (r Rules) known(s string) bool { return r.knownAggregate(s) || r.knownAsset(s) }

func (r Rules) knownAggregate(s string) bool {
	id, err := caip.ParseAggregate(s)
	_, ok := r.Catalog.Aggregate(id)
	return ok && err == nil
}

func (r Rules) knownAsset(s string) bool {
	a, err := caip.ParseAsset(s)
	_, ok := r.Catalog.Entity(a)
	return ok && err == nil
}

func oneOf(names ...string) func(string) bool {
	return func(s string) bool { return slices.Contains(names, s) }
}

func isAddress(s string) bool  { _, err := caip.ParseAddress(s); return err == nil }
func isHexBytes(s string) bool { return reHexBytes.MatchString(s) }
func isAmount(s string) bool   { _, err := amount.ParseBase(s); return err == nil }

func isWei(s string) bool {
	_, ok := ParseWei(s)
	return ok
}

// ParseWei reads a call value: decimal or 0x hex wei, below 2^256. The empty string is zero, and so is 0x, as some
// clients write it (protocol §7).
func ParseWei(s string) (*big.Int, bool) {
	if s == "" || s == "0x" {
		return new(big.Int), true
	}
	if reHexNumber.MatchString(s) {
		return new(big.Int).SetString(s[2:], 16)
	}
	v, err := amount.ParseBase(s)
	return v, err == nil
}
