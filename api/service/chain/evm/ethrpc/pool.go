package ethrpc

import (
	"context"
	"fmt"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"

	"coffer/api/service/jsonrpc"
)

// poolMethods show what waits for a nonce. Nothing is ever pending: what can be sealed is sealed at once.
func (a *api) poolMethods() jsonrpc.Methods {
	return jsonrpc.Methods{
		"txpool_status": value(func() map[string]hexutil.Uint {
			queued := 0
			for _, txs := range a.Held() {
				queued += len(txs)
			}
			return map[string]hexutil.Uint{"pending": 0, "queued": hexutil.Uint(queued)}
		}),
		"txpool_content": value(func() map[string]map[string]map[string]*Transaction {
			return pool(a.Held(), TransactionOf)
		}),
		"txpool_inspect": value(func() map[string]map[string]map[string]string {
			return pool(a.Held(), inspect)
		}),
		"txpool_contentFrom": one(func(_ context.Context, of common.Address) (any, error) {
			return map[string]map[string]*Transaction{
				"pending": {}, "queued": byNonce(a.Held()[of], of, TransactionOf),
			}, nil
		}),
	}
}

func pool[R any](held map[common.Address]types.Transactions,
	show func(*types.Transaction, common.Address) R) map[string]map[string]map[string]R {
	queued := map[string]map[string]R{}
	for from, txs := range held {
		queued[from.Hex()] = byNonce(txs, from, show)
	}
	return map[string]map[string]map[string]R{"pending": {}, "queued": queued}
}

func byNonce[R any](txs types.Transactions, from common.Address,
	show func(*types.Transaction, common.Address) R) map[string]R {
	out := map[string]R{}
	for _, tx := range txs {
		out[fmt.Sprint(tx.Nonce())] = show(tx, from)
	}
	return out
}

func inspect(tx *types.Transaction, _ common.Address) string {
	to := "contract creation"
	if tx.To() != nil {
		to = tx.To().Hex()
	}
	return fmt.Sprintf("%s: %v wei + %v gas × %v wei", to, tx.Value(), tx.Gas(), tx.GasPrice())
}
