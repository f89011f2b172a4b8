package quote

import (
	"context"
	"math/big"

	"coffer/api/op"
	"coffer/api/op/erc20"
	"coffer/api/service/chain"
)

// primePrepare has a view fetch what prepare is going to read, where that saves round trips: the nonce, what is
// required and allowed, the making and the check of the account, and the calls, which a node cannot yet follow through
// an account that is not there. What fails on the node has only cost one question.
func (q *Quoter) primePrepare(st chain.State, r *request) {
	able, saves := q.Network.Chains[r.chainID].(chain.Primer)
	if !saves {
		return
	}
	owner := r.evm.Address
	next := []chain.Message{q.Network.AskNonce(owner, r.evm.Key192(op.LanePrepared))}
	for _, t := range r.required {
		if token, is := t.CAIP().Token(); is {
			next = append(next, q.Network.AskBalance(token, owner))
		}
	}
	calls := r.calls()
	for _, c := range calls[:min(len(calls), mostPrimed)] {
		next = append(next, chain.Message{From: owner, To: c.To, Value: c.Value, Data: c.Data})
	}
	for _, a := range r.AllowanceRequirements[:min(len(r.AllowanceRequirements), mostPrimed)] {
		if token, spender, want, err := r.allowance(a); err == nil {
			next = append(next, askAllowance(q, token, owner, spender),
				chain.Message{From: owner, To: token, Data: erc20.Approve(spender, want)})
		}
	}
	if data, err := op.EncodeExecute(calls); err == nil {
		nonce := new(big.Int).Lsh(r.evm.Key192(op.LanePrepared), 64)
		for _, deploys := range []bool{false, true} {
			o := q.newOp(r.evm, nonce, data, deploys)
			o.Signature = r.evm.StubSignature()
			o.VerificationGasLimit, o.CallGasLimit = big.NewInt(maxVerificationGas), big.NewInt(maxCallGas)
			o.Limit(r.window)
			if m, err := Run(q.Network, r.window.ValidUntil, o); err == nil && (o.Factory != nil || !deploys) {
				next = append(next, m)
			}
		}
	}
	able.Prime(st, next...)
}

// mostPrimed bounds what is asked for a request of many calls.
const mostPrimed = 10

// primeRun does it for the call that runs a signed operation.
func (q *Quoter) primeRun(ctx context.Context, st chain.State, c *call) error {
	able, saves := q.Network.Chains[c.context.ChainID].(chain.Primer)
	if !saves {
		return nil
	}
	complete, err := c.evm.CoSign(ctx, c.op, c.context.ChainID, q.CoSigner)
	if err != nil {
		return err
	}
	run, err := Run(q.Network, c.context.ValidUntil, complete)
	if err == nil {
		run.Authorizations = c.authorize
		able.Prime(st, q.Network.AskNonce(c.context.Owner, c.evm.Key192(op.LanePrepared)), run)
	}
	return err
}
