package quote

import (
	"context"
	"errors"
	"math/big"
	"strconv"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/amount"
	"coffer/api/caip"
	"coffer/api/catalog"
	"coffer/api/op"
	"coffer/api/service/chain"
	"coffer/api/service/quote/integrity"
	"coffer/api/service/quote/smartaccount"
	"coffer/api/service/quotestore"
)

// request is a prepare request that passed every check that needs no chain.
type request struct {
	api.PrepareRequest
	form
	payer
	now      time.Time
	chainID  uint64
	pays     quotestore.Amount   // the first required token, or the coin with nothing
	required []quotestore.Amount // of the catalogue: of another token nothing is required
	window   op.PaymasterWindow
}

func (q *Quoter) prepare(ctx context.Context, doc *api.Document, f form) (*api.Document, error) {
	r, err := q.readPrepare(doc, f)
	if err != nil {
		return nil, err
	}
	if r.now, err = q.fundNew(ctx, r.wire); err != nil {
		return nil, err
	}
	r.window = window(r.now, r.ValidAfter, r.ValidUntil)
	at := max(r.now.Unix(), int64(r.window.ValidAfter))
	st, err := q.state(ctx, r.chainID, time.Unix(at, 0))
	if err != nil {
		return nil, err
	}
	defer st.Close()
	if r.ValidAfter == "" {
		r.window.ValidAfter = q.begins(st, r.window.ValidAfter)
	}
	c, needs, err := q.build(ctx, st, r)
	if err != nil {
		return nil, err
	}
	p, err := q.choose(r.FromAssetID, r.chainID, r.required)
	if err != nil {
		return nil, err
	}
	found, err := q.fund(ctx, p, needs)
	var short *api.Error
	if f.v1 && errors.As(err, &short) && short.Name == api.ErrInsufficientBalance {
		if other, ok := q.fundOther(ctx, p, needs); ok { // v1 names the paying asset at call-quote
			found, err = other, nil
		}
	}
	if err != nil {
		return nil, err
	}
	c.CallType = found.plan.callType
	st.Close() // a goroutine releases its views before it writes
	if err := q.keep(ctx, r, &c); err != nil {
		return nil, err
	}
	return q.answerPrepare(ctx, r, c, q.sourceBalances(found.paying, needs, found.market, found.sources))
}

// readPrepare applies every rule that needs no chain.
func (q *Quoter) readPrepare(doc *api.Document, f form) (*request, error) {
	r := &request{now: q.Clock(), form: f}
	if err := q.decodePrepare(doc, r); err != nil {
		return nil, err
	}
	var err error
	if r.payer, err = q.open(f, r.Accounts); err != nil {
		return nil, err
	}
	if err := r.needEVM(f); err != nil {
		return nil, err
	}
	target, err := caip.ParseChain(r.TargetChain)
	if err != nil {
		return nil, err
	}
	r.chainID, _ = target.EVMID()
	r.pays = quotestore.Amount{Asset: caip.Native(r.chainID).String(), Value: new(big.Int)}
	for i, t := range r.TokensRequired {
		asset, errAsset := caip.ParseAsset(t.AssetType)
		v, errAmount := amount.ParseBase(t.Amount)
		if err := errors.Join(errAsset, errAmount); err != nil {
			return nil, err
		}
		a := quotestore.Amount{Asset: asset.String(), Value: v}
		if i == 0 {
			r.pays = a
		}
		if _, listed := q.Network.Catalog.Entity(asset); listed {
			r.required = append(r.required, a)
		}
	}
	return r, nil
}

// decode reads a body that the rules find nothing wrong with.
func decode(doc *api.Document, check func(*api.Document) []api.Failure, body any) error {
	if err := api.NewValidationError(check(doc)); err != nil {
		return err
	}
	return doc.Decode(body)
}

// decodePrepare checks and reads the body of either version.
func (q *Quoter) decodePrepare(doc *api.Document, r *request) error {
	rules := q.rules(r.now)
	if !r.v1 {
		if err := decode(doc, rules.Prepare, &r.PrepareRequest); err != nil {
			var body api.PrepareRequest
			return q.orWithoutSolana(err, map[string]bool{"fromAssetId": doc.Decode(&body) == nil &&
				catalog.SolanaOnly(body.FromAssetID)})
		}
		return nil
	}
	var body api.PrepareRequestV1
	err := decode(doc, rules.PrepareV1, &body)
	r.PrepareRequest = api.PrepareRequest{
		Accounts: []api.Account{integrity.Typed(body.Account)}, TargetChain: body.TargetChain, Calls: body.Calls,
		TokensRequired:        body.TokensRequired,
		AllowanceRequirements: body.AllowanceRequirements, Overrides: body.Overrides, ValidAfter: body.ValidAfter,
		ValidUntil:        body.ValidUntil,
		SlippageTolerance: body.SlippageTolerance,
	}
	return err
}

// window is the paymaster's: [max(now, validAfter), min(now + Window, validUntil)] (protocol §2.2).
func window(now time.Time, after, until string) op.PaymasterWindow {
	w := op.PaymasterWindow{ValidAfter: uint64(now.Unix()), ValidUntil: uint64(now.Add(Window).Unix())}
	if v, err := strconv.ParseUint(after, 10, 64); err == nil {
		w.ValidAfter = max(w.ValidAfter, v)
	}
	if v, err := strconv.ParseUint(until, 10, 64); err == nil {
		w.ValidUntil = min(w.ValidUntil, v)
	}
	return w
}

// build makes and simulates the operation. What the calls leave behind stays in st.
func (q *Quoter) build(ctx context.Context, st chain.State, r *request) (quotestore.Context, funds, error) {
	fail := func(err error) (quotestore.Context, funds, error) { return quotestore.Context{}, funds{}, err }
	owner := r.evm.Address
	q.primePrepare(st, r)
	state, err := r.evm.State(st, r.chainID)
	if err != nil {
		return fail(r.refused(err))
	}
	calls, b, err := q.batch(st, r)
	if err != nil {
		return fail(err)
	}
	callData, err := op.EncodeExecute(calls)
	if err != nil {
		return fail(api.Invalid("calls", "calls that fit into one batch", err.Error()))
	}
	nonce, err := q.Network.AccountNonceAt(st, owner, r.evm.Key192(op.LanePrepared))
	if err != nil {
		return fail(err)
	}
	o := q.newOp(r.evm, nonce, callData, state.Deploys)
	f := funds{now: r.now, payer: r.payer, chainID: r.chainID, delegation: state.Delegation}
	if f.needs, err = q.readNeeds(ctx, st, owner, r.required, r.now); err != nil {
		return fail(err)
	}
	if err := q.atHand(f.needs); err != nil {
		return fail(err)
	}
	r.evm.Enter(st, state)
	if err := q.overlay(st, owner, f.needs, r.Overrides); err != nil {
		return fail(err)
	}
	before, err := q.balancesOf(st, owner, r.chainID, len(r.Overrides) > 0)
	if err != nil {
		return fail(err)
	}
	if f.gas, err = q.measure(st, r.evm, &o, r.chainID, b); err != nil {
		return fail(err)
	}
	if state.Delegation != nil {
		f.gas += GasDelegation
	}
	if err := q.sendable(ctx, st, r, o, f.gas); err != nil {
		return fail(err)
	}
	f.spent = q.spentSince(st, owner, r.chainID, before)
	taken, err := q.taken(ctx, f, r.required)
	if err == nil {
		err = q.unpledged(ctx, f, taken)
	}
	if err != nil {
		return fail(err)
	}
	return quotestore.Context{
		ChainID: r.chainID, Accounts: r.wire, Owner: owner, Op: o.Wire(), Deployed: state.Deployed,
		Delegation: state.Delegation,
		ValidAfter: r.window.ValidAfter, ValidUntil: r.window.ValidUntil, Approvals: b.approvals, Calls: b.calls,
		Required: r.required, Overrides: r.Overrides, From: r.FromAssetID, SlippageBps: r.SlippageTolerance, Gas: f.gas,
		Project: q.Book.Bound(r.by),
	}, f, nil
}

// answerPrepare encodes and signs the answer.
func (q *Quoter) answerPrepare(ctx context.Context, r *request, c quotestore.Context,
	sources []api.SourceAssetBalance) (*api.Document,
	error) {
	o, err := op.FromWire(c.Op)
	if err != nil {
		return nil, err
	}
	body := api.PrepareResponse{
		Accounts: r.wire, ChainOperation: chainOperation(r.evm, o, r.chainID, r.pays, c.Delegation),
		CallType: c.CallType, SourceAssetBalances: sources,
	}
	var form any = body
	if r.v1 {
		form = body.V1()
	}
	doc, _, err := q.sign(ctx, form, integrity.Prepare)
	return doc, err
}

// chainOperation is an operation as it goes to the client: neither it nor the delegation that it needs is signed.
func chainOperation(a smartaccount.Account, o op.UserOp, chainID uint64, pays quotestore.Amount,
	d *api.Delegation) api.ChainOperation {
	o.Signature = nil
	wire, typed := o.Wire(), a.TypedData(o, chainID)
	return api.ChainOperation{UserOp: &wire, TypedDataToSign: &typed, Delegation: d.Unsigned(), AssetType: pays.Asset,
		Amount: pays.Value.String()}
}

// sign encodes an answer and writes the integrity signature of its digest into it.
func (q *Quoter) sign(ctx context.Context, answer any,
	digestOf func(*api.Document) (common.Hash, error)) (doc *api.Document, digest common.Hash, err error) {
	if doc, err = api.Encode(answer); err != nil {
		return nil, digest, err
	}
	if digest, err = digestOf(doc); err != nil {
		return nil, digest, err
	}
	sig, err := integrity.Sign(ctx, digest, q.TamperProof)
	if err != nil {
		return nil, digest, err
	}
	edit, err := api.StringEdit("/"+integrity.Member, sig)
	if err != nil {
		return nil, digest, err
	}
	doc, err = doc.Splice(edit)
	return doc, digest, err
}
