package devnet_test

import (
	"errors"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api/service/chain"
	"coffer/api/service/deployment"
	"coffer/api/service/devnet"
	"coffer/api/service/outbox"
	"coffer/api/service/store"
)

// Blocks of several chains are one commit: all of them with what they record, or none.
func TestR6_BlocksOfSeveralChainsAreOneCommit(t *testing.T) {
	counted := &commitCounter{Store: store.NewMemory()}
	in := open(t, counted)
	wrong := errors.New("not this one")
	steps := func(last func([]chain.Receipt) error) map[uint64]outbox.EVMStep {
		out := map[uint64]outbox.EVMStep{}
		for i, id := range in.ChainIDs {
			step := outbox.EVMStep{
				Time:  devnet.Time + 1<<29,
				Txs:   []chain.Tx{{From: in.Faucet, To: common.HexToAddress("0x1234567890"), Gas: 21_000}},
				Check: chain.AllSucceed,
				Final: func(rs []chain.Receipt) outbox.Change {
					return func(tx store.Tx) error {
						return tx.Bucket("test").Put([]byte{byte(i)}, rs[0].BlockHash[:])
					}
				},
			}
			if i == len(in.ChainIDs)-1 && last != nil {
				step.Check = last
			}
			out[id] = step
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
	send := func(all map[uint64]outbox.EVMStep) error {
		return in.SendAll(t.Context(), all)
	}
	if err := send(steps(func([]chain.Receipt) error { return wrong })); !errors.Is(err, wrong) ||
		!errors.Is(err, chain.ErrNotAccepted) {
		t.Errorf("%v", err)
	}
	bad := steps(nil)
	step := bad[in.ChainIDs[2]]
	step.Final = func([]chain.Receipt) outbox.Change { return func(store.Tx) error { return wrong } }
	bad[in.ChainIDs[2]] = step
	if err := send(bad); !errors.Is(err, wrong) {
		t.Errorf("%v", err)
	}
	for i, n := range heads() {
		if n != before[i] {
			t.Errorf("chain %d went from %d to %d", in.ChainIDs[i], before[i], n)
		}
	}
	commits := counted.n
	if err := send(steps(nil)); err != nil || counted.n != commits+1 {
		t.Fatalf("%d commits, %v", counted.n-commits, err)
	}
	for i, n := range heads() {
		id := in.ChainIDs[i]
		var noted []byte
		err := counted.View(func(tx store.Tx) error {
			noted = tx.Bucket("test").Get([]byte{byte(i)})
			return nil
		})
		if stored, found, errBlock := in.Chains[id].Block(t.Context(), n); n != before[i]+1 || err != nil ||
			errBlock != nil || !found || string(stored.Hash[:]) != string(noted) {
			t.Errorf("chain %d: block %d, %v, %v", id, n, err, errBlock)
		}
	}
	if err := send(map[uint64]outbox.EVMStep{424242: {}}); !errors.Is(err,
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
