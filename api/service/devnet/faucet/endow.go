package faucet

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/ethereum/go-ethereum/common"
	"golang.org/x/sync/errgroup"

	"coffer/api/caip"
	"coffer/api/catalog"
	"coffer/api/op/solmsg"
	"coffer/api/service/chain"
	"coffer/api/service/chain/solana"
	"coffer/api/service/devnet"
	"coffer/api/service/outbox"
	"coffer/api/service/store"
)

// perBlock bounds the transfers of one block, so that they fit into its gas.
const perBlock = 200

// Endow gives accounts of a development network 10 000 of every chain's coin and of its tokens: of all of them, or of
// those that test funds have when few. It asks neither budget nor history, and gives an account once:
// nothing to those that genesis endowed.
func (f *Faucet) Endow(ctx context.Context, to []common.Address, few bool) error {
	to = slices.DeleteFunc(slices.Clone(to), func(a common.Address) bool {
		return slices.Contains(f.Installation.Endowed, a)
	})
	f.turn.Lock()
	defer f.turn.Unlock()
	var group errgroup.Group
	for _, id := range f.Installation.ChainIDs {
		group.Go(func() error {
			key := func(a common.Address) []byte { return endowed(onChain(a, id)) }
			fresh, err := unendowed(f, to, key)
			if err == nil && len(fresh) > 0 {
				err = f.endowOn(ctx, id, fresh, few, key)
			}
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return fmt.Errorf("fund the accounts of the devnet: %w", err)
	}
	return nil
}

// endowed is the key that says that an account has its endowment: no other key of the bucket begins like it.
func endowed(account []byte) []byte { return append([]byte("endowed/"), account...) }

// unendowed are those accounts, each once, that have no endowment yet.
func unendowed[T comparable](f *Faucet, to []T, key func(T) []byte) (fresh []T, err error) {
	err = f.Installation.Store.View(func(tx store.Tx) error {
		for _, a := range to {
			if tx.Bucket(bucketFunds).Get(key(a)) == nil && !slices.Contains(fresh, a) {
				fresh = append(fresh, a)
			}
		}
		return nil
	})
	return fresh, err
}

// endowOn gives on one chain and notes it with the last block.
func (f *Faucet) endowOn(ctx context.Context, id uint64, to []common.Address, few bool,
	key func(common.Address) []byte) error {
	var all []chain.Tx
	for _, e := range f.Installation.Catalog.On(caip.EVM(id)) {
		if few && !e.Asset.IsNative() && !isShare(f.Installation.Catalog, e) {
			continue
		}
		g := gift{e, devnet.Endowment(e.Decimals)}
		for _, a := range to {
			all = append(all, g.transfer(f.Installation, a))
		}
	}
	left := len(all)
	for txs := range slices.Chunk(all, perBlock) {
		left -= len(txs)
		note := func(tx store.Tx) (err error) {
			for _, a := range to {
				err = errors.Join(err, tx.Bucket(bucketFunds).Put(key(a), []byte{funded}))
			}
			return err
		}
		if left > 0 {
			note = nil
		}
		if _, err := f.Installation.Outbox.EVM(id).Send(ctx, outbox.EVMStep{
			Time: uint64(f.Clock().Unix()), Txs: txs, Check: chain.AllSucceed,
			Final: func([]chain.Receipt) outbox.Change { return note },
		}); err != nil {
			return err
		}
	}
	return nil
}

// isShare reports whether test funds have an asset.
func isShare(c *catalog.Catalog, e catalog.Entity) bool {
	return slices.ContainsFunc(devnet.FundAssets(), func(asset caip.AggregateID) bool {
		agg, ok := c.Aggregate(asset)
		return ok && slices.Contains(agg.Entities, e)
	})
}

// EndowSolana is Endow for accounts of Solana.
func (f *Faucet) EndowSolana(ctx context.Context, to []solmsg.Key) error {
	f.turn.Lock()
	defer f.turn.Unlock()
	fresh, err := unendowed(f, to, func(k solmsg.Key) []byte { return endowed(k[:]) })
	for _, k := range fresh {
		if err == nil {
			err = f.endowSolana(ctx, k)
		}
	}
	if err != nil {
		return fmt.Errorf("fund the accounts of the devnet: %w", err)
	}
	return nil
}

// tokensPerTransaction is how many accounts of tokens one transaction makes and fills within its size.
const tokensPerTransaction = 3

// endowSolana gives to one account of Solana, all in one commit.
func (f *Faucet) endowSolana(ctx context.Context, k solmsg.Key) error {
	faucet, at := f.Installation.SolanaFaucet, uint64(f.Clock().Unix())
	parts := [][]solmsg.Build{nil}
	for _, e := range f.Installation.Catalog.On(caip.SolanaMainnet()) {
		mint, token := e.Asset.Mint()
		if !token {
			parts[0] = append(parts[0], solmsg.SystemTransfer(faucet.Key(), k, devnet.Endowment(e.Decimals).Uint64()))
			continue
		}
		from, err := solmsg.AssociatedTokenAccount(faucet.Key(), mint, solmsg.TokenProgram())
		if err != nil {
			return err
		}
		into, err := solmsg.AssociatedTokenAccount(k, mint, solmsg.TokenProgram())
		if err != nil {
			return err
		}
		if last := len(parts) - 1; len(parts[last]) >= 2*tokensPerTransaction {
			parts = append(parts, nil)
		}
		last := len(parts) - 1
		parts[last] = append(parts[last], solmsg.CreateATAIdempotent(faucet.Key(), k, mint),
			solmsg.TokenTransferChecked(from, mint, into, faucet.Key(), devnet.Endowment(e.Decimals).Uint64(),
				uint8(e.Decimals)))
	}
	hash, _, err := f.Installation.Solana.Blockhash(ctx, at)
	if err != nil {
		return err
	}
	var txs []solana.Tx
	for _, builds := range parts {
		m, err := solmsg.Compose(faucet.Key(), hash, builds...)
		if err != nil {
			return err
		}
		tx, err := solana.Sign(ctx, m, faucet)
		if err != nil {
			return err
		}
		txs = append(txs, tx)
	}
	final, err := f.Installation.Outbox.Solana.Send(ctx, outbox.SolanaStep{
		Time: at, Txs: txs, Check: solana.AllSucceed,
		Final: func([]solana.Receipt) outbox.Change {
			return func(tx store.Tx) error { return tx.Bucket(bucketFunds).Put(endowed(k[:]), []byte{funded}) }
		},
	})
	if err == nil && !final {
		err = errors.New("what is sent on an embedded ledger is final at once")
	}
	return err
}
