package tracers

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core"
	"github.com/ethereum/go-ethereum/core/state"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/core/vm"
	"github.com/holiman/uint256"

	"coffer/api/service/chain/evm"
	"coffer/api/service/chain/evm/ethrpc"
	"coffer/api/service/jsonrpc"
)

// A trace may take as long as a call, and longer when its configuration says so, up to longest.
const longest = 30 * time.Second

var errNoTransaction = errors.New("transaction not found")

// Methods are debug_traceTransaction, debug_traceBlockByNumber and ByHash, and debug_traceCall of a chain. What is
// traced must be within the window of blocks whose state is known.
func Methods(n *evm.Node) jsonrpc.Methods {
	d := debug{n}
	return jsonrpc.Methods{
		"debug_traceTransaction":   d.transaction,
		"debug_traceBlockByNumber": d.block,
		"debug_traceBlockByHash":   d.block,
		"debug_traceCall":          d.call,
	}
}

type debug struct{ node *evm.Node }

// bounded is the context of a trace.
func (c config) bounded(ctx context.Context) (context.Context, context.CancelFunc, error) {
	limit := ethrpc.CallTimeout
	if c.Timeout != "" {
		d, err := time.ParseDuration(c.Timeout)
		if err != nil || d <= 0 {
			return nil, nil, jsonrpc.Errorf(jsonrpc.CodeInvalidParams, "timeout: %.64q is no duration such as 10s",
				c.Timeout)
		}
		limit = min(d, longest)
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	return ctx, cancel, nil
}

// timedOut names the limit in place of what the machine says of being stopped.
func timedOut(ctx context.Context, err error) error {
	if err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return jsonrpc.Errorf(jsonrpc.CodeServer, "execution timeout: a trace may name a timeout of at most %v",
			longest)
	}
	return err
}

func (d debug) transaction(ctx context.Context, p jsonrpc.Params) (any, error) {
	var hash common.Hash
	var c config
	if err := errors.Join(p.AtMost(2), p.Read(0, &hash), p.Optional(1, &c)); err != nil {
		return nil, first(err)
	}
	number, index, found, err := d.node.Lookup(hash)
	if err != nil {
		return nil, err
	}
	if !found {
		return nil, errNoTransaction
	}
	ctx, cancel, err := c.bounded(ctx)
	if err != nil {
		return nil, err
	}
	defer cancel()
	var out any
	err = d.node.Replay(ctx, number, func(s *evm.Step) error {
		if s.Index != index {
			return nil
		}
		if s.Tx.Hash() != hash {
			return errNoTransaction // taken back meanwhile
		}
		if out, err = traced(s, c); err != nil {
			return err
		}
		return evm.ErrStop
	})
	return out, timedOut(ctx, err)
}

// outcome is the trace of one transaction of a block.
type outcome struct {
	TxHash common.Hash `json:"txHash"`
	Result any         `json:"result"`
}

func (d debug) block(ctx context.Context, p jsonrpc.Params) (any, error) {
	at := new(ethrpc.BlockRef)
	var c config
	if err := errors.Join(p.AtMost(2), p.Read(0, at), p.Optional(1, &c)); err != nil {
		return nil, first(err)
	}
	number, found, err := at.Number(d.node)
	if err != nil {
		return nil, err
	}
	if !found {
		return nil, jsonrpc.Errorf(jsonrpc.CodeServer, "block not found")
	}
	if number == 0 {
		return nil, jsonrpc.Errorf(jsonrpc.CodeServer, "genesis is not traceable")
	}
	ctx, cancel, err := c.bounded(ctx)
	if err != nil {
		return nil, err
	}
	defer cancel()
	out := []outcome{}
	err = d.node.Replay(ctx, number, func(s *evm.Step) error {
		result, err := traced(s, c)
		out = append(out, outcome{s.Tx.Hash(), result})
		return err
	})
	return out, timedOut(ctx, err)
}

// traced runs a transaction of a replay under a tracer.
func traced(s *evm.Step, c config) (any, error) {
	t, err := newTracer(c)
	if err != nil {
		return nil, err
	}
	if err := s.Run(vm.Config{Tracer: t.hooks}); err != nil {
		return nil, fmt.Errorf("tracing failed: %w", err)
	}
	return t.result()
}

// callConfig is the third parameter of debug_traceCall.
type callConfig struct {
	config
	State   ethrpc.StateOverride   `json:"stateOverrides"`
	Block   *ethrpc.BlockOverrides `json:"blockOverrides"`
	TxIndex *hexutil.Uint          `json:"txIndex"`
}

func (d debug) call(ctx context.Context, p jsonrpc.Params) (any, error) {
	var args ethrpc.CallArgs
	at := new(ethrpc.BlockRef)
	var c callConfig
	if err := errors.Join(p.AtMost(3), p.Read(0, &args), p.Optional(1, at), p.Optional(2, &c)); err != nil {
		return nil, first(err)
	}
	if at.Pending {
		return nil, jsonrpc.Errorf(jsonrpc.CodeServer, "tracing on top of pending is not supported")
	}
	ctx, cancel, err := c.bounded(ctx)
	if err != nil {
		return nil, err
	}
	defer cancel()
	var out any
	if c.TxIndex != nil {
		out, err = d.callBefore(ctx, args, at, c)
	} else {
		out, err = d.callAfter(ctx, args, at, c)
	}
	return out, timedOut(ctx, err)
}

// callAfter traces a call on the state after a block.
func (d debug) callAfter(ctx context.Context, args ethrpc.CallArgs, at *ethrpc.BlockRef, c callConfig) (any, error) {
	s, err := ethrpc.Open(d.node, at, c.State, c.Block)
	if err != nil {
		return nil, err
	}
	defer s.View.Close()
	out, err := d.run(ctx, args, c.config, s.View.State, s.Block, s.Precompiles)
	return out, errors.Join(err, s.View.Err())
}

// callBefore traces a call on the state before a transaction of a block.
func (d debug) callBefore(ctx context.Context, args ethrpc.CallArgs, at *ethrpc.BlockRef, c callConfig) (out any,
	err error) {
	number, found, err := at.Number(d.node)
	if err != nil {
		return nil, err
	}
	if !found {
		return nil, jsonrpc.Errorf(jsonrpc.CodeServer, "block not found")
	}
	reached := false
	err = d.node.Replay(ctx, number, func(s *evm.Step) error {
		if s.Index != int(*c.TxIndex) {
			return nil
		}
		reached = true
		bc := s.Context
		if err := c.Block.Apply(&bc); err != nil {
			return err
		}
		precompiles := vm.ActivePrecompiledContracts(d.node.Config().Rules(bc.BlockNumber, true, bc.Time))
		if err := c.State.Apply(s.State, precompiles); err != nil {
			return err
		}
		if out, err = d.run(ctx, args, c.config, s.State, bc, precompiles); err != nil {
			return err
		}
		return evm.ErrStop
	})
	if err == nil && !reached {
		err = jsonrpc.Errorf(jsonrpc.CodeServer, "transaction index %d out of range for block %d", *c.TxIndex, number)
	}
	return out, err
}

// run executes a call as if it were a transaction. Without a price it costs nothing.
func (d debug) run(ctx context.Context, args ethrpc.CallArgs, c config, st *state.StateDB, bc vm.BlockContext,
	precompiles vm.PrecompiledContracts) (any, error) {
	t, err := newTracer(c)
	if err != nil {
		return nil, err
	}
	msg, err := args.Message(d.node.Config().ChainID, bc.BaseFee, ethrpc.CallGas)
	if err != nil {
		return nil, err
	}
	if msg.GasPrice.IsZero() {
		bc.BaseFee = new(big.Int)
	}
	machine := vm.NewEVM(bc, state.NewHookedState(st, t.hooks), d.node.Config(),
		vm.Config{Tracer: t.hooks, NoBaseFee: true})
	defer machine.Release()
	if precompiles != nil {
		machine.SetPrecompiles(precompiles)
	}
	defer context.AfterFunc(ctx, machine.Cancel)()
	st.SetTxContext(common.Hash{}, 0, 1)
	_, _, err = core.ApplyTransactionWithEVM(ctx, msg.SkipExecutionGasCapCheck(), core.NewGasPool(msg.GasLimit), st,
		bc.BlockNumber, common.Hash{}, bc.Time, form(msg), machine)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return nil, fmt.Errorf("tracing failed: %w", err)
	}
	return t.result()
}

// form is the message as an unsigned transaction, for a tracer to look at.
func form(m *core.Message) *types.Transaction {
	if m.SetCodeAuthorizations != nil && m.To != nil {
		return types.NewTx(&types.SetCodeTx{
			ChainID: new(uint256.Int), Nonce: m.Nonce, GasTipCap: m.GasTipCap, GasFeeCap: m.GasFeeCap, Gas: m.GasLimit,
			To: *m.To, Value: m.Value, Data: m.Data, AccessList: m.AccessList, AuthList: m.SetCodeAuthorizations,
		})
	}
	return types.NewTx(&types.DynamicFeeTx{
		Nonce: m.Nonce, GasTipCap: m.GasTipCap.ToBig(), GasFeeCap: m.GasFeeCap.ToBig(), Gas: m.GasLimit, To: m.To,
		Value: m.Value.ToBig(), Data: m.Data, AccessList: m.AccessList,
	})
}

// first is the first of joined errors: each has its own code.
func first(err error) error {
	var one *jsonrpc.Error
	if errors.As(err, &one) {
		return one
	}
	return err
}
