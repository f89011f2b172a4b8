package ethrpc

import (
	"encoding/json"
	"errors"
	"math"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"

	"coffer/api/service/chain/evm"
)

// BlockRef names a block: a number, a tag or a hash. The zero value is the head.
type BlockRef struct {
	// Pending is set by the tag: the state is the head's, the block the next one.
	Pending bool
	number  *uint64
	hash    *common.Hash
}

// UnmarshalJSON reads a tag, a number, a hash or the object of EIP-1898. requireCanonical needs no attention: every
// block is canonical here.
func (b *BlockRef) UnmarshalJSON(data []byte) error {
	*b = BlockRef{}
	var o struct {
		BlockNumber *blockNumber `json:"blockNumber"`
		BlockHash   *common.Hash `json:"blockHash"`
		Canonical   bool         `json:"requireCanonical"`
	}
	if len(data) > 0 && data[0] == '{' {
		if err := json.Unmarshal(data, &o); err != nil {
			return err
		}
		switch {
		case o.BlockNumber != nil && o.BlockHash != nil:
			return errors.New("cannot specify both BlockHash and BlockNumber, choose one or the other")
		case o.BlockNumber != nil:
			b.set(*o.BlockNumber)
		case o.BlockHash != nil:
			b.hash = o.BlockHash
		default:
			return errors.New("must specify either BlockHash or BlockNumber")
		}
		return nil
	}
	var s string
	if err := json.Unmarshal(data, &s); err != nil {
		return err
	}
	if len(s) == 2+2*common.HashLength {
		b.hash = new(common.Hash)
		return b.hash.UnmarshalText([]byte(s))
	}
	var n blockNumber
	if err := n.UnmarshalText([]byte(s)); err != nil {
		return err
	}
	b.set(n)
	return nil
}

func (b *BlockRef) set(n blockNumber) { b.Pending, b.number = n.pending, n.number }

// Number finds the number of the block; false when there is no such block (yet).
func (b *BlockRef) Number(n *evm.Node) (uint64, bool, error) {
	switch {
	case b != nil && b.hash != nil:
		return n.NumberOf(*b.hash)
	case b != nil && b.number != nil:
		return *b.number, *b.number <= n.Height(), nil
	default:
		return n.Height(), true, nil
	}
}

// known is the number of the block, which must be there.
func (b *BlockRef) known(n *evm.Node) (uint64, error) {
	at, found, err := b.Number(n)
	switch {
	case err != nil || found:
		return at, err
	case b.hash != nil:
		return 0, errNoHash
	default:
		return 0, errNoHeader
	}
}

// View opens the state after the block. The caller closes it.
func (b *BlockRef) View(n *evm.Node) (*evm.View, error) {
	at, err := b.known(n)
	if err != nil {
		return nil, err
	}
	return n.View(at)
}

// Block reads the block; nil when there is none. The pending one is empty: what can be sealed is sealed at once.
func (b *BlockRef) Block(n *evm.Node) (*evm.Block, error) {
	switch {
	case b != nil && b.hash != nil:
		return n.BlockByHash(*b.hash)
	case b != nil && b.Pending:
		return pendingBlock(n)
	}
	at, found, err := b.Number(n)
	if err != nil || !found {
		return nil, err
	}
	return n.Block(at)
}

// pendingBlock is the next block as far as it is known.
func pendingBlock(n *evm.Node) (*evm.Block, error) {
	v, err := (*BlockRef)(nil).View(n)
	if err != nil {
		return nil, err
	}
	defer v.Close()
	h := contextHeader(v.Header, v.Context(true))
	h.ParentHash, h.Bloom, h.GasUsed = v.Hash, types.Bloom{}, 0
	h.TxHash, h.ReceiptHash = types.EmptyTxsHash, types.EmptyReceiptsHash
	block := types.NewBlockWithHeader(h).WithBody(types.Body{Withdrawals: types.Withdrawals{}})
	return &evm.Block{Header: h, Hash: block.Hash(), Size: block.Size()}, nil
}

// blockNumber is a tag or a number; without a number it is the head.
type blockNumber struct {
	pending bool
	number  *uint64
}

func (b *blockNumber) UnmarshalText(text []byte) error {
	*b = blockNumber{}
	switch string(text) {
	case "latest", "safe", "finalized":
		return nil
	case "pending":
		b.pending = true
		return nil
	case "earliest":
		b.number = new(uint64)
		return nil
	}
	n, err := hexutil.DecodeUint64(string(text))
	if err != nil {
		return err
	}
	if n > math.MaxInt64 {
		return errors.New("block number larger than int64")
	}
	b.number = &n
	return nil
}

func (b *blockNumber) ref() *BlockRef {
	if b == nil {
		return nil
	}
	return &BlockRef{Pending: b.pending, number: b.number}
}

// at is the number that is meant when the head is head.
func (b *blockNumber) at(head uint64) uint64 {
	if b == nil || b.number == nil {
		return head
	}
	return *b.number
}
