package quote

import (
	"context"
	"fmt"
	"math/big"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/op"
	"coffer/api/op/erc20"
	"coffer/api/op/filler"
	"coffer/api/service/chain"
	"coffer/api/service/deployment"
	"coffer/api/service/quote/entrypoint"
	"coffer/api/service/quote/smartaccount"
)

// Caps of the gas limits that the service writes; together they fit into one transaction with room for a second
// operation.
const (
	maxCallGas         = 8_000_000
	maxVerificationGas = 3_000_000
	// paymasterGas is for the filler's validation, which costs the same each time.
	paymasterGas = 60_000
)

// CallsFailed is the 422 for a prepared operation whose calls fail, the one at index or, with -1, all together:
// approvals and calls are those of its context.
func CallsFailed(approvals, calls, index int, f entrypoint.Failure) error {
	return failed(batch{approvals: approvals, calls: calls}, index, f)
}

// failed is the 422 of a simulation (protocol §2.3).
func failed(b batch, index int, f entrypoint.Failure) error {
	words, path := b.where(index)
	e := api.NewError(api.ErrSimulationFailed, "Simulation failed: %s would revert: %s", words, f.Text)
	e.Details = []api.Failure{{Path: path, Expected: "a call that succeeds", Got: f.Text}}
	return e
}

// state opens a view of a chain in a block at the given moment.
func (q *Quoter) state(ctx context.Context, chainID uint64, at time.Time) (chain.State, error) {
	ch := q.Network.Chains[chainID]
	if ch == nil {
		return nil, fmt.Errorf("%w: eip155:%d", deployment.ErrChain, chainID)
	}
	return ch.State(ctx, uint64(at.Unix()))
}

// overlay makes a view look as it will when the solver has delivered: the request's overrides, then each required token
// credited up to what is required (protocol §2.3). Of a token of others it is not known where it keeps balances: the
// solver pays what is missing.
func (q *Quoter) overlay(st chain.State, owner common.Address, needs []need,
	overrides []api.StateOverride) (err error) {
	defer chain.Faulty(st, &err)
	o, err := parseOverrides(overrides)
	if err != nil {
		return err
	}
	st.Apply(o)
	for _, n := range needs {
		if n.required.Sign() == 0 {
			continue
		}
		have, err := q.Network.BalanceAt(st, owner, n.asset)
		if err != nil {
			return err
		}
		token, isToken := n.asset.Token()
		_, placed := q.Network.BalanceSlots[n.asset]
		switch {
		case have.Cmp(n.required) >= 0:
		case placed || !isToken:
			st.Apply(q.Network.CreditOverlay(n.asset, owner, n.required))
		default:
			missing := new(big.Int).Sub(n.required, have)
			transfer := chain.Message{From: q.Network.Pins.Solver, To: token, Data: erc20.Transfer(owner, missing)}
			if r := st.Call(transfer); r.Err != nil {
				return undeliverable(n.asset)
			}
		}
	}
	return nil
}

func parseOverrides(in []api.StateOverride) (chain.Overlay, error) {
	o := chain.Overlay{}
	for i, s := range in {
		at := common.HexToAddress(s.Address)
		v := o[at]
		if s.Balance != "" {
			b, ok := api.ParseWei(s.Balance)
			if !ok {
				return nil, fmt.Errorf("overrides[%d].balance: %q is no amount", i, s.Balance)
			}
			v.Balance = b
		}
		if s.Code != "" {
			v.Code = common.FromHex(s.Code)
			if v.Code == nil {
				v.Code = []byte{}
			}
		}
		for slot, word := range s.StateDiff {
			if v.Storage == nil {
				v.Storage = map[common.Hash]common.Hash{}
			}
			v.Storage[common.HexToHash(slot)] = common.HexToHash(word)
		}
		o[at] = v
	}
	return o, nil
}

// measure simulates an operation step by step from the EntryPoint's address, sets its gas limits with margin, and
// returns what one handleOps of it costs. The simulated changes stay in the view.
func (q *Quoter) measure(st chain.State, a smartaccount.Account, o *op.UserOp, chainID uint64, b batch) (gas uint64,
	err error) {
	defer chain.Faulty(st, &err)
	point := q.Network.Pins.EntryPoint
	var deploy uint64
	if o.Factory != nil {
		r := st.Call(chain.Message{From: point, To: *o.Factory, Data: o.FactoryData, Gas: maxVerificationGas})
		if r.Err != nil && q.Network.OnOwnNodes() && !q.Network.FactoryApproved(st) && st.Err() == nil {
			on, _ := q.Network.Catalog.Chain(caip.EVM(chainID))
			return 0, api.NewError(api.ErrNoRoute, "no routes found: no %s account can be made on %s: the owner of "+
				"the meta factory %s has not approved the factory", a.Wire().Type, on.Name,
				q.Network.Pins.MetaFactory.Hex())
		}
		if r.Err != nil {
			return 0, api.NewError(api.ErrSimulationFailed, "Simulation failed: the account cannot be deployed: %s",
				q.Codec.Failed(r).Text)
		}
		deploy = r.GasUsed
	}
	validate, err := q.measureValidation(st, a, *o, chainID)
	if err != nil {
		return 0, err
	}
	r := st.Call(chain.Message{From: point, To: a.Address, Data: o.CallData, Gas: maxCallGas + dataGas(o.CallData)})
	if r.Err != nil {
		return 0, failed(b, entrypoint.FailedCall(st, a.Address, o.CallData), q.Codec.Failed(r))
	}
	o.CallGasLimit = limit(r.GasUsed*13/10+50_000, maxCallGas)
	o.VerificationGasLimit = limit((deploy+validate)*3/2, maxVerificationGas)
	return deploy + validate + GasRun + r.GasUsed, nil
}

// measureValidation runs the account's validation with a stub signature; what it decides does not matter, only the gas.
func (q *Quoter) measureValidation(st chain.State, a smartaccount.Account, o op.UserOp, chainID uint64) (uint64,
	error) {
	o.Signature = a.StubSignature()
	o.CallGasLimit, o.VerificationGasLimit = big.NewInt(maxCallGas), big.NewInt(maxVerificationGas)
	// one signature, the operator's
	o.PaymasterData = op.EncodePaymasterData(op.PaymasterWindow{ValidUntil: 1}, smartaccount.StubSignature())
	p, err := o.Pack()
	if err != nil {
		return 0, err
	}
	point := q.Network.Pins.EntryPoint
	hash, err := p.Hash(point, new(big.Int).SetUint64(chainID))
	if err != nil {
		return 0, err
	}
	data, err := q.Codec.ValidateUserOp(p, hash)
	if err != nil {
		return 0, err
	}
	r := st.Call(chain.Message{From: point, To: o.Sender, Data: data, Gas: maxVerificationGas + dataGas(data)})
	if r.Err != nil {
		return 0, api.NewError(api.ErrSimulationFailed, "Simulation failed: the operation cannot be validated: %s",
			q.Codec.Failed(r).Text)
	}
	return r.GasUsed, nil
}

// dataGas covers what a transaction pays for its data (EIP-7623), which the limits of an operation do not include.
func dataGas(data []byte) uint64 { return 21_000 + 40*uint64(len(data)) }

func limit(v, most uint64) *big.Int { return new(big.Int).SetUint64(min(v, most)) }

// newOp is an operation of ours without gas limits: no fees, our paymaster (protocol §2.4), and the factory when
// deploys says so.
func (q *Quoter) newOp(a smartaccount.Account, nonce *big.Int, callData []byte, deploys bool) op.UserOp {
	paymaster := q.Network.Pins.Paymaster
	o := op.UserOp{
		Sender: a.Address, Nonce: nonce, CallData: callData,
		CallGasLimit: new(big.Int), VerificationGasLimit: new(big.Int), PreVerificationGas: new(big.Int),
		MaxFeePerGas: new(big.Int), MaxPriorityFeePerGas: new(big.Int),
		Paymaster: &paymaster, PaymasterVerificationGasLimit: big.NewInt(paymasterGas),
		PaymasterPostOpGasLimit: big.NewInt(filler.PostOpGas),
	}
	if q.Network.OnOwnNodes() {
		o.PaymasterPostOpGasLimit = new(big.Int) // Window has no postOp
	}
	if factory, data, needed := a.Deployment(); deploys && needed {
		o.Factory, o.FactoryData = &factory, data
	}
	return o
}

// hashOf is the operation's hash on its chain.
func (q *Quoter) hashOf(o op.UserOp, chainID uint64) (common.Hash, error) {
	return o.Hash(q.Network.Pins.EntryPoint, new(big.Int).SetUint64(chainID))
}
