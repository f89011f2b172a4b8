package adminrelay

import (
	"errors"
	"fmt"
	"math/big"

	"coffer/api"
	"coffer/api/op"
	"coffer/api/service/chain"
	"coffer/api/service/quote/entrypoint"
	"coffer/api/service/quote/smartaccount"
)

// operation checks an admin's operation against the chain, runs it in the view, and returns the operator's transaction
// that submits it.
func (r *Relay) operation(q request, st chain.State, roles smartaccount.Roles, now uint64) (tx chain.Tx, err error) {
	o := q.userOp
	hash, err := o.Hash(r.Network.Pins.EntryPoint, new(big.Int).SetUint64(q.on.ID()))
	if err != nil {
		return tx, err
	}
	if by, err := op.Recover(op.EIP191(hash), o.Signature); err != nil || by != roles.Admin {
		return tx, api.Invalid("userOp.signature", "the signature of the account's admin, "+roles.Admin.Hex()+
			", over this operation", "a signature that is not")
	}
	if roles.ExitAvailableAt == 0 {
		return tx, api.Invalid("action",
			"an account whose exit was announced; the admin operates alone only then",
			"no announced exit on "+q.chain.String())
	}
	n, err := op.ParseNonce(o.Nonce)
	if err != nil {
		return tx, err
	}
	next, err := r.Network.AccountNonceAt(st, o.Sender, n.Key192())
	if err != nil {
		return tx, err
	}
	if next.Cmp(o.Nonce) != 0 {
		return tx, api.Invalid("userOp.nonce", "the account's next nonce on "+q.chain.String()+", "+
			next.String(),
			o.Nonce.String())
	}
	data, err := op.HandleOpsCall(r.Network.Pins.Operator, o)
	if err != nil {
		return tx, err
	}
	tx = chain.Tx{From: r.Operator, To: r.Network.Pins.EntryPoint, Data: data}
	return tx, r.simulate(tx, o, st, roles, now)
}

// simulate runs the transaction in the view: the entry point must take the operation, and its calls must succeed.
func (r *Relay) simulate(tx chain.Tx, o op.UserOp, st chain.State, roles smartaccount.Roles, now uint64) error {
	res := st.Call(chain.Message{From: tx.From.Address(), To: tx.To, Data: tx.Data, Gas: tx.Gas})
	if err := st.Err(); err != nil {
		return err
	}
	if res.Err != nil {
		f := r.Codec.Failed(res)
		if now < roles.ExitAvailableAt {
			return api.NewError(api.ErrSimulationFailed,
				"The entry point refuses the operation: %s. The announced exit opens at %s", f.Text,
				moment(roles.ExitAvailableAt))
		}
		return api.NewError(api.ErrSimulationFailed, "The entry point refuses the operation: %s", f.Text)
	}
	return r.outcome(res.Logs, func() int { return entrypoint.FailedCall(st, o.Sender, o.CallData) })
}

// outcome reads what came of the one operation of a transaction; failed tells which of its calls failed, if it can.
func (r *Relay) outcome(logs []chain.Log, failed func() int) error {
	out, err := r.Codec.Outcomes(logs)
	if err != nil {
		return err
	}
	if len(out) != 1 {
		return fmt.Errorf("one operation had %d outcomes", len(out))
	}
	if out[0].Success {
		return nil
	}
	f := r.Codec.Explain(out[0].Revert)
	e := api.NewError(api.ErrSimulationFailed, "Simulation failed: the operation would revert: %s", f.Text)
	if call := failed(); call >= 0 {
		e = api.NewError(api.ErrSimulationFailed, "Simulation failed: call %d of the operation would revert: %s",
			call, f.Text)
	}
	return e
}

// ran accepts the block of an operation: the transaction and the operation in it succeeded.
func (r *Relay) ran(receipts []chain.Receipt) error {
	if err := chain.AllSucceed(receipts); err != nil {
		return err
	}
	if len(receipts) != 1 {
		return errors.New("an operation is a block of one transaction")
	}
	return r.outcome(receipts[0].Logs, func() int { return -1 })
}
