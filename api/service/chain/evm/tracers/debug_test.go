package tracers

import (
	"context"
	"encoding/json"
	"fmt"
	"math/big"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/crypto"

	"coffer/api/service/chain/evm"
	"coffer/api/service/jsonrpc"
)

const withLogs = `{"tracer":"callTracer","tracerConfig":{"withLog":true}}`

func TestCallTracerShowsTheTreeOfCallsWithValuesReasonsAndOnlyTheEventsThatStay(t *testing.T) {
	w := newWorld(t)
	tx := w.send(&calling, 2, []byte{1, 2})
	block, err := w.node.Block(1)
	if err != nil {
		t.Fatal(err)
	}
	var top call
	w.mustAsk("debug_traceTransaction", &top, quoted(tx.Hash()), withLogs)
	if top.Type != "CALL" || top.From != sender || *top.To != calling || top.Value.ToInt().Int64() != 2 ||
		top.Input.String() != "0x0102" || top.Gas != 300_000 || uint64(top.GasUsed) != block.Receipts[0].GasUsed ||
		top.Error != "" || len(top.Calls) != 3 {
		t.Fatalf("the top is %+v", top)
	}
	paid, failed, lent := top.Calls[0], top.Calls[1], top.Calls[2]
	if paid.Type != "CALL" || *paid.To != noting || paid.Value.ToInt().Int64() != 3 || len(paid.Logs) != 1 ||
		paid.Logs[0].Address != noting || paid.Logs[0].Topics[0] != (common.Hash{31: 42}) || paid.Logs[0].Index != 0 {
		t.Errorf("the call with value is %+v", paid)
	}
	if *failed.To != failing || failed.Error != "execution reverted" || failed.RevertReason != "not today" ||
		!strings.HasPrefix(failed.Output.String(), "0x08c379a0") || failed.Logs != nil {
		t.Errorf("the failed call is %+v", failed)
	}
	if lent.Type != "DELEGATECALL" || lent.From != calling || len(lent.Logs) != 1 || lent.Logs[0].Address != calling {
		t.Errorf("the lent code is %+v", lent)
	}
	logs := block.Receipts[0].Logs
	if len(logs) != 2 || logs[1].Address != calling {
		t.Errorf("the receipt has other events: %v", logs)
	}

	var bare call
	w.mustAsk("debug_traceTransaction", &bare, quoted(tx.Hash()),
		`{"tracer":"callTracer","tracerConfig":{"onlyTopCall":true}}`)
	if len(bare.Calls) != 0 || bare.Logs != nil || bare.GasUsed != top.GasUsed {
		t.Errorf("only the top is %+v", bare)
	}
}

func TestCallTracerShowsACreationAndASelfDestruction(t *testing.T) {
	w := newWorld(t)
	tx := w.send(&creating, 0, nil)
	var top call
	w.mustAsk("debug_traceTransaction", &top, quoted(tx.Hash()), withLogs)
	if len(top.Calls) != 1 || top.Calls[0].Type != "CREATE" || *top.Calls[0].To != crypto.CreateAddress(creating, 1) {
		t.Fatalf("%+v", top)
	}
	gone := top.Calls[0].Calls
	if len(gone) != 1 || gone[0].Type != "SELFDESTRUCT" || *gone[0].To != creating ||
		gone[0].Value.ToInt().Int64() != 1 {
		t.Errorf("%+v", gone)
	}
	failed := w.send(nil, 0, []byte{0xfe})
	w.mustAsk("debug_traceTransaction", &top, quoted(failed.Hash()), withLogs)
	if raw := must(json.Marshal(&top)); top.Type != "CREATE" || !strings.Contains(top.Error, "invalid opcode") ||
		top.GasUsed != 300_000 {
		t.Errorf("%s", raw)
	}
}

func TestPrestateTracerShowsWhatWasBefore(t *testing.T) {
	w := newWorld(t)
	tx := w.send(&calling, 2, nil)
	var pre map[common.Address]*account
	w.mustAsk("debug_traceTransaction", &pre, quoted(tx.Hash()), `{"tracer":"prestateTracer"}`)
	if got := pre[noting]; got == nil || got.Storage[common.Hash{31: 1}] != (common.Hash{31: 5}) || got.Nonce != 1 ||
		got.Code == nil || *got.CodeHash != crypto.Keccak256Hash(*got.Code) {
		t.Errorf("noting was %+v", got)
	}
	if got := pre[calling]; got == nil || got.Balance.ToInt().Int64() != 10 || len(got.Storage) != 1 {
		t.Errorf("calling was %+v", got)
	}
	if got := pre[sender]; got == nil || got.Balance.ToInt().Cmp(big.NewInt(1e18)) != 0 || got.Nonce != 0 {
		t.Errorf("the sender was %+v", got)
	}
	if _, there := pre[common.Address{}]; there {
		t.Error("the coinbase was there before its first tip")
	}
	w.mustAsk("debug_traceTransaction", &pre, quoted(tx.Hash()),
		`{"tracer":"prestateTracer","tracerConfig":{"includeEmpty":true}}`)
	if _, there := pre[common.Address{}]; !there {
		t.Error("the empty coinbase was asked for")
	}
}

func TestPrestateTracerShowsOnlyWhatChangedInDiffMode(t *testing.T) {
	w := newWorld(t)
	tx := w.send(&calling, 2, nil)
	var diff struct{ Pre, Post map[common.Address]*account }
	w.mustAsk("debug_traceTransaction", &diff, quoted(tx.Hash()),
		`{"tracer":"prestateTracer","tracerConfig":{"diffMode":true}}`)
	if got := diff.Post[noting]; got == nil || got.Balance.ToInt().Int64() != 3 || got.Code != nil || got.Nonce != 0 ||
		got.Storage[common.Hash{31: 1}] != (common.Hash{31: 7}) {
		t.Errorf("noting became %+v", got)
	}
	if got := diff.Post[calling]; got == nil || got.Balance.ToInt().Int64() != 9 ||
		got.Storage[common.Hash{31: 1}] != (common.Hash{31: 7}) {
		t.Errorf("calling became %+v", got)
	}
	if got := diff.Pre[calling]; got == nil || len(got.Storage) != 0 || got.Balance.ToInt().Int64() != 10 {
		t.Errorf("calling was %+v", got)
	}
	if _, there := diff.Post[failing]; there || diff.Pre[failing] != nil {
		t.Error("failing did not change")
	}
	if got := diff.Post[sender]; got.Nonce != 1 {
		t.Errorf("the sender became %+v", got)
	}
	made := w.send(&creating, 0, nil)
	w.mustAsk("debug_traceTransaction", &diff, quoted(made.Hash()),
		`{"tracer":"prestateTracer","tracerConfig":{"diffMode":true,"disableCode":true}}`)
	child := crypto.CreateAddress(creating, 1)
	if diff.Pre[child] != nil || diff.Post[child] != nil || diff.Post[creating].Nonce != 2 {
		t.Errorf("the contract that is gone is in %+v", diff)
	}
}

func TestEveryStepIsShownWithoutATracer(t *testing.T) {
	w := newWorld(t)
	tx := w.send(&noting, 0, nil)
	var steps struct {
		Gas         uint64
		Failed      bool
		ReturnValue string
		StructLogs  []struct {
			Op    string
			Depth int
			Stack []string
		}
	}
	w.mustAsk("debug_traceTransaction", &steps, quoted(tx.Hash()))
	var ops []string
	for _, s := range steps.StructLogs {
		ops = append(ops, s.Op)
	}
	want := "PUSH1 PUSH1 SSTORE PUSH1 PUSH1 PUSH1 LOG1 STOP"
	if got := strings.Join(ops, " "); got != want || steps.Failed || steps.Gas == 0 ||
		len(steps.StructLogs[2].Stack) != 2 {
		t.Errorf("%s, %+v", got, steps)
	}
}

func TestABlockIsTracedTransactionByTransaction(t *testing.T) {
	w := newWorld(t)
	tx := w.send(&noting, 0, nil)
	for _, at := range [][2]string{
		{"debug_traceBlockByNumber", `"0x1"`}, {"debug_traceBlockByHash", quoted(w.node.HeadHash())},
	} {
		var got []struct {
			TxHash common.Hash
			Result call
		}
		w.mustAsk(at[0], &got, at[1], withLogs)
		if len(got) != 1 || got[0].TxHash != tx.Hash() || *got[0].Result.To != noting || len(got[0].Result.Logs) != 1 {
			t.Errorf("%s: %+v", at[0], got)
		}
	}
}

func TestACallIsTracedOnTheStateThatItNames(t *testing.T) {
	w := newWorld(t)
	w.send(&noting, 0, nil)
	args := fmt.Sprintf(`{"from":"%s","to":"%s"}`, sender, noting)
	was := func(params ...string) common.Hash {
		t.Helper()
		var pre map[common.Address]*account
		w.mustAsk("debug_traceCall", &pre, append([]string{args}, params...)...)
		return pre[noting].Storage[common.Hash{31: 1}]
	}
	const prestate = `"tracer":"prestateTracer"`
	for _, c := range []struct {
		what, at, more string
		want           byte
	}{
		{"after the head", `"latest"`, "", 7},
		{"after genesis", `"0x0"`, "", 5},
		{"before the transaction of block 1", `"0x1"`, `,"txIndex":"0x0"`, 5},
		{"with another slot", `"latest"`, fmt.Sprintf(`,"stateOverrides":{"%s":{"stateDiff":{"%s":"%s"}}}`, noting,
			common.Hash{31: 1}, common.Hash{31: 9}), 9},
	} {
		if got := was(c.at, "{"+prestate+c.more+"}"); got != (common.Hash{31: c.want}) {
			t.Errorf("%s the slot was %s, expected %d", c.what, got, c.want)
		}
	}
	var none any
	if err := w.ask("debug_traceCall", &none, args, `"0x1"`, `{"txIndex":"0x5"}`); err == nil {
		t.Error("there is no transaction 5")
	}
	if err := w.ask("debug_traceCall", &none, args, `"pending"`); err == nil {
		t.Error("pending cannot be traced on")
	}
}

func TestATraceOutsideOfTheWindowNamesTheOldestBlockThatWorks(t *testing.T) {
	w := newWorld(t)
	tx := w.send(&noting, 0, nil)
	for range evm.Window {
		w.send(&sender, 0, nil)
	}
	var none any
	err := w.ask("debug_traceTransaction", &none, quoted(tx.Hash()), withLogs)
	if err == nil || !strings.Contains(err.Error(), "oldest") {
		t.Errorf("%v", err)
	}
	if err := w.ask("debug_traceTransaction", &none, quoted(common.Hash{1})); err == nil ||
		err.Error() != "transaction not found" {
		t.Errorf("%v", err)
	}
}

func TestATraceEndsAtItsTimeout(t *testing.T) {
	w := newWorld(t)
	forever := hexutil.Encode(program(0x5b, 0x60, 0, 0x56)) // JUMPDEST, and back to it
	args := fmt.Sprintf(`{"to":"%s"}`, noting)
	override := fmt.Sprintf(`"stateOverrides":{"%s":{"code":"%s"}}`, noting, forever)
	var none any
	err := w.ask("debug_traceCall", &none, args, `"latest"`, `{"tracer":"callTracer","timeout":"30ms",`+override+`}`)
	if err == nil || !strings.Contains(err.Error(), "timeout") && !strings.Contains(err.Error(), "out of gas") {
		t.Errorf("%v", err)
	}
	if err := w.ask("debug_traceCall", &none, args, `"latest"`, `{"timeout":"soon"}`); err == nil {
		t.Error("soon is no duration")
	}
}

// Whatever a stranger sends as parameters gets an answer or an error.
func FuzzParamsOfDebugMethods(f *testing.F) {
	w := newWorld(f)
	tx := w.send(&calling, 0, nil)
	names := []string{"debug_traceTransaction", "debug_traceBlockByNumber", "debug_traceBlockByHash", "debug_traceCall"}
	f.Add(byte(0), quoted(tx.Hash()), withLogs, "")
	f.Add(byte(1), `"latest"`, `{"tracer":"prestateTracer","tracerConfig":{"diffMode":true}}`, "")
	f.Add(byte(3), `{"to":"0x00000000000000000000000000000000000000a3","gas":"0x10000"}`, `"latest"`,
		`{"txIndex":"0x0","stateOverrides":{"0x00000000000000000000000000000000000000a1":{"code":"0x"}}}`)
	f.Fuzz(func(t *testing.T, which byte, a, b, c string) {
		var p jsonrpc.Params
		for _, s := range []string{a, b, c} {
			if s != "" && json.Valid([]byte(s)) {
				p = append(p, json.RawMessage(s))
			}
		}
		name := names[int(which)%len(names)]
		out, err := w.methods[name](context.Background(), p)
		if err == nil {
			_, err = json.Marshal(out)
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}
