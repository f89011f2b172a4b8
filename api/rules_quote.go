package api

import (
	"slices"

	"coffer/api/caip"
	"coffer/api/catalog"
)

// CallQuote checks the body of POST /v3/quote/call-quote and returns every failure.
func (r Rules) CallQuote(doc *Document) []Failure {
	return check(doc, CallQuoteRequest{}, func(body place) {
		r.accounts(body.get("accounts"))
		r.called(body)
		body.get("fromAssetId").optional("a known CAIP-19 asset type", r.knownAsset)
	})
}

// CallQuoteV1 checks the body of POST /quotes/call-quote and returns every failure.
func (r Rules) CallQuoteV1(doc *Document) []Failure {
	return check(doc, CallQuoteRequestV1{}, func(body place) {
		r.accountV1(body.get("account"))
		r.called(body)
	})
}

// called checks what both forms of call-quote have in common.
func (r Rules) called(body place) {
	op := body.get("chainOperation")
	if kind, _ := op.get("type").text(); kind == AccountSolana {
		op.get("type").fail("an EVM operation: Solana pays for calls and makes none")
	} else {
		r.operation(op, signed)
	}
	tamperProof(body)
	body.get("fromAggregatedAssetId").optional("a known aggregated asset id such as ob:usdc", r.knownAggregate)
	slippage(body)
}

func tamperProof(body place) {
	body.get("tamperProofSignature").str("a signature: a 0x hex string that is not empty", isSignature)
}

// Execute checks the form of the body of POST /v3/quote/execute-quote, as the description has it, and returns every
// failure. What the values must be is the business of tamperProofSignature.
func (r Rules) Execute(doc *Document) []Failure {
	return check(doc, Quote{}, func(body place) {
		r.accounts(body.get("accounts"))
		r.executed(body, true)
		tolerances(body.get("slippage"))
		fees(body.get("fees"))
	})
}

// ExecuteV1 checks the form of the body of POST /quotes/execute-quote and returns every failure. The account of a quote
// has its type, also where the request that led to it left it out.
func (r Rules) ExecuteV1(doc *Document) []Failure {
	return check(doc, QuoteV1{}, func(body place) {
		if account := body.get("account"); account.present() && account.e.kind == '{' &&
			!account.get("type").present() {
			account.get("type").fail("role-based, kernel-v3.1-ecdsa or kernel-v3.3-ecdsa")
		} else {
			r.accountV1(account)
		}
		r.executed(body, false)
		if p := body.get("destinationChainOperation"); p.present() {
			r.operation(p, unsigned)
		}
	})
}

// executed checks what both forms of execute have in common.
func (r Rules) executed(body place, solana bool) {
	body.get("id").str("a quote id: 0x and 64 hex digits", reWord.MatchString)
	for _, op := range body.get("originChainsOperations").list("operations", 1, 10) {
		if kind, _ := op.get("type").text(); kind == AccountSolana && !solana {
			op.get("type").fail(solanaNeedsV3)
			continue
		}
		r.operation(op, signed)
	}
	originToken(body.get("originToken"))
	destinationToken(body.get("destinationToken"))
	body.get("expirationTimestamp").str("Unix seconds in a decimal string", reUnix.MatchString)
	tamperProof(body)
}

// Quote checks the body of POST /v3/quote, a swap or a transfer, and returns every failure.
func (r Rules) Quote(doc *Document) []Failure {
	return check(doc, QuoteRequest{}, func(body place) {
		types := map[string]bool{}
		if from := body.get("from"); from.object() {
			types = r.accounts(from.get("accounts"))
		}
		r.exchange(body, types, true)
	})
}

// QuoteV1 checks the body of POST /v1/quote, a swap or a transfer of one EVM account, and returns every failure.
func (r Rules) QuoteV1(doc *Document) []Failure {
	return check(doc, QuoteRequestV1{}, func(body place) {
		types := map[string]bool{}
		if from := body.get("from"); from.object() {
			if kind, ok := r.accountV1(from.get("account")); ok {
				types[kind] = true
			}
		}
		r.exchange(body, types, false)
	})
}

// side is one asset of an exchange: an aggregate, or one chain's asset of it.
type side struct {
	aggregate caip.AggregateID
	chain     caip.Chain // zero when the aggregate was named
}

// moves reports whether an exchange takes one chain's asset to another chain: then there is something to do for one's
// own account.
func (s side) moves(to side) bool {
	none := caip.Chain{}
	return s.chain != none && to.chain != none && s.chain != to.chain
}

// exchange checks what both forms of a swap or transfer have in common; types are the accounts that pay.
func (r Rules) exchange(body place, types map[string]bool, solana bool) {
	from, to := body.get("from"), body.get("to")
	pays, okPays := r.side(from.get("asset"), solana)
	if v, ok := from.get("amount").str("an amount in base units, more than 0", isAmount); ok && v == "0" {
		from.get("amount").fail("an amount in base units, more than 0")
	}
	if okPays && len(types) > 0 && !holds(types, pays.chain) {
		from.get("asset").get("assetId").failGot("an asset on a chain of the accounts", "one on "+pays.chain.String())
	}
	slippage(body)
	if !to.object() {
		return
	}
	gets, okGets := r.side(to.get("asset"), solana)
	at := to.get("account")
	recipient, okRecipient := r.recipient(at, solana)
	switch {
	case !okPays || !okGets:
	case okRecipient:
		if gets.chain != (caip.Chain{}) && gets.chain != recipient.Chain {
			at.fail("an account on the asset's chain " + gets.chain.String())
		} else if !r.carries(gets.aggregate, recipient.Chain) {
			at.fail("an account on a chain that has the asset")
		}
	case at.present():
	case pays.aggregate == gets.aggregate && !pays.moves(gets):
		at.fail("a CAIP-10 account that receives: both sides are the same asset")
	case len(types) > 0 && !holds(types, gets.chain):
		at.fail("a CAIP-10 account that receives: none of the accounts is on " + gets.chain.String())
	case len(types) > 0 && !r.receives(types, gets.aggregate):
		at.fail("a CAIP-10 account that receives: none of the accounts is on a chain that has the asset")
	}
}

// receives reports whether one of the accounts can hold an aggregate on one of its chains.
func (r Rules) receives(types map[string]bool, id caip.AggregateID) bool {
	agg, _ := r.Catalog.Aggregate(id)
	return slices.ContainsFunc(agg.Entities, func(e catalog.Entity) bool { return holds(types, e.Asset.Chain) })
}

// holds reports whether one of the accounts can hold assets of a chain; of no chain in particular always.
func holds(types map[string]bool, c caip.Chain) bool {
	switch {
	case c == (caip.Chain{}):
		return true
	case c.IsSolana():
		return types[AccountSolana]
	}
	return len(types) > 1 || !types[AccountSolana]
}

// side reads {assetId}.
func (r Rules) side(p place, solana bool) (side, bool) {
	if !p.object() {
		return side{}, false
	}
	p = p.get("assetId")
	s, ok := p.str(wantKnown, r.known)
	if !ok {
		return side{}, false
	}
	if id, err := caip.ParseAggregate(s); err == nil {
		return side{aggregate: id}, true
	}
	asset, _ := caip.ParseAsset(s) // known, so it parses
	if asset.Chain.IsSolana() && !solana {
		p.fail(solanaNeedsV3)
		return side{}, false
	}
	entity, _ := r.Catalog.Entity(asset)
	return side{entity.Aggregate, asset.Chain}, true
}

// recipient reads to.account, which may be absent.
func (r Rules) recipient(p place, solana bool) (caip.Account, bool) {
	s, ok := p.optional("a CAIP-10 account such as eip155:42161:0x… or solana:<reference>:<address>",
		func(s string) bool {
			_, err := caip.ParseAccount(s)
			return err == nil
		})
	if !ok {
		return caip.Account{}, false
	}
	account, _ := caip.ParseAccount(s)
	_, known := r.Catalog.Chain(account.Chain)
	switch address, evm := account.EVM(); {
	case account.Chain == caip.SolanaMainnet() && !solana:
		p.fail(solanaNeedsV3)
	case account.Chain == caip.SolanaMainnet():
		return account, true
	case !known || !evm:
		p.fail("an account on a supported chain")
	case address == [20]byte{}:
		p.fail("an account other than the zero address")
	default:
		return account, true
	}
	return caip.Account{}, false
}

// carries reports whether a chain has an asset of the aggregate.
func (r Rules) carries(id caip.AggregateID, c caip.Chain) bool {
	agg, _ := r.Catalog.Aggregate(id)
	return slices.ContainsFunc(agg.Entities, func(e catalog.Entity) bool { return e.Asset.Chain == c })
}
