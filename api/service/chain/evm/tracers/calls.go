package tracers

import (
	"bytes"
	"errors"
	"math/big"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/tracing"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/core/vm"
)

// callOptions are those of callTracer: nothing below the first call, and the events of each call.
type callOptions struct {
	OnlyTopCall bool `json:"onlyTopCall"`
	WithLog     bool `json:"withLog"`
}

// call is one call, creation or self-destruction and what it led to. Gas is in gas units, Value in wei and absent where
// the instruction has none (STATICCALL).
type call struct {
	From         common.Address  `json:"from"`
	Gas          hexutil.Uint64  `json:"gas"`
	GasUsed      hexutil.Uint64  `json:"gasUsed"`
	To           *common.Address `json:"to,omitempty"` // nil for a creation that failed
	Input        hexutil.Bytes   `json:"input"`
	Output       hexutil.Bytes   `json:"output,omitempty"`
	Error        string          `json:"error,omitempty"`
	RevertReason string          `json:"revertReason,omitempty"`
	Calls        []*call         `json:"calls,omitempty"`
	Logs         []event         `json:"logs,omitempty"`
	Value        *hexutil.Big    `json:"value,omitempty"`
	Type         string          `json:"type"`

	undone bool // its changes and events were taken back
}

// event is a log of a call; Position counts the calls that were made before it.
type event struct {
	Address  common.Address `json:"address"`
	Topics   []common.Hash  `json:"topics"`
	Data     hexutil.Bytes  `json:"data"`
	Index    hexutil.Uint   `json:"index"`
	Position hexutil.Uint   `json:"position"`
}

// calls is callTracer: path leads from the top call to the one under way.
type calls struct {
	options callOptions
	limit   uint64 // of the transaction: what the top call is shown with
	top     *call
	path    []*call
	depth   int
}

func newCalls(o callOptions) *tracer {
	c := &calls{options: o}
	hooks := &tracing.Hooks{
		OnTxStart: func(_ *tracing.VMContext, tx *types.Transaction, _ common.Address) { c.limit = tx.Gas() },
		OnTxEnd:   c.end, OnEnter: c.enter, OnExit: c.exit,
	}
	if o.WithLog {
		hooks.OnLog = c.log
	}
	return &tracer{hooks: hooks, result: c.result}
}

func (c *calls) enter(depth int, op byte, from, to common.Address, input []byte, gas uint64, value *big.Int) {
	c.depth = depth
	if depth > 0 && c.options.OnlyTopCall {
		return
	}
	n := &call{
		Type: vm.OpCode(op).String(), From: from, To: &to, Input: bytes.Clone(input), Gas: hexutil.Uint64(gas),
		Value: (*hexutil.Big)(value),
	}
	if n.Input == nil {
		n.Input = hexutil.Bytes{}
	}
	if len(c.path) == 0 {
		n.Gas, c.top = hexutil.Uint64(c.limit), n
	} else {
		above := c.path[len(c.path)-1]
		above.Calls = append(above.Calls, n)
	}
	c.path = append(c.path, n)
}

func (c *calls) exit(depth int, output []byte, gasUsed uint64, err error, reverted bool) {
	c.depth = depth - 1
	if len(c.path) == 0 || depth > 0 && c.options.OnlyTopCall {
		return
	}
	n := c.path[len(c.path)-1]
	c.path = c.path[:len(c.path)-1]
	n.GasUsed = hexutil.Uint64(gasUsed)
	n.finish(output, err, reverted)
}

// finish says how a call ended. What it returned is shown after a success and, as data of the error, after a revert.
func (n *call) finish(output []byte, err error, reverted bool) {
	if err == nil || !reverted {
		n.Output = bytes.Clone(output)
		return
	}
	n.Error, n.undone = err.Error(), true
	if n.Type == vm.CREATE.String() || n.Type == vm.CREATE2.String() {
		n.To = nil
	}
	if !errors.Is(err, vm.ErrExecutionReverted) {
		return
	}
	n.Output = bytes.Clone(output)
	if reason, err := abi.UnpackRevert(output); err == nil {
		n.RevertReason = reason
	}
}

func (c *calls) log(l *types.Log) {
	if len(c.path) == 0 || c.depth > 0 && c.options.OnlyTopCall {
		return
	}
	n := c.path[len(c.path)-1]
	topics := l.Topics
	if topics == nil {
		topics = []common.Hash{}
	}
	n.Logs = append(n.Logs, event{
		Address: l.Address, Topics: topics, Data: bytes.Clone(l.Data), Index: hexutil.Uint(l.Index),
		Position: hexutil.Uint(len(n.Calls)),
	})
}

// end takes the gas of the whole transaction, and the events of calls that were taken back.
func (c *calls) end(r *types.Receipt, err error) {
	if err != nil || c.top == nil {
		return
	}
	if r != nil {
		c.top.GasUsed = hexutil.Uint64(r.GasUsed)
	}
	c.top.silence(false)
}

func (n *call) silence(above bool) {
	above = above || n.undone
	if above {
		n.Logs = nil
	}
	for _, below := range n.Calls {
		below.silence(above)
	}
}

func (c *calls) result() (any, error) {
	if c.top == nil || len(c.path) != 0 {
		return nil, errNotOneTop
	}
	return c.top, nil
}
