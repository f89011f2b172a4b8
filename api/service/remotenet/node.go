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
	dear       func(base *big.Int) error
	quorum     int
	gate       gate
}

var (
	_ chain.Finder      = (*node)(nil)
	_ chain.Witness     = (*node)(nil)
	_ chain.Historian   = (*node)(nil)
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
	head, final, err := n.tip(ctx) // before the search, which then has seen what is final
	if err != nil {
		return none(err)
	}
	first, err := n.firstSince(ctx, from, uint64(head.Number)+1)
	if err != nil {
		return none(err)
	}
	end := uint64(head.Number) + 1
	if uint64(head.Time) > to {
		if end, err = n.firstSince(ctx, to+1, end); err != nil {
			return none(err)
		}
	}
	var logs []entry
	if first < end {
		logs, err = n.search(ctx, first, end-1, at, topics)
	}
	if err != nil || len(logs) == 0 {
		return chain.Receipt{}, false, err == nil && final != nil && uint64(final.Time) > to, err
	}
	found := logs[0]
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

// Ask implements chain.Witness.
func (n *node) Ask(ctx context.Context, to common.Address, data []byte) (answer []byte, final uint64, err error) {
	if err := n.ready(ctx); err != nil {
		return nil, 0, err
	}
	head, last, err := n.tip(ctx)
	if err != nil {
		return nil, 0, err
	}
	if last != nil {
		head.Number, final = max(head.Number, last.Number), uint64(last.Time)
	}
	var out hexutil.Bytes
	err = n.pool.Agreed(ctx, &out, "eth_call", map[string]any{"to": to, "data": hexutil.Bytes(data)}, head.Number)
	return out, final, err
}

// tip is the newest block that a quorum has, and the newest final one, nil when there is none yet.
func (n *node) tip(ctx context.Context) (head header, final *header, err error) {
	if err = n.pool.AgreedBlock(ctx, &head, "latest"); err == nil {
		final, err = n.finalBlock(ctx, head)
	}
	return head, final, err
}

// Events implements chain.Historian.
func (n *node) Events(ctx context.Context, since uint64, at common.Address, topic common.Hash) (found []chain.Event,
	until uint64, err error) {
	if err := n.ready(ctx); err != nil {
		return nil, 0, err
	}
	_, last, err := n.tip(ctx)
	if err != nil || last == nil {
		return nil, 0, err
	}
	first, err := n.firstSince(ctx, since, uint64(last.Number)+1)
	if err != nil || first > uint64(last.Number) {
		return nil, uint64(last.Time), err
	}
	logs, err := n.search(ctx, first, uint64(last.Number), at, []common.Hash{topic})
	for _, l := range logs {
		var tx *struct {
			To    common.Address `json:"to"`
			Input hexutil.Bytes  `json:"input"`
			Block hexutil.Uint64 `json:"blockNumber"`
		}
		if err == nil {
			err = n.pool.Agreed(ctx, &tx, "eth_getTransactionByHash", l.Tx)
		}
		if err == nil && tx == nil {
			err = fmt.Errorf("there is no transaction %s of a log", l.Tx)
		}
		if err != nil {
			return nil, 0, err
		}
		h, err := n.header(ctx, uint64(tx.Block))
		if err != nil {
			return nil, 0, err
		}
		found = append(found, chain.Event{Log: chain.Log{Address: at, Topics: l.Topics, Data: l.Data}, Tx: l.Tx,
			To: tx.To, Time: uint64(h.Time), Input: tx.Input})
	}
	return found, uint64(last.Time), err
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

// search finds the logs of a range of blocks, in their order. Where too few nodes search so many at once, they are
// asked for halves.
func (n *node) search(ctx context.Context, first, last uint64, at common.Address, topics []common.Hash) (logs []entry,
	err error) {
	err = n.pool.Agreed(ctx, &logs, "eth_getLogs", map[string]any{"fromBlock": hexutil.Uint64(first),
		"toBlock": hexutil.Uint64(last), "address": at, "topics": topics})
	_, refused := errors.AsType[*rpcpool.Error](err)
	_, apart := errors.AsType[*rpcpool.NoQuorumError](err)
	if (refused || apart) && first < last && ctx.Err() == nil {
		middle := first + (last-first)/2
		lower, err := n.search(ctx, first, middle, at, topics)
		if err != nil {
			return nil, err
		}
		upper, err := n.search(ctx, middle+1, last, at, topics)
		return append(lower, upper...), err
	}
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(logs, func(l entry) bool { return l.Removed }), nil
}
