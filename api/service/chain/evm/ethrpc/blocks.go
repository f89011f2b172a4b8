package ethrpc

import (
	"context"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"

	"coffer/api/service/chain/evm"
	"coffer/api/service/jsonrpc"
)

// Blocks are asked for by number or by hash; both methods of a pair are made of one function.
func byNumber[R any](a *api, f func(*evm.Block) R) jsonrpc.Method {
	return one(func(_ context.Context, n blockNumber) (*R, error) { return ofBlock(a, n.ref(), f) })
}

func byHash[R any](a *api, f func(*evm.Block) R) jsonrpc.Method {
	return one(func(_ context.Context, h common.Hash) (*R, error) { return ofBlock(a, &BlockRef{hash: &h}, f) })
}

// ofBlock is what f makes of a block, nil when there is no such block.
func ofBlock[R any](a *api, at *BlockRef, f func(*evm.Block) R) (*R, error) {
	b, err := at.Block(a.Node)
	if err != nil || b == nil {
		return nil, err
	}
	r := f(b)
	return &r, nil
}

func (a *api) blockMethods() jsonrpc.Methods {
	header := func(b *evm.Block) Header { return HeaderOf(b.Header, b.Hash) }
	size := func(b *evm.Block) hexutil.Uint64 { return hexutil.Uint64(len(b.Txs)) }
	uncles := func(*evm.Block) hexutil.Uint64 { return 0 }
	return jsonrpc.Methods{
		"eth_getBlockByNumber": two(a.blockByNumber),
		"eth_getBlockByHash": two(func(_ context.Context, h common.Hash, full bool) (*Block, error) {
			return a.block(&BlockRef{hash: &h}, full)
		}),
		"eth_getHeaderByNumber": one(func(_ context.Context, n blockNumber) (*Header, error) {
			if n.pending {
				return nil, nil
			}
			return ofBlock(a, n.ref(), header)
		}),
		"eth_getHeaderByHash": byHash(a, header),
		"eth_getBlockReceipts": one(func(_ context.Context, at BlockRef) (*[]*Receipt, error) {
			return ofBlock(a, &at, receipts)
		}),
		"eth_getBlockTransactionCountByNumber": byNumber(a, size),
		"eth_getBlockTransactionCountByHash":   byHash(a, size),
		"eth_getUncleCountByBlockNumber":       byNumber(a, uncles),
		"eth_getUncleCountByBlockHash":         byHash(a, uncles),
		"eth_getUncleByBlockNumberAndIndex":    two(noUncle[blockNumber]),
		"eth_getUncleByBlockHashAndIndex":      two(noUncle[common.Hash]),

		"eth_getTransactionByHash":  one(a.transaction),
		"eth_getTransactionReceipt": one(a.receipt),
		"eth_getTransactionByBlockNumberAndIndex": two(
			func(_ context.Context, n blockNumber, i hexutil.Uint) (*Transaction, error) {
				return a.transactionIn(n.ref(), uint64(i))
			}),
		"eth_getTransactionByBlockHashAndIndex": two(
			func(_ context.Context, h common.Hash, i hexutil.Uint) (*Transaction, error) {
				return a.transactionIn(&BlockRef{hash: &h}, uint64(i))
			}),
	}
}

func noUncle[A any](context.Context, A, hexutil.Uint) (any, error) { return nil, nil }

func (a *api) block(at *BlockRef, full bool) (*Block, error) {
	b, err := at.Block(a.Node)
	if err != nil || b == nil {
		return nil, err
	}
	return BlockOf(b, full), nil
}

func (a *api) blockByNumber(_ context.Context, n blockNumber, full bool) (*Block, error) {
	b, err := a.block(n.ref(), full)
	if err == nil && n.pending {
		b.Hash, b.Nonce, b.Miner = nil, nil, nil
	}
	return b, err
}

func receipts(b *evm.Block) []*Receipt {
	out := make([]*Receipt, len(b.Txs))
	for i := range b.Txs {
		out[i] = ReceiptAt(b, i)
	}
	return out
}

// find reads the block of a sealed transaction, nil when there is none.
func (a *api) find(tx common.Hash) (*evm.Block, int, error) {
	number, i, found, err := a.Lookup(tx)
	if err != nil || !found {
		return nil, 0, err
	}
	b, err := a.Block(number)
	if err != nil || b == nil || i >= len(b.Txs) || b.Txs[i].Hash() != tx {
		return nil, 0, err
	}
	return b, i, nil
}

func (a *api) transaction(_ context.Context, hash common.Hash) (*Transaction, error) {
	b, i, err := a.find(hash)
	if err != nil {
		return nil, err
	}
	if b != nil {
		return transactionAt(b, i), nil
	}
	if tx, from := a.held(hash); tx != nil {
		return TransactionOf(tx, from), nil
	}
	return nil, nil
}

// held finds a transaction that waits, and who sends it.
func (a *api) held(hash common.Hash) (*types.Transaction, common.Address) {
	for from, txs := range a.Held() {
		for _, tx := range txs {
			if tx.Hash() == hash {
				return tx, from
			}
		}
	}
	return nil, common.Address{}
}

func (a *api) receipt(_ context.Context, hash common.Hash) (*Receipt, error) {
	b, i, err := a.find(hash)
	if err != nil || b == nil {
		return nil, err
	}
	return ReceiptAt(b, i), nil
}

func (a *api) transactionIn(at *BlockRef, i uint64) (*Transaction, error) {
	b, err := at.Block(a.Node)
	if err != nil || b == nil || i >= uint64(len(b.Txs)) {
		return nil, err
	}
	return transactionAt(b, int(i)), nil
}
