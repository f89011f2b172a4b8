package quote

import (
	"cmp"
	"context"
	"math/big"

	"coffer/api"
	"coffer/api/amount"
	"coffer/api/caip"
	"coffer/api/catalog"
	"coffer/api/service/quote/integrity"
	"coffer/api/service/quotestore"
)

// trade is the quote of a swap or a transfer in the making: exact input, no prepared operation (protocol §3.7).
type trade struct {
	draftQuote
	api.QuoteRequest
	give      *big.Int // what is paid, in the decimals of what pays
	gives     need     // what is delivered: asset, decimals and price
	asked     string
	recipient caip.Account
	funds     funds
}

func (q *Quoter) swap(ctx context.Context, doc *api.Document, f form) (*api.Document, error) {
	x, err := q.readSwap(doc, f)
	if err != nil {
		return nil, err
	}
	if q.Network.OnOwnNodes() {
		return q.ownTransfer(ctx, x)
	}
	if x.now, err = q.fundNew(ctx, x.wire); err != nil {
		return nil, err
	}
	x.window = window(x.now, "", "")
	if err := q.match(ctx, x); err != nil {
		return nil, err
	}
	if err := q.random(x.id[:]); err != nil {
		return nil, err
	}
	record := x.offered()
	legs, err := q.settleable(ctx, x, record.Terms())
	if err != nil {
		return nil, err
	}
	return q.issueSwap(ctx, x, record, legs)
}

// readSwap checks and reads the body of either version.
func (q *Quoter) readSwap(doc *api.Document, f form) (*trade, error) {
	x := &trade{draftQuote: draftQuote{now: q.Clock(), form: f}}
	if err := q.decodeSwap(doc, x); err != nil {
		return nil, err
	}
	var err error
	if x.payer, err = q.open(f, x.From.Accounts); err != nil {
		return nil, err
	}
	if f.v1 {
		if err := x.needEVM(f); err != nil {
			return nil, err
		}
		x.hasSolana = false
	}
	if !x.hasEVM && q.Network.Solana == nil {
		return nil, q.withoutSolana()
	}
	if x.give, err = amount.ParseBase(x.From.Amount); err != nil || x.give.Sign() == 0 {
		return nil, api.Invalid("from.amount", "an amount in base units, more than 0", x.From.Amount)
	}
	if x.paying, err = q.choose(x.From.Asset.AssetID, 0, nil); err != nil {
		return nil, err
	}
	x.slippage = cmp.Or(x.SlippageTolerance, DefaultSlippageBps)
	return x, nil
}

func (q *Quoter) decodeSwap(doc *api.Document, x *trade) error {
	rules := q.rules(x.now)
	if !x.v1 {
		if err := decode(doc, rules.Quote, &x.QuoteRequest); err != nil {
			return q.orWithoutSolana(err, solanaIn(doc))
		}
		return nil
	}
	var body api.QuoteRequestV1
	err := decode(doc, rules.QuoteV1, &body)
	x.QuoteRequest = api.QuoteRequest{
		From: api.QuoteFrom{Accounts: []api.Account{integrity.Typed(body.From.Account)}, Asset: body.From.Asset,
			Amount: body.From.Amount},
		To: body.To, SlippageTolerance: body.SlippageTolerance,
	}
	return err
}

// match finds where the trade goes and what pays for it.
func (q *Quoter) match(ctx context.Context, x *trade) error {
	x.funds = funds{now: x.now, payer: x.payer}
	sources, held, err := q.sources(ctx, x.paying, x.funds)
	if err != nil {
		return err
	}
	to, err := q.destination(x, sources)
	if err != nil {
		return err
	}
	if own, has := x.on(to.Asset.Chain); has && own == x.recipient {
		kept := sources[:0]
		for _, s := range sources {
			if s.asset != to.Asset {
				kept = append(kept, s)
			}
		}
		if len(kept) == 0 && len(sources) > 0 {
			return api.Invalid("to.account", "another account, or another asset: the money is there already",
				own.Address)
		}
		sources = kept
	}
	x.chainID, _ = to.Asset.Chain.EVMID()
	x.gives = need{asset: to.Asset, aggregate: to.Aggregate, decimals: to.Decimals, have: new(big.Int)}
	x.gives.price, _ = q.Prices.Price(to.Aggregate, x.now)
	x.market = market{
		aggregate: x.paying.aggregate.ID, symbol: x.paying.aggregate.Symbol, decimals: x.paying.aggregate.Decimals,
		targetChain: x.chainID,
		held:        held,
	}
	x.market.price, _ = q.Prices.Price(x.market.aggregate, x.now)
	if x.market.targetFee, err = q.fillFee(ctx, x); err != nil {
		return err
	}
	if x.plan, err = exact(x.market, x.give, x.market.decimals, x.gives, sources); err != nil {
		return err
	}
	if x.slippage < api.MaxSlippageBps && least(x.delivery().amount, x.slippage).Sign() == 0 {
		return api.NewError(api.ErrNoRoute,
			"no routes found: after fees and tolerance nothing would be left of the amount")
	}
	if _, err := q.sponsored(ctx, x.funds, false); err != nil {
		return err
	}
	if q.Network.Limits != nil {
		x.plan.gas = x.market.targetFee
	}
	return q.stocked(ctx, x.plan, x.chainID, x.now)
}

// delivery is the one fill of a trade.
func (x *trade) delivery() fill { return x.plan.fills[0] }

// destination chooses what is delivered, and to whom. An exact asset is what it is. Of an aggregate it is the entity on
// the chain of to.account; without one that on the chain that most is paid from, which is the first source's; else the
// first one listed. v1 knows no Solana.
func (q *Quoter) destination(x *trade, sources []source) (catalog.Entity, error) {
	side, err := q.choose(x.To.Asset.AssetID, 0, nil)
	if err != nil {
		return catalog.Entity{}, err
	}
	x.asked = side.id()
	var recipient caip.Account
	if x.To.Account != "" {
		if recipient, err = q.recipientOf(x.To.Account); err != nil {
			return catalog.Entity{}, err
		}
	}
	e, found := entityFor(side, recipient, q.paysMost(x, sources), x.v1)
	if !found {
		return e, api.Invalid("to.account", "an account on a chain that has "+side.aggregate.Symbol, x.To.Account)
	}
	if x.v1 && e.Asset.Chain.IsSolana() {
		return e, api.Invalid("to.asset.assetId", "an asset on an EVM chain: Solana needs v3", x.To.Asset.AssetID)
	}
	if recipient == (caip.Account{}) {
		var has bool
		if recipient, has = x.on(e.Asset.Chain); !has {
			return e, api.Invalid("to.account", "an account that receives on "+e.Asset.Chain.String()+
				": the request has none there", "nothing")
		}
	}
	x.recipient = recipient
	return e, nil
}

// recipientOf reads to.account.
func (q *Quoter) recipientOf(text string) (caip.Account, error) {
	a, err := caip.ParseAccount(text)
	if err != nil {
		return a, api.Invalid("to.account", "a CAIP-10 account such as eip155:42161:0x…", text)
	}
	if a.Chain.IsSolana() && q.Network.Solana == nil {
		return a, q.withoutSolana()
	}
	if _, known := q.Network.Catalog.Chain(a.Chain); !known {
		return a, api.Invalid("to.account", "an account on a supported chain", text)
	}
	if want := q.stranded(a); want != "" {
		return a, api.Invalid("to.account", want, text)
	}
	return a, nil
}

// paysMost is the chain that most is paid from: that of the first source worth more than its own fee, as sources stand
// in the order of their worth; no chain without one.
func (q *Quoter) paysMost(x *trade, sources []source) caip.Chain {
	price, _ := q.Prices.Price(x.paying.aggregate.ID, x.now)
	for _, s := range sources {
		if v := amount.Value(s.available, s.decimals, price); v != nil && v.Cmp(s.own) > 0 {
			return s.asset.Chain
		}
	}
	return caip.Chain{}
}

// entityFor is the entity of a side that is delivered; false when the recipient's chain has none.
func entityFor(side paying, recipient caip.Account, payingChain caip.Chain, v1 bool) (catalog.Entity, bool) {
	var first, most catalog.Entity
	for _, e := range side.aggregate.Entities {
		switch {
		case side.only != (caip.Asset{}) && e.Asset != side.only:
			continue
		case recipient != (caip.Account{}):
			if e.Asset.Chain == recipient.Chain {
				return e, true
			}
			continue
		case v1 && side.only == (caip.Asset{}) && e.Asset.Chain.IsSolana():
			continue
		}
		if first.Asset == (caip.Asset{}) {
			first = e
		}
		if e.Asset.Chain == payingChain {
			most = e
		}
	}
	if most.Asset != (caip.Asset{}) {
		return most, true
	}
	return first, first.Asset != (caip.Asset{})
}

// offered is what the book keeps of a trade, without its operations.
func (x *trade) offered() *quotestore.Quote {
	d, record := x.delivery(), x.record()
	record.Recipient, record.Minimum, record.Type = x.recipient.String(), least(d.amount, x.slippage), api.RecordSwap
	if !d.swapped {
		record.Type = api.RecordTransfer
	}
	return record
}

// issueSwap encodes, signs and stores the quote.
func (q *Quoter) issueSwap(ctx context.Context, x *trade, record *quotestore.Quote, legs []built) (*api.Document,
	error) {
	expires := q.expires(&x.draftQuote)
	d := x.delivery()
	to := q.delivered(x.gives, d.amount, record.Minimum, x.asked, x.recipient)
	body := q.terms(&x.draftQuote, legs, expires, to)
	// What is paid never changes; what arrives may, down to the minimum.
	body.Slippage.Destination = tolerance(x.slippage, new(big.Int).Sub(d.amount, record.Minimum), d.decimals, d.price)
	doc, digest, err := q.seal(ctx, &x.draftQuote, body, nil)
	if err != nil {
		return nil, err
	}
	record.Expires, record.Canonical = expires, digest
	return doc, q.offer(ctx, record, legs, doc, quotestore.Context{})
}
