package remotenet

import (
	"context"
	"errors"
	"fmt"
	"math/big"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"

	"coffer/api/networks"
	"coffer/api/rpcpool"
	"coffer/api/service/chain"
	"coffer/api/service/chain/remote"
	"coffer/api/service/deployment"
)

// node is one chain with its endpoints.
type node struct {
	*remote.Chain
	name, coin string
	pool       *rpcpool.Pool
	final      networks.Finality
	feeCap     *big.Int
}

var (
	_ chain.Finder      = (*node)(nil)
	_ deployment.Reader = (*node)(nil)
)

// header is what is read of a block.
type header struct {
	Number hexutil.Uint64 `json:"number"`
	Time   hexutil.Uint64 `json:"timestamp"`
}

func (n *node) header(ctx context.Context, at any) (h header, err error) {
	err = n.pool.Call(ctx, &h, "eth_getBlockByNumber", at, false)
	return h, err
}

// Find implements chain.Finder. A node that does not search so many blocks at once is asked for halves of them.
func (n *node) Find(ctx context.Context, from, to uint64, at common.Address, topics ...common.Hash) (chain.Receipt,
	bool, bool, error) {
	none := func(err error) (chain.Receipt, bool, bool, error) { return chain.Receipt{}, false, false, err }
	head, err := n.header(ctx, "latest")
	if err != nil {
		return none(err)
	}
	first, err := n.firstSince(ctx, from, uint64(head.Number)+1)
	if err != nil {
		return none(err)
	}
	end, err := n.firstSince(ctx, to+1, uint64(head.Number)+1)
	if err != nil || end <= first {
		return none(err)
	}
	tx, found, err := n.search(ctx, first, end-1, at, topics)
	if err != nil || !found {
		return none(err)
	}
	r, found, err := n.Receipt(ctx, tx)
	if err != nil || !found {
		return none(err)
	}
	final, err := n.Final(ctx)
	return r, true, err == nil && r.Block <= final, err
}

// firstSince is the first block below a number whose time is at least t, or that number.
func (n *node) firstSince(ctx context.Context, t, below uint64) (uint64, error) {
	low, high := uint64(0), below
	for step := uint64(64); low < high; step *= 4 { // first, how far back: what is looked for is recent
		at := high - min(step, high)
		h, err := n.header(ctx, hexutil.Uint64(at))
		if err != nil {
			return 0, err
		}
		if uint64(h.Time) < t {
			low = at + 1
			break
		}
		high = at
	}
	for low < high {
		at := low + (high-low)/2
		h, err := n.header(ctx, hexutil.Uint64(at))
		if err != nil {
			return 0, err
		}
		if uint64(h.Time) < t {
			low = at + 1
		} else {
			high = at
		}
	}
	return low, nil
}

// search finds the transaction of a log in a range of blocks.
func (n *node) search(ctx context.Context, first, last uint64, at common.Address, topics []common.Hash) (common.Hash,
	bool, error) {
	var logs []struct {
		Tx      common.Hash `json:"transactionHash"`
		Removed bool        `json:"removed"`
	}
	err := n.pool.Call(ctx, &logs, "eth_getLogs", map[string]any{"fromBlock": hexutil.Uint64(first),
		"toBlock": hexutil.Uint64(last), "address": at, "topics": topics})
	if refused, is := errors.AsType[*rpcpool.Error](err); is && first < last {
		middle := first + (last-first)/2
		tx, found, err := n.search(ctx, first, middle, at, topics)
		if err == nil && !found {
			tx, found, err = n.search(ctx, middle+1, last, at, topics)
		}
		if err != nil {
			err = fmt.Errorf("%w (of more blocks at once: %w)", err, refused)
		}
		return tx, found, err
	}
	for _, l := range logs {
		if err == nil && !l.Removed {
			return l.Tx, true, nil
		}
	}
	return common.Hash{}, false, err
}
