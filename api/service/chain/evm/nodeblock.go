package evm

import (
	"math/big"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
)

// newBlock derives from a stored block what its record leaves out. It takes the record over.
func newBlock(r *record, hash common.Hash) *Block {
	h := r.Header
	b := &Block{Header: h, Hash: hash, Txs: r.Txs}
	b.Size = types.NewBlockWithHeader(h).
		WithBody(types.Body{Transactions: r.Txs, Withdrawals: []*types.Withdrawal{}}).Size()
	var cumulative uint64
	var logs uint
	for i, tx := range r.Txs {
		o := r.Outcomes[i]
		cumulative += o.GasUsed
		rc := &types.Receipt{
			Type: tx.Type(), Status: types.ReceiptStatusFailed, CumulativeGasUsed: cumulative, Logs: o.Logs,
			TxHash: tx.Hash(), GasUsed: o.GasUsed, EffectiveGasPrice: effectivePrice(tx, h.BaseFee),
			BlockHash: hash, BlockNumber: new(big.Int).Set(h.Number), TransactionIndex: uint(i),
		}
		if o.Success {
			rc.Status = types.ReceiptStatusSuccessful
		}
		if rc.Logs == nil {
			rc.Logs = []*types.Log{}
		}
		if tx.To() == nil {
			rc.ContractAddress = crypto.CreateAddress(o.From, tx.Nonce())
		}
		for _, l := range rc.Logs {
			at(l, h, hash, rc.TxHash, i, logs)
			logs++
		}
		rc.Bloom = types.CreateBloom(rc)
		b.Senders, b.Receipts = append(b.Senders, o.From), append(b.Receipts, rc)
	}
	return b
}

// effectivePrice is what a unit of gas of a sealed transaction cost.
func effectivePrice(tx *types.Transaction, baseFee *big.Int) *big.Int {
	price := new(big.Int).Add(baseFee, tx.GasTipCap())
	if price.Cmp(tx.GasFeeCap()) > 0 {
		price.Set(tx.GasFeeCap())
	}
	return price
}
