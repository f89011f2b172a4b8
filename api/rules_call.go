package api

import (
	"strings"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api/caip"
)

// calls checks the calls of a body and returns the lower-case addresses they go to.
func (r Rules) calls(body place) []string {
	var targets []string
	own, refused := ownAccounts(body), newGrants()
	for _, call := range body.get("calls").list("calls", 1, MaxListed) {
		if !call.object() {
			continue
		}
		to, ok := call.get("to").str("a 0x address", isAddress)
		if ok {
			targets = append(targets, strings.ToLower(to))
		}
		if ok && own[common.HexToAddress(to)] {
			call.get("to").failGot("another address than the account itself: its validator approves no such call", to)
			continue
		}
		if data, ok := call.get("data").optional("call data: a hex string that starts with 0x", isHexBytes); ok {
			refused.callData(call.get("data"), data, common.HexToAddress(to), own)
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
		asset, okAsset := assetOn(t.get("assetType"), chain, chainOK)
		v, okAmount := t.get("amount").str("an amount in base units", isAmount)
		if !okAsset {
			continue
		}
		if seen[asset] {
			t.get("assetType").fail("each asset at most once")
		}
		seen[asset] = true
		if _, listed := r.Catalog.Entity(asset); !okAmount || v == "0" {
			continue
		} else if r.Catalog.Unpriced() && !listed {
			t.get("assetType").failGot("a supported asset, or amount 0", "an unknown asset")
		} else if !r.Catalog.Unpriced() && !r.Catalog.Priced(asset) {
			t.get("assetType").failGot("a supported asset with a known price, or amount 0", "an unpriced asset")
		}
	}
}

// assetOn demands a CAIP-19 asset on the target chain.
func assetOn(p place, chain caip.Chain, chainOK bool) (caip.Asset, bool) {
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
	return asset, true
}

func (r Rules) allowances(p place, chain caip.Chain, chainOK bool, targets []string) {
	seen := map[string]bool{}
	for _, a := range p.optionalList("allowance requirements", MaxListed) {
		if !a.object() {
			continue
		}
		asset, ok := allowanceAsset(a.get("assetType"), chain, chainOK)
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
func allowanceAsset(p place, chain caip.Chain, chainOK bool) (caip.Asset, bool) {
	asset, ok := assetOn(p, chain, chainOK)
	if _, token := asset.Token(); ok && !token {
		p.fail("a token: a native asset has no allowances")
		return asset, false
	}
	return asset, ok
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

// SpenderOf returns the spender of an allowance requirement: the named one, or the only call target that is not the
// token. The bool is false when there is no such single target (protocol §2.7).
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
