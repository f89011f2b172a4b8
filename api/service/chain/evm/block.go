package evm

import (
	"context"
	"fmt"
	"math/big"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core"
	"github.com/ethereum/go-ethereum/core/state"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/core/vm"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/params"
	"github.com/ethereum/go-ethereum/trie"

	"coffer/api/service/chain"
	"coffer/api/service/chain/evm/exec"
	"coffer/api/service/store"
)

// env is what all blocks of one chain have in common.
type env struct {
	cfg    *params.ChainConfig
	signer types.Signer
	cache  *caches
}

func newEnv(id uint64, c *caches) *env {
	cfg := exec.Config(id, exec.Osaka)
	return &env{cfg: cfg, signer: types.LatestSigner(cfg), cache: c}
}

// head is a sealed block as its successor needs it. The header is never
// changed.
type head struct {
	header *types.Header
	hash   common.Hash
}

func (h head) number() uint64 { return h.header.Number.Uint64() }

// builder executes the transactions of one block on the state of its parent.
// It writes nothing.
type builder struct {
	env      *env
	header   *types.Header
	db       *database
	state    *state.StateDB
	evm      *vm.EVM
	gas      *core.GasPool
	placed   []placed
	unsigned []uint64
	txs      types.Transactions
	receipts types.Receipts
	outcomes []outcome
	reverts  [][]byte
}

// sealed is a finished block and everything that is stored of it.
type sealed struct {
	head    head
	record  *record
	reverts [][]byte
	update  *state.StateUpdate
}

// begin prepares the block after parent; r must be the state of parent.
func (e *env) begin(r *reader, parent head, time uint64) (*builder, error) {
	b := &builder{env: e, header: childHeader(e.cfg, parent.header, parent.hash, time), db: &database{reader: r}}
	st, err := state.NewWithReader(parent.header.Root, b.db, r)
	if err != nil {
		return nil, fmt.Errorf("open state: %w", err)
	}
	b.state = st
	b.evm = vm.NewEVM(exec.BlockContext(b.header, r.blockHash), st, e.cfg, vm.Config{})
	b.evm.SetJumpDestCache(e.cache.jumps)
	b.gas = core.NewGasPool(b.header.GasLimit)
	core.PreExecution(context.Background(), b.header.ParentBeaconRoot, parent.header, e.cfg, b.evm, b.header.Number,
		b.header.Time)
	return b, nil
}

// add executes one transaction. An error means that the protocol refuses it.
func (b *builder) add(tx *types.Transaction, signer types.Signer) error {
	msg, err := core.TransactionToMessage(tx, signer, b.header.BaseFee)
	if err != nil {
		return err
	}
	_, unsigned := signer.(asIf)
	if unsigned {
		msg.SkipEOACheck()
	}
	b.state.SetTxContext(tx.Hash(), len(b.txs), uint32(len(b.txs)+1))
	res, err := core.ApplyMessage(b.evm, msg, b.gas)
	if err != nil {
		return err
	}
	if err := b.state.Error(); err != nil {
		return err
	}
	b.state.Finalise(b.evm.GetRules())
	rc := core.MakeReceipt(b.evm, res, b.state, b.header.Number, common.Hash{}, b.header.Time, tx,
		b.gas.CumulativeUsed(), nil)
	if unsigned {
		b.unsigned = append(b.unsigned, uint64(len(b.txs)))
	}
	b.txs = append(b.txs, tx)
	b.receipts = append(b.receipts, rc)
	b.outcomes = append(b.outcomes, outcome{From: msg.From, Success: !res.Failed(), GasUsed: rc.GasUsed, Logs: rc.Logs})
	b.reverts = append(b.reverts, res.Revert())
	return nil
}

// finish computes the state root and the block.
func (b *builder) finish() (*sealed, error) {
	var logs []*types.Log
	for _, r := range b.receipts {
		logs = append(logs, r.Logs...)
	}
	h := b.header
	reqs, _, err := core.PostExecution(context.Background(), b.env.cfg, h.Number, h.Time, logs, nil, b.evm,
		uint32(len(b.txs)+1))
	if err != nil {
		return nil, fmt.Errorf("end of block: %w", err)
	}
	requests := types.CalcRequestsHash(reqs)
	h.RequestsHash = &requests
	h.GasUsed = b.gas.Used()
	if h.Root, err = b.state.Commit(b.evm.GetRules(), h.Number.Uint64()); err == nil {
		err = b.db.failed()
	}
	if err != nil {
		return nil, fmt.Errorf("compute state root: %w", err)
	}
	s := newSealed(h, b.txs, b.receipts, b.outcomes, b.reverts, b.db.update)
	s.record.Placed, s.record.Unsigned = b.placed, b.unsigned
	return s, nil
}

func newSealed(h *types.Header, txs types.Transactions, rcs types.Receipts, outs []outcome, reverts [][]byte,
	u *state.StateUpdate) *sealed {
	body := &types.Body{Transactions: txs, Withdrawals: []*types.Withdrawal{}}
	block := types.NewBlock(h, body, rcs, trie.NewListHasher())
	hd := head{header: block.Header(), hash: block.Hash()}
	return &sealed{
		head: hd, reverts: reverts, update: u,
		record: &record{Header: hd.header, Txs: txs, Outcomes: outs},
	}
}

// write stores the block, the ways to find it and the state after it. What
// that replaces goes into old unless it is nil.
func (s *sealed) write(tx store.Tx, l layout, old map[string][]byte) error {
	v, err := encodeRecord(s.head.hash, s.record)
	if err != nil {
		return err
	}
	if err := tx.Bucket(l.blocks).Put(numberKey(s.head.number()), v); err != nil {
		return err
	}
	txs := tx.Bucket(l.txs)
	for i, t := range s.record.Txs {
		h := t.Hash()
		if err := txs.Put(h[:], lookup{block: s.head.number(), index: uint32(i)}.encode()); err != nil {
			return err
		}
	}
	return writeUpdate(tx, l, s.update, old)
}

func (s *sealed) block() chain.Block {
	b := toBlock(s.record, s.head.hash)
	for i := range b.Receipts {
		b.Receipts[i].Revert = s.reverts[i]
	}
	return b
}

func toHeader(h head) chain.Header {
	return chain.Header{
		Number: h.number(), Hash: h.hash, Parent: h.header.ParentHash, StateRoot: h.header.Root,
		Time: h.header.Time, GasUsed: h.header.GasUsed, BaseFee: new(big.Int).Set(h.header.BaseFee),
	}
}

func toBlock(r *record, hash common.Hash) chain.Block {
	b := chain.Block{Header: toHeader(head{r.Header, hash}), Receipts: make([]chain.Receipt, len(r.Txs))}
	for i := range r.Txs {
		b.Receipts[i] = toReceipt(r, hash, i)
	}
	return b
}

func toReceipt(r *record, hash common.Hash, i int) chain.Receipt {
	tx, out := r.Txs[i], r.Outcomes[i]
	rc := chain.Receipt{
		TxHash: tx.Hash(), From: out.From, Value: tx.Value(),
		Authorizations: fromAuthorizations(tx.SetCodeAuthorizations()),
		Success:        out.Success, GasUsed: out.GasUsed, Logs: exec.Logs(out.Logs),
		Block: r.Header.Number.Uint64(), BlockHash: hash, Time: r.Header.Time, Index: i,
	}
	if to := tx.To(); to != nil {
		rc.To = *to
	} else {
		rc.Creates = new(crypto.CreateAddress(out.From, tx.Nonce()))
	}
	return rc
}
