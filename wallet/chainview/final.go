package chainview

import (
	"context"
	"errors"
	"math/big"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"

	"coffer/api/op"
	"coffer/api/rpcpool"
	"coffer/api/rpcpool/reads"
	"coffer/wallet/verify"
)

var errNoneFinal = errors.New("no block is final yet")

// Reach asks for the next nonces of places in the newest final block: what is used there stays used. Places of chains
// without a node are left out.
func (v *View) Reach(ctx context.Context, places []verify.Place) []verify.Reached {
	return each(ctx, v, places, func(p verify.Place) uint64 { return p.Chain }, (*chain).reach,
		func(p verify.Place, why string) verify.Reached { return verify.Reached{Place: p, Trouble: why} })
}

func (c *chain) reach(ctx context.Context, p verify.Place) (verify.Reached, error) {
	r := verify.Reached{Place: p}
	b, err := c.finalBlock(ctx)
	if err != nil {
		return r, err
	}
	r.Block = uint64(b.Number)
	var own reads.Quantity
	asks := []reads.Ask{{Method: "eth_getTransactionCount", Params: []any{p.Account}, Into: &own}}
	if !p.Own() {
		asks[0] = reads.CallOf(p.EntryPoint, op.GetNonceCalldata(p.Account, p.Key))
	}
	if err := c.at.Pinned(ctx, reads.Block{Number: r.Block, Hash: b.Hash}, asks); err != nil {
		return r, err
	}
	if asks[0].Err != nil {
		return r, asks[0].Err
	}
	if p.Own() {
		r.Next = own.ToInt()
	} else if n := *asks[0].Into.(*hexutil.Bytes); len(n) == common.HashLength {
		r.Next = new(big.Int).SetBytes(n)
	}
	return r, nil
}

// finalBlock is the newest that is final.
func (c *chain) finalBlock(ctx context.Context) (b rpcpool.Block, err error) {
	if !c.final.Counted {
		err = c.pool.AgreedBlock(ctx, &b, "finalized")
	} else if b, err = c.newest(ctx); err == nil {
		if uint64(b.Number) < c.final.Blocks {
			return b, errNoneFinal
		}
		err = c.pool.Agreed(ctx, &b, "eth_getBlockByNumber", b.Number-hexutil.Uint64(c.final.Blocks), false)
	}
	if err == nil && b.Hash == (common.Hash{}) {
		err = errNoneFinal
	}
	return b, err
}
