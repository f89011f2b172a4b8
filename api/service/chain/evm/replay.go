package evm

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/ethereum/go-ethereum/core"
	"github.com/ethereum/go-ethereum/core/state"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/core/vm"
)

// Step is a transaction of a block that is replayed, and the state before it.
type Step struct {
	Block   *Block
	Index   int
	Tx      *types.Transaction
	Message *core.Message
	Context vm.BlockContext
	State   *state.StateDB // what is done to it, the transactions that follow see

	ctx context.Context
	b   *builder
	ran bool
}

// ErrStop ends a replay early and without an error.
var ErrStop = errors.New("enough of the replay")

// Replay executes a block again on the state before it, transaction by transaction. It calls each before every one;
// each may run the transaction with a tracer, otherwise it runs without. It fails with a *PrunedError below the window.
// The context ends it, also inside of a transaction.
func (n *Node) Replay(ctx context.Context, number uint64, each func(*Step) error) error {
	block, err := n.Block(number)
	if err != nil {
		return err
	}
	if block == nil || number == 0 {
		return ErrUnknownBlock
	}
	v, err := n.View(number - 1)
	if err != nil {
		return err
	}
	defer v.Close()
	rec, hash, err := n.chain.record(v.snap, number)
	if err != nil {
		return err
	}
	if rec == nil || hash != block.Hash {
		return ErrUnknownBlock // it went away meanwhile
	}
	b, err := n.chain.env.begin(v.reader, head{header: v.Header, hash: v.Hash}, block.Header.Time)
	if err != nil {
		return err
	}
	defer b.evm.Release()
	if err := b.place(rec.Placed); err != nil {
		return err
	}
	for i, tx := range block.Txs {
		msg, err := core.TransactionToMessage(tx, signedBy{n.chain.env.signer, block.Senders[i]}, b.header.BaseFee)
		if err != nil {
			return err
		}
		if slices.Contains(rec.Unsigned, uint64(i)) {
			msg.SkipEOACheck()
		}
		s := &Step{Block: block, Index: i, Tx: tx, Message: msg, Context: b.evm.Context, State: b.state, ctx: ctx, b: b}
		err = each(s)
		if errors.Is(err, ErrStop) {
			return nil
		}
		if err == nil && !s.ran {
			err = s.Run(vm.Config{})
		}
		if err == nil {
			err = errors.Join(b.state.Error(), v.snap.Err())
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Run executes the transaction. A tracer of cfg sees its start and its end as well, and every change of the state.
func (s *Step) Run(cfg vm.Config) error {
	s.ran = true
	evm := vm.NewEVM(s.Context, state.NewHookedState(s.State, cfg.Tracer), s.b.env.cfg, cfg)
	defer evm.Release()
	evm.SetJumpDestCache(s.b.env.cache.jumps)
	stop := context.AfterFunc(s.ctx, evm.Cancel)
	defer stop()
	s.State.SetTxContext(s.Tx.Hash(), s.Index, uint32(s.Index+1))
	_, _, err := core.ApplyTransactionWithEVM(s.ctx, s.Message, s.b.gas, s.State, s.Context.BlockNumber, s.Block.Hash,
		s.Context.Time, s.Tx, evm)
	if err != nil {
		return fmt.Errorf("replay of transaction %d: %w", s.Index, err)
	}
	return s.ctx.Err()
}
