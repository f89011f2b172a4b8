package settle

import (
	"fmt"

	"coffer/api"
	"coffer/api/network"
	"coffer/api/op"
	"coffer/api/service/book"
	"coffer/api/service/chain"
	"coffer/api/service/genesis"
	"coffer/api/service/quote"
	"coffer/api/service/quote/account"
	"coffer/api/service/quote/entry"
)

// openOwner opens the EVM account of an issued quote.
func openOwner(pins network.Pins, accounts []api.Account) (account.Account, error) {
	for _, w := range accounts {
		if w.IsEVM() {
			return account.Open(pins, w)
		}
	}
	return account.Account{}, fmt.Errorf("a quote without an EVM account")
}

// rehearse simulates every operation of an order, each on a view of its chain as it is now (protocol §5.1a).
func (s *Settler) rehearse(o *order) error {
	for i, l := range o.Legs {
		if l.ChainID == o.ChainID {
			continue
		}
		if err := s.rehearseOn(l.ChainID, o, nil, []op.UserOp{o.deposits[i]}); err != nil {
			return err
		}
	}
	fills, err := s.fillTxs(o.Quote)
	if err != nil {
		return err
	}
	return s.rehearseOn(o.ChainID, o, fills, o.targetOps())
}

// targetOps are the operations of the target block: the prepared one, then a deposit on the same chain.
func (o *order) targetOps() []op.UserOp {
	ops := []op.UserOp{o.prepared}
	for i, l := range o.Legs {
		if l.ChainID == o.ChainID {
			ops = append(ops, o.deposits[i])
		}
	}
	return ops
}

func (s *Settler) rehearseOn(chainID uint64, o *order, first []chain.Tx, ops []op.UserOp) error {
	st, err := s.Installation.Chains[chainID].State(uint64(o.now.Unix()))
	if err != nil {
		return err
	}
	defer st.Close()
	for _, t := range first {
		r := st.Call(chain.Message{From: genesis.AddressOf(t.From), To: t.To, Value: t.Value, Data: t.Data, Gas: t.Gas})
		if r.Err != nil {
			return api.NewError(api.ErrNoRoute, "No solver can deliver at this moment; ask for a new quote")
		}
	}
	bundle, err := s.bundle(ops)
	if err != nil {
		return err
	}
	r := st.Call(chain.Message{From: genesis.AddressOf(bundle.From), To: bundle.To, Data: bundle.Data})
	if r.Err != nil {
		f := s.codec.Explain(r.Return)
		if len(r.Return) == 0 {
			f.Text = r.Err.Error()
		}
		return quote.Refused(f)
	}
	outcomes, err := s.codec.Outcomes(r.Logs)
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
		f := s.codec.Explain(out.Revert)
		if chainID == o.ChainID && i == 0 {
			return quote.CallsFailed(o.context.Approvals, o.context.Calls, f)
		}
		return depositFails(chainID, f)
	}
	return nil
}

func depositFails(chainID uint64, f entry.Failure) error {
	return api.NewError(api.ErrSimulationFailed, "Simulation failed: the deposit on eip155:%d would revert: %s", chainID, f.Text)
}

// bundle is the operator's transaction handleOps(ops).
func (s *Settler) bundle(ops []op.UserOp) (chain.Tx, error) {
	data, err := s.codec.HandleOps(genesis.AddressOf(s.Installation.Operator), ops...)
	if err != nil {
		return chain.Tx{}, err
	}
	return chain.Tx{From: s.Installation.Operator, To: s.Installation.Network.Pins.EntryPoint, Data: data}, nil
}

// restore reads an order back from its record, for the saga.
func (s *Settler) restore(q *book.Quote, c book.Context) (*order, error) {
	o := &order{Quote: q, context: c, now: s.Clock()}
	var err error
	if o.prepared, err = signedOp(c.Op, c.Signature); err != nil {
		return nil, err
	}
	for _, l := range q.Legs {
		signed, err := signedOp(l.Op, l.Signature)
		if err != nil {
			return nil, err
		}
		o.deposits = append(o.deposits, signed)
	}
	return o, nil
}
