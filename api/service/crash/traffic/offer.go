package traffic

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"math/rand/v2"
	"net/url"
	"strings"

	"github.com/ethereum/go-ethereum/common"
	"github.com/go-json-experiment/json"

	"coffer/api"
	"coffer/api/amount"
	"coffer/api/caip"
	"coffer/api/op"
	"coffer/api/service/foreign"
)

// Paying is the aggregated asset that all traffic moves.
const Paying = "ob:usdc"

// Holding is what an account has of one asset.
type Holding struct {
	Asset  caip.Asset
	Amount *big.Int
}

// otherDecimals is BNB chain: the sums of the traffic count in the decimals that Paying has everywhere else.
const otherDecimals = 56

// Holdings reads what the person has of the given aggregated assets, entity by entity, without BNB chain. The first
// such question is what gives a new account its test funds.
func (p *Person) Holdings(ctx context.Context, c *Client, aggregates ...string) ([]Holding, error) {
	var b api.AggregatedBalance
	query := url.Values{"account": {strings.Join(p.Asked(), ",")}, "aggregatedAssetId": {strings.Join(aggregates, ",")}}
	if err := c.Get(ctx, "/v3/balances/aggregated-balance", query, &b); err != nil {
		return nil, err
	}
	var out []Holding
	for _, agg := range b.BalanceByAggregatedAsset {
		for _, one := range agg.IndividualAssetBalances {
			asset, err := caip.ParseAsset(one.AssetType)
			if err != nil {
				return nil, err
			}
			if _, has := p.At(asset.Chain); !has || asset.Chain == caip.EVM(otherDecimals) {
				continue
			}
			v, err := amount.ParseBase(one.Balance)
			if err != nil {
				return nil, fmt.Errorf("the balance of %s: %w", one.AssetType, err)
			}
			out = append(out, Holding{asset, v})
		}
	}
	return out, nil
}

// Wish is a payment: an amount of an asset on its chain, to a recipient of the same chain.
type Wish struct {
	Asset  caip.Asset
	Amount *big.Int
	To     common.Address
}

// ErrPoor says that a person has too little left to pay for anything worth while.
var ErrPoor = errors.New("too little is left")

// poor is the sum below which a person takes no further part: 100 USDC.
const poor = 100_000_000

// Choose makes up a payment to somebody out of what a person holds: on any EVM chain, one time in five no more than is
// there, else so much that other chains must help, but never most of everything. The error is ErrPoor when there is too
// little.
func Choose(dice *rand.Rand, have []Holding, to *Person) (Wish, error) {
	total := new(big.Int)
	var evm []Holding
	for _, h := range have {
		total.Add(total, h.Amount)
		if !h.Asset.Chain.IsSolana() {
			evm = append(evm, h)
		}
	}
	if len(evm) == 0 || total.Cmp(big.NewInt(poor)) < 0 {
		return Wish{}, ErrPoor
	}
	at := evm[dice.IntN(len(evm))]
	w := Wish{Asset: at.Asset, To: to.Address}
	if dice.IntN(5) == 0 && at.Amount.Cmp(big.NewInt(poor)) > 0 {
		w.Amount = part(at.Amount, 1+dice.Int64N(60))
		return w, nil
	}
	elsewhere := new(big.Int).Sub(total, at.Amount)
	w.Amount = part(elsewhere, 15+dice.Int64N(60))
	w.Amount.Add(w.Amount, at.Amount)
	if most := part(total, 60); w.Amount.Cmp(most) > 0 {
		w.Amount = most
	}
	return w, nil
}

// Offer is a quote with every signature in it, ready to execute.
type Offer struct {
	ID     string
	Signed *api.Document
	Effect Effect
}

// Prepare asks for the operation of a call that makes the payment.
func (p *Person) Prepare(ctx context.Context, c *Client, w Wish) (*api.Document, error) {
	body, err := api.Encode(p.Request(w.Asset, w.Amount, foreign.Transfer(w.Asset, w.To, w.Amount)))
	if err != nil {
		return nil, err
	}
	return c.Post(ctx, "/v3/quote/prepare-call-quote", body)
}

// CallQuote signs a prepared operation, asks for its quote and signs that.
func (p *Person) CallQuote(ctx context.Context, c *Client, w Wish, prepared *api.Document) (*Offer, error) {
	signed, err := p.Sign(p.pins, prepared, "/chainOperation")
	if err != nil {
		return nil, err
	}
	body, err := foreign.CallQuote(signed, Paying)
	if err != nil {
		return nil, err
	}
	quoted, err := c.Post(ctx, "/v3/quote/call-quote", body)
	if err != nil {
		return nil, err
	}
	var o api.ChainOperation
	if raw, _ := signed.At("/chainOperation"); json.Unmarshal(raw, &o) != nil {
		return nil, errors.New("the prepared operation cannot be read again")
	}
	return p.seal(quoted, func(q api.Quote) (Effect, error) { return p.effectOfCall(w, o, q) })
}

// Swap asks for a quote that pays an amount of Paying for another asset, delivered to an account, and signs it.
func (p *Person) Swap(ctx context.Context, c *Client, pays *big.Int, get string, to caip.Account) (*Offer, error) {
	body, err := api.Encode(api.QuoteRequest{
		From: api.QuoteFrom{Accounts: p.Accounts(), Asset: api.AssetRef{AssetID: Paying}, Amount: pays.String()},
		To:   api.QuoteTo{Asset: api.AssetRef{AssetID: get}, Account: to.String()},
	})
	if err != nil {
		return nil, err
	}
	quoted, err := c.Post(ctx, "/v3/quote", body)
	if err != nil {
		return nil, err
	}
	return p.seal(quoted, p.effectOfSwap)
}

// seal signs every operation of a quote.
func (p *Person) seal(quoted *api.Document, effect func(api.Quote) (Effect, error)) (*Offer, error) {
	var q api.Quote
	if err := quoted.Decode(&q); err != nil {
		return nil, err
	}
	e, err := effect(q)
	if err != nil {
		return nil, fmt.Errorf("quote %s: %w", q.ID, err)
	}
	signed, err := p.SignQuote(p.pins, quoted)
	return &Offer{q.ID, signed, e}, err
}

// Execute sends a signed quote, once.
func (c *Client) Execute(ctx context.Context, o *Offer) error {
	doc, err := c.Post(ctx, "/v3/quote/execute-quote", o.Signed)
	if err != nil {
		return err
	}
	var a api.ExecuteResponse
	if err := doc.Decode(&a); err != nil {
		return err
	}
	if !a.Success {
		return errors.New("the answer does not say that the quote was accepted")
	}
	return nil
}

// lane reads the chain and the lane out of an EVM operation.
func lane(o api.ChainOperation) (Use, error) {
	if o.UserOp == nil || o.TypedDataToSign == nil {
		return Use{}, errors.New("an operation without user operation")
	}
	v, err := amount.ParseBase(o.UserOp.Nonce)
	if err != nil {
		return Use{}, fmt.Errorf("a nonce: %w", err)
	}
	n, err := op.ParseNonce(v)
	return Use{Chain: o.TypedDataToSign.Domain.ChainID, Lane: n.Key}, err
}
