package settle

import (
	"context"
	"errors"
	"fmt"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/op/erc20"
	"coffer/api/service/chain"
	"coffer/api/service/quote"
	"coffer/api/service/quote/entrypoint"
)

// simulate simulates every operation of an order, each on a view of its chain as it is now (protocol §5.1, step a).
func (s *Settler) simulate(ctx context.Context, o *order) error {
	if s.paysItself(o.Quote) {
		return s.trySolana(ctx, o)
	}
	for i, l := range o.Legs {
		var err error
		switch l.ChainID {
		case o.ChainID:
			continue
		case 0:
			err = s.simulateSolana(ctx, o, nil, []operation{o.deposits[i]})
		default:
			err = s.simulateOn(ctx, l.ChainID, o, []operation{o.deposits[i]}, s.plainly(o))
		}
		if err != nil {
			return err
		}
	}
	if o.Target().IsSolana() {
		fill, err := s.fillSolana(ctx, o.Quote, o.now)
		if err != nil {
			return err
		}
		return s.simulateSolana(ctx, o, fill, o.targetOps())
	}
	return s.simulateOn(ctx, o.ChainID, o, o.targetOps(), s.onTarget(o, o.Fills))
}

func (s *Settler) simulateOn(ctx context.Context, chainID uint64, o *order, ops []operation,
	encode encoder) (err error) {
	st, err := s.Network.Chains[chainID].State(ctx, uint64(o.now.Unix()))
	if err != nil {
		return err
	}
	defer st.Close()
	defer chain.Faulty(st, &err)
	tx, err := s.bundle(ctx, st, o, chainID, ops, encode)
	var r refusal
	if errors.As(err, &r) {
		return quote.PrepareAgain("the account on %s has changed: %s", caip.EVM(chainID), r.text)
	}
	if err != nil {
		return err
	}
	res := st.Call(chain.Message{From: tx.From.Address(), To: tx.To, Data: tx.Data, Gas: tx.Gas,
		Authorizations: tx.Authorizations})
	if res.Err != nil {
		return s.wouldFail(ctx, st, o, chainID, s.Codec.Failed(res))
	}
	outcomes, err := s.Codec.Outcomes(res.Logs)
	if err != nil {
		return err
	}
	if len(outcomes) != len(ops) {
		return fmt.Errorf("%d operations had %d outcomes", len(ops), len(outcomes))
	}
	if s.Network.OnOwnNodes() && !outcomes[0].Success {
		return quote.CallsFailed(o.context.Approvals, o.context.Calls, s.failedCall(st, o),
			s.Codec.Explain(outcomes[0].Revert))
	}
	return s.leavesPledged(ctx, st, o, chainID)
}

// wouldFail is the answer when the filler's call on a chain would revert.
func (s *Settler) wouldFail(ctx context.Context, st chain.State, o *order, chainID uint64,
	f entrypoint.Failure) error {
	target := chainID == o.ChainID
	switch {
	case f.CallsFailed() && target && o.HasPrepared() && f.Op == 0:
		return quote.CallsFailed(o.context.Approvals, o.context.Calls, s.failedCall(st, o), f)
	case f.CallsFailed():
		return depositFails(caip.EVM(chainID), f)
	case f.Op < 0 && target && !o.Whole():
		return s.fillFails(ctx, o, "the recipient does not accept the transfer: "+f.Text)
	}
	return quote.Refused(f)
}

// failedCall finds the call of the prepared operation that fails, after the solver has paid.
func (s *Settler) failedCall(st chain.State, o *order) int {
	for _, fill := range o.Fills {
		m := chain.Message{From: s.Network.Pins.Solver, To: o.Owner, Value: fill.Delivers.Value}
		if token, is := fill.Delivers.CAIP().Token(); is {
			m.To, m.Value, m.Data = token, nil, erc20.Transfer(o.Owner, fill.Delivers.Value)
		}
		st.Call(m) // where it fails, a call that needs it does, too
	}
	return entrypoint.FailedCall(st, o.Owner, o.prepared.op.CallData)
}

// leavesPledged checks that after the operations the account still holds what other executing quotes will
// take: calls may find the world other than in the simulation of their quote, and spend more (protocol §4.3).
func (s *Settler) leavesPledged(ctx context.Context, st chain.State, o *order, chainID uint64) error {
	pledged, err := s.Book.Pledged(ctx, o.Owner.Hex())
	if err != nil {
		return err
	}
	for _, e := range s.Network.Catalog.On(caip.EVM(chainID)) {
		v := pledged.Of(e.Asset.String())
		if v.Sign() == 0 {
			continue
		}
		have, err := s.Network.BalanceAt(st, o.Owner, e.Asset)
		if err != nil {
			return err
		}
		if have.Cmp(v) < 0 {
			return api.NewError(api.ErrInsufficientBalance, "Insufficient balance of %s: the operation would leave "+
				"%s of %s that are pledged to quotes in execution",
				e.Asset.Display(), have, v)
		}
	}
	return nil
}

// fillFails tells a solver without inventory from a recipient that takes nothing, or a transfer that cannot arrive,
// such as less than the rent of a new account on Solana.
func (s *Settler) fillFails(ctx context.Context, o *order, why string) error {
	for _, f := range o.Fills {
		have, err := s.Network.Stock(ctx, f.Delivers.CAIP(), o.now)
		if err != nil {
			return err
		}
		if o.HasPrepared() || have.Cmp(f.Delivers.Value) < 0 {
			return noCapacity()
		}
	}
	return api.NewError(api.ErrSimulationFailed, "Simulation failed: %s", why)
}

func noCapacity() error {
	return api.NewError(api.ErrNoRoute, "No solver can deliver at this moment; ask for a new quote")
}

func depositFails(at caip.Chain, f entrypoint.Failure) error {
	return api.NewError(api.ErrSimulationFailed, "Simulation failed: the deposit on %s would revert: %s", at, f.Text)
}
