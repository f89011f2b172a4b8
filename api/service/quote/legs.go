package quote

import (
	"context"
	"math/big"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/op"
	"coffer/api/op/erc20"
	"coffer/api/op/escrow"
	"coffer/api/service/chain"
	"coffer/api/service/deployment"
	"coffer/api/service/quote/entrypoint"
	"coffer/api/service/quotestore"
)

// Refused is the answer when handleOps refuses an operation before it runs.
func Refused(f entrypoint.Failure) error {
	switch f.Code {
	case "AA24":
		return api.NewError(api.ErrInvalidSignature, "Invalid signature: the account refuses the operation's signature")
	case "AA10", "AA25", "AA20":
		return PrepareAgain("the account has changed: %s", f.Text)
	case "AA22", "AA32":
		return PrepareAgain("the operation's time is over or has not come: %s", f.Text)
	case entrypoint.Paused:
		return api.NewError(api.ErrNoRoute, "no routes found: the filler is paused")
	}
	return api.NewError(api.ErrSimulationFailed, "Simulation failed: %s", f.Text)
}

// legs builds the funding operation of every deposit. target is the view of an EVM target chain in which deposits on
// that chain are simulated, after everything that the target block does before them; nil on Solana.
func (q *Quoter) legs(ctx context.Context, target chain.State, d *draftQuote, t escrow.Terms) ([]built, error) {
	out := make([]built, 0, len(d.plan.legs))
	for _, l := range d.plan.legs {
		var b built
		var err error
		if l.asset.Chain.IsSolana() {
			b, err = q.solanaLeg(ctx, d, l)
		} else {
			b, err = q.leg(ctx, target, d, l, t)
		}
		if err != nil {
			return nil, err
		}
		out = append(out, b)
	}
	return out, nil
}

// leg builds, simulates and sponsors one funding operation (protocol §3.3).
func (q *Quoter) leg(ctx context.Context, target chain.State, d *draftQuote, l leg, t escrow.Terms) (built, error) {
	here := l.chainID == d.chainID
	st := target
	if !here {
		var err error
		if st, err = q.state(ctx, l.chainID, d.now); err != nil {
			return built{}, err
		}
		defer st.Close()
		err = q.fuelled(ctx, st, l.chainID, GasDeposit+GasRelease, q.usual(GasDeposit), q.usual(GasRelease))
		if err != nil {
			return built{}, err
		}
	}
	callData, err := op.EncodeExecute(depositCalls(q.Network, d.id, l, t))
	if err != nil {
		return built{}, err
	}
	// Read at the head: the overrides of a simulation have no say in what gets signed.
	nonce, err := q.Network.AccountNonce(ctx, l.chainID, d.evm.Address, d.evm.Key192(op.LaneFunding))
	if err != nil {
		return built{}, err
	}
	f := q.newOp(d.evm, nonce, callData, l.state.Deploys)
	d.evm.Enter(st, l.state)
	if _, err := q.measure(st, d.evm, &f, l.chainID, batch{deposit: l.chainID}); err != nil {
		return built{}, err
	}
	w := op.PaymasterWindow{ValidAfter: q.begins(st, uint64(d.now.Unix())),
		ValidUntil: min(d.window.ValidUntil, uint64(d.now.Add(Window).Unix()))}
	if here {
		w.ValidAfter = d.window.ValidAfter // it runs in one transaction with a prepared operation
	}
	if err := f.Sponsor(ctx, w, l.chainID, q.Operator); err != nil {
		return built{}, err
	}
	pays := quotestore.Amount{Asset: l.asset.String(), Value: l.amount}
	return built{
		Leg: quotestore.Leg{ChainID: l.chainID, Pays: pays, Op: f.Wire(), Deploys: l.state.Deploys,
			Delegation: l.state.Delegation.Unsigned()},
		wire: chainOperation(d.evm, f, l.chainID, pays, l.state.Delegation),
	}, nil
}

// depositCalls pays a leg into the escrow: approve and deposit for a token, one deposit with value for the native coin.
func depositCalls(n *deployment.Network, id common.Hash, l leg, t escrow.Terms) []op.Call {
	at := n.Pins.Escrow
	token, isToken := l.asset.Token() // zero for the native coin
	deposit := op.Call{To: at, Value: new(big.Int), Data: escrow.DepositCalldata(escrow.Deposit{
		QuoteID: id, Token: token, Amount: l.amount, RefundDeadline: n.RefundDeadline(t)}, t)}
	if !isToken {
		deposit.Value = l.amount
		return []op.Call{deposit}
	}
	return []op.Call{{To: token, Value: new(big.Int), Data: erc20.Approve(at, l.amount)}, deposit}
}
