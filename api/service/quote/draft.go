package quote

import (
	"context"
	"fmt"
	"io"
	"math/big"
	"strconv"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/amount"
	"coffer/api/op"
	"coffer/api/service/quote/integrity"
	"coffer/api/service/quotestore"
)

// minLife is the life below which a quote is not worth issuing.
const minLife = 2 * time.Second

// draftQuote is a quote in the making: what calls, swaps and transfers have in common.
type draftQuote struct {
	form
	payer
	now       time.Time
	paying    paying
	market    market
	plan      plan
	id        common.Hash
	chainID   uint64             // that is delivered on, 0 for Solana
	window    op.PaymasterWindow // of the funding operations
	slippage  int                // basis points
	lastValid uint64             // last second of the block hash of a Solana leg, 0 without one
}

// built is a funding operation for the book and for the client.
type built struct {
	quotestore.Leg
	wire api.ChainOperation
}

// rules are the validation rules at a moment.
func (q *Quoter) rules(now time.Time) api.Rules {
	return api.Rules{Catalog: q.Network.Catalog, Now: now}
}

// random fills b from Random, which need not be safe for concurrent use.
func (q *Quoter) random(b []byte) error {
	q.randomLock.Lock()
	defer q.randomLock.Unlock()
	if _, err := io.ReadFull(q.Random, b); err != nil {
		return fmt.Errorf("draw a quote id: %w", err)
	}
	return nil
}

// expires is the last second in which the quote may be executed: its lifetime, within the operations' window and the
// life of a block hash (protocol §3.4, §5.2).
func (q *Quoter) expires(d *draftQuote) uint64 {
	end := min(uint64(d.now.Add(q.Lifetime).Unix()), d.window.ValidUntil)
	if d.lastValid > 0 {
		end = min(end, d.lastValid)
	}
	return end
}

// terms are the members that every quote has, with the operations of its legs.
func (q *Quoter) terms(d *draftQuote, legs []built, expires uint64, to api.DestinationToken) api.Quote {
	out := api.Quote{
		ID: d.id.Hex(), Accounts: d.wire, ExpirationTimestamp: strconv.FormatUint(expires, 10), DestinationToken: to,
		Fees:     &api.Fees{Assets: map[string]string{}, CumulativeUSD: "0.00"},
		Slippage: &api.Slippage{Origin: noSlippage(), Destination: noSlippage()},
	}
	for _, l := range legs {
		out.OriginChainsOperations = append(out.OriginChainsOperations, l.wire)
	}
	if len(d.plan.legs) == 0 {
		return out
	}
	out.OriginToken = api.OriginToken{AggregatedAssetID: d.paying.id(), Amount: d.plan.paid(d.market.decimals).String()}
	for _, l := range d.plan.legs {
		asset := l.asset.String()
		out.OriginToken.AssetType = append(out.OriginToken.AssetType, asset)
		out.OriginToken.FiatValue = append(out.OriginToken.FiatValue, api.TokenFiat{
			AssetType: asset, Amount: l.amount.String(),
			FiatValue: usd(amount.Value(l.amount, l.decimals, d.market.price)),
		})
		out.Fees.Assets[asset] = l.fee.String()
	}
	out.Fees.CumulativeUSD = amount.USD2(d.plan.feeMicro(d.market.price))
	return out
}

// seal encodes and signs a quote in the form that was asked for. destination is the prepared operation of a call that
// is funded, for v1.
func (q *Quoter) seal(ctx context.Context, d *draftQuote, body api.Quote,
	destination *api.ChainOperation) (*api.Document, common.Hash, error) {
	var form any = body
	if d.v1 {
		form = body.V1(destination)
	}
	return q.sign(ctx, form, integrity.Quote)
}

// record is what the book keeps of the quote, without its operations.
func (d *draftQuote) record() *quotestore.Quote {
	r := &quotestore.Quote{
		ID: d.id.Hex(), Project: d.by.Project, ChainID: d.chainID, Accounts: d.wire, Owner: d.owner(),
		SolanaOwner: d.solanaOwner(), ValidAfter: d.window.ValidAfter, ValidUntil: d.window.ValidUntil,
		SlippageBps: d.slippage, From: d.market.aggregate,
	}
	if d.plan.gas != nil {
		r.Gas = d.plan.gas
		for _, l := range d.plan.legs {
			r.Gas = new(big.Int).Add(r.Gas, l.own)
		}
	}
	if d.v1 {
		r.Version = 1
	}
	for _, f := range d.plan.fills {
		fill := quotestore.Fill{
			Delivers: quotestore.Amount{Asset: f.asset.String(), Value: f.amount}, Swapped: f.swapped,
			PricePay: d.market.price, PriceGet: f.price,
		}
		if f.required.Cmp(f.amount) < 0 {
			fill.Missing = f.required
		}
		r.Fills = append(r.Fills, fill)
	}
	return r
}

// offer stores a quote with its operations, and the prepared one of a call as it is signed now.
func (q *Quoter) offer(ctx context.Context, record *quotestore.Quote, legs []built, doc *api.Document,
	prepared quotestore.Context) error {
	for _, l := range legs {
		record.Legs = append(record.Legs, l.Leg)
	}
	return q.Book.Offer(ctx, record, doc.Raw(), prepared)
}

func noSlippage() api.SlippageSide { return api.SlippageSide{Percent: "0", USD: "0.00", Value: "0"} }

// tolerance is bps as a percentage beside the amount that it makes of an asset.
func tolerance(bps int, v *big.Int, decimals int, price *big.Int) api.SlippageSide {
	return api.SlippageSide{
		Percent: amount.Trim(amount.Format(big.NewInt(int64(bps)), 2)), USD: usd(amount.Value(v, decimals, price)),
		Value: v.String(),
	}
}
