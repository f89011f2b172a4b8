package evm

import (
	"github.com/ethereum/go-ethereum/common"

	"coffer/api/service/store"
)

// Has reports whether a transaction is in a block of the chain, as one version of the store sees it.
func (c *Chain) Has(tx store.Tx, hash common.Hash) bool {
	return tx.Bucket(c.layout.txs).Get(hash[:]) != nil
}
