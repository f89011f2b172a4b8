package remotenet

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"

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
	quorum     int
	gate       gate
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

func (n *node) header(ctx context.Context, number uint64) (h header, err error) {
	err = n.pool.Agreed(ctx, &h, "eth_getBlockByNumber", hexutil.Uint64(number), false)
	return h, err
}

// finalBlock is the newest that is final, nil when none is yet.
func (n *node) finalBlock(ctx context.Context, head header) (*header, error) {
	if !n.final.Counted {
		var b *header
		err := n.pool.AgreedBlock(ctx, &b, "finalized")
		return b, err
	}
	if uint64(head.Number) < n.final.Blocks {
		return nil, nil
	}
	h, err := n.header(ctx, uint64(head.Number)-n.final.Blocks)
	return &h, err
}

// Find implements chain.Finder. What became of an operation hangs on it, so a quorum decides.
func (n *node) Find(ctx context.Context, from, to uint64, at common.Address, topics ...common.Hash) (chain.Receipt,
	bool, bool, error) {
	none := func(err error) (chain.Receipt, bool, bool, error) { return chain.Receipt{}, false, false, err }
	var head header
	if err := n.pool.AgreedBlock(ctx, &head, "latest"); err != nil {
		return none(err)
	}
	final, err := n.finalBlock(ctx, head) // before the search, which then has seen what is final
	if err != nil {
		return none(err)
	}
	first, err := n.firstSince(ctx, from, uint64(head.Number)+1)
	if err != nil {
		return none(err)
	}
	end, err := n.firstSince(ctx, to+1, uint64(head.Number)+1)
	if err != nil {
		return none(err)
	}
	var found *entry
	if first < end {
		found, err = n.search(ctx, first, end-1, at, topics)
	}
	if err != nil || found == nil {
		return chain.Receipt{}, false, err == nil && final != nil && uint64(final.Time) > to, err
	}
	r, known, err := n.Receipt(ctx, found.Tx)
	if err != nil {
		return none(err)
	}
	if !known || r.BlockHash != found.Block || !slices.ContainsFunc(r.Logs, func(l chain.Log) bool {
		return l.Address == at && slices.Equal(l.Topics, found.Topics) && bytes.Equal(l.Data, found.Data)
	}) {
		return none(fmt.Errorf("the receipt of %s is not that of its log", found.Tx))
	}
	return r, true, final != nil && r.Block <= uint64(final.Number), nil
}

// firstSince is the first block below a number whose time is at least t, or that number.
func (n *node) firstSince(ctx context.Context, t, below uint64) (uint64, error) {
	low, high := uint64(0), below
	for step := uint64(64); low < high; step *= 4 { // first, how far back: what is looked for is recent
		at := high - min(step, high)
		h, err := n.header(ctx, at)
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
		h, err := n.header(ctx, at)
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

// entry is a log in the form of the nodes.
type entry struct {
	Tx      common.Hash   `json:"transactionHash"`
	Block   common.Hash   `json:"blockHash"`
	Topics  []common.Hash `json:"topics"`
	Data    hexutil.Bytes `json:"data"`
	Removed bool          `json:"removed"`
}

// search finds a log in a range of blocks. Where too few nodes search so many at once, they are asked for halves.
func (n *node) search(ctx context.Context, first, last uint64, at common.Address, topics []common.Hash) (*entry,
	error) {
	var logs []entry
	err := n.pool.Agreed(ctx, &logs, "eth_getLogs", map[string]any{"fromBlock": hexutil.Uint64(first),
		"toBlock": hexutil.Uint64(last), "address": at, "topics": topics})
	_, refused := errors.AsType[*rpcpool.Error](err)
	_, apart := errors.AsType[*rpcpool.NoQuorumError](err)
	if (refused || apart) && first < last && ctx.Err() == nil {
		middle := first + (last-first)/2
		found, errHalf := n.search(ctx, first, middle, at, topics)
		if errHalf == nil && found == nil {
			found, errHalf = n.search(ctx, middle+1, last, at, topics)
		}
		return found, errHalf
	}
	for _, l := range logs {
		if err == nil && !l.Removed {
			return &l, nil
		}
	}
	return nil, err
}
