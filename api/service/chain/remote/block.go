package remote

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"strconv"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"

	"coffer/api/rpcpool/reads"
	"coffer/api/service/chain"
)

// block is what eth_getBlockBy… answers, as far as it is needed.
type block struct {
	Number    *hexutil.Uint64 `json:"number"`
	Hash      *common.Hash    `json:"hash"`
	Parent    common.Hash     `json:"parentHash"`
	StateRoot common.Hash     `json:"stateRoot"`
	Time      *hexutil.Uint64 `json:"timestamp"`
	GasUsed   hexutil.Uint64  `json:"gasUsed"`
	GasLimit  hexutil.Uint64  `json:"gasLimit"`
	BaseFee   reads.Quantity  `json:"baseFeePerGas"`
	Coinbase  common.Address  `json:"miner"`
	Random    common.Hash     `json:"mixHash"`
	L1Number  *plainNumber    `json:"l1BlockNumber"` // Arbitrum: what code sees as the number
}

// plainNumber is a quantity, which anvil 1.7.1 writes as a JSON number where it imitates Arbitrum.
type plainNumber uint64

// UnmarshalJSON reads both forms.
func (n *plainNumber) UnmarshalJSON(raw []byte) error {
	if len(raw) > 0 && raw[0] == '"' {
		return (*hexutil.Uint64)(n).UnmarshalJSON(raw)
	}
	v, err := strconv.ParseUint(string(raw), 10, 64)
	*n = plainNumber(v)
	return err
}

// head checks that it is a block.
func (b *block) head() (*head, error) {
	if b.Number == nil || b.Hash == nil || b.Time == nil {
		return nil, errors.New("the node's answer is no block: number, hash or time is missing")
	}
	h := &head{
		Header: chain.Header{
			Number: uint64(*b.Number), Hash: *b.Hash, Parent: b.Parent, StateRoot: b.StateRoot, Time: uint64(*b.Time),
			GasUsed: uint64(b.GasUsed), BaseFee: b.BaseFee.ToInt(),
		},
		coinbase: b.Coinbase, random: b.Random, gasLimit: uint64(b.GasLimit),
		nextBaseFee: b.BaseFee.ToInt(), blobBaseFee: big.NewInt(1),
	}
	if b.L1Number != nil {
		n := uint64(*b.L1Number)
		h.shown = &n
	}
	return h, nil
}

// is reports whether it is the block of a head.
func (b *block) is(h *head) bool { return b != nil && b.Hash != nil && *b.Hash == h.Hash }

// transaction is what eth_getTransactionByHash answers, and is in blocks.
type transaction struct {
	Hash           common.Hash     `json:"hash"`
	Value          reads.Quantity  `json:"value"`
	Authorizations []authorization `json:"authorizationList"`
}

// receipt is what eth_getTransactionReceipt answers.
type receipt struct {
	TxHash  common.Hash     `json:"transactionHash"`
	Index   hexutil.Uint64  `json:"transactionIndex"`
	Block   *hexutil.Uint64 `json:"blockNumber"`
	Hash    *common.Hash    `json:"blockHash"`
	From    common.Address  `json:"from"`
	To      *common.Address `json:"to"`
	Status  *hexutil.Uint64 `json:"status"`
	GasUsed hexutil.Uint64  `json:"gasUsed"`
	Logs    []struct {
		Address common.Address `json:"address"`
		Topics  []common.Hash  `json:"topics"`
		Data    data           `json:"data"`
	} `json:"logs"`
}

// join makes a receipt of what the node says in three places. They must be of one block.
func join(r receipt, t transaction, h *head) (out chain.Receipt, err error) {
	if r.Block == nil || r.Hash == nil || r.Status == nil || r.TxHash != t.Hash || *r.Hash != h.Hash ||
		uint64(*r.Block) != h.Number {
		return out, errTorn
	}
	out = chain.Receipt{
		TxHash: r.TxHash, From: r.From, Value: t.Value.ToInt(), Success: *r.Status == 1, GasUsed: uint64(r.GasUsed),
		Block: h.Number, BlockHash: h.Hash, Time: h.Time, Index: int(r.Index),
	}
	if r.To != nil {
		out.To = *r.To
	}
	for _, a := range t.Authorizations {
		signed, err := a.signed()
		if err != nil {
			return out, err
		}
		out.Authorizations = append(out.Authorizations, signed)
	}
	for _, l := range r.Logs {
		out.Logs = append(out.Logs, chain.Log{Address: l.Address, Topics: l.Topics, Data: l.Data})
	}
	return out, nil
}

var errTorn = errors.New("the node's answers are of different blocks: the chain moved meanwhile")

// tries is how often a read begins again because the chain moved meanwhile.
const tries = 3

func again[T any](read func() (T, bool, error)) (out T, found bool, err error) {
	for range tries {
		if out, found, err = read(); !errors.Is(err, errTorn) {
			break
		}
	}
	return out, found, err
}

// Receipt finds the receipt of a transaction in the chain as the nodes have it now; Final says how far that stays.
func (c *Chain) Receipt(ctx context.Context, hash common.Hash) (chain.Receipt, bool, error) {
	ctx, cancel := c.bound(ctx)
	defer cancel()
	return again(func() (out chain.Receipt, found bool, err error) {
		var r *receipt
		var t *transaction
		if err := c.send(ctx, []reads.Ask{
			{Method: "eth_getTransactionReceipt", Params: []any{hash}, Into: &r},
			{Method: "eth_getTransactionByHash", Params: []any{hash}, Into: &t},
		}); err != nil || r == nil || t == nil || r.Hash == nil {
			return out, false, err
		}
		var b *block
		if err := c.one(ctx, &b, "eth_getBlockByHash", *r.Hash, false); err != nil {
			return out, false, err
		}
		if b == nil {
			return out, false, errTorn
		}
		h, err := b.head()
		if err == nil {
			out, err = join(*r, *t, h)
		}
		return out, err == nil, err
	})
}

// Block finds a block by number in the chain as the nodes have it now; false when there is none yet.
func (c *Chain) Block(ctx context.Context, n uint64) (chain.Block, bool, error) {
	ctx, cancel := c.bound(ctx)
	defer cancel()
	return again(func() (out chain.Block, found bool, err error) {
		var b *struct {
			block
			Transactions []transaction `json:"transactions"`
		}
		var rs []receipt
		asks := []reads.Ask{
			{Method: "eth_getBlockByNumber", Params: []any{hexutil.Uint64(n), true}, Into: &b},
			{Method: "eth_getBlockReceipts", Params: []any{hexutil.Uint64(n)}, Into: &rs, Hint: true},
		}
		if err := c.send(ctx, asks); err != nil || b == nil {
			return out, false, err
		}
		if err := asks[1].Err; err != nil {
			return out, false, err
		}
		h, err := b.head()
		if err != nil {
			return out, false, err
		}
		if h.Number != n || len(rs) != len(b.Transactions) {
			return out, false, errTorn
		}
		out.Header = h.header()
		for i, r := range rs {
			joined, err := join(r, b.Transactions[i], h)
			if err != nil {
				return out, false, err
			}
			out.Receipts = append(out.Receipts, joined)
		}
		return out, true, nil
	})
}

// Final is the highest block that no longer goes away: that of so many blocks ago, or the one that the nodes name; 0
// when they name none.
func (c *Chain) Final(ctx context.Context) (uint64, error) {
	ctx, cancel := c.bound(ctx)
	defer cancel()
	tag := "finalized"
	if c.o.Final.Counted {
		tag = "latest"
	}
	var b *block
	asks := []reads.Ask{{Method: "eth_getBlockByNumber", Params: []any{tag, false}, Into: &b, Hint: true}}
	if err := c.send(ctx, asks); err != nil {
		return 0, err
	}
	if asks[0].Err != nil && !reads.Answered(asks[0].Err) || asks[0].Err != nil && c.o.Final.Counted {
		return 0, fmt.Errorf("find the final block: %w", asks[0].Err)
	}
	if b == nil {
		return 0, nil
	}
	h, err := b.head()
	if err != nil {
		return 0, err
	}
	if c.o.Final.Counted {
		return h.Number - min(h.Number, c.o.Final.Blocks), nil
	}
	return h.Number, nil
}
