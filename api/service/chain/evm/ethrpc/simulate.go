package ethrpc

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"strings"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/consensus/misc/eip1559"
	"github.com/ethereum/go-ethereum/core"
	"github.com/ethereum/go-ethereum/core/state"
	"github.com/ethereum/go-ethereum/core/tracing"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/core/vm"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/trie"

	"coffer/api/service/chain/evm"
	"coffer/api/service/jsonrpc"
)

// Bounds and codes of eth_simulateV1. A block comes 12 seconds after the one before it unless its override says when.
const (
	maxSimulatedBlocks = 256
	maxSimulatedCalls  = 10_000
	maxCallsOfBlock    = 5_000
	simulatedSeconds   = 12

	codeNonceLow     = -38010
	codeNonceHigh    = -38011
	codeBaseFee      = -38012
	codeIntrinsicGas = -38013
	codeFunds        = -38014
	codeBlockGas     = -38015
	codeBlockNumber  = -38020
	codeBlockTime    = -38021
	codeSenderCode   = -38024
	codeInitCode     = -38025
	codeTooMuch      = -38026
	codeHalted       = -32015
	codeInternal     = -32603
)

// simulation is the first parameter of eth_simulateV1.
type simulation struct {
	Blocks         []simulatedBlock `json:"blockStateCalls"`
	TraceTransfers bool             `json:"traceTransfers"`
	Validation     bool             `json:"validation"`
	FullTxs        bool             `json:"returnFullTransactions"`
}

// simulatedBlock is one block that is to be tried out.
type simulatedBlock struct {
	Block BlockOverrides
	State StateOverride
	Calls []CallArgs
}

// UnmarshalJSON refuses override keys that it does not know: what is misspelt would be left out without a word.
func (b *simulatedBlock) UnmarshalJSON(data []byte) error {
	var raw struct {
		Block json.RawMessage                    `json:"blockOverrides"`
		State map[common.Address]json.RawMessage `json:"stateOverrides"`
		Calls []CallArgs                         `json:"calls"`
	}
	if err := json.Unmarshal(data, &raw); err != nil {
		return err
	}
	*b = simulatedBlock{Calls: raw.Calls, State: StateOverride{}}
	if len(raw.Block) > 0 {
		if err := known(raw.Block, &b.Block, "block overrides"); err != nil {
			return err
		}
	}
	for addr, one := range raw.State {
		var a AccountOverride
		if err := known(one, &a, "state override for "+addr.Hex()); err != nil {
			return err
		}
		b.State[addr] = a
	}
	return nil
}

// known decodes an object that may have no other keys than those of v.
func known(data []byte, v any, what string) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	err := d.Decode(v)
	if field, is := strings.CutPrefix(fmt.Sprint(err), "json: unknown field "); is {
		return fmt.Errorf("unknown field %s in %s", field, what)
	}
	return err
}

// SimulatedBlock is a block of the answer.
type SimulatedBlock struct {
	Block
	Calls []simulatedCall `json:"calls"`
}

// simulatedCall is the outcome of one call.
type simulatedCall struct {
	Returned   hexutil.Bytes  `json:"returnData"`
	Logs       []*types.Log   `json:"logs"`
	GasUsed    hexutil.Uint64 `json:"gasUsed"`
	MaxUsedGas hexutil.Uint64 `json:"maxUsedGas"`
	Status     hexutil.Uint64 `json:"status"`
	Error      *jsonrpc.Error `json:"error,omitempty"`
}

func (a *api) simulationMethods() jsonrpc.Methods {
	return jsonrpc.Methods{"eth_simulateV1": two(a.simulate)}
}

// simulate makes blocks after a block and throws them away. Nothing is checked that a signed transaction would have to
// pass, unless validation asks for it.
func (a *api) simulate(ctx context.Context, in simulation, at *BlockRef) ([]*SimulatedBlock, error) {
	total := 0
	for _, b := range in.Blocks {
		if total += len(b.Calls); len(b.Calls) > maxCallsOfBlock {
			return nil, jsonrpc.Errorf(codeTooMuch, "too many calls in a block")
		}
	}
	switch {
	case len(in.Blocks) == 0:
		return nil, invalid("empty input")
	case len(in.Blocks) > maxSimulatedBlocks:
		return nil, jsonrpc.Errorf(codeTooMuch, "too many blocks")
	case total > maxSimulatedCalls:
		return nil, jsonrpc.Errorf(codeTooMuch, "too many calls")
	}
	view, err := at.View(a.Node)
	if err != nil {
		return nil, err
	}
	defer view.Close()
	ctx, cancel := context.WithTimeout(ctx, CallTimeout)
	defer cancel()
	s := &simulator{api: a, ctx: ctx, in: in, view: view, parent: view.Header, parentHash: view.Hash, gas: CallGas,
		hashes: map[uint64]common.Hash{}}
	out, err := s.run()
	if err == nil {
		err = view.Err()
	}
	if ctx.Err() != nil {
		return nil, ErrTimeout()
	}
	return out, err
}

// simulator makes the blocks one after another on the same state. Gas is what may still be used in all of them.
type simulator struct {
	*api
	ctx        context.Context
	in         simulation
	view       *evm.View
	parent     *types.Header
	parentHash common.Hash
	gas        uint64
	hashes     map[uint64]common.Hash // of the blocks that were made here
}

func (s *simulator) run() (out []*SimulatedBlock, err error) {
	first := new(big.Int).Set(s.parent.Number)
	for _, b := range s.in.Blocks {
		number := new(big.Int).Add(s.parent.Number, common.Big1)
		if b.Block.Number != nil {
			number = b.Block.Number.ToInt()
		}
		if number.Cmp(s.parent.Number) <= 0 {
			return nil, jsonrpc.Errorf(codeBlockNumber, "block numbers must be in order: %d <= %d", number,
				s.parent.Number)
		}
		if new(big.Int).Sub(number, first).Cmp(big.NewInt(maxSimulatedBlocks)) > 0 {
			return nil, jsonrpc.Errorf(codeTooMuch, "too many blocks")
		}
		for next := new(big.Int).Add(s.parent.Number, common.Big1); next.Cmp(number) < 0; {
			empty, err := s.block(&simulatedBlock{}) // fills the gap
			if err != nil {
				return nil, err
			}
			out = append(out, empty)
			next.Add(s.parent.Number, common.Big1)
		}
		done, err := s.block(&b)
		if err != nil {
			return nil, err
		}
		out = append(out, done)
	}
	return out, nil
}

// header begins a block: what is known before its calls ran.
func (s *simulator) header(o *BlockOverrides) (*types.Header, error) {
	h := &types.Header{
		ParentHash: s.parentHash, UncleHash: types.EmptyUncleHash,
		Number:   new(big.Int).Add(s.parent.Number, common.Big1),
		GasLimit: s.parent.GasLimit, Time: s.parent.Time + simulatedSeconds, Coinbase: s.parent.Coinbase,
		Difficulty: new(big.Int), BaseFee: new(big.Int), WithdrawalsHash: &types.EmptyWithdrawalsHash,
		BlobGasUsed: new(uint64), ExcessBlobGas: new(uint64), ParentBeaconRoot: new(common.Hash),
	}
	if s.in.Validation {
		h.BaseFee = eip1559.CalcBaseFee(s.Config(), s.parent)
	}
	if o.Difficulty != nil {
		return nil, invalid("block %d: difficulty override is not allowed after the merge", h.Number)
	}
	if o.Time != nil {
		h.Time = uint64(*o.Time)
		if h.Time <= s.parent.Time {
			return nil, jsonrpc.Errorf(codeBlockTime, "block timestamps must be in order: %d <= %d", h.Time,
				s.parent.Time)
		}
	}
	if o.GasLimit != nil {
		h.GasLimit = uint64(*o.GasLimit)
	}
	if o.FeeRecipient != nil {
		h.Coinbase = *o.FeeRecipient
	}
	if o.PrevRandao != nil {
		h.MixDigest = *o.PrevRandao
	}
	if o.BaseFeePerGas != nil {
		h.BaseFee = o.BaseFeePerGas.ToInt()
	}
	if o.BeaconRoot != nil {
		h.ParentBeaconRoot = o.BeaconRoot
	}
	return h, nil
}

// context is the block as its calls see it.
func (s *simulator) context(h *types.Header, o *BlockOverrides) vm.BlockContext {
	bc := s.view.Context(true)
	before := bc.GetHash
	bc.GetHash = func(n uint64) common.Hash {
		if hash, made := s.hashes[n]; made {
			return hash
		}
		return before(n)
	}
	random := h.MixDigest
	bc.Coinbase, bc.BlockNumber, bc.Time = h.Coinbase, new(big.Int).Set(h.Number), h.Time
	bc.BaseFee, bc.GasLimit, bc.Random = new(big.Int).Set(h.BaseFee), h.GasLimit, &random
	if o.BlobBaseFee != nil {
		bc.BlobBaseFee = o.BlobBaseFee.ToInt()
	}
	return bc
}

// block makes the next block.
func (s *simulator) block(in *simulatedBlock) (*SimulatedBlock, error) {
	h, err := s.header(&in.Block)
	if err != nil {
		return nil, err
	}
	bc := s.context(h, &in.Block)
	precompiles := vm.ActivePrecompiledContracts(s.Config().Rules(h.Number, true, h.Time))
	if err := in.State.Apply(s.view.State, precompiles); err != nil {
		return nil, err
	}
	w := &watch{transfers: s.in.TraceTransfers, block: h}
	hooks := w.hooks()
	machine := s.view.EVM(bc, state.NewHookedState(s.view.State, hooks),
		vm.Config{NoBaseFee: !s.in.Validation, Tracer: hooks})
	defer machine.Release()
	machine.SetPrecompiles(precompiles)
	defer context.AfterFunc(s.ctx, machine.Cancel)()
	pool := core.NewGasPool(h.GasLimit)
	made := &evm.Block{Header: h}
	out := &SimulatedBlock{Calls: []simulatedCall{}}
	for i := range in.Calls {
		if s.ctx.Err() != nil {
			return nil, ErrTimeout()
		}
		done, err := s.call(machine, pool, made, w, &in.Calls[i])
		if err != nil {
			return nil, err
		}
		out.Calls = append(out.Calls, *done)
	}
	s.seal(machine, pool, made)
	for _, c := range out.Calls {
		for _, l := range c.Logs {
			l.BlockHash = made.Hash
		}
	}
	out.Block = *BlockOf(made, s.in.FullTxs)
	s.parent, s.parentHash = made.Header, made.Hash
	s.hashes[h.Number.Uint64()] = made.Hash
	return out, nil
}

// seal completes the header with what the calls led to.
func (s *simulator) seal(machine *vm.EVM, pool *core.GasPool, made *evm.Block) {
	h := made.Header
	h.GasUsed = pool.Used()
	requests := types.EmptyRequestsHash
	h.RequestsHash = &requests
	h.Root = s.view.State.IntermediateRoot(machine.GetRules())
	b := types.NewBlock(h, &types.Body{Transactions: made.Txs, Withdrawals: []*types.Withdrawal{}}, made.Receipts,
		trie.NewListHasher())
	made.Header, made.Hash, made.Size = b.Header(), b.Hash(), b.Size()
}

// call runs one call as a transaction of the block.
func (s *simulator) call(machine *vm.EVM, pool *core.GasPool, made *evm.Block, w *watch, args *CallArgs) (
	*simulatedCall, error) {
	st, h, i := s.view.State, made.Header, len(made.Txs)
	if args.Nonce == nil {
		nonce := hexutil.Uint64(st.GetNonce(args.Sender()))
		args.Nonce = &nonce
	}
	left := h.GasLimit - pool.CumulativeUsed()
	if args.Gas == nil {
		args.Gas = (*hexutil.Uint64)(&left)
	}
	if uint64(*args.Gas) > left {
		return nil, jsonrpc.Errorf(codeBlockGas, "block gas limit reached: remaining: %d, required: %d", left,
			*args.Gas)
	}
	capped := uint64(*args.Gas) > s.gas
	msg, err := args.Message(s.Config().ChainID, h.BaseFee, s.gas)
	if err != nil {
		return nil, err
	}
	if s.in.Validation {
		msg = strict(msg)
	}
	if args.MaxFeePerGas == nil {
		args.MaxFeePerGas = new(hexutil.Big)
	}
	if args.MaxPriorityFeePerGas == nil {
		args.MaxPriorityFeePerGas = new(hexutil.Big)
	}
	gas := hexutil.Uint64(msg.GasLimit)
	args.Gas = &gas
	tx := args.transaction(s.Config().ChainID)
	w.begin(tx.Hash(), uint(i))
	st.SetTxContext(tx.Hash(), i, uint32(i+1))
	res, err := core.ApplyMessage(machine, msg, pool)
	switch {
	case st.Error() != nil:
		return nil, st.Error()
	case machine.Cancelled():
		return nil, ErrTimeout()
	case err != nil:
		return nil, notValid(err)
	}
	st.Finalise(machine.GetRules())
	rc := core.MakeReceipt(machine, res, st, h.Number, common.Hash{}, h.Time, tx, pool.CumulativeUsed(), nil)
	made.Txs, made.Senders = append(made.Txs, tx), append(made.Senders, msg.From)
	made.Receipts = append(made.Receipts, rc)
	s.gas -= min(s.gas, res.UsedGas)
	out := &simulatedCall{
		Returned: res.Return(), Logs: logsOf(w.logs), GasUsed: hexutil.Uint64(res.UsedGas),
		MaxUsedGas: hexutil.Uint64(res.MaxUsedGas), Status: hexutil.Uint64(rc.Status),
	}
	if out.Returned == nil {
		out.Returned = hexutil.Bytes{}
	}
	switch {
	case errors.Is(res.Err, vm.ErrExecutionReverted):
		out.Returned, out.Error = res.Revert(), RevertError(res.Revert())
	case res.Err != nil && capped:
		out.Error = jsonrpc.Errorf(codeHalted, "%v (its gas was limited to what a simulation may use)", res.Err)
	case res.Err != nil:
		out.Error = jsonrpc.Errorf(codeHalted, "%v", res.Err)
	}
	return out, nil
}

// strict is the message with the checks of a transaction, but that its sender may have code.
func strict(m *core.Message) *core.Message {
	out := &core.Message{
		To: m.To, From: m.From, Nonce: m.Nonce, Value: m.Value, GasLimit: m.GasLimit, GasPrice: m.GasPrice,
		GasFeeCap: m.GasFeeCap, GasTipCap: m.GasTipCap, Data: m.Data, AccessList: m.AccessList,
		SetCodeAuthorizations: m.SetCodeAuthorizations,
	}
	return out.SkipEOACheck()
}

// notValid gives the reason why a call cannot be in a block the code that clients know.
func notValid(err error) error {
	for _, c := range []struct {
		is   error
		code int
	}{
		{core.ErrNonceTooLow, codeNonceLow}, {core.ErrNonceTooHigh, codeNonceHigh},
		{core.ErrSenderNoEOA, codeSenderCode}, {core.ErrFeeCapTooLow, codeBaseFee},
		{core.ErrTipAboveFeeCap, jsonrpc.CodeInvalidParams},
		{core.ErrFeeCapVeryHigh, jsonrpc.CodeInvalidParams}, {core.ErrTipVeryHigh, jsonrpc.CodeInvalidParams},
		{core.ErrInsufficientFunds, codeFunds}, {core.ErrInsufficientFundsForTransfer, codeFunds},
		{core.ErrIntrinsicGas, codeIntrinsicGas}, {vm.ErrMaxInitCodeSizeExceeded, codeInitCode},
	} {
		if errors.Is(err, c.is) {
			return jsonrpc.Errorf(c.code, "%w", err)
		}
	}
	return jsonrpc.Errorf(codeInternal, "%w", err)
}

// nativeToken stands for the chain's own coin where transfers of it are shown as events of a token.
var (
	nativeToken   = common.HexToAddress("0xeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee")
	transferTopic = crypto.Keccak256Hash([]byte("Transfer(address,address,uint256)"))
)

// watch collects the events of one call after another, and transfers of coin among them. Events of what is reverted are
// taken back: marks says how many there were when each open call began.
type watch struct {
	transfers bool
	block     *types.Header
	tx        common.Hash
	index     uint
	logs      []*types.Log
	before    uint // events of the block's earlier calls
	marks     []int
}

func (w *watch) begin(tx common.Hash, index uint) {
	w.before += uint(len(w.logs))
	w.tx, w.index, w.logs, w.marks = tx, index, nil, nil
}

func (w *watch) hooks() *tracing.Hooks {
	return &tracing.Hooks{
		OnEnter: func(_ int, op byte, from, to common.Address, _ []byte, _ uint64, value *big.Int) {
			w.marks = append(w.marks, len(w.logs))
			lent := vm.OpCode(op) == vm.DELEGATECALL || vm.OpCode(op) == vm.CALLCODE
			if w.transfers && !lent && value != nil && value.Sign() > 0 {
				w.add(nativeToken, []common.Hash{transferTopic, common.BytesToHash(from[:]), common.BytesToHash(to[:])},
					common.BigToHash(value).Bytes())
			}
		},
		OnExit: func(_ int, _ []byte, _ uint64, _ error, reverted bool) {
			last := len(w.marks) - 1
			if reverted {
				w.logs = w.logs[:w.marks[last]]
			}
			w.marks = w.marks[:last]
		},
		OnLog: func(l *types.Log) { w.add(l.Address, l.Topics, l.Data) },
	}
}

func (w *watch) add(token common.Address, topics []common.Hash, data []byte) {
	w.logs = append(w.logs, &types.Log{
		Address: token, Topics: topics, Data: data, BlockNumber: w.block.Number.Uint64(), BlockTimestamp: w.block.Time,
		TxHash: w.tx, TxIndex: w.index, Index: w.before + uint(len(w.logs)),
	})
}
