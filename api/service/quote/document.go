package quote

import (
	"math/big"

	"coffer/api"
	"coffer/api/amount"
	"coffer/api/caip"
)

// document is the quote of a call as it goes to the client, without its integrity signature, and the prepared operation
// when it stands beside the funding operations (v1 alone shows it).
func (q *Quoter) document(c *call, legs []built, expires uint64) (body api.Quote, destination *api.ChainOperation) {
	body = q.terms(&c.draftQuote, legs, expires, q.destinationToken(c))
	prepared := c.ChainOperation
	op := *prepared.UserOp
	op.Signature = "0x"
	prepared.UserOp, prepared.Delegation = &op, prepared.Delegation.Unsigned()
	if len(legs) == 0 {
		body.OriginChainsOperations = []api.ChainOperation{prepared}
		body.OriginToken = q.wholeToken(c)
		return body, nil
	}
	// How far the price may move before the solver refuses; what is paid never changes (protocol §3.7).
	v := c.plan.paid(c.market.decimals)
	v.Mul(v, big.NewInt(int64(c.slippage))).Quo(v, big.NewInt(10_000))
	body.Slippage.Origin = tolerance(c.slippage, v, c.market.decimals, c.market.price)
	return body, &prepared
}

// wholeToken is the origin token when nothing is paid: it names what the calls take.
func (q *Quoter) wholeToken(c *call) api.OriginToken {
	n := c.first(q.coin(c))
	agg, _ := q.Network.Catalog.Aggregate(n.aggregate)
	asset := n.asset.String()
	return api.OriginToken{
		AggregatedAssetID: string(n.aggregate), Amount: amount.ScaleUp(n.required, n.decimals, agg.Decimals).String(),
		AssetType: []string{asset},
		FiatValue: []api.TokenFiat{{AssetType: asset, Amount: n.required.String(),
			FiatValue: usd(amount.Value(n.required, n.decimals, n.price))}},
	}
}

// destinationToken is the requirement with the largest missing amount, in full: calls are exact-output (protocol §3.6,
// §3.7).
func (q *Quoter) destinationToken(c *call) api.DestinationToken {
	n := c.first(q.coin(c))
	return q.delivered(n, n.required, n.required, string(n.aggregate), caip.EVMAccount(c.chainID, c.evm.Address))
}

// delivered describes an amount of an asset that arrives at an account. id is how the quote names the asset across
// chains.
func (q *Quoter) delivered(n need, v, least *big.Int, id string, to caip.Account) api.DestinationToken {
	e, _ := q.Network.Catalog.Entity(n.asset)
	return api.DestinationToken{
		AggregatedAssetID: id, Amount: v.String(), AssetType: n.asset.String(),
		FiatValue:     usd(amount.Value(v, n.decimals, n.price)),
		MinimumAmount: least.String(), MinimumFiatValue: usd(amount.Value(least, n.decimals, n.price)),
		Symbol: e.Symbol, Name: e.Name,
		Decimals: &n.decimals, RecipientAccount: to.Display(),
	}
}

// coin is the requirement of nothing: the target chain's coin.
func (q *Quoter) coin(c *call) need {
	e, _ := q.Network.Catalog.NativeOf(c.chainID)
	price, _ := q.Prices.Price(e.Aggregate, c.now)
	return need{asset: e.Asset, aggregate: e.Aggregate, decimals: e.Decimals, price: price, required: new(big.Int),
		have: new(big.Int)}
}

// usd is money with two decimals; an unknown worth is an empty text, never zero.
func usd(micro *big.Int) string {
	if micro == nil {
		return ""
	}
	return amount.USD2(micro)
}
