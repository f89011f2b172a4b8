package settle

import (
	"context"
	"errors"
	"fmt"
	"math/big"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/service/chain"
	"coffer/api/service/quote"
	"coffer/api/service/quote/entrypoint"
	"coffer/api/service/store"
)

// rehearse simulates every operation of an order, each on a view of its chain as it is now (protocol §5.1, step a).
func (s *Settler) rehearse(ctx context.Context, o *order) error {
	for i, l := range o.Legs {
		var err error
		switch l.ChainID {
		case o.ChainID:
			continue
		case 0:
			err = s.rehearseSolana(ctx, o, nil, []operation{o.deposits[i]})
		default:
			err = s.rehearseOn(ctx, l.ChainID, o, nil, []operation{o.deposits[i]})
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
		return s.rehearseSolana(ctx, o, fill, o.targetOps())
	}
	fills, err := s.fillTxs(o.Quote)
	if err != nil {
		return err
	}
	return s.rehearseOn(ctx, o.ChainID, o, fills, o.targetOps())
}

func (s *Settler) rehearseOn(ctx context.Context, chainID uint64, o *order, fills []chain.Tx, ops []operation) error {
	st, err := s.Network.Chains[chainID].State(ctx, uint64(o.now.Unix()))
	if err != nil {
		return err
	}
	defer st.Close()
	for _, t := range fills {
		r := st.Call(chain.Message{From: t.From.Address(), To: t.To, Value: t.Value, Data: t.Data, Gas: t.Gas})
		if r.Err != nil {
			return s.fillFails(ctx, o, "the recipient does not accept the transfer: "+s.Codec.Explain(r.Return).Text)
		}
	}
	if len(ops) == 0 {
		return nil
	}
	bundle, err := s.bundle(ctx, st, o, chainID, ops)
	var r refusal
	if errors.As(err, &r) {
		return quote.PrepareAgain("the account on %s has changed: %s", caip.EVM(chainID), r.text)
	}
	if err != nil {
		return err
	}
	res := st.Call(chain.Message{From: bundle.From.Address(), To: bundle.To, Data: bundle.Data,
		Authorizations: bundle.Authorizations})
	if res.Err != nil {
		return quote.Refused(s.Codec.Failed(res))
	}
	outcomes, err := s.Codec.Outcomes(res.Logs)
	if err != nil {
		return err
	}
	if len(outcomes) != len(ops) {
		return fmt.Errorf("%d operations had %d outcomes", len(ops), len(outcomes))
	}
	for i, out := range outcomes {
		if out.Success {
			continue
		}
		f := s.Codec.Explain(out.Revert)
		if o.HasPrepared() && chainID == o.ChainID && i == 0 {
			return quote.CallsFailed(o.context.Approvals, o.context.Calls, f)
		}
		return depositFails(caip.EVM(chainID), f)
	}
	return s.leavesPledged(st, o, chainID)
}

// leavesPledged checks that after the rehearsed operations the account still holds what other executing quotes will
// take: calls may find the world other than in the simulation of their quote, and spend more (protocol §4.3).
func (s *Settler) leavesPledged(st chain.State, o *order, chainID uint64) error {
	pledged := map[caip.Asset]*big.Int{}
	err := s.Book.View(func(tx store.Tx) error {
		for _, e := range s.Network.Catalog.On(caip.EVM(chainID)) {
			if v := s.Book.Pledged(tx, o.Owner.Hex(), e.Asset.String()); v.Sign() > 0 {
				pledged[e.Asset] = v
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for asset, v := range pledged {
		have, err := s.Network.BalanceAt(st, o.Owner, asset)
		if err != nil {
			return err
		}
		if have.Cmp(v) < 0 {
			return api.NewError(api.ErrInsufficientBalance, "Insufficient balance of %s: the operation would leave "+
				"%s of %s that are pledged to quotes in execution",
				asset.Display(), have, v)
		}
	}
	return nil
}

// fillFails tells a solver without inventory from a recipient that takes nothing, or a transfer that cannot arrive,
// such as less than the rent of a new account on Solana.
func (s *Settler) fillFails(ctx context.Context, o *order, why string) error {
	for _, f := range o.Fills {
		have, err := s.Network.Stock(ctx, f.Delivers.CAIP())
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
