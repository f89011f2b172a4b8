package chainview_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api/caip"
	"coffer/api/rpcpool"
	"coffer/api/rpcpool/faultproxy"
	"coffer/wallet/chainview"
	"coffer/wallet/verify"
)

// made counts simulated blocks.
var made atomic.Int64

// simulated is a block with a call that moves an amount and one that reverts, as either of two clients writes it: what
// it reverts with is in one place or another, and their blocks have other hashes.
func simulated(word string) any {
	n := made.Add(1)
	fails := map[string]any{"status": "0x0", "returnData": "0x", "error": map[string]any{"code": 3, "data": "0x01"}}
	if n%2 == 0 {
		fails = map[string]any{"status": "0x0", "returnData": "0x01", "error": map[string]any{}}
	}
	moves := map[string]any{"address": common.Address{2}, "topics": []any{common.Hash{9}}, "data": word}
	return []any{map[string]any{"number": "0xa", "hash": common.BigToHash(big.NewInt(n)), "calls": []any{
		map[string]any{"status": "0x1", "returnData": "0x", "gasUsed": "0x5208", "logs": []any{moves}}, fails}}}
}

// node answers for Base, at block 9, at which everybody has 5 of everything.
func node(t *testing.T, balance int64) *faultproxy.Proxy {
	t.Helper()
	hash := common.Hash{9}.Hex()
	word := fmt.Sprintf("0x%064x", balance)
	p := faultproxy.New(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		type call struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
		}
		var calls []call
		one := json.Unmarshal(raw, &calls) != nil
		if one {
			calls = []call{{}}
			_ = json.Unmarshal(raw, &calls[0])
		}
		var out []map[string]any
		for _, c := range calls {
			answer := map[string]any{"eth_chainId": "0x2105", "eth_blockNumber": "0x9", "eth_getCode": "0x00",
				"eth_getBalance": fmt.Sprintf("0x%x", balance), "eth_call": word,
				"eth_getTransactionCount": fmt.Sprintf("0x%x", balance), "eth_simulateV1": simulated(word),
				"eth_getBlockByNumber": map[string]any{"number": "0x9", "hash": hash, "timestamp": "0x1"},
				"eth_feeHistory":       map[string]any{"baseFeePerGas": []string{"0x1", fmt.Sprintf("0x%x", balance)}},
			}[c.Method]
			out = append(out, map[string]any{"jsonrpc": "2.0", "id": c.ID, "result": answer})
		}
		w.Header().Set("Content-Type", "application/json")
		if one {
			_ = json.NewEncoder(w).Encode(out[0])
			return
		}
		_ = json.NewEncoder(w).Encode(out)
	}), 1)
	t.Cleanup(p.Close)
	return p
}

func view(t *testing.T, quorum int, urls ...string) *chainview.View {
	t.Helper()
	n := chainview.Node{Chain: 8453, Quorum: quorum}
	for _, u := range urls {
		n.Endpoints = append(n.Endpoints, rpcpool.Endpoint{URL: u})
	}
	v, err := chainview.New([]chainview.Node{n})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(v.Close)
	return v
}

func question() []verify.Question {
	return []verify.Question{{Chain: 8453, Account: common.Address{1}, Assets: []caip.Asset{caip.Native(8453),
		caip.ERC20(8453, common.Address{2})}, EntryPoint: common.Address{3}, Keys: []*big.Int{big.NewInt(1)},
		Code: []common.Address{{4}}}, {Chain: 1, Account: common.Address{1}}}
}

// One block is read in a few round trips, and no connection is opened before. A chain without a node has no answer.
func TestAViewReadsOneBlock(t *testing.T) {
	p := node(t, 5)
	v := view(t, 1, p.URL)
	if p.Calls("") != 0 {
		t.Error("it asks before it is asked")
	}
	got := v.Look(t.Context(), question())
	if len(got) != 1 || got[0].Trouble != "" || got[0].Block != 9 || got[0].Has[0].Int64() != 5 ||
		got[0].Has[1].Int64() != 5 || got[0].Next[0].Int64() != 5 || got[0].Hashes[0] == (common.Hash{}) {
		t.Errorf("%+v", got)
	}
}

// What a node does wrong ends in words within the bound, and a credential is never among them.
func TestAViewEndsInTimeWithWords(t *testing.T) {
	for name, c := range map[string]struct {
		rule  faultproxy.Rule
		words string
	}{
		"silent":        {faultproxy.Rule{Fault: faultproxy.Hang()}, "not answered within 3 s"},
		"another chain": {faultproxy.Rule{On: "eth_chainId", Fault: faultproxy.Lie("", "0x1")}, "it serves chain 1"},
		"no JSON":       {faultproxy.Rule{Fault: faultproxy.HTML()}, "http://127.0.0.1"},
	} {
		p := node(t, 5)
		p.Script(c.rule)
		at := time.Now()
		got := view(t, 1, p.URL+"/v2/secret-of-mine").Look(t.Context(), question())
		if took := time.Since(at); took > chainview.Bound+2*time.Second {
			t.Errorf("%s: it took %v", name, took)
		}
		if len(got) != 1 || !strings.Contains(got[0].Trouble, c.words) || got[0].Has != nil ||
			strings.Contains(got[0].Trouble, "secret-of-mine") {
			t.Errorf("%s: %+v", name, got)
		}
	}
	p := node(t, 5)
	p.Script(faultproxy.Rule{On: "eth_chainId", Fault: faultproxy.Lie("", "0x1")})
	if _, err := view(t, 1, p.URL).Probe(t.Context(), 8453); !errors.Is(err, rpcpool.ErrOtherChain) {
		t.Error(err)
	}
}

// Of several nodes two have to say the same: one that lies is outvoted, and two that differ show nothing.
func TestTwoNodesHaveToAgree(t *testing.T) {
	honest, second, liar := node(t, 5), node(t, 5), node(t, 7)
	got := view(t, 0, liar.URL, honest.URL, second.URL).Look(t.Context(), question())
	if got[0].Trouble != "" || got[0].Has[0].Int64() != 5 || got[0].Has[1].Int64() != 5 {
		t.Errorf("%+v", got[0])
	}
	got = view(t, 0, liar.URL, honest.URL).Look(t.Context(), question())
	if got[0].Trouble != "your nodes do not agree" {
		t.Errorf("%+v", got[0])
	}
	if got = view(t, 0, honest.URL+"/a", honest.URL+"/b").Look(t.Context(), question()); got[0].Trouble != "" {
		t.Errorf("two addresses of one host: %+v", got[0])
	}
}

// Of several nodes two have to say the same about what happens, however their clients write it. One that does not
// simulate says so.
func TestAViewSimulates(t *testing.T) {
	ask := []verify.Simulation{{Chain: 8453, Account: common.Address{1}, Code: []byte{0xef},
		Coins: map[common.Address]*big.Int{{9}: big.NewInt(5)}, Steps: []verify.SimulatedStep{
			{From: common.Address{9}, To: common.Address{1}, Value: big.NewInt(5)},
			{Op: common.Hash{7}, From: common.Address{3}, To: common.Address{1}, Data: []byte{8}}}}, {Chain: 1}}
	honest, second, liar := node(t, 5), node(t, 5), node(t, 7)
	got := view(t, 0, liar.URL, honest.URL, second.URL).Simulate(t.Context(), time.Unix(50, 0), ask)
	if len(got) != 1 || got[0].Trouble != "" || got[0].Block != 9 || !got[0].There || len(got[0].Runs) != 2 {
		t.Fatalf("%+v", got)
	}
	if moved, failed := got[0].Runs[0], got[0].Runs[1]; !moved.OK || moved.Logs[0].Data[31] != 5 || failed.OK ||
		failed.Revert[0] != 1 {
		t.Errorf("%+v", got)
	}
	p := node(t, 5)
	p.Script(faultproxy.Rule{On: "eth_simulateV1", Fault: faultproxy.Refuse(-32601, "no", nil)})
	got = view(t, 1, p.URL).Simulate(t.Context(), time.Unix(50, 0), ask)
	if len(got) != 1 || got[0].Trouble != "it does not offer eth_simulateV1" || got[0].Runs != nil {
		t.Errorf("%+v", got)
	}
	got = view(t, 0, liar.URL, honest.URL).Simulate(t.Context(), time.Unix(50, 0), ask)
	if got[0].Trouble != "your nodes do not agree" {
		t.Errorf("%+v", got)
	}
}
