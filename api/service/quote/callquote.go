package quote

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"math/big"
	"time"

	"coffer/api"
	"coffer/api/amount"
	"coffer/api/op"
	"coffer/api/service/chain"
	"coffer/api/service/quote/entrypoint"
	"coffer/api/service/quote/integrity"
	"coffer/api/service/quotestore"
)

// call is the quote of a call in the making.
type call struct {
	draftQuote
	api.CallQuoteRequest
	context   quotestore.Context
	op        op.UserOp // as the client signed it
	authorize []op.SignedAuthorization
	funds     funds
	taken     []quotestore.Amount // of the target chain's assets by the calls, declared or not
}

func (q *Quoter) callQuote(ctx context.Context, doc *api.Document, f form) (*api.Document, error) {
	c, err := q.readCallQuote(ctx, doc, f)
	if err != nil {
		return nil, err
	}
	if c.now, err = q.fundNew(ctx, c.wire); err != nil {
		return nil, err
	}
	at := max(c.now.Unix(), int64(c.context.ValidAfter))
	st, err := q.state(ctx, c.context.ChainID, time.Unix(at, 0))
	if err != nil {
		return nil, err
	}
	defer st.Close()
	if err := q.simulate(ctx, st, c); err != nil {
		return nil, err
	}
	if err := q.price(ctx, c); err != nil {
		return nil, err
	}
	if err := q.random(c.id[:]); err != nil {
		return nil, err
	}
	record := c.record()
	record.OpHash, record.Required, record.Type = c.context.OpHash, c.taken, api.RecordCall
	legs, err := q.legs(ctx, st, &c.draftQuote, record.Terms())
	if err != nil {
		return nil, err
	}
	st.Close() // a goroutine releases its views before it writes
	return q.issue(ctx, c, record, legs)
}

// readCallQuote applies every rule that needs no simulation.
func (q *Quoter) readCallQuote(ctx context.Context, doc *api.Document, f form) (*call, error) {
	c := &call{draftQuote: draftQuote{now: q.Clock(), form: f}}
	rules := q.rules(c.now)
	check := rules.CallQuote
	if f.v1 {
		check = rules.CallQuoteV1
	}
	if err := api.NewValidationError(check(doc)); err != nil {
		return nil, err
	}
	digest, err := integrity.Prepare(doc)
	if err := integrity.Verify(doc, digest, err, q.Network.Pins.TamperProof); err != nil {
		return nil, err
	}
	if err := c.decode(doc); err != nil {
		return nil, err
	}
	if c.payer, err = q.open(f, c.Accounts); err != nil {
		return nil, err
	}
	if err := c.needEVM(f); err != nil {
		return nil, err
	}
	if c.op, err = op.FromWire(*c.ChainOperation.UserOp); err != nil {
		return nil, api.Invalid("chainOperation.userOp", "a well-formed operation", err.Error())
	}
	return c, q.recall(ctx, c)
}

// decode reads the body of either version.
func (c *call) decode(doc *api.Document) error {
	if c.v1 {
		var body api.CallQuoteRequestV1
		if err := integrity.Decode(doc, &body); err != nil {
			return api.NewDecodeError(err)
		}
		c.CallQuoteRequest = api.CallQuoteRequest{
			Accounts: []api.Account{integrity.Typed(body.Account)}, ChainOperation: body.ChainOperation,
			TamperProofSignature:  body.TamperProofSignature,
			FromAggregatedAssetID: body.FromAggregatedAssetID, SlippageTolerance: body.SlippageTolerance,
		}
		return nil
	}
	if err := integrity.Decode(doc, &c.CallQuoteRequest); err != nil {
		return api.NewDecodeError(err)
	}
	if c.FromAggregatedAssetID != "" && c.FromAssetID != "" {
		return api.Invalid("fromAssetId", "nothing beside fromAggregatedAssetId", c.FromAssetID)
	}
	return nil
}

// PrepareAgain is the answer when a prepared operation cannot be used any more.
func PrepareAgain(format string, args ...any) error {
	return api.NewError(api.ErrPrepareAgain, "Prepare again: "+format, args...)
}

// recall finds the context of the prepared operation and checks that it still fits the account (protocol §2.1, §2.6).
func (q *Quoter) recall(ctx context.Context, c *call) error {
	hash, err := q.hashOf(c.op, c.ChainOperation.TypedDataToSign.Domain.ChainID)
	if err != nil {
		return PrepareAgain("the operation is unknown")
	}
	var found bool
	c.context, found, err = q.Book.Context(ctx, hash)
	k := &c.context
	switch {
	case err != nil:
		return err
	case !found || !q.Book.Sees(c.by, k.Project):
		return PrepareAgain("the operation is unknown or its time is over")
	case k.UsedBy != "":
		return PrepareAgain("the operation was executed with quote %s", k.UsedBy)
	case uint64(c.now.Add(minLife).Unix()) > k.ValidUntil:
		return PrepareAgain("the operation's time is over")
	}
	c.chainID, c.window = k.ChainID, op.PaymasterWindow{ValidAfter: k.ValidAfter, ValidUntil: k.ValidUntil}
	c.slippage = cmp.Or(c.SlippageTolerance, k.SlippageBps, DefaultSlippageBps)
	if err := q.unchanged(ctx, c); err != nil {
		return err
	}
	if !c.evm.Signed(c.op, k.ChainID) {
		return api.NewError(api.ErrInvalidSignature,
			"Invalid signature: chainOperation.userOp.signature is not the account signer's over this operation")
	}
	if k.Delegation == nil {
		return nil
	}
	auth, err := c.evm.Authorized(c.ChainOperation.Delegation, k.ChainID)
	if err != nil {
		return err
	}
	k.Delegation, c.authorize = c.ChainOperation.Delegation, []op.SignedAuthorization{auth}
	return nil
}

// unchanged checks that the account stands as it did when the operation was prepared.
func (q *Quoter) unchanged(ctx context.Context, c *call) error {
	k := c.context
	st, err := q.state(ctx, k.ChainID, c.now)
	if err != nil {
		return err
	}
	defer st.Close()
	if err := q.primeRun(ctx, st, c); err != nil {
		return err
	}
	state, err := c.evm.State(st, k.ChainID)
	if err != nil {
		return c.refused(err)
	}
	nonce, err := q.Network.AccountNonceAt(st, k.Owner, c.evm.Key192(op.LanePrepared))
	if err != nil {
		return err
	}
	asked, needed := k.Delegation.Unsigned(), state.Delegation.Unsigned()
	same := (asked == nil) == (needed == nil) && (asked == nil || *asked == *needed)
	if state.Deployed != k.Deployed || !same || nonce.Cmp(c.op.Nonce) != 0 {
		return PrepareAgain("the account has changed since the operation was prepared")
	}
	return nil
}

// simulate runs the signed operation through the real handleOps on the overlay of prepare (protocol §2.3).
func (q *Quoter) simulate(ctx context.Context, st chain.State, c *call) (err error) {
	defer chain.Faulty(st, &err)
	k := c.context
	c.funds = funds{now: c.now, payer: c.payer, chainID: k.ChainID, gas: k.Gas, delegation: k.Delegation}
	if c.funds.needs, err = q.readNeeds(ctx, st, k.Owner, k.Required, c.now); err != nil {
		return err
	}
	if err := q.atHand(c.funds.needs); err != nil {
		return err
	}
	if err := q.overlay(st, k.Owner, c.funds.needs, k.Overrides); err != nil {
		return err
	}
	before, err := q.balancesOf(st, k.Owner, k.ChainID, len(k.Overrides) > 0)
	if err != nil {
		return err
	}
	c.funds.spent = q.spentSince(st, k.Owner, k.ChainID, before)
	complete, err := c.evm.CoSign(ctx, c.op, k.ChainID, q.CoSigner)
	if err != nil {
		return err
	}
	run, err := Run(q.Network, k.ValidUntil, complete)
	if err != nil {
		return err
	}
	run.Authorizations = c.authorize
	r := st.Call(run)
	if r.Err != nil {
		f := q.Codec.Failed(r)
		if f.CallsFailed() {
			return CallsFailed(k.Approvals, k.Calls, entrypoint.FailedCall(st, k.Owner, c.op.CallData), f)
		}
		return Refused(f)
	}
	outcomes, err := q.Codec.Outcomes(r.Logs)
	if q.Network.OnOwnNodes() && len(outcomes) == 1 && !outcomes[0].Success {
		return CallsFailed(k.Approvals, k.Calls, entrypoint.FailedCall(st, k.Owner, c.op.CallData),
			q.Codec.Explain(outcomes[0].Revert))
	}
	// only under overrides that put other code in its place
	if err != nil || len(outcomes) != 1 || !outcomes[0].Success {
		return api.NewError(api.ErrSimulationFailed,
			"Simulation failed: under the overrides the entry point does not work: %v", err)
	}
	return q.take(ctx, c, run)
}

// price chooses the paying asset and finds the route.
func (q *Quoter) price(ctx context.Context, c *call) (err error) {
	asked := c.FromAggregatedAssetID + c.FromAssetID
	if asked == "" && c.v1 && missing(c.funds.needs) {
		return api.Invalid("fromAggregatedAssetId",
			"an aggregated asset id such as ob:usdc: the account lacks what the calls need", "nothing")
	}
	if asked == "" {
		asked = c.context.From
	}
	if c.paying, err = q.choose(asked, c.context.ChainID, c.context.Required); err != nil {
		return err
	}
	found, err := q.fund(ctx, c.paying, c.funds)
	if err != nil {
		return err
	}
	c.market, c.plan = found.market, found.plan
	const whole = api.CallSameChainExcludeSolver
	if (c.plan.callType == whole) != (c.context.CallType == whole) {
		return PrepareAgain("the account's balances have changed: the call was %s and would now be %s",
			c.context.CallType, c.plan.callType)
	}
	return nil
}

// issue encodes, signs and stores the quote.
func (q *Quoter) issue(ctx context.Context, c *call, record *quotestore.Quote, legs []built) (*api.Document, error) {
	expires := q.expires(&c.draftQuote)
	body, destination := q.document(c, legs, expires)
	doc, digest, err := q.seal(ctx, &c.draftQuote, body, destination)
	if err != nil {
		return nil, err
	}
	k := c.context
	record.Expires, record.Canonical = expires, digest
	k.Signature = "0x" + hex.EncodeToString(c.op.Signature)
	err = q.offer(ctx, record, legs, doc, k)
	if errors.Is(err, quotestore.ErrContextGone) {
		err = PrepareAgain("the operation was executed meanwhile")
	}
	return doc, err
}

// first is the requirement that the quote names: the largest missing amount in USD, or the first, or the target chain's
// coin with nothing (protocol §3.6).
func (c *call) first(native need) need {
	best := native
	if len(c.funds.needs) > 0 {
		best = c.funds.needs[0]
	}
	worth := new(big.Int)
	for _, n := range c.funds.needs {
		// the worth of the missing amount in micro-USD, nil when unknown
		if v := amount.Value(n.short(), n.decimals, n.price); v != nil && v.Cmp(worth) > 0 {
			best, worth = n, v
		}
	}
	return best
}
