// Package exec executes messages on a state that is thrown away: what simulations on embedded chains and on chains
// behind nodes have in common. A Machine runs on a StateDB that has everything, a Fork on a state that lies elsewhere
// and is fetched piece by piece.
//
// It is below chain/evm so that only chain/evm and its packages import go-ethereum's core.
package exec

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"math/big"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core"
	"github.com/ethereum/go-ethereum/core/state"
	"github.com/ethereum/go-ethereum/core/tracing"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/core/vm"
	"github.com/ethereum/go-ethereum/params"
	"github.com/holiman/uint256"

	"coffer/api/op"
	"coffer/api/service/chain"
)

// ErrAmount refuses an amount that the protocol cannot have.
var ErrAmount = errors.New("an amount must be between 0 and 2^256-1")

// Machine is a chain.State without its head: go-ethereum's StateDB, never committed. Every Call is a transaction of its
// own in one pending block: warm slots and transient storage end with it, changes stay.
type Machine struct {
	state *state.StateDB
	evm   *vm.EVM
	fault func() error
	halt  func() error // after a call: why its outcome is unknown; may be nil
	calls uint64
	err   error // an overlay that cannot be; every later call fails with it
}

// NewMachine makes a Machine that owns both; fault is what went wrong with reads of the state.
func NewMachine(st *state.StateDB, evm *vm.EVM, fault func() error) *Machine {
	return &Machine{state: st, evm: evm, fault: fault}
}

// Balance is what the account has.
func (m *Machine) Balance(a common.Address) *big.Int { return m.state.GetBalance(a).ToBig() }

// Nonce is that of the account's next transaction.
func (m *Machine) Nonce(a common.Address) uint64 { return m.state.GetNonce(a) }

// Code is the account's code.
func (m *Machine) Code(a common.Address) []byte { return common.CopyBytes(m.state.GetCode(a)) }

// Storage is a slot of the account.
func (m *Machine) Storage(a common.Address, k common.Hash) common.Hash { return m.state.GetState(a, k) }

// Err joins the faults of the overlay and of the state.
func (m *Machine) Err() error { return errors.Join(m.err, m.state.Error(), m.fault()) }

// Close ends the machine; a second call does nothing.
func (m *Machine) Close() {
	if m.evm != nil {
		m.evm.Release()
		m.evm = nil
	}
}

// Apply makes the overlay look as if an earlier transaction had left it.
func (m *Machine) Apply(o chain.Overlay) {
	for addr, a := range o {
		if a.Balance != nil {
			balance, err := Uint256(a.Balance)
			if err != nil {
				m.err = errors.Join(m.err, fmt.Errorf("overlay of %s: balance: %w", addr, err))
				continue
			}
			m.state.SetBalance(addr, balance, tracing.BalanceChangeUnspecified)
		}
		if a.Nonce != nil {
			m.state.SetNonce(addr, *a.Nonce, tracing.NonceChangeUnspecified)
		}
		if a.Code != nil {
			m.state.SetCode(addr, common.CopyBytes(a.Code), tracing.CodeChangeUnspecified)
		}
		for k, val := range a.Storage {
			m.state.SetState(addr, k, val)
		}
	}
	m.state.Finalise(m.evm.GetRules())
}

// Call executes a message at gas price zero.
func (m *Machine) Call(message chain.Message) chain.Result {
	if err := m.Err(); err != nil {
		return chain.Result{Err: err}
	}
	msg, err := toMessage(message)
	if err != nil {
		return chain.Result{Err: err}
	}
	m.calls++
	var id common.Hash // tells the logs of one call from those of another
	binary.BigEndian.PutUint64(id[:], m.calls)
	m.state.SetTxContext(id, int(m.calls), uint32(m.calls))

	before := m.state.Snapshot()
	res, err := core.ApplyMessage(m.evm, msg, core.NewGasPool(msg.GasLimit))
	if err == nil {
		err = m.Err()
	}
	if err == nil && m.halt != nil {
		err = m.halt()
	}
	out := chain.Result{Err: err}
	if err == nil {
		out = chain.Result{Return: res.ReturnData, GasUsed: res.UsedGas, Err: executionError(res.Err)}
	}
	if out.Err != nil {
		m.state.RevertToSnapshot(before)
	} else {
		out.Logs = Logs(m.state.GetLogs(id, 0, common.Hash{}, 0))
	}
	m.state.Finalise(m.evm.GetRules())
	return out
}

func toMessage(m chain.Message) (*core.Message, error) {
	value, err := Uint256(m.Value)
	if err != nil {
		return nil, fmt.Errorf("value: %w", err)
	}
	auths, err := Authorizations(m.Authorizations)
	if err != nil {
		return nil, err
	}
	msg := &core.Message{
		From: m.From, To: &m.To, Value: value, GasLimit: cmp.Or(m.Gas, params.MaxTxGas), Data: m.Data,
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

// Logs are events as the port has them.
func Logs(in []*types.Log) []chain.Log {
	if len(in) == 0 {
		return nil
	}
	out := make([]chain.Log, len(in))
	for i, l := range in {
		out[i] = chain.Log{Address: l.Address, Topics: l.Topics, Data: l.Data}
	}
	return out
}

// Uint256 treats nil as zero.
func Uint256(v *big.Int) (*uint256.Int, error) {
	if v == nil {
		return new(uint256.Int), nil
	}
	u, overflow := uint256.FromBig(v)
	if v.Sign() < 0 || overflow {
		return nil, ErrAmount
	}
	return u, nil
}

// Authorizations are those of a transaction of type 4, nil for none.
func Authorizations(in []op.SignedAuthorization) ([]types.SetCodeAuthorization, error) {
	if len(in) == 0 {
		return nil, nil // the protocol refuses an empty list, not an absent one
	}
	out := make([]types.SetCodeAuthorization, len(in))
	for i, a := range in {
		if a.ChainID == nil {
			return nil, fmt.Errorf("authorization %d: no chain id", i)
		}
		id, err := Uint256(a.ChainID)
		if err != nil {
			return nil, fmt.Errorf("authorization %d: chain id: %w", i, err)
		}
		out[i] = types.SetCodeAuthorization{ChainID: *id, Address: a.Address, Nonce: a.Nonce, V: a.YParity}
		out[i].R.SetBytes32(a.R[:])
		out[i].S.SetBytes32(a.S[:])
	}
	return out, nil
}
