package quote

import (
	"math/big"
	"strconv"

	"coffer/api"
	"coffer/api/amount"
	"coffer/api/caip"
	"coffer/api/op"
	"coffer/api/service/book"
)

// document is the quote as it goes to the client, without its integrity signature.
func (q *Quoter) document(o *offer, legs []book.Leg, expires uint64, slippageBps int) (api.Quote, error) {
	out := api.Quote{
		ID: o.id.Hex(), Accounts: o.Accounts, ExpirationTimestamp: strconv.FormatUint(expires, 10),
		OriginToken: q.originToken(o), DestinationToken: q.destinationToken(o),
		Fees: &api.Fees{Assets: map[string]string{}, CumulativeUSD: "0.00"},
	}
	for _, l := range legs {
		f, err := op.FromWire(l.Op)
		if err != nil {
			return api.Quote{}, err
		}
		out.OriginChainsOperations = append(out.OriginChainsOperations, chainOperation(o.account, f, l.ChainID, l.Pays))
	}
	if len(legs) == 0 {
		prepared := o.ChainOperation
		unsigned := *prepared.UserOp
		unsigned.Signature = "0x"
		prepared.UserOp = &unsigned
		out.OriginChainsOperations = []api.ChainOperation{prepared}
		out.Slippage = &api.Slippage{Origin: noSlippage(), Destination: noSlippage()}
		return out, nil
	}
	for _, l := range o.plan.legs {
		out.Fees.Assets[l.asset.String()] = l.fee.String()
	}
	out.Fees.CumulativeUSD = amount.USD2(o.plan.feeMicro(o.market.price))
	out.Slippage = &api.Slippage{Origin: tolerance(o, slippageBps), Destination: noSlippage()}
	return out, nil
}

func noSlippage() api.SlippageSide { return api.SlippageSide{Percent: "0", USD: "0.00", Value: "0"} }

// tolerance says how far the price may move before the solver refuses; what is paid never changes (protocol §3.7).
func tolerance(o *offer, bps int) api.SlippageSide {
	paid := o.plan.paid(o.market.decimals)
	v := new(big.Int).Mul(paid, big.NewInt(int64(bps)))
	v.Quo(v, big.NewInt(10_000))
	return api.SlippageSide{
		Percent: amount.Trim(amount.Format(big.NewInt(int64(bps)), 2)),
		USD:     usd(amount.Value(v, o.market.decimals, o.market.price)),
		Value:   v.String(),
	}
}

// originToken is what is paid: Σ deposits in the aggregate's decimals (protocol §3.5). When nothing is paid it names what the calls take.
func (q *Quoter) originToken(o *offer) api.OriginToken {
	t := api.OriginToken{AggregatedAssetID: o.paying.id(), AssetType: []string{}, FiatValue: []api.TokenFiat{}}
	if len(o.plan.legs) == 0 {
		n := o.first(q.coin(o))
		t.AggregatedAssetID = string(n.aggregate)
		t.Amount = amount.Scale(n.required, n.decimals, q.decimals(n)).String()
		t.AssetType = []string{n.asset.String()}
		t.FiatValue = []api.TokenFiat{{AssetType: n.asset.String(), Amount: n.required.String(), FiatValue: usd(amount.Value(n.required, n.decimals, n.price))}}
		return t
	}
	t.Amount = o.plan.paid(o.market.decimals).String()
	for _, l := range o.plan.legs {
		t.AssetType = append(t.AssetType, l.asset.String())
		t.FiatValue = append(t.FiatValue, api.TokenFiat{
			AssetType: l.asset.String(), Amount: l.amount.String(), FiatValue: usd(amount.Value(l.amount, l.decimals, o.market.price)),
		})
	}
	return t
}

// destinationToken is the requirement with the largest missing amount, in full: calls are exact-output (protocol §3.6, §3.7).
func (q *Quoter) destinationToken(o *offer) api.DestinationToken {
	n := o.first(q.coin(o))
	e, _ := q.Installation.Catalog.Entity(n.asset)
	worth := usd(amount.Value(n.required, n.decimals, n.price))
	return api.DestinationToken{
		AggregatedAssetID: string(n.aggregate), Amount: n.required.String(), AssetType: n.asset.String(), FiatValue: worth,
		MinimumAmount: n.required.String(), MinimumFiatValue: worth, Symbol: e.Symbol, Name: e.Name, Decimals: &n.decimals,
		RecipientAccount: caip.EVMAccount(o.context.ChainID, o.account.Address).String(),
	}
}

// coin is the requirement of nothing: the target chain's coin.
func (q *Quoter) coin(o *offer) need {
	e, _ := q.Installation.Catalog.NativeOf(o.context.ChainID)
	price, _ := q.Prices.Price(e.Aggregate, o.now)
	return need{asset: e.Asset, aggregate: e.Aggregate, decimals: e.Decimals, price: price, required: new(big.Int), have: new(big.Int)}
}

func (q *Quoter) decimals(n need) int {
	agg, _ := q.Installation.Catalog.Aggregate(n.aggregate)
	return agg.Decimals
}

// usd is money with two decimals; an unknown worth is an empty text, never zero.
func usd(micro *big.Int) string {
	if micro == nil {
		return ""
	}
	return amount.USD2(micro)
}
