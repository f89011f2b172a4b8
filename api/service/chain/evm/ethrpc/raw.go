package ethrpc

import (
	"context"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/rlp"

	"coffer/api/service/chain/evm"
	"coffer/api/service/jsonrpc"
)

// rawMethods answer in the encoding of the protocol.
func (a *api) rawMethods() jsonrpc.Methods {
	return jsonrpc.Methods{
		"eth_getRawTransactionByHash": one(a.rawTransaction),
		"debug_getRawTransaction":     one(a.rawTransaction),
		"eth_getRawTransactionByBlockNumberAndIndex": two(
			func(_ context.Context, n blockNumber, i hexutil.Uint) (hexutil.Bytes, error) {
				return a.rawTransactionIn(n.ref(), uint64(i))
			}),
		"eth_getRawTransactionByBlockHashAndIndex": two(
			func(_ context.Context, h common.Hash, i hexutil.Uint) (hexutil.Bytes, error) {
				return a.rawTransactionIn(&BlockRef{hash: &h}, uint64(i))
			}),
		"debug_getRawHeader": rawBlock(a, func(b *evm.Block) (hexutil.Bytes, error) {
			return rlp.EncodeToBytes(b.Header)
		}),
		"debug_getRawBlock": rawBlock(a, func(b *evm.Block) (hexutil.Bytes, error) {
			body := types.Body{Transactions: b.Txs, Withdrawals: types.Withdrawals{}}
			return rlp.EncodeToBytes(types.NewBlockWithHeader(b.Header).WithBody(body))
		}),
		"debug_getRawReceipts": rawBlock(a, func(b *evm.Block) ([]hexutil.Bytes, error) {
			out := make([]hexutil.Bytes, len(b.Receipts))
			for i, rc := range b.Receipts {
				raw, err := rc.MarshalBinary()
				if err != nil {
					return nil, err
				}
				out[i] = raw
			}
			return out, nil
		}),
	}
}

// rawBlock answers of a block, which must exist.
func rawBlock[R any](a *api, encode func(*evm.Block) (R, error)) jsonrpc.Method {
	return one(func(_ context.Context, at BlockRef) (r R, err error) {
		b, err := at.Block(a.Node)
		if err != nil {
			return r, err
		}
		if b == nil {
			return r, errNoHeader
		}
		return encode(b)
	})
}

func (a *api) rawTransaction(_ context.Context, hash common.Hash) (hexutil.Bytes, error) {
	b, i, err := a.find(hash)
	if err != nil {
		return nil, err
	}
	if b != nil {
		return b.Txs[i].MarshalBinary()
	}
	if tx, _ := a.held(hash); tx != nil {
		return tx.MarshalBinary()
	}
	return nil, nil
}

func (a *api) rawTransactionIn(at *BlockRef, i uint64) (hexutil.Bytes, error) {
	b, err := at.Block(a.Node)
	if err != nil || b == nil || i >= uint64(len(b.Txs)) {
		return nil, err
	}
	return b.Txs[i].MarshalBinary()
}
