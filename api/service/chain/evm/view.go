package evm

import (
	"context"
	"fmt"

	"github.com/ethereum/go-ethereum/core/state"
	"github.com/ethereum/go-ethereum/core/vm"

	"coffer/api/service/chain"
	"coffer/api/service/chain/evm/exec"
	"coffer/api/service/store"
)

// view is a chain.State on a snapshot.
type view struct {
	*exec.Machine
	head head
	snap store.Snapshot
}

// State opens a view of the head for simulations in a block of time at, or the
// head's time if that is later.
func (c *Chain) State(ctx context.Context, at uint64) (chain.State, error) {
	snap, h, r, err := c.open(ctx)
	if err != nil {
		return nil, err
	}
	st, err := state.NewWithReader(h.header.Root, &database{reader: r}, r)
	if err != nil {
		snap.Release()
		return nil, fmt.Errorf("open state: %w", err)
	}
	pending := childHeader(c.env.cfg, h.header, h.hash, at)
	e := vm.NewEVM(exec.BlockContext(pending, r.blockHash), st, c.env.cfg, vm.Config{NoBaseFee: true})
	e.SetJumpDestCache(c.env.cache.jumps)
	return &view{Machine: exec.NewMachine(st, e, snap.Err), head: h, snap: snap}, nil
}

func (v *view) Header() chain.Header { return toHeader(v.head) }

// Close releases the snapshot; a second call does nothing.
func (v *view) Close() {
	v.Machine.Close()
	v.snap.Release()
}
