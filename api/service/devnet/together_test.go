package devnet_test

import (
	"context"
	"errors"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api/service/chain"
	"coffer/api/service/deployment"
	"coffer/api/service/devnet"
	"coffer/api/service/store"
)

// Blocks of several chains are one commit: all of them with what they record, or none.
func TestR6_BlocksOfSeveralChainsAreOneCommit(t *testing.T) {
	counted := &commitCounter{Store: store.NewMemory()}
	in := open(t, counted)
	wrong := errors.New("not this one")
	requests := func(last func([]chain.Receipt) error) map[uint64]chain.SealRequest {
		out := map[uint64]chain.SealRequest{}
		for i, id := range in.ChainIDs {
			req := chain.SealRequest{
				Time: devnet.Time + 1<<29, Txs: []chain.Tx{
					{From: in.Faucet, To: common.HexToAddress("0x1234567890"), Gas: 21_000}},
				Accept: chain.AllSucceed,
				Record: func(tx store.Tx, b chain.Block) error {
					return tx.Bucket("test").Put([]byte{byte(i)},
						b.Hash[:])
				},
			}
			if i == len(in.ChainIDs)-1 && last != nil {
				req.Accept = last
			}
			out[id] = req
		}
		return out
	}
	heads := func() (out []uint64) {
		for _, id := range in.ChainIDs {
			out = append(out, in.Chains[id].Head().Number)
		}
		return out
	}
	before := heads()
	if _, err := in.SealAll(context.Background(), requests(func([]chain.Receipt) error { return wrong })); !errors.Is(
		err, wrong) ||
		!errors.Is(err, chain.ErrNotAccepted) {
		t.Errorf("%v", err)
	}
	bad := requests(nil)
	req := bad[in.ChainIDs[2]]
	req.Record = func(store.Tx, chain.Block) error { return wrong }
	bad[in.ChainIDs[2]] = req
	if _, err := in.SealAll(context.Background(), bad); !errors.Is(err, wrong) {
		t.Errorf("%v", err)
	}
	for i, n := range heads() {
		if n != before[i] {
			t.Errorf("chain %d went from %d to %d", in.ChainIDs[i], before[i], n)
		}
	}
	commits := counted.n
	blocks, err := in.SealAll(context.Background(), requests(nil))
	if err != nil || len(blocks) != len(in.ChainIDs) || counted.n != commits+1 {
		t.Fatalf("%d blocks, %d commits, %v", len(blocks), counted.n-commits, err)
	}
	for i, n := range heads() {
		id := in.ChainIDs[i]
		if stored, found, err := in.Chains[id].Block(context.Background(), n); n != before[i]+1 || err != nil ||
			!found ||
			stored.Hash != blocks[id].Hash {
			t.Errorf("chain %d: block %d, %v", id, n, err)
		}
	}
	if _, err := in.SealAll(context.Background(), map[uint64]chain.SealRequest{424242: {}}); !errors.Is(err,
		deployment.ErrChain) {
		t.Errorf("an unknown chain: %v", err)
	}
}

// commitCounter counts commits.
type commitCounter struct {
	store.Store
	n int
}

func (c *commitCounter) Update(fn func(store.Tx) error) error {
	c.n++
	return c.Store.Update(fn)
}
