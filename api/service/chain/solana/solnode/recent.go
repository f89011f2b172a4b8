package solnode

import (
	"context"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"

	"coffer/api/op/solmsg"
)

// hashHeights is how many block heights a block hash is taken for.
const hashHeights = 150

// Recent implements solana.Others. A node that names a height below the true one would have a message given up that
// still lands, so the height is at least that which follows from the quorum's own; one far above it is refused.
func (c *Chain) Recent(ctx context.Context, at uint64) (hash solmsg.Key, lastHeight, lastValid uint64, err error) {
	if err := c.Ready(ctx); err != nil {
		return hash, 0, 0, err
	}
	var got wireHash
	var height uint64
	group, both := errgroup.WithContext(ctx)
	group.Go(func() error {
		return c.Pool.Call(both, &got, "getLatestBlockhash", config{Commitment: Confirmed})
	})
	group.Go(func() (err error) {
		height, err = c.Pool.Reached(both, "getBlockHeight", config{Commitment: Confirmed})
		return err
	})
	if err := group.Wait(); err != nil {
		return hash, 0, 0, err
	}
	hash, lastHeight, err = got.read(height)
	return hash, lastHeight, at + hashLife, err
}

// wireHash is the answer to getLatestBlockhash.
type wireHash struct {
	Value struct {
		Blockhash  string `json:"blockhash"`
		LastHeight uint64 `json:"lastValidBlockHeight"`
	} `json:"value"`
}

func (w wireHash) read(height uint64) (hash solmsg.Key, lastHeight uint64, err error) {
	if hash, err = solmsg.ParseKey(w.Value.Blockhash); err != nil {
		return hash, 0, fmt.Errorf("getLatestBlockhash: %w", errForm)
	}
	least := height + hashHeights
	if least < height || w.Value.LastHeight > least+hashHeights {
		return hash, 0, fmt.Errorf("getLatestBlockhash: a hash that is taken until block %d, at block %d",
			w.Value.LastHeight, height)
	}
	return hash, max(least, w.Value.LastHeight), nil
}

// FeeCap implements solana.Others.
func (c *Chain) FeeCap() uint64 { return c.cap }

// UnitPrice implements solana.Others: nine of ten recent blocks took a message for that price, and it is never nothing.
func (c *Chain) UnitPrice(ctx context.Context, writable ...solmsg.Key) (uint64, error) {
	if err := c.Ready(ctx); err != nil {
		return 0, err
	}
	names := make([]string, len(writable))
	for i, k := range writable {
		names[i] = k.String()
	}
	var got []wirePrice
	if err := c.Pool.Call(ctx, &got, "getRecentPrioritizationFees", names); err != nil {
		return 0, err
	}
	return priceOf(got), nil
}

// wirePrice is what the cheapest message of a block paid for a compute unit, in micro-lamports.
type wirePrice struct {
	Fee uint64 `json:"prioritizationFee"`
}

// leastPrice is what a unit is offered at least: a message that offers nothing is the first to be dropped.
const leastPrice = 1_000

// priceOf is the ninth of ten of what blocks took.
func priceOf(blocks []wirePrice) uint64 {
	if len(blocks) == 0 {
		return leastPrice
	}
	fees := make([]uint64, len(blocks))
	for i, b := range blocks {
		fees[i] = b.Fee
	}
	slices.Sort(fees)
	return max(leastPrice, fees[(len(fees)-1)*9/10])
}
