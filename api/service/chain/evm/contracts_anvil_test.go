package evm_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/big"
	"net"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"

	"coffer/api/service/chain"
	"coffer/api/service/chain/evm"
	"coffer/api/service/store"
)

// With -anvil the worlds of the contracts' tests stand on that node instead of the embedded chain: what holds here
// holds on an EVM that is not ours. The step "anvil" of .ci/run does it.
var anvilProgram = flag.String("anvil", "", "run the contracts' tests on this anvil, a path")

// ledger is the deployment below a world.
type ledger interface {
	ID() uint64
	State(ctx context.Context, at uint64) (chain.State, error)
	Seal(context.Context, chain.SealRequest) (chain.Block, error)
}

func openLedger(t *testing.T, spec evm.Spec) (ledger, error) {
	t.Helper()
	if *anvilProgram == "" {
		return evm.Open(store.NewMemory(), spec)
	}
	return startAnvil(t, spec)
}

// anvil is one process with one chain. Gas costs nothing, and nothing about time is its own.
type anvil struct {
	conn    net.Conn
	answers *json.Decoder
	id      uint64
	last    uint64 // time of its newest block
}

func startAnvil(t *testing.T, spec evm.Spec) (*anvil, error) {
	t.Helper()
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	socket := filepath.Join(t.TempDir(), "ipc")
	//nolint:gosec // the path comes from the person who runs the test
	cmd := exec.CommandContext(ctx, *anvilProgram, "--port", "0", "--ipc", socket, "--chain-id",
		fmt.Sprint(spec.ChainID), "--timestamp", fmt.Sprint(spec.Time), "--hardfork", "prague", "--base-fee", "0",
		"--gas-price", "0", "--accounts", "0", "--gas-limit", "100000000", "--disable-min-priority-fee", "--no-mining")
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		stop()
		return nil, err
	}
	t.Cleanup(func() { stop(); _ = cmd.Wait() })
	for lines := bufio.NewScanner(out); lines.Scan() && !strings.HasPrefix(lines.Text(), "Listening on "); {
	}
	go func() { _, _ = io.Copy(io.Discard, out) }()
	a := &anvil{id: spec.ChainID, last: spec.Time}
	if a.conn, err = new(net.Dialer).DialContext(ctx, "unix", socket); err != nil {
		return nil, err
	}
	t.Cleanup(func() { _ = a.conn.Close() })
	a.answers = json.NewDecoder(a.conn)
	set := func(method string, args ...any) {
		if err == nil {
			err = a.ask(new(any), method, args...)
		}
	}
	for _, account := range spec.Alloc {
		if account.Balance != nil {
			set("anvil_setBalance", account.Address, (*hexutil.Big)(account.Balance))
		}
		set("anvil_setNonce", account.Address, hexutil.Uint64(account.Nonce))
		if len(account.Code) > 0 {
			set("anvil_setCode", account.Address, hexutil.Bytes(account.Code))
		}
		for slot, value := range account.Storage {
			set("anvil_setStorageAt", account.Address, slot, value)
		}
	}
	return a, err
}

// refusal is an error of the node; data is what a call reverted with.
type refusal struct {
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data"`
}

func (r *refusal) Error() string { return r.Message }

func (a *anvil) ask(out any, method string, args ...any) error {
	if args == nil {
		args = []any{}
	}
	if err := a.conn.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		return err
	}
	request := map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": args}
	if err := json.NewEncoder(a.conn).Encode(request); err != nil {
		return err
	}
	var answer struct {
		Result json.RawMessage `json:"result"`
		Error  *refusal        `json:"error"`
	}
	if err := a.answers.Decode(&answer); err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	if answer.Error != nil {
		return answer.Error
	}
	return json.Unmarshal(answer.Result, out)
}

func (a *anvil) ID() uint64 { return a.id }

// State is the newest block, asked anew each time.
func (a *anvil) State(_ context.Context, at uint64) (chain.State, error) {
	return anvilState{anvil: a, at: at}, nil
}

type anvilState struct {
	chain.State // what no test asks of it
	*anvil
	at uint64
}

func (anvilState) Close() {}

// must panics: a node that does not answer is no outcome of a test.
func (s anvilState) must(out any, method string, args ...any) {
	if err := s.ask(out, method, args...); err != nil {
		panic(fmt.Sprintf("%s: %v", method, err))
	}
}

func (s anvilState) Balance(of common.Address) *big.Int {
	var v hexutil.Big
	s.must(&v, "eth_getBalance", of, "latest")
	return v.ToInt()
}

func (s anvilState) Code(of common.Address) (code []byte) {
	s.must((*hexutil.Bytes)(&code), "eth_getCode", of, "latest")
	return code
}

func (s anvilState) Storage(of common.Address, at common.Hash) (value common.Hash) {
	s.must(&value, "eth_getStorageAt", of, at, "latest")
	return value
}

// Call is eth_call in a block of the state's time.
func (s anvilState) Call(m chain.Message) chain.Result {
	args := map[string]any{"from": m.From, "to": m.To, "input": hexutil.Bytes(m.Data), "gasPrice": "0x0"}
	if m.Gas != 0 {
		args["gas"] = hexutil.Uint64(m.Gas)
	}
	if m.Value != nil {
		args["value"] = (*hexutil.Big)(m.Value)
	}
	var out hexutil.Bytes
	err := s.ask(&out, "eth_call", args, "latest", map[string]any{}, map[string]any{"time": hexutil.Uint64(s.at)})
	if err == nil {
		return chain.Result{Return: out}
	}
	var refused *refusal
	if !errors.As(err, &refused) {
		panic(err)
	}
	var data hexutil.Bytes
	_ = json.Unmarshal(refused.Data, &data) // there is none when the call did not say why
	return chain.Result{Return: data, Err: errors.Join(chain.ErrReverted, err)}
}

// Seal sends one transaction, of which the node makes a block.
func (a *anvil) Seal(ctx context.Context, req chain.SealRequest) (chain.Block, error) {
	tx := req.Txs[0]
	if a.last = max(a.last, req.Time); len(req.Txs) != 1 || len(tx.Authorizations) > 0 {
		return chain.Block{}, errors.New("anvil: one plain transaction at a time")
	}
	var nonce hexutil.Uint64
	if err := a.ask(&nonce, "eth_getTransactionCount", tx.From.Address(), "latest"); err != nil {
		return chain.Block{}, err
	}
	id := new(big.Int).SetUint64(a.id)
	signed, err := tx.From.SignTx(ctx, types.NewTx(&types.DynamicFeeTx{ChainID: id, Nonce: uint64(nonce), To: &tx.To,
		Value: tx.Value, Data: tx.Data, Gas: tx.Gas, GasFeeCap: new(big.Int), GasTipCap: new(big.Int)}), id)
	if err != nil {
		return chain.Block{}, err
	}
	raw, err := signed.MarshalBinary()
	if err != nil {
		return chain.Block{}, err
	}
	var hash common.Hash
	var r types.Receipt
	for _, step := range []error{
		a.ask(&hash, "eth_sendRawTransaction", hexutil.Bytes(raw)),
		a.ask(new(any), "evm_setNextBlockTimestamp", a.last),
		a.ask(new(any), "evm_mine"),
		a.ask(&r, "eth_getTransactionReceipt", signed.Hash()),
	} {
		if step != nil {
			return chain.Block{}, step
		}
	}
	out := chain.Receipt{TxHash: hash, From: tx.From.Address(), To: tx.To, Success: r.Status == 1, GasUsed: r.GasUsed}
	for _, l := range r.Logs {
		out.Logs = append(out.Logs, chain.Log{Address: l.Address, Topics: l.Topics, Data: l.Data})
	}
	if !out.Success {
		var trace struct{ Output hexutil.Bytes }
		if err := a.ask(&trace, "debug_traceTransaction", hash, map[string]string{"tracer": "callTracer"}); err != nil {
			return chain.Block{}, err
		}
		out.Revert = trace.Output
	}
	return chain.Block{Receipts: []chain.Receipt{out}}, nil
}
