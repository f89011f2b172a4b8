package devnet

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"sync"

	"github.com/ethereum/go-ethereum/common"
	"golang.org/x/sync/errgroup"

	"coffer/api/service/chain"
	"coffer/api/service/chain/evm"
	"coffer/api/service/deployment"
	"coffer/api/service/outbox"
	"coffer/api/service/store"
)

// Shares of every supply, in percent: of tokens from genesis on, of coins out of the treasury in block 1, which keeps
// the rest.
const (
	solverPercent   = 40
	faucetPercent   = 20
	operatorPercent = 1 // native coin only: the operator pays gas
)

// openChains opens every chain, and makes them when fresh.
func (in *Installation) openChains(s store.Store, fresh bool, p pinned, o Options) error {
	specs := sync.OnceValues(func() ([]evm.Spec, error) { return in.specs(p) })
	if err := in.begin(s, fresh, specs, o); err != nil {
		return err
	}
	return in.reopen(s, specs)
}

// reopen opens chains that are there.
func (in *Installation) reopen(s store.Store, specs func() ([]evm.Spec, error)) error {
	chains, err := evm.Reopen(s, in.ChainIDs, specs)
	if err != nil {
		return err
	}
	in.Chains = make(map[uint64]chain.Chain, len(chains))
	for i, c := range chains {
		if c.Head().Number == 0 {
			return fmt.Errorf("eip155:%d has no block 1: the first start was not finished", in.ChainIDs[i])
		}
		in.Chains[in.ChainIDs[i]] = c
	}
	return nil
}

// specs is what every chain begins with.
func (in *Installation) specs(p pinned) ([]evm.Spec, error) {
	who := parties{in.Operator.Address(), in.Attester.Address(), in.Treasury.Address(), in.Faucet.Address(),
		in.EscrowSalt}
	a, err := newAlloc(p, in.Catalog, who)
	if err != nil {
		return nil, err
	}
	out := make([]evm.Spec, len(in.ChainIDs))
	for i, id := range in.ChainIDs {
		out[i] = a.spec(id, in.Catalog, who)
		out[i].Time = in.time
	}
	return out, nil
}

// begin makes the chains when fresh. Otherwise they must be of this program's generation; what the mark says is not
// computed again, as that takes longer than all the rest of opening.
func (in *Installation) begin(s store.Store, fresh bool, specs func() ([]evm.Spec, error), o Options) error {
	if !fresh {
		mark, err := in.marked(s)
		of := 1
		_, none := fmt.Sscanf(mark, "%d ", &of)
		switch {
		case err != nil || mark == in.mark():
			return err
		case none == nil && of > generation:
			return ErrNewer
		}
		return ErrVersion
	}
	all, err := specs()
	if err != nil {
		return err
	}
	return in.create(s, all, o)
}

// mark is that of what this program makes.
func (in *Installation) mark() string {
	if in.time == Time {
		return fmt.Sprintf("%d %s", generation, made)
	}
	return fmt.Sprintf("%d %s from %d", generation, made, in.time)
}

// marked reads the mark of a store, "" when an early program made it.
func (in *Installation) marked(s store.Store) (mark string, err error) {
	err = s.View(func(tx store.Tx) error {
		mark = string(tx.Bucket(bucketInstallation).Get([]byte(keyMade)))
		return nil
	})
	return mark, err
}

// SendAll takes a step on each of several chains, all in one commit or none. Its errors wrap those of chain.Chain.Seal.
func (in *Installation) SendAll(ctx context.Context, steps map[uint64]outbox.EVMStep) error {
	var sealings []evm.Sealing
	for _, id := range in.ChainIDs {
		step, asked := steps[id]
		if !asked {
			continue
		}
		c, embedded := in.Chains[id].(*evm.Chain)
		if !embedded {
			return fmt.Errorf("%w: eip155:%d is not in the store of the others", deployment.ErrChain, id)
		}
		sealings = append(sealings, evm.Sealing{Chain: c, Request: outbox.Block(step)})
	}
	if len(sealings) != len(steps) {
		return fmt.Errorf("%w: blocks are asked of %d chains and %d are there", deployment.ErrChain, len(steps),
			len(sealings))
	}
	_, err := evm.SealAll(ctx, sealings)
	return err
}

// create makes genesis and block 1 of every chain, and the Solana ledger, aside and commits them together with the
// seed, so that a first start that is cut off leaves nothing behind.
func (in *Installation) create(s store.Store, specs []evm.Spec, o Options) error {
	now := uint64(o.Clock().Unix())
	aside := newStage()
	chains, err := evm.OpenAll(aside, specs)
	if err != nil {
		return err
	}
	var group errgroup.Group
	for _, c := range chains {
		group.Go(func() error {
			if err := in.stock(c, now); err != nil {
				return fmt.Errorf("block 1 of eip155:%d: %w", c.ID(), err)
			}
			return nil
		})
	}
	group.Go(func() error { return in.createSolana(aside, now) })
	if err := group.Wait(); err != nil {
		return err
	}
	return s.Update(func(tx store.Tx) error {
		if tx.Bucket(bucketInstallation).Get([]byte(keySeed)) != nil {
			return errors.New("another process made the installation at the same time")
		}
		b := tx.Bucket(bucketInstallation)
		return errors.Join(aside.copyTo(tx), b.Put([]byte(keyMade), []byte(in.mark())),
			b.Put([]byte(keySeed), in.seed))
	})
}

// stock seals block 1: the treasury's transfers of coins to filler, faucet and operator.
func (in *Installation) stock(c chain.Chain, now uint64) error {
	filler, faucet, operator := in.filler, in.Faucet.Address(), in.Operator.Address()
	coin := supply(nativeDecimals)
	txs := []chain.Tx{
		in.coins(filler, percent(coin, solverPercent)),
		in.coins(faucet, percent(coin, faucetPercent)),
		in.coins(operator, percent(coin, operatorPercent)),
	}
	_, err := c.Seal(context.Background(), chain.SealRequest{Time: now, Txs: txs, Accept: chain.AllSucceed})
	return err
}

// transferGas is enough for a transfer to a contract that takes coins.
const transferGas = 100_000

func (in *Installation) coins(to common.Address, v *big.Int) chain.Tx {
	return chain.Tx{From: in.Treasury, To: to, Value: v, Gas: transferGas}
}

func percent(v *big.Int, p int64) *big.Int {
	out := new(big.Int).Mul(v, big.NewInt(p))
	return out.Quo(out, big.NewInt(100))
}
