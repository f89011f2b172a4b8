package devnet

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"sync"

	"github.com/ethereum/go-ethereum/common"
	"golang.org/x/sync/errgroup"

	"coffer/api/caip"
	"coffer/api/catalog"
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
	made := sync.OnceValues(func() (*alloc, error) {
		return newAlloc(p, in.Catalog, parties{in.Operator.Address(), in.Attester.Address(), in.Treasury.Address(),
			in.Faucet.Address(), in.EscrowSalt, in.Endowed})
	})
	specs := func() ([]evm.Spec, error) {
		a, err := made()
		if err != nil {
			return nil, err
		}
		return in.specs(a), nil
	}
	if err := in.begin(s, fresh, specs, o); err != nil {
		return err
	}
	if err := in.extend(s, made, uint64(o.Clock().Unix())); err != nil {
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
func (in *Installation) specs(a *alloc) []evm.Spec {
	out := make([]evm.Spec, len(in.ChainIDs))
	var work sync.WaitGroup
	for i, id := range in.ChainIDs {
		work.Go(func() {
			out[i] = a.spec(id)
			out[i].Time = in.time
		})
	}
	work.Wait()
	return out
}

// extend sets up what the catalogue file adds and the data does not have yet: a chain gets its genesis, and in one
// commit, beside the note of it, chains get their block 1 and tokens their place. It refuses a file that lacks what the
// data has.
func (in *Installation) extend(s store.Store, made func() (*alloc, error), now uint64) error {
	known, err := store.Get(s, bucketInstallation, []byte(keyAdded))
	if err != nil {
		return err
	}
	had, lines := strings.Split(string(known), "\n"), []string{""}
	fresh := map[caip.Chain][]catalog.Entity{}
	for _, e := range in.Catalog.Added() {
		line := fmt.Sprintf("%s: %s, %d decimals, %s", e.Asset.Display(), e.Symbol, e.Decimals, e.Name)
		if lines = append(lines, line); !slices.Contains(had, line) {
			fresh[e.Asset.Chain] = append(fresh[e.Asset.Chain], e)
		}
	}
	had = slices.DeleteFunc(had, func(line string) bool { return slices.Contains(lines, line) })
	if len(had) > 0 {
		return fmt.Errorf("%w: %s", ErrCatalog, strings.Join(had, "; "))
	}
	if len(fresh) == 0 {
		return nil
	}
	a, err := made()
	if err != nil {
		return err
	}
	chains, err := evm.OpenAll(s, in.specs(a))
	if err != nil {
		return err
	}
	var blocks []evm.Sealing
	for _, c := range chains {
		added := fresh[caip.EVM(c.ID())]
		if len(added) == 0 {
			continue
		}
		b := evm.Sealing{Chain: c, Request: chain.SealRequest{Time: now, Accept: chain.AllSucceed}}
		if c.Head().Number == 0 {
			b.Request.Txs = in.stock()
		}
		tokens, caps := a.place(added)
		b.Place = append(tokens, evm.Account{Address: a.filler.Address, Storage: caps})
		blocks = append(blocks, b)
	}
	blocks[0].Request.Record = func(tx store.Tx, _ chain.Block) error {
		return tx.Bucket(bucketInstallation).Put([]byte(keyAdded), []byte(strings.Join(lines, "\n")))
	}
	_, err = evm.SealAll(context.Background(), blocks)
	return err
}

// begin makes the chains when fresh. Otherwise they must be of this program's generation; what the mark says is not
// computed again, as that takes longer than all the rest of opening.
func (in *Installation) begin(s store.Store, fresh bool, specs func() ([]evm.Spec, error), o Options) error {
	if !fresh {
		mark, err := store.Get(s, bucketInstallation, []byte(keyMade)) // nil: an early program made none
		of := 1
		_, none := fmt.Sscanf(string(mark), "%d ", &of)
		switch {
		case err != nil || string(mark) == in.mark():
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
	aside, copyTo := store.NewStage()
	chains, err := evm.OpenAll(aside, specs)
	if err != nil {
		return err
	}
	var group errgroup.Group
	for _, c := range chains {
		group.Go(func() error {
			req := chain.SealRequest{Time: now, Txs: in.stock(), Accept: chain.AllSucceed}
			if _, err := c.Seal(context.Background(), req); err != nil {
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
		if len(in.Endowed) > 0 {
			if err := b.Put([]byte(keyEndowed), joined(in.Endowed)); err != nil {
				return err
			}
		}
		return errors.Join(copyTo(tx), b.Put([]byte(keyMade), []byte(in.mark())),
			b.Put([]byte(keySeed), in.seed))
	})
}

// stock is block 1: the treasury's transfers of coins to filler, faucet and operator.
func (in *Installation) stock() []chain.Tx {
	coin := supply(nativeDecimals)
	return []chain.Tx{
		in.coins(in.filler, percent(coin, solverPercent)),
		in.coins(in.Faucet.Address(), percent(coin, faucetPercent)),
		in.coins(in.Operator.Address(), percent(coin, operatorPercent)),
	}
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
