package remotenet

import (
	"encoding/json"
	"fmt"
	"math/big"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"

	"coffer/api/rpcpool"
	"coffer/api/service/chain/remote"
)

// fake is a node of a chain of 1 000 blocks, one every ten seconds from second 0 on, with one log in block 700.
type fake struct {
	mute  bool // it says that there is no log
	wide  int  // how many blocks it searches at once, 0 for all
	final uint64
	words string // of its refusals
}

var (
	point = common.Address{0xee}
	topic = common.Hash{0x0e}
	runTx = common.Hash{0x7a}
)

func hashAt(n uint64) common.Hash { return common.BigToHash(new(big.Int).SetUint64(n + 1)) }

func blockAt(n uint64) map[string]any {
	return map[string]any{"number": hexutil.Uint64(n), "hash": hashAt(n), "timestamp": hexutil.Uint64(10 * n),
		"gasLimit": "0x1c9c380", "baseFeePerGas": "0x1", "parentHash": hashAt(n - 1)}
}

func (f fake) answer(method string, params []json.RawMessage) (any, string) {
	log := map[string]any{"address": point, "topics": []common.Hash{topic}, "data": "0x01",
		"transactionHash": runTx, "blockHash": hashAt(700), "removed": false}
	switch method {
	case "eth_chainId":
		return "0x1", ""
	case "eth_blockNumber":
		return "0x3e7", ""
	case "eth_getBlockByHash":
		return blockAt(700), ""
	case "eth_getBlockByNumber":
		var tag string
		_ = json.Unmarshal(params[0], &tag)
		switch tag {
		case "latest":
			return blockAt(999), ""
		case "finalized":
			return blockAt(f.final), ""
		}
		if n, _ := strconv.ParseUint(tag, 0, 64); n < 1000 {
			return blockAt(n), ""
		}
		return nil, ""
	case "eth_getLogs":
		var q struct{ FromBlock, ToBlock hexutil.Uint64 }
		_ = json.Unmarshal(params[0], &q)
		if f.wide > 0 && int(q.ToBlock-q.FromBlock) >= f.wide {
			return nil, f.words
		}
		if f.mute || q.FromBlock > 700 || q.ToBlock < 700 {
			return []any{}, ""
		}
		return []any{log}, ""
	case "eth_getTransactionByHash":
		return map[string]any{"hash": runTx, "value": "0x0"}, ""
	case "eth_getTransactionReceipt":
		r := map[string]any{"transactionHash": runTx, "blockNumber": hexutil.Uint64(700), "blockHash": hashAt(700),
			"status": "0x1", "gasUsed": "0x1", "logs": []any{log}}
		if f.mute {
			r["logs"] = []any{}
		}
		return r, ""
	}
	return nil, "no such method"
}

func (f fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var body json.RawMessage
	_ = json.NewDecoder(r.Body).Decode(&body)
	type call struct {
		ID     uint64            `json:"id"`
		Method string            `json:"method"`
		Params []json.RawMessage `json:"params"`
	}
	reply := func(c call) any {
		result, refused := f.answer(c.Method, c.Params)
		if refused != "" {
			return map[string]any{"jsonrpc": "2.0", "id": c.ID,
				"error": map[string]any{"code": -32602, "message": refused}}
		}
		return map[string]any{"jsonrpc": "2.0", "id": c.ID, "result": result}
	}
	var many []call
	if json.Unmarshal(body, &many) == nil {
		var all []any
		for _, c := range many {
			all = append(all, reply(c))
		}
		_ = json.NewEncoder(w).Encode(all)
		return
	}
	var one call
	_ = json.Unmarshal(body, &one)
	_ = json.NewEncoder(w).Encode(reply(one))
}

// nodeOf asks fakes, two of which must agree.
func nodeOf(t *testing.T, fakes ...fake) *node {
	t.Helper()
	var urls []rpcpool.Endpoint
	for _, f := range fakes {
		web := httptest.NewServer(f)
		t.Cleanup(web.Close)
		urls = append(urls, rpcpool.Endpoint{URL: web.URL})
	}
	pool, err := rpcpool.New(rpcpool.Options{URLs: urls, ChainID: 1, Quorum: 2})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	n := &node{pool: pool}
	n.gate.shared = new(atomic.Pointer[error])
	n.gate.open.Store(true)
	if n.Chain, err = remote.New(remote.Options{Node: pool, ChainID: 1}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.Close)
	return n
}

// TestOneNodeDoesNotDecideWhatBecameOfAnOperation: one that lies or lags neither hides a log, nor makes it final, nor
// says that it cannot come any more.
func TestOneNodeDoesNotDecideWhatBecameOfAnOperation(t *testing.T) {
	honest, far := fake{final: 690}, fake{final: 900}
	for i, c := range []struct {
		nodes        []fake
		from, to     uint64
		found, final bool
	}{
		{[]fake{honest, honest, honest}, 6900, 7100, true, false},
		{[]fake{far, far, far}, 6900, 7100, true, true},
		{[]fake{far, far, far}, 7001, 7100, false, true},
		{[]fake{far, far, far}, 7001, 9100, false, false},
		{[]fake{far, far, far}, 20_000, 30_000, false, false},
		{[]fake{{final: 999}, honest, honest}, 6900, 7100, true, false},
		{[]fake{{final: 999}, honest, honest}, 7001, 7100, false, false},
		{[]fake{far, {final: 900, wide: 7, words: "too wide"}, {final: 900, mute: true}}, 100, 9999, true, true},
		{[]fake{{final: 900, wide: 9, words: "at most nine"}, {final: 900, wide: 7, words: "too wide"}}, 6000, 8000,
			true, true},
	} {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			r, found, final, err := nodeOf(t, c.nodes...).Find(t.Context(), c.from, c.to, point, topic)
			if err != nil || found != c.found || final != c.final || found && r.TxHash != runTx {
				t.Errorf("found %v, final %v: %+v, %v", found, final, r, err)
			}
		})
	}
	mute := fake{final: 900, mute: true}
	r, found, _, err := nodeOf(t, mute, far, far).Find(t.Context(), 6900, 7100, point, topic)
	if err == nil && (!found || len(r.Logs) != 1) {
		t.Errorf("hidden: %v, %+v", found, r)
	}
}

// TestOnlyWhatAQuorumHasInAFinalBlockIsAttested: one node that is ahead, or hides the logs, changes nothing.
func TestOnlyWhatAQuorumHasInAFinalBlockIsAttested(t *testing.T) {
	honest, far, mute := fake{final: 690}, fake{final: 900}, fake{final: 900, mute: true}
	for i, c := range []struct {
		nodes []fake
		found bool
	}{
		{[]fake{far, far, far}, true}, {[]fake{mute, far, far}, true}, {[]fake{honest, honest, far}, false},
		{[]fake{honest, honest, honest}, false}, {[]fake{mute, mute, mute}, true},
	} {
		r, found, err := nodeOf(t, c.nodes...).FinalReceipt(t.Context(), runTx)
		if err != nil || found != c.found || found && (r.Block != 700 || !r.Success) ||
			i < 2 && (len(r.Logs) != 1 || r.Logs[0].Address != point) {
			t.Errorf("%d: found %v, %+v, %v", i, found, r, err)
		}
	}
	if r, found, err := nodeOf(t, mute, far).FinalReceipt(t.Context(), runTx); found || err == nil {
		t.Errorf("two that differ: %+v, %v", r, err)
	}
	for _, c := range []struct {
		f    fake
		want time.Duration
	}{{far, 990 * time.Second}, {fake{final: 999}, 0}, {honest, 3090 * time.Second}} {
		if d, err := nodeOf(t, c.f, c.f).Depth(t.Context()); err != nil || d != c.want {
			t.Errorf("%s, %v", d, err)
		}
	}
}
