package tracers

import (
	"context"
	"crypto/ecdsa"
	"encoding/json"
	"math/big"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/core/vm"
	"github.com/ethereum/go-ethereum/crypto"

	"coffer/api/service/chain/evm"
	"coffer/api/service/jsonrpc"
	"coffer/api/service/store"
)

var (
	person = must(crypto.ToECDSA(crypto.Keccak256([]byte("a person"))))
	sender = crypto.PubkeyToAddress(person.PublicKey)

	noting   = common.HexToAddress("0xa1") // keeps 7 in slot 1, where 5 was, and logs one word
	failing  = common.HexToAddress("0xa2") // logs, then reverts with a reason
	calling  = common.HexToAddress("0xa3") // calls noting with 3 wei, failing, and noting's code as its own
	creating = common.HexToAddress("0xa4") // makes a contract that destroys itself at once
)

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// world is a chain with the contracts above and an endpoint's methods.
type world struct {
	t       testing.TB
	node    *evm.Node
	methods jsonrpc.Methods
	nonce   uint64
}

func newWorld(t testing.TB) *world {
	reason := must(abi.Arguments{{Type: must(abi.NewType("string", "", nil))}}.Pack("not today"))
	note := program(vm.PUSH1, 7, vm.PUSH1, 1, vm.SSTORE, vm.PUSH1, 42, vm.PUSH1, 32, vm.PUSH1, 0, vm.LOG1, vm.STOP)
	call := func(op vm.OpCode, to common.Address, value byte) []any {
		out := []any{vm.PUSH1, 0, vm.PUSH1, 0, vm.PUSH1, 0, vm.PUSH1, 0}
		if op == vm.CALL {
			out = append(out, vm.PUSH1, value)
		}
		return append(out, vm.PUSH1, to[19], vm.PUSH3, 1, 0, 0, op, vm.POP)
	}
	fail := append([]byte{0x08, 0xc3, 0x79, 0xa0}, reason...)
	failCode := program(vm.PUSH1, 42, vm.PUSH1, 32, vm.PUSH1, 0, vm.LOG1,
		vm.PUSH1, len(fail), vm.DUP1, vm.PUSH1, 18, vm.PUSH1, 0, vm.CODECOPY, vm.PUSH1, 0, vm.REVERT)
	if len(failCode) != 18 {
		t.Fatalf("the code of failing has %d bytes", len(failCode))
	}
	// the init code is one instruction: destroy, in favour of the caller
	make := program(vm.PUSH2, int(vm.CALLER), int(vm.SELFDESTRUCT), vm.PUSH1, 0, vm.MSTORE,
		vm.PUSH1, 2, vm.PUSH1, 30, vm.PUSH1, 1, vm.CREATE, vm.STOP)
	c := must(evm.Open(store.NewMemory(), evm.Spec{ChainID: 77, Time: 1_800_000_000, Alloc: []evm.Account{
		{Address: sender, Balance: big.NewInt(1e18)},
		{Address: noting, Nonce: 1, Code: note, Storage: map[common.Hash]common.Hash{{31: 1}: {31: 5}}},
		{Address: failing, Nonce: 1, Code: append(failCode, fail...)},
		{Address: calling, Nonce: 1, Balance: big.NewInt(10), Code: program(append(append(append(
			call(vm.CALL, noting, 3), call(vm.CALL, failing, 0)...), call(vm.DELEGATECALL, noting, 0)...),
			vm.STOP)...)},
		{Address: creating, Nonce: 1, Balance: big.NewInt(10), Code: make},
	}}))
	n := evm.NewNode(c, evm.NodeOptions{Clock: func() time.Time { return time.Unix(int64(c.Head().Time)+1, 0) }})
	t.Cleanup(n.Close)
	return &world{t: t, node: n, methods: Methods(n)}
}

// program is byte code: instructions, and integers that are bytes of their own.
func program(parts ...any) []byte {
	var out []byte
	for _, p := range parts {
		switch p := p.(type) {
		case vm.OpCode:
			out = append(out, byte(p))
		case byte:
			out = append(out, p)
		case int:
			out = append(out, byte(p))
		}
	}
	return out
}

// send seals a transaction of the person.
func (w *world) send(to *common.Address, value int64, data []byte) *types.Transaction {
	w.t.Helper()
	tx := sign(person, &types.DynamicFeeTx{ChainID: big.NewInt(77), Nonce: w.nonce, GasTipCap: big.NewInt(1),
		GasFeeCap: big.NewInt(10e9), Gas: 300_000, To: to, Value: big.NewInt(value), Data: data})
	if sealed, err := w.node.Submit(context.Background(), tx); err != nil || !sealed {
		w.t.Fatalf("sealed %v: %v", sealed, err)
	}
	w.nonce++
	return tx
}

func sign(k *ecdsa.PrivateKey, data types.TxData) *types.Transaction {
	return must(types.SignNewTx(k, types.LatestSignerForChainID(big.NewInt(77)), data))
}

// ask calls a method with parameters in JSON and decodes its answer.
func (w *world) ask(method string, into any, params ...string) error {
	var p jsonrpc.Params
	for _, one := range params {
		p = append(p, json.RawMessage(one))
	}
	got, err := w.methods[method](context.Background(), p)
	if err != nil {
		return err
	}
	return json.Unmarshal(must(json.Marshal(got)), into)
}

func (w *world) mustAsk(method string, into any, params ...string) {
	w.t.Helper()
	if err := w.ask(method, into, params...); err != nil {
		w.t.Fatalf("%s: %v", method, err)
	}
}

func quoted(h common.Hash) string { return `"` + h.Hex() + `"` }
