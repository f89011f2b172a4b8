package quote

import (
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"math/big"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/op"
	"coffer/api/service/book"
	"coffer/api/service/chain"
	"coffer/api/service/genesis"
	"coffer/api/service/quote/account"
	"coffer/api/service/quote/integrity"
	"coffer/api/service/store"
)

// minLife is the life below which a quote is not worth issuing.
const minLife = 2 * time.Second

// offer is a quote in the making.
type offer struct {
	api.CallQuoteRequest
	now     time.Time
	context book.Context
	account account.Account
	op      op.UserOp // signed
	funds   funds
	paying  paying
	market  market
	plan    plan
	id      common.Hash
}

// CallQuote answers POST /v3/quote/call-quote: it checks the prepared operation and its signature, runs it, finds the funding and issues a
// signed quote.
func (q *Quoter) CallQuote(ctx context.Context, doc *api.Document) (*api.Document, error) {
	o, err := q.readCallQuote(ctx, doc)
	if err != nil {
		return nil, err
	}
	at := max(o.now.Unix(), int64(o.context.ValidAfter))
	st, err := q.state(o.context.ChainID, time.Unix(at, 0))
	if err != nil {
		return nil, err
	}
	defer st.Close()
	if err := q.rehearse(st, o); err != nil {
		return nil, err
	}
	if err := q.price(o); err != nil {
		return nil, err
	}
	if err := q.draw(o.id[:]); err != nil {
		return nil, err
	}
	legs, err := q.legs(st, o)
	if err != nil {
		return nil, err
	}
	st.Close() // a goroutine releases its views before it writes
	return q.issue(o, legs)
}

// readCallQuote applies every rule that needs no view of the chain.
func (q *Quoter) readCallQuote(ctx context.Context, doc *api.Document) (*offer, error) {
	if q.fault != nil {
		return nil, q.fault
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	o := &offer{now: q.Clock()}
	rules := api.Rules{Catalog: q.Installation.Catalog, Now: o.now}
	failures := rules.CallQuote(doc)
	digest, err := integrity.Prepare(doc)
	if err := integrity.Verify(doc, digest, err, q.Installation.Network.Pins.TamperProof); err != nil && !integrity.Incomplete(failures) {
		return nil, err
	}
	if err := api.NewValidationError(failures); err != nil {
		return nil, err
	}
	if err := doc.Decode(&o.CallQuoteRequest); err != nil {
		return nil, api.NewDecodeError(err)
	}
	if o.FromAggregatedAssetID != "" && o.FromAssetID != "" {
		return nil, api.NewValidationError([]api.Failure{{Path: "fromAssetId", Expected: "nothing beside fromAggregatedAssetId", Got: o.FromAssetID}})
	}
	if o.account, err = openAccount(q.Installation.Network.Pins, o.Accounts); err != nil {
		return nil, err
	}
	if o.op, err = op.FromWire(*o.ChainOperation.UserOp); err != nil {
		return nil, api.NewValidationError([]api.Failure{{Path: "chainOperation.userOp", Expected: "a well-formed operation", Got: err.Error()}})
	}
	return o, q.recall(o)
}

// draw fills b from Random, which need not be safe for concurrent use.
func (q *Quoter) draw(b []byte) error {
	q.drawing.Lock()
	defer q.drawing.Unlock()
	if _, err := io.ReadFull(q.Random, b); err != nil {
		return fmt.Errorf("draw a quote id: %w", err)
	}
	return nil
}

// PrepareAgain is the answer when a prepared operation cannot be used any more.
func PrepareAgain(format string, args ...any) error {
	return api.NewError(api.ErrPrepareAgain, "Prepare again: "+format, args...)
}

// recall finds the context of the prepared operation and checks that it still fits the account (protocol §2.1, §2.6).
func (q *Quoter) recall(o *offer) error {
	hash, err := q.hashOf(o.op, o.ChainOperation.TypedDataToSign.Domain.ChainID)
	if err != nil {
		return PrepareAgain("the operation is unknown")
	}
	var found bool
	err = q.Book.View(func(tx store.Tx) (err error) {
		o.context, found, err = q.Book.Context(tx, hash)
		return err
	})
	c := o.context
	switch {
	case err != nil:
		return err
	case !found:
		return PrepareAgain("the operation is unknown or its time is over")
	case c.UsedBy != "":
		return PrepareAgain("the operation was executed with quote %s", c.UsedBy)
	case uint64(o.now.Add(minLife).Unix()) > c.ValidUntil:
		return PrepareAgain("the operation's time is over")
	}
	deployed, err := q.Installation.Deployed(c.ChainID, c.Owner)
	if err != nil {
		return err
	}
	nonce, err := q.Installation.AccountNonce(c.ChainID, c.Owner, o.account.Key192(op.LanePrepared))
	if err != nil {
		return err
	}
	if deployed != c.Deployed || nonce.Cmp(o.op.Nonce) != 0 {
		return PrepareAgain("the account has changed since the operation was prepared")
	}
	if !o.account.Signed(o.op, c.ChainID) {
		return api.NewError(api.ErrInvalidSignature, "Invalid signature: chainOperation.userOp.signature is not the account signer's over this operation")
	}
	return nil
}

// rehearse runs the signed operation through the real handleOps on the overlay of prepare (protocol §2.3).
func (q *Quoter) rehearse(st chain.State, o *offer) error {
	c := o.context
	o.funds = funds{now: o.now, account: o.account, chainID: c.ChainID, gas: c.Gas}
	err := q.Book.View(func(tx store.Tx) (err error) {
		o.funds.needs, err = q.readNeeds(tx, st, c.Owner, c.Required, o.now)
		return err
	})
	if err != nil {
		return err
	}
	if err := q.overlay(st, c.Owner, o.funds.needs, c.Overrides); err != nil {
		return err
	}
	before, err := q.balancesOf(st, c.Owner, c.ChainID)
	if err != nil {
		return err
	}
	o.funds.spent = q.spentSince(st, c.Owner, before)
	operator := genesis.AddressOf(q.Installation.Operator)
	data, err := q.codec.HandleOps(operator, o.op)
	if err != nil {
		return err
	}
	r := st.Call(chain.Message{From: operator, To: q.Installation.Network.Pins.EntryPoint, Data: data})
	if r.Err != nil {
		return Refused(outcomeOf(q.codec, r))
	}
	outcomes, err := q.codec.Outcomes(r.Logs)
	if err != nil { // only under overrides that put other code in its place
		return api.NewError(api.ErrSimulationFailed, "Simulation failed: under the overrides the entry point does not work: %v", err)
	}
	if len(outcomes) != 1 || !outcomes[0].Success {
		var revert []byte
		if len(outcomes) == 1 {
			revert = outcomes[0].Revert
		}
		return failed(batch{approvals: c.Approvals, calls: c.Calls}, q.codec.Explain(revert))
	}
	return nil
}

// price chooses the paying asset and finds the route.
func (q *Quoter) price(o *offer) (err error) {
	asked := o.FromAggregatedAssetID + o.FromAssetID
	if asked == "" {
		asked = o.context.From
	}
	if o.paying, err = q.choose(asked, o.context.ChainID, o.context.Required); err != nil {
		return err
	}
	if o.market, _, o.plan, err = q.fund(o.paying, o.funds); err != nil {
		return err
	}
	const whole = api.CallSameChainExcludeSolver
	if (o.plan.callType == whole) != (o.context.CallType == whole) {
		return PrepareAgain("the account's balances have changed: the call was %s and would now be %s", o.context.CallType, o.plan.callType)
	}
	for _, f := range o.plan.fills {
		have, err := q.Installation.Balance(genesis.AddressOf(q.Installation.Solver), f.asset)
		if err != nil {
			return err
		}
		if have.Cmp(f.amount) < 0 {
			return api.NewError(api.ErrNoRoute, "no routes found: no solver can deliver that much %s", f.asset.Display())
		}
	}
	return nil
}

// issue encodes, signs and stores the quote.
func (q *Quoter) issue(o *offer, legs []book.Leg) (*api.Document, error) {
	c := o.context
	expires := min(uint64(o.now.Add(q.Lifetime).Unix()), c.ValidUntil)
	slippage := DefaultSlippageBps
	for _, bps := range []int{c.SlippageBps, o.SlippageTolerance} {
		if bps > 0 {
			slippage = bps
		}
	}
	body, err := q.document(o, legs, expires, slippage)
	if err != nil {
		return nil, err
	}
	doc, err := api.Encode(body)
	if err != nil {
		return nil, err
	}
	digest, err := integrity.Quote(doc)
	if err != nil {
		return nil, err
	}
	if doc, err = q.sign(doc, digest); err != nil {
		return nil, err
	}
	record := &book.Quote{
		ID: o.id.Hex(), OpHash: c.OpHash, ChainID: c.ChainID, Accounts: o.Accounts, Owner: c.Owner, Expires: expires,
		ValidAfter: c.ValidAfter, ValidUntil: c.ValidUntil, SlippageBps: slippage, From: o.market.aggregate, Canonical: digest,
		Legs: legs, Fills: o.fills(), Required: c.Required, Type: api.RecordCall,
	}
	c.Signature = "0x" + hex.EncodeToString(o.op.Signature)
	return doc, q.Book.Update(func(tx store.Tx) error {
		if err := q.Book.Sweep(tx); err != nil {
			return err
		}
		now, found, err := q.Book.Context(tx, c.OpHash)
		if err != nil {
			return err
		}
		if !found || now.UsedBy != "" {
			return PrepareAgain("the operation was executed meanwhile")
		}
		if err := q.Book.PutContext(tx, c); err != nil {
			return err
		}
		return q.Book.Offer(tx, record, doc.Raw())
	})
}

func (o *offer) fills() []book.Fill {
	var out []book.Fill
	for _, f := range o.plan.fills {
		out = append(out, book.Fill{
			Delivers: book.Amount{Asset: f.asset.String(), Value: f.amount}, Swapped: f.swapped,
			PricePay: o.market.price, PriceGet: f.price,
		})
	}
	return out
}

// first is the requirement that the quote names: the largest missing amount in USD, or the first, or the target chain's coin with nothing
// (protocol §3.6).
func (o *offer) first(native need) need {
	best := native
	if len(o.funds.needs) > 0 {
		best = o.funds.needs[0]
	}
	worth := new(big.Int)
	for _, n := range o.funds.needs {
		if v := n.shortMicro(); v != nil && v.Cmp(worth) > 0 {
			best, worth = n, v
		}
	}
	return best
}
