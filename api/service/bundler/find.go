package bundler

import (
	"context"
	"math/big"
	"slices"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/crypto"

	"coffer/api/service/chain"
	"coffer/api/service/chain/evm"
	"coffer/api/service/chain/evm/ethrpc"
	"coffer/api/service/jsonrpc"
)

// Events of EntryPoint v0.7.
var (
	topicOperation = crypto.Keccak256Hash(
		[]byte("UserOperationEvent(bytes32,address,address,uint256,bool,uint256,uint256)"))
	topicBefore = crypto.Keccak256Hash([]byte("BeforeExecution()"))
)

// event is what a UserOperationEvent says beside its topics.
type event struct {
	nonce   *big.Int
	success bool
	cost    *big.Int // wei
	gas     *big.Int
}

func readEvent(data []byte) (e event, ok bool) {
	if len(data) != 4*32 {
		return e, false
	}
	word := func(i int) *big.Int { return new(big.Int).SetBytes(data[32*i : 32*i+32]) }
	return event{word(0), word(1).Sign() != 0, word(2), word(3)}, true
}

// paidFor is what an operation paid, in wei; false when the EntryPoint did not report it.
func paidFor(logs []chain.Log, point common.Address, hash common.Hash) (*big.Int, bool) {
	for _, l := range logs {
		if l.Address == point && len(l.Topics) == 4 && l.Topics[0] == topicOperation && l.Topics[1] == hash {
			e, ok := readEvent(l.Data)
			return e.cost, ok
		}
	}
	return nil, false
}

// found is an operation on chain.
type found struct {
	block *evm.Block
	tx    int // place of its transaction
	log   int // of its event among those of the receipt
	event event
}

// find looks an operation up by the event of the EntryPoint; nil when there is none.
func (b bundler) find(ctx context.Context, hash common.Hash) (*found, error) {
	logs, err := b.Node.Logs(ctx, evm.LogQuery{To: b.Node.Height(),
		Addresses: []common.Address{b.EntryPoint}, Topics: [][]common.Hash{{topicOperation}, {hash}}})
	if err != nil || len(logs) == 0 {
		return nil, err
	}
	at := logs[0]
	block, err := b.Node.Block(at.BlockNumber)
	if err != nil || block == nil || int(at.TxIndex) >= len(block.Receipts) {
		return nil, err
	}
	for i, l := range block.Receipts[at.TxIndex].Logs {
		if l.Index == at.Index {
			e, ok := readEvent(l.Data)
			if !ok {
				return nil, nil
			}
			return &found{block: block, tx: int(at.TxIndex), log: i, event: e}, nil
		}
	}
	return nil, nil
}

// byHash answers with an operation and its place. One that another contract submitted has a place and no operation to
// show, so that it is not found.
func (b bundler) byHash(ctx context.Context, p jsonrpc.Params) (any, error) {
	f, hash, err := b.asked(ctx, p)
	if err != nil || f == nil {
		return nil, err
	}
	ops, err := b.Codec.ReadHandleOps(f.block.Txs[f.tx].Data())
	if err != nil {
		return nil, nil // not a call of the EntryPoint
	}
	for _, u := range ops {
		if h, err := u.Hash(b.EntryPoint, new(big.Int).SetUint64(b.Chain.ID())); err == nil && h == hash {
			return struct {
				Operation Operation      `json:"userOperation"`
				Point     string         `json:"entryPoint"`
				Tx        common.Hash    `json:"transactionHash"`
				BlockHash common.Hash    `json:"blockHash"`
				Block     hexutil.Uint64 `json:"blockNumber"`
			}{Shown(u), b.EntryPoint.Hex(), f.block.Txs[f.tx].Hash(), f.block.Hash,
				hexutil.Uint64(f.block.Header.Number.Uint64())}, nil
		}
	}
	return nil, nil
}

// asked reads a hash and looks for its operation.
func (b bundler) asked(ctx context.Context, p jsonrpc.Params) (f *found, hash common.Hash, err error) {
	if err := p.AtMost(1); err != nil {
		return nil, hash, err
	}
	if err := p.Read(0, &hash); err != nil {
		return nil, hash, err
	}
	f, err = b.find(ctx, hash)
	return f, hash, err
}

// receipt answers with what came of an operation. Its logs are those between the end of validation, or the event of the
// operation before it, and its own event.
func (b bundler) receipt(ctx context.Context, p jsonrpc.Params) (any, error) {
	f, hash, err := b.asked(ctx, p)
	if err != nil || f == nil {
		return nil, err
	}
	whole := ethrpc.ReceiptAt(f.block, f.tx)
	own := whole.Logs[f.log]
	first := 0
	for i, l := range whole.Logs[:f.log] {
		if l.Address == b.EntryPoint && len(l.Topics) > 0 &&
			(l.Topics[0] == topicBefore || l.Topics[0] == topicOperation) {
			first = i + 1
		}
	}
	out := struct {
		Hash      common.Hash     `json:"userOpHash"`
		Point     string          `json:"entryPoint"`
		Sender    common.Address  `json:"sender"`
		Nonce     *hexutil.Big    `json:"nonce"`
		Paymaster *common.Address `json:"paymaster,omitempty"`
		Cost      *hexutil.Big    `json:"actualGasCost"`
		Gas       *hexutil.Big    `json:"actualGasUsed"`
		Success   bool            `json:"success"`
		Reason    string          `json:"reason,omitempty"`
		Logs      any             `json:"logs"`
		Receipt   any             `json:"receipt"`
	}{
		Hash: hash, Point: b.EntryPoint.Hex(), Sender: common.Address(own.Topics[2][12:]),
		Nonce: (*hexutil.Big)(f.event.nonce),
		Cost:  (*hexutil.Big)(f.event.cost), Gas: (*hexutil.Big)(f.event.gas), Success: f.event.success,
		Logs: slices.Clone(whole.Logs[first : f.log+1]), Receipt: whole,
	}
	if payer := common.Address(own.Topics[3][12:]); payer != (common.Address{}) {
		out.Paymaster = &payer
	}
	if !f.event.success {
		out.Reason = b.reason(f, hash)
	}
	return out, nil
}

// reason is what the calls of a failed operation returned, as data.
func (b bundler) reason(f *found, hash common.Hash) string {
	var logs []chain.Log
	for _, l := range f.block.Receipts[f.tx].Logs {
		logs = append(logs, chain.Log{Address: l.Address, Topics: l.Topics, Data: l.Data})
	}
	outcomes, err := b.Codec.Outcomes(logs)
	if err != nil {
		return ""
	}
	for _, o := range outcomes {
		if o.OpHash == hash {
			return hexutil.Encode(o.Revert)
		}
	}
	return ""
}

// status answers where an operation is: on chain, or unknown.
func (b bundler) status(ctx context.Context, p jsonrpc.Params) (any, error) {
	f, _, err := b.asked(ctx, p)
	if err != nil {
		return nil, err
	}
	out := struct {
		Status string       `json:"status"`
		Tx     *common.Hash `json:"transactionHash"`
	}{Status: "not_found"}
	if f == nil {
		return out, nil
	}
	hash := f.block.Txs[f.tx].Hash()
	out.Status, out.Tx = "included", &hash
	if !f.event.success {
		out.Status = "reverted"
	}
	return out, nil
}
