package ethrpc

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/consensus"
	"github.com/ethereum/go-ethereum/core"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/core/vm"
	"github.com/ethereum/go-ethereum/eth/gasestimator"
	"github.com/ethereum/go-ethereum/params"

	"coffer/api/service/chain/evm"
	"coffer/api/service/jsonrpc"
)

// CallGas and CallTimeout bound a call that is answered and not sealed.
const (
	CallGas     = 50_000_000
	CallTimeout = 5 * time.Second
	// estimateSlack ends the search for a gas limit that is this much too high, as in go-ethereum.
	estimateSlack = 0.015
)

// late ends calls.
var late = jsonrpc.NewExpiry(CallTimeout)

// Scene is what a call runs in: a state and a block. The caller closes its View.
type Scene struct {
	View  *evm.View
	Block vm.BlockContext
	// Precompiles are nil when they are those of the chain.
	Precompiles vm.PrecompiledContracts
}

// Open prepares a call at a block of n, with what the caller wants to be different there.
func Open(n *evm.Node, at *BlockRef, state StateOverride, block *BlockOverrides) (s *Scene, err error) {
	s = new(Scene)
	if s.View, err = at.View(n); err != nil {
		return nil, err
	}
	s.Block = s.View.Context(at != nil && at.Pending)
	if err = block.Apply(&s.Block); err == nil && len(state) > 0 {
		rules := n.Config().Rules(s.Block.BlockNumber, true, s.Block.Time)
		s.Precompiles = vm.ActivePrecompiledContracts(rules)
		err = state.Apply(s.View.State, s.Precompiles)
	}
	if err != nil {
		s.View.Close()
		return nil, err
	}
	return s, nil
}

// Run executes a message. An error means that it could not begin; whether it failed is in the result.
func (s *Scene) Run(ctx context.Context, msg *core.Message, cfg vm.Config) (*core.ExecutionResult, error) {
	bc := s.Block
	if msg.GasPrice.IsZero() {
		bc.BaseFee = new(big.Int)
	}
	cfg.NoBaseFee = true
	machine := s.View.EVM(bc, s.View.State, cfg)
	defer machine.Release()
	if s.Precompiles != nil {
		machine.SetPrecompiles(s.Precompiles)
	}
	defer late.Add(machine.Cancel)()
	defer context.AfterFunc(ctx, machine.Cancel)()
	res, err := core.ApplyMessage(machine, msg, core.NewGasPool(CallGas))
	if fault := s.View.Err(); fault != nil {
		return nil, fault
	}
	if machine.Cancelled() {
		return nil, ErrTimeout()
	}
	if err != nil {
		return nil, fmt.Errorf("err: %w (supplied gas %d)", err, msg.GasLimit)
	}
	return res, nil
}

func (a *api) call(ctx context.Context, args CallArgs, at *BlockRef, state *StateOverride,
	block *BlockOverrides) (hexutil.Bytes, error) {
	s, err := Open(a.Node, at, deref(state), block)
	if err != nil {
		return nil, err
	}
	defer s.View.Close()
	msg, err := args.Message(a.Config().ChainID, s.Block.BaseFee, CallGas)
	if err != nil {
		return nil, err
	}
	res, err := s.Run(ctx, msg.SkipExecutionGasCapCheck(), vm.Config{})
	switch {
	case err != nil:
		return nil, err
	case errors.Is(res.Err, vm.ErrExecutionReverted):
		return nil, RevertError(res.Revert())
	case res.Err != nil:
		return nil, res.Err
	}
	return res.Return(), nil
}

// estimateGas searches in the block that comes next unless the caller names another: there the transaction will run.
// On a chain that seals on demand the head's time may lie far back.
func (a *api) estimateGas(ctx context.Context, args CallArgs, at *BlockRef, state *StateOverride,
	block *BlockOverrides) (hexutil.Uint64, error) {
	if at == nil {
		at = &BlockRef{Pending: true}
	}
	s, err := Open(a.Node, at, deref(state), block)
	if err != nil {
		return 0, err
	}
	defer s.View.Close()
	msg, err := args.Message(a.Config().ChainID, s.Block.BaseFee, CallGas)
	if err != nil {
		return 0, err
	}
	if args.Gas == nil {
		msg.GasLimit = 0 // the estimator's sign for no wish
	}
	head := s.View.Header
	if at.Pending {
		head = types.CopyHeader(head)
		head.ParentHash = s.View.Hash
	}
	ctx, cancel := context.WithTimeout(ctx, CallTimeout)
	defer cancel()
	gas, returned, err := gasestimator.Estimate(ctx, msg, &gasestimator.Options{
		Config: a.Config(), Chain: headers{node: a.Node}, Header: contextHeader(head, s.Block), State: s.View.State,
		BlobBaseFee: s.Block.BlobBaseFee, ErrorRatio: estimateSlack,
	}, params.MaxTxGas)
	switch {
	case ctx.Err() != nil:
		return 0, ErrTimeout()
	case errors.Is(err, vm.ErrExecutionReverted):
		return 0, RevertError(returned)
	}
	return hexutil.Uint64(gas), err
}

func deref(s *StateOverride) StateOverride {
	if s == nil {
		return nil
	}
	return *s
}

// headers is what the estimator asks of a chain; it calls nothing else of the interface.
type headers struct {
	core.ChainContext
	node *evm.Node
}

func (h headers) Config() *params.ChainConfig { return h.node.Config() }
func (h headers) Engine() consensus.Engine    { return sealer{} }

func (h headers) GetHeader(hash common.Hash, number uint64) *types.Header {
	b, err := h.node.Block(number)
	if err != nil || b == nil || b.Hash != hash {
		return nil
	}
	return b.Header
}

type sealer struct{ consensus.Engine }

func (sealer) Author(h *types.Header) (common.Address, error) { return h.Coinbase, nil }
