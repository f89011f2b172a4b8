package evm

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/big"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core"
	"github.com/ethereum/go-ethereum/core/state"
	"github.com/ethereum/go-ethereum/core/tracing"
	"github.com/ethereum/go-ethereum/core/vm"
	"github.com/holiman/uint256"

	"coffer/api/service/chain"
	"coffer/api/service/store"
)

// view is a chain.State: go-ethereum's StateDB on a snapshot, never committed.
// Every Call is a transaction of its own in one pending block: warm slots and
// transient storage end with it, changes stay.
type view struct {
	head  head
	snap  store.Snapshot
	state *state.StateDB
	evm   *vm.EVM
	calls uint64
	err   error // an overlay that cannot be; every later call fails with it
}

// State opens a view of the head for simulations in a block of time at, or the
// head's time if that is later.
func (c *Chain) State(_ context.Context, at uint64) (chain.State, error) {
	snap, h, r, err := c.open()
	if err != nil {
		return nil, err
	}
	st, err := state.NewWithReader(h.header.Root, &database{reader: r}, r)
	if err != nil {
		snap.Release()
		return nil, fmt.Errorf("open state: %w", err)
	}
	pending := childHeader(c.env.cfg, h.header, h.hash, at)
	v := &view{head: h, snap: snap, state: st}
	v.evm = vm.NewEVM(blockContext(pending, r.blockHash), st, c.env.cfg, vm.Config{NoBaseFee: true})
	v.evm.SetJumpDestCache(c.env.cache.jumps)
	return v, nil
}

func (v *view) Header() chain.Header                                { return toHeader(v.head) }
func (v *view) Balance(a common.Address) *big.Int                   { return v.state.GetBalance(a).ToBig() }
func (v *view) Nonce(a common.Address) uint64                       { return v.state.GetNonce(a) }
func (v *view) Code(a common.Address) []byte                        { return common.CopyBytes(v.state.GetCode(a)) }
func (v *view) Storage(a common.Address, k common.Hash) common.Hash { return v.state.GetState(a, k) }

// Err joins the faults of the overlay and of the database.
func (v *view) Err() error { return errors.Join(v.err, v.state.Error(), v.snap.Err()) }

// Close releases the snapshot; a second call does nothing.
func (v *view) Close() {
	if v.evm != nil {
		v.evm.Release()
		v.evm = nil
	}
	v.snap.Release()
}

// Apply makes the overlay look as if an earlier transaction had left it.
func (v *view) Apply(o chain.Overlay) {
	for addr, a := range o {
		if a.Balance != nil {
			balance, err := toUint256(a.Balance)
			if err != nil {
				v.err = errors.Join(v.err, fmt.Errorf("overlay of %s: balance: %w", addr, err))
				continue
			}
			v.state.SetBalance(addr, balance, tracing.BalanceChangeUnspecified)
		}
		if a.Nonce != nil {
			v.state.SetNonce(addr, *a.Nonce, tracing.NonceChangeUnspecified)
		}
		if a.Code != nil {
			v.state.SetCode(addr, common.CopyBytes(a.Code), tracing.CodeChangeUnspecified)
		}
		for k, val := range a.Storage {
			v.state.SetState(addr, k, val)
		}
	}
	v.state.Finalise(v.evm.GetRules())
}

// Call executes a message at gas price zero.
func (v *view) Call(m chain.Message) chain.Result {
	if err := v.Err(); err != nil {
		return chain.Result{Err: err}
	}
	msg, err := toMessage(m)
	if err != nil {
		return chain.Result{Err: err}
	}
	v.calls++
	var id common.Hash // tells the logs of one call from those of another
	binary.BigEndian.PutUint64(id[:], v.calls)
	v.state.SetTxContext(id, int(v.calls), uint32(v.calls))

	before := v.state.Snapshot()
	res, err := core.ApplyMessage(v.evm, msg, core.NewGasPool(msg.GasLimit))
	if err == nil {
		err = v.Err()
	}
	out := chain.Result{Err: err}
	if err == nil {
		out = chain.Result{Return: res.ReturnData, GasUsed: res.UsedGas, Err: executionError(res.Err)}
	}
	if out.Err != nil {
		v.state.RevertToSnapshot(before)
	} else {
		out.Logs = toLogs(v.state.GetLogs(id, 0, common.Hash{}, 0))
	}
	v.state.Finalise(v.evm.GetRules())
	return out
}

func toMessage(m chain.Message) (*core.Message, error) {
	value, err := toUint256(m.Value)
	if err != nil {
		return nil, fmt.Errorf("value: %w", err)
	}
	auths, err := authorizations(m.Authorizations)
	if err != nil {
		return nil, err
	}
	msg := &core.Message{
		From: m.From, To: &m.To, Value: value, GasLimit: cmp.Or(m.Gas, MaxTxGas), Data: m.Data,
		GasPrice: new(uint256.Int), GasFeeCap: new(uint256.Int), GasTipCap: new(uint256.Int),
		SetCodeAuthorizations: auths,
	}
	return msg.SkipNonceCheck().SkipEOACheck(), nil
}

// executionError translates a revert into the port's own error.
func executionError(err error) error {
	if errors.Is(err, vm.ErrExecutionReverted) {
		return chain.ErrReverted
	}
	return err
}
