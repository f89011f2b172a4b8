package remote_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/big"
	"math/rand/v2"
	"os/exec"
	"reflect"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"

	"coffer/api/rpcpool"
	"coffer/api/service/chain"
	"coffer/api/service/chain/remote"
)

var (
	anvilProgram = flag.String("anvil", "", "compare with this anvil, a path")
	seed         = flag.Uint64("seed", 1, "the seed of what is called")
	calls        = flag.Int("calls", 1000, "how many calls are compared")
)

// outside is a chain of anvil, reached as any node is.
type outside struct {
	*world
	pool   *rpcpool.Pool
	remote *remote.Chain
}

func (o *outside) ask(t *testing.T, out any, method string, params ...any) {
	t.Helper()
	if err := o.pool.Call(t.Context(), out, method, params...); err != nil {
		t.Fatal(err)
	}
}

func startAnvil(t *testing.T, hardfork string) *outside {
	t.Helper()
	if *anvilProgram == "" {
		t.Skip("no -anvil PATH is given; .ci/run anvil gives one")
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	//nolint:gosec // the path comes from the person who runs the test
	cmd := exec.CommandContext(ctx, *anvilProgram, "--port", "0", "--chain-id", fmt.Sprint(chainID), "--timestamp",
		fmt.Sprint(genesis), "--hardfork", hardfork, "--accounts", "0", "--gas-limit", "60000000",
		"--disable-min-priority-fee", "--no-mining")
	out := must(cmd.StdoutPipe())
	if err := cmd.Start(); err != nil {
		stop()
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(); _ = cmd.Wait() })
	var at string
	for lines := bufio.NewScanner(out); at == "" && lines.Scan(); {
		at, _ = strings.CutPrefix(lines.Text(), "Listening on ")
		if !strings.HasPrefix(lines.Text(), "Listening on ") {
			at = ""
		}
	}
	go func() { _, _ = io.Copy(io.Discard, out) }()
	o := &outside{world: newWorld(t)}
	o.pool = must(rpcpool.New(rpcpool.Options{ChainID: chainID, URLs: []rpcpool.Endpoint{{URL: "http://" + at}}}))
	t.Cleanup(o.pool.Close)
	o.remote = must(remote.New(remote.Options{Node: o.pool, ChainID: chainID}))
	t.Cleanup(o.remote.Close)
	for _, a := range o.alloc {
		if a.Balance != nil {
			o.ask(t, nil, "anvil_setBalance", a.Address, (*hexutil.Big)(a.Balance))
		}
		o.ask(t, nil, "anvil_setNonce", a.Address, hexutil.Uint64(a.Nonce))
		if len(a.Code) > 0 {
			o.ask(t, nil, "anvil_setCode", a.Address, hexutil.Bytes(a.Code))
		}
		for k, v := range a.Storage {
			o.ask(t, nil, "anvil_setStorageAt", a.Address, k, v)
		}
	}
	hashes := make([]common.Hash, len(o.start()))
	for i, tx := range o.start() {
		id := big.NewInt(chainID)
		signed := must(tx.From.SignTx(t.Context(), types.NewTx(&types.DynamicFeeTx{ChainID: id, Nonce: uint64(i),
			To: &tx.To, Value: tx.Value, Data: tx.Data, Gas: tx.Gas, GasFeeCap: big.NewInt(1e10),
			GasTipCap: big.NewInt(1)}), id))
		o.ask(t, &hashes[i], "eth_sendRawTransaction", hexutil.Bytes(must(signed.MarshalBinary())))
	}
	o.ask(t, nil, "evm_mine")
	for i, hash := range hashes {
		var r struct{ Status hexutil.Uint64 }
		if o.ask(t, &r, "eth_getTransactionReceipt", hash); r.Status != 1 {
			t.Fatalf("transaction %d of the world failed", i)
		}
	}
	return o
}

// simulated is the outcome of one call of eth_simulateV1.
type simulated struct {
	ReturnData hexutil.Bytes  `json:"returnData"`
	GasUsed    hexutil.Uint64 `json:"gasUsed"`
	Status     hexutil.Uint64 `json:"status"`
	Logs       []struct {
		Address common.Address `json:"address"`
		Topics  []common.Hash  `json:"topics"`
		Data    hexutil.Bytes  `json:"data"`
	} `json:"logs"`
}

// simulate has the node run messages one after the other in the block that st executes in.
func (o *outside) simulate(t *testing.T, head chain.Header, at uint64, overlay chain.Overlay,
	messages []chain.Message) ([]simulated, error) {
	t.Helper()
	var block struct {
		GasLimit hexutil.Uint64 `json:"gasLimit"`
		Miner    common.Address `json:"miner"`
		MixHash  common.Hash    `json:"mixHash"`
	}
	o.ask(t, &block, "eth_getBlockByHash", head.Hash, false)
	var fees struct {
		BaseFees []hexutil.Big `json:"baseFeePerGas"`
	}
	for len(fees.BaseFees) < 2 { // anvil takes a moment to count a new block in
		o.ask(t, &fees, "eth_feeHistory", "0x1", hexutil.Uint64(head.Number), []any{})
	}
	state := map[common.Address]map[string]any{}
	for a, v := range overlay {
		s := map[string]any{}
		if v.Balance != nil {
			s["balance"] = (*hexutil.Big)(v.Balance)
		}
		if v.Nonce != nil {
			s["nonce"] = hexutil.Uint64(*v.Nonce)
		}
		if v.Code != nil {
			s["code"] = hexutil.Bytes(v.Code)
		}
		if v.Storage != nil {
			s["stateDiff"] = v.Storage
		}
		state[a] = s
	}
	var list []map[string]any
	for _, m := range messages {
		call := map[string]any{"from": m.From, "to": m.To, "gas": hexutil.Uint64(m.Gas), "input": hexutil.Bytes(m.Data)}
		if m.Value != nil {
			call["value"] = (*hexutil.Big)(m.Value)
		}
		list = append(list, call)
	}
	var out []struct{ Calls []simulated }
	err := o.pool.Call(t.Context(), &out, "eth_simulateV1", map[string]any{"blockStateCalls": []any{map[string]any{
		"blockOverrides": map[string]any{
			"number": hexutil.Uint64(head.Number + 1), "time": hexutil.Uint64(max(at, head.Time)),
			"gasLimit": block.GasLimit, "feeRecipient": block.Miner, "prevRandao": block.MixHash,
			"baseFeePerGas": &fees.BaseFees[1],
		},
		"stateOverrides": state, "calls": list,
	}}}, hexutil.Uint64(head.Number))
	if err != nil {
		return nil, err
	}
	return out[0].Calls, nil
}

// equal holds that the outcome here is that of the node.
func equal(here chain.Result, there simulated) bool {
	logs := make([]chain.Log, 0, len(there.Logs))
	for _, l := range there.Logs {
		logs = append(logs, chain.Log{Address: l.Address, Topics: l.Topics, Data: l.Data})
	}
	return (here.Err == nil) == (there.Status == 1) && here.GasUsed == uint64(there.GasUsed) &&
		bytes.Equal(here.Return, there.ReturnData) && len(here.Logs) == len(logs) &&
		(len(logs) == 0 || fmt.Sprintf("%+v", here.Logs) == fmt.Sprintf("%+v", logs))
}

// Random calls, one after the other and with overlays, have the outcome that the node's own eth_simulateV1 says.
func TestSimulationsAgreeWithEthSimulateOnAnvil(t *testing.T) {
	for _, hardfork := range []string{"prague", "osaka"} {
		t.Run(hardfork, func(t *testing.T) { agrees(t, startAnvil(t, hardfork), *calls/2) })
	}
}

func agrees(t *testing.T, o *outside, total int) {
	r := rand.New(rand.NewPCG(*seed, uint64(total)))
	compared, succeeded, refused := 0, 0, 0
	kinds := map[string]int{}
	for compared < total {
		if r.IntN(10) == 0 {
			o.ask(t, nil, "evm_mine")
		}
		st, err := o.remote.State(t.Context(), 0)
		if err != nil {
			t.Fatal(err)
		}
		at := st.Header().Time + r.Uint64N(100)
		st.Close()
		if st, err = o.remote.State(t.Context(), at); err != nil {
			t.Fatal(err)
		}
		var overlay chain.Overlay
		if r.IntN(3) == 0 {
			overlay = o.overlay(r)
			st.Apply(overlay)
		}
		var messages []chain.Message
		var here []chain.Result
		for range r.IntN(8) + 1 {
			m, kind := o.random(r)
			if len(m.Authorizations) > 0 {
				continue // anvil's eth_simulateV1 takes none
			}
			res := st.Call(m)
			if res.GasUsed == 0 { // no block could have it; a simulation of it fails as a whole
				if _, err := o.simulate(t, st.Header(), at, overlay, append(messages, m)); err == nil {
					t.Fatalf("%s %+v is refused here: %v", kind, m, res.Err)
				}
				refused++
				continue
			}
			messages, here = append(messages, m), append(here, res)
			kinds[kind]++
			if res.Err != nil {
				break // the node would go on with the nonce and without the gas of a failed transaction
			}
		}
		if st.Err() != nil {
			t.Fatal(st.Err())
		}
		if len(messages) > 0 {
			there, err := o.simulate(t, st.Header(), at, overlay, messages)
			if err != nil || len(there) != len(here) {
				t.Fatalf("%d of %d calls were simulated: %v", len(there), len(here), err)
			}
			for i := range here {
				if messages[i].To == made(5) && here[i].Err == nil { // anvil's simulated blocks have no base fee
					clear(here[i].Return[64:96])
				}
				if !equal(here[i], there[i]) {
					t.Fatalf("%+v:\n%+v\nthe node says\n%+v", messages[i], here[i], there[i])
				}
				if here[i].Err == nil {
					succeeded++
				}
			}
		}
		compared += len(here)
		st.Close()
	}
	t.Logf("%d calls, %d succeeded, %d refused by both: %v", compared, succeeded, refused, kinds)
	if 10*succeeded < 6*compared {
		t.Errorf("%d of %d calls succeeded", succeeded, compared)
	}
}

// What the embedded chain's endpoint answers in tests, a node that is not ours answers as well.
func TestReadsAndTheGateOnAnvil(t *testing.T) {
	o := startAnvil(t, "prague")
	all := append([]common.Address{{}}, o.tokens...)
	got, err := o.remote.Balances(t.Context(), o.account(0), append(all, made(2)))
	if err != nil || got[0].Cmp(big.NewInt(1e18)) != 0 || got[len(all)] != nil {
		t.Errorf("%v: %v", got, err)
	}
	for _, v := range got[1:len(all)] {
		if v == nil || v.Cmp(big.NewInt(1e6)) != 0 {
			t.Errorf("%s tokens", v)
		}
	}
	if err := o.remote.Gate(t.Context(), o.execute(0, o.transfer(0, person(2), 5))); err != nil {
		t.Error(err)
	}
	err = o.remote.Gate(t.Context(), chain.Message{From: person(0), To: made(2), Data: []byte{1, 2}, Gas: 60_000})
	var reverted *chain.RevertedError
	if !errors.Is(err, chain.ErrReverted) || !errors.As(err, &reverted) || !bytes.Equal(reverted.Data, []byte{1, 2}) {
		t.Errorf("%v", err)
	}
	st, err := o.remote.State(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	n := st.Header().Number
	b, found, err := o.remote.Block(t.Context(), n)
	if err != nil || !found || len(b.Receipts) != len(o.start()) || b.Hash != st.Header().Hash {
		t.Fatalf("block %d: %+v, %v", n, b, err)
	}
	last := b.Receipts[len(b.Receipts)-1]
	rc, found, err := o.remote.Receipt(t.Context(), last.TxHash)
	if err != nil || !found || !reflect.DeepEqual(rc.Logs, last.Logs) || rc.Time != b.Time ||
		rc.Value.Cmp(big.NewInt(1e18)) != 0 {
		t.Errorf("%+v: %v", rc, err)
	}
	before := st.Balance(person(3))
	o.ask(t, nil, "anvil_reorg", 1, []any{})
	if st.Balance(person(4)); !errors.Is(st.Err(), chain.ErrGone) {
		t.Errorf("a reorganisation: %v (%s)", st.Err(), before)
	}
}
