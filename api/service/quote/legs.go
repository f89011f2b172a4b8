package quote

import (
	"math/big"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/op"
	"coffer/api/op/erc20"
	"coffer/api/op/escrow"
	"coffer/api/service/book"
	"coffer/api/service/chain"
	"coffer/api/service/quote/entry"
)

// Refused is the answer when handleOps refuses an operation before it runs.
func Refused(f entry.Failure) error {
	switch f.Code {
	case "AA24":
		return api.NewError(api.ErrInvalidSignature, "Invalid signature: the account refuses the operation's signature")
	case "AA10", "AA25", "AA20":
		return PrepareAgain("the account has changed: %s", f.Text)
	case "AA22", "AA32":
		return PrepareAgain("the operation's time is over or has not come: %s", f.Text)
	}
	return api.NewError(api.ErrSimulationFailed, "Simulation failed: %s", f.Text)
}

// legs builds the funding operation of every deposit. target is the view of the target chain after the prepared operation ran.
func (q *Quoter) legs(target chain.State, o *offer) ([]book.Leg, error) {
	deadline := uint64(o.now.Add(RefundDelay).Unix())
	out := make([]book.Leg, 0, len(o.plan.legs))
	for _, l := range o.plan.legs {
		built, err := q.leg(target, o, l, deadline)
		if err != nil {
			return nil, err
		}
		out = append(out, built)
	}
	return out, nil
}

// leg builds, simulates and sponsors one funding operation (protocol §3.3).
func (q *Quoter) leg(target chain.State, o *offer, l leg, deadline uint64) (book.Leg, error) {
	here := l.chainID == o.context.ChainID
	st := target
	if !here {
		var err error
		if st, err = q.state(l.chainID, o.now); err != nil {
			return book.Leg{}, err
		}
		defer st.Close()
	}
	callData, err := op.EncodeExecute(depositCalls(q.Installation.Network.Pins.Escrow, o.id, l, deadline))
	if err != nil {
		return book.Leg{}, err
	}
	deploys := !here && len(st.Code(o.account.Address)) == 0
	// Read at the head: the overrides of a simulation have no say in what gets signed.
	nonce, err := q.Installation.AccountNonce(l.chainID, o.account.Address, o.account.Key192(op.LaneFunding))
	if err != nil {
		return book.Leg{}, err
	}
	f := q.newOp(o.account, nonce, callData, deploys)
	if _, err := q.measure(st, o.account, &f, l.chainID, batch{deposit: l.chainID}); err != nil {
		return book.Leg{}, err
	}
	w := op.PaymasterWindow{ValidAfter: uint64(o.now.Unix()), ValidUntil: min(o.context.ValidUntil, uint64(o.now.Add(Window).Unix()))}
	if here {
		w.ValidAfter = o.context.ValidAfter // it runs in one transaction with the prepared operation
	}
	if err := q.sponsor(&f, l.chainID, w); err != nil {
		return book.Leg{}, err
	}
	return book.Leg{
		ChainID: l.chainID, Pays: book.Amount{Asset: l.asset.String(), Value: l.amount}, Op: f.Wire(), Deploys: deploys,
	}, nil
}

// depositCalls pays a into the escrow: approve and deposit for a token, one deposit with value for the native coin.
func depositCalls(at common.Address, id common.Hash, l leg, deadline uint64) []op.Call {
	token, isToken := l.asset.Token()
	if !isToken {
		return []op.Call{{To: at, Value: l.amount, Data: escrow.DepositCalldata(id, common.Address{}, l.amount, deadline)}}
	}
	return []op.Call{
		{To: token, Value: new(big.Int), Data: erc20.Approve(at, l.amount)},
		{To: at, Value: new(big.Int), Data: escrow.DepositCalldata(id, token, l.amount, deadline)},
	}
}
