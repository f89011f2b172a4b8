package quote

import (
	"cmp"
	"context"
	"math/big"
	"strings"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/amount"
	"coffer/api/op"
	"coffer/api/op/filler"
	"coffer/api/service/chain"
	"coffer/api/service/deployment"
	"coffer/api/service/quotestore"
)

// handleGas is what handleOps takes beside the limits of an operation, with an authorization and room for what the
// entry point keeps back from the calls.
const handleGas = 200_000

// Run is the operator's call that runs operations which need no delivery: of the filler until the deadline, or, on a
// network without a solver, of the entry point. Those pay no fees, so the beneficiary, which must be an address, gets
// nothing.
func Run(n *deployment.Network, deadline uint64, ops ...op.UserOp) (m chain.Message, err error) {
	m = chain.Message{From: n.Pins.Operator, To: n.Pins.Paymaster}
	if !n.OnOwnNodes() {
		m.Data, err = filler.RunCalldata(deadline, ops...)
		return m, err
	}
	m.To = n.Pins.EntryPoint
	if m.Data, err = op.HandleOpsCall(m.From, ops...); err != nil {
		return m, err
	}
	m.Gas = dataGas(m.Data)
	for _, o := range ops { // limits are above what the operation takes, so this is not a cost
		calls := new(big.Int).Add(o.CallGasLimit, o.PaymasterPostOpGasLimit)
		calls.Add(calls, new(big.Int).Rsh(calls, 5)) // one part in 64 stays with the caller
		calls.Add(calls, o.VerificationGasLimit).Add(calls, o.PaymasterVerificationGasLimit)
		m.Gas += calls.Uint64() + handleGas
	}
	return m, nil
}

// DailyOperations is how many operations of one account the gas tank of own nodes pays for in 24 hours. Each costs at
// most what the fee cap of its chain lets it.
const DailyOperations = 100

// Capped is the refusal of more, nil while there are fewer.
func Capped(ctx context.Context, book *quotestore.Book, account common.Address, now time.Time) error {
	made, err := book.Accepted(ctx, account.Hex(), now.Add(-24*time.Hour), DailyOperations)
	if err != nil || made < DailyOperations {
		return err
	}
	return api.NewError(api.ErrNoRoute,
		"the gas tank has paid for %d operations of this account in 24 hours, and pays for no more", made)
}

// atHand refuses a call that requires what is not on its chain, where there is no solver that brings it.
func (q *Quoter) atHand(needs []need) error {
	if !q.Network.OnOwnNodes() {
		return nil
	}
	var lacking []string
	at := ""
	for _, n := range needs {
		if short := n.short(); short.Sign() > 0 {
			e, _ := q.Network.Catalog.Entity(n.asset)
			on, _ := q.Network.Catalog.Chain(n.asset.Chain)
			lacking = append(lacking, amount.Trim(amount.Format(short, n.decimals))+" "+e.Symbol)
			at = on.Name
		}
	}
	if len(lacking) == 0 {
		return nil
	}
	return noSolver("bring " + strings.Join(lacking, " and ") + " to " + at)
}

// sendable refuses an operation whose sending the key that sends cannot pay for: what it takes of gas, and on own nodes
// what the chain takes for publishing the data.
func (q *Quoter) sendable(ctx context.Context, st chain.State, r *request, o op.UserOp, gas uint64) error {
	if q.fuelNeedsNone() {
		return nil
	}
	o.Signature = r.evm.StubSignature()
	o.Limit(r.window)
	run, err := Run(q.Network, r.window.ValidUntil, o)
	if err != nil {
		return err
	}
	return q.fuelled(ctx, st, r.chainID, gas, run)
}

// fuelNeedsNone reports whether gas costs nobody anything, as on chains in this process.
func (q *Quoter) fuelNeedsNone() bool { return !q.Network.OnOwnNodes() && q.Network.Limits == nil }

// usual is a stand-in for a transaction with one operation or delivery.
func (q *Quoter) usual(gas uint64) chain.Message {
	return chain.Message{From: q.Network.Pins.Operator, To: q.Network.Pins.Paymaster, Data: chain.UsualData(), Gas: gas}
}

// fuelled refuses what the key that sends, on own nodes the gas tank, cannot pay for on a chain of others: so much gas
// at the base fee of the head, where fees begin, and what the chain takes for publishing the transactions.
func (q *Quoter) fuelled(ctx context.Context, st chain.State, chainID, gas uint64, sent ...chain.Message) error {
	if q.fuelNeedsNone() {
		return nil
	}
	beside := new(big.Int)
	if able, charges := q.Network.Chains[chainID].(chain.Charger); charges {
		for _, m := range sent {
			wei, more, err := able.DataFee(ctx, m)
			if err != nil {
				return err
			}
			beside.Add(beside, wei)
			gas += more
		}
	}
	tank, name := q.Network.Pins.Operator, "gas tank"
	if q.Network.Limits != nil {
		name = "operator's key"
	}
	has, needs := st.Balance(tank), new(big.Int).Mul(st.Header().BaseFee, new(big.Int).SetUint64(gas))
	needs.Add(needs, beside)
	if err := st.Err(); err != nil || has.Cmp(needs) >= 0 && has.Sign() > 0 {
		return err
	}
	coin, _ := q.Network.Catalog.NativeOf(chainID)
	on, _ := q.Network.Catalog.Chain(coin.Asset.Chain)
	coins := func(v *big.Int) string { return amount.Trim(amount.Format(v, coin.Decimals)) + " " + coin.Symbol }
	return api.NewError(api.ErrNoRoute, "no routes found: the %s %s has %s on %s, and this takes at least %s: "+
		"send it coins", name, tank.Hex(), coins(has), on.Name, coins(needs))
}

// begins is when an operation can run that may run now: where chains are those of others, from the head of its chain
// on, as a node tries it in the block that it has.
func (q *Quoter) begins(st chain.State, now uint64) uint64 {
	if q.Network.OnOwnNodes() || q.Network.Limits != nil {
		return min(now, st.Header().Time)
	}
	return now
}

// present is the funding of a call for which everything is at hand. Nothing is charged, so that no price matters.
func (q *Quoter) present(ctx context.Context, p paying, f funds) (funding, error) {
	if err := cmp.Or(Sendable(q.Network, f.chainID), Capped(ctx, q.Book, f.owner(), f.now)); err != nil {
		return funding{}, err
	}
	m := market{aggregate: p.aggregate.ID, symbol: p.aggregate.Symbol, decimals: p.aggregate.Decimals,
		targetChain: f.chainID, targetFee: new(big.Int)}
	m.price, _ = q.Prices.Price(p.aggregate.ID, f.now)
	return funding{paying: p, market: m, plan: plan{callType: api.CallSameChainExcludeSolver}}, nil
}

// noSolver is the answer of a network without a solver to what needs one, with what helps.
func noSolver(instead string) error {
	return api.NewError(api.ErrNoRoute, "no routes found: this network has no solver: %s, or use an operator", instead)
}
