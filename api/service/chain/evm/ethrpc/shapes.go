package ethrpc

import (
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"

	"coffer/api/service/chain/evm"
)

// Header is a header as a node answers it.
type Header struct {
	Number           *hexutil.Big      `json:"number"`
	Hash             *common.Hash      `json:"hash"`
	ParentHash       common.Hash       `json:"parentHash"`
	Nonce            *types.BlockNonce `json:"nonce"`
	MixHash          common.Hash       `json:"mixHash"`
	UncleHash        common.Hash       `json:"sha3Uncles"`
	LogsBloom        types.Bloom       `json:"logsBloom"`
	StateRoot        common.Hash       `json:"stateRoot"`
	Miner            *common.Address   `json:"miner"`
	Difficulty       *hexutil.Big      `json:"difficulty"`
	ExtraData        hexutil.Bytes     `json:"extraData"`
	GasLimit         hexutil.Uint64    `json:"gasLimit"`
	GasUsed          hexutil.Uint64    `json:"gasUsed"`
	Timestamp        hexutil.Uint64    `json:"timestamp"`
	TransactionsRoot common.Hash       `json:"transactionsRoot"`
	ReceiptsRoot     common.Hash       `json:"receiptsRoot"`
	BaseFeePerGas    *hexutil.Big      `json:"baseFeePerGas,omitempty"`
	WithdrawalsRoot  *common.Hash      `json:"withdrawalsRoot,omitempty"`
	BlobGasUsed      *hexutil.Uint64   `json:"blobGasUsed,omitempty"`
	ExcessBlobGas    *hexutil.Uint64   `json:"excessBlobGas,omitempty"`
	ParentBeaconRoot *common.Hash      `json:"parentBeaconBlockRoot,omitempty"`
	RequestsHash     *common.Hash      `json:"requestsHash,omitempty"`
}

// HeaderOf is the header h with the given hash.
func HeaderOf(h *types.Header, hash common.Hash) Header {
	return Header{
		Number: (*hexutil.Big)(h.Number), Hash: &hash, ParentHash: h.ParentHash, Nonce: &h.Nonce, MixHash: h.MixDigest,
		UncleHash: h.UncleHash, LogsBloom: h.Bloom, StateRoot: h.Root, Miner: &h.Coinbase,
		Difficulty: (*hexutil.Big)(h.Difficulty), ExtraData: h.Extra, GasLimit: hexutil.Uint64(h.GasLimit),
		GasUsed: hexutil.Uint64(h.GasUsed), Timestamp: hexutil.Uint64(h.Time), TransactionsRoot: h.TxHash,
		ReceiptsRoot: h.ReceiptHash, BaseFeePerGas: (*hexutil.Big)(h.BaseFee), WithdrawalsRoot: h.WithdrawalsHash,
		BlobGasUsed: (*hexutil.Uint64)(h.BlobGasUsed), ExcessBlobGas: (*hexutil.Uint64)(h.ExcessBlobGas),
		ParentBeaconRoot: h.ParentBeaconRoot, RequestsHash: h.RequestsHash,
	}
}

// Block is a block as a node answers it. Transactions are hashes, or all of type Transaction.
type Block struct {
	Header
	Size         hexutil.Uint64    `json:"size"`
	Transactions []any             `json:"transactions"`
	Uncles       []common.Hash     `json:"uncles"`
	Withdrawals  types.Withdrawals `json:"withdrawals"`
}

// BlockOf is the block b, its transactions in full or by hash.
func BlockOf(b *evm.Block, full bool) *Block {
	out := &Block{
		Header: HeaderOf(b.Header, b.Hash), Size: hexutil.Uint64(b.Size), Transactions: make([]any, len(b.Txs)),
		Uncles: []common.Hash{}, Withdrawals: types.Withdrawals{},
	}
	for i, tx := range b.Txs {
		if full {
			out.Transactions[i] = transactionAt(b, i)
		} else {
			out.Transactions[i] = tx.Hash()
		}
	}
	return out
}

// Transaction is a transaction as a node answers it: fields of other types are absent, and a pending one has no place.
type Transaction struct {
	BlockHash         *common.Hash                 `json:"blockHash"`
	BlockNumber       *hexutil.Uint64              `json:"blockNumber"`
	BlockTimestamp    *hexutil.Uint64              `json:"blockTimestamp"`
	From              common.Address               `json:"from"`
	Gas               hexutil.Uint64               `json:"gas"`
	GasPrice          *hexutil.Big                 `json:"gasPrice"`
	GasFeeCap         *hexutil.Big                 `json:"maxFeePerGas,omitempty"`
	GasTipCap         *hexutil.Big                 `json:"maxPriorityFeePerGas,omitempty"`
	Hash              common.Hash                  `json:"hash"`
	Input             hexutil.Bytes                `json:"input"`
	Nonce             hexutil.Uint64               `json:"nonce"`
	To                *common.Address              `json:"to"`
	TransactionIndex  *hexutil.Uint64              `json:"transactionIndex"`
	Value             *hexutil.Big                 `json:"value"`
	Type              hexutil.Uint64               `json:"type"`
	AccessList        *types.AccessList            `json:"accessList,omitempty"`
	ChainID           *hexutil.Big                 `json:"chainId,omitempty"`
	AuthorizationList []types.SetCodeAuthorization `json:"authorizationList,omitempty"`
	V                 *hexutil.Big                 `json:"v"`
	R                 *hexutil.Big                 `json:"r"`
	S                 *hexutil.Big                 `json:"s"`
	YParity           *hexutil.Uint64              `json:"yParity,omitempty"`
}

// TransactionOf is a transaction that waits.
func TransactionOf(tx *types.Transaction, from common.Address) *Transaction {
	v, r, s := tx.RawSignatureValues()
	out := &Transaction{
		From: from, Gas: hexutil.Uint64(tx.Gas()), GasPrice: (*hexutil.Big)(tx.GasPrice()), Hash: tx.Hash(),
		Input: tx.Data(), Nonce: hexutil.Uint64(tx.Nonce()), To: tx.To(), Value: (*hexutil.Big)(tx.Value()),
		Type: hexutil.Uint64(tx.Type()), V: (*hexutil.Big)(v), R: (*hexutil.Big)(r), S: (*hexutil.Big)(s),
		AuthorizationList: tx.SetCodeAuthorizations(),
	}
	if id := tx.ChainId(); tx.Type() != types.LegacyTxType || id.Sign() != 0 {
		out.ChainID = (*hexutil.Big)(id)
	}
	if tx.Type() != types.LegacyTxType {
		list, parity := tx.AccessList(), hexutil.Uint64(v.Uint64())
		if list == nil {
			list = types.AccessList{}
		}
		out.AccessList, out.YParity = &list, &parity
	}
	if tx.Type() >= types.DynamicFeeTxType {
		out.GasFeeCap, out.GasTipCap = (*hexutil.Big)(tx.GasFeeCap()), (*hexutil.Big)(tx.GasTipCap())
	}
	return out
}

// transactionAt is transaction i of a block.
func transactionAt(b *evm.Block, i int) *Transaction {
	out := TransactionOf(b.Txs[i], b.Senders[i])
	number, at, index := hexutil.Uint64(b.Header.Number.Uint64()), hexutil.Uint64(b.Header.Time), hexutil.Uint64(i)
	out.BlockHash, out.BlockNumber, out.BlockTimestamp, out.TransactionIndex = &b.Hash, &number, &at, &index
	if b.Txs[i].Type() >= types.DynamicFeeTxType {
		out.GasPrice = (*hexutil.Big)(b.Receipts[i].EffectiveGasPrice)
	}
	return out
}

// Receipt is a receipt as a node answers it.
type Receipt struct {
	BlockHash         common.Hash     `json:"blockHash"`
	BlockNumber       hexutil.Uint64  `json:"blockNumber"`
	TransactionHash   common.Hash     `json:"transactionHash"`
	TransactionIndex  hexutil.Uint64  `json:"transactionIndex"`
	From              common.Address  `json:"from"`
	To                *common.Address `json:"to"`
	ContractAddress   *common.Address `json:"contractAddress"`
	GasUsed           hexutil.Uint64  `json:"gasUsed"`
	CumulativeGasUsed hexutil.Uint64  `json:"cumulativeGasUsed"`
	EffectiveGasPrice *hexutil.Big    `json:"effectiveGasPrice"`
	Type              hexutil.Uint64  `json:"type"`
	Status            hexutil.Uint64  `json:"status"`
	Logs              []*types.Log    `json:"logs"`
	LogsBloom         types.Bloom     `json:"logsBloom"`
}

// ReceiptAt is the receipt of transaction i of a block.
func ReceiptAt(b *evm.Block, i int) *Receipt {
	rc, tx := b.Receipts[i], b.Txs[i]
	out := &Receipt{
		BlockHash: b.Hash, BlockNumber: hexutil.Uint64(b.Header.Number.Uint64()), TransactionHash: tx.Hash(),
		TransactionIndex: hexutil.Uint64(i), From: b.Senders[i], To: tx.To(), GasUsed: hexutil.Uint64(rc.GasUsed),
		CumulativeGasUsed: hexutil.Uint64(rc.CumulativeGasUsed),
		EffectiveGasPrice: (*hexutil.Big)(rc.EffectiveGasPrice),
		Type:              hexutil.Uint64(tx.Type()), Status: hexutil.Uint64(rc.Status), Logs: logsOf(rc.Logs),
		LogsBloom: rc.Bloom,
	}
	if rc.ContractAddress != (common.Address{}) {
		out.ContractAddress = &rc.ContractAddress
	}
	return out
}

// logsOf is never null.
func logsOf(logs []*types.Log) []*types.Log {
	if logs == nil {
		return []*types.Log{}
	}
	return logs
}
