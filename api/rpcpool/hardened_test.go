package rpcpool_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"

	"coffer/api/rpcpool"
	"coffer/api/rpcpool/faultproxy"
)

// at makes a node whose newest block has a number. Its blocks are those of every other such node.
func at(head uint64) *node {
	block := func(n uint64) any {
		return map[string]any{"number": hexutil.Uint64(n), "hash": common.Hash{byte(n)}, "timestamp": "0x1"}
	}
	n := newNode().set("eth_blockNumber", hexutil.Uint64(head))
	n.set("eth_getBalance", hexutil.Uint64(head))
	return n.set("eth_getBlockByNumber", func(p []json.RawMessage) any {
		var tag string
		_ = json.Unmarshal(p[0], &tag)
		number, err := hexutil.DecodeUint64(tag)
		switch {
		case err != nil:
			return block(head)
		case number > head:
			return nil
		}
		return block(number)
	})
}

func TestTheAgreedBlockIsOneThatAQuorumHas(t *testing.T) {
	for name, tc := range map[string]struct {
		heads [3]uint64
		lie   script
		want  uint64
	}{
		"one is ahead":    {[3]uint64{9, 8, 7}, nil, 8},
		"one is far back": {[3]uint64{2, 9, 9}, nil, 9},
		"one lies upward": {[3]uint64{9, 8, 8},
			script{on("eth_getBlockByNumber", faultproxy.Lie("number", "0xffffff"))}, 8},
		"one lies about the hash": {[3]uint64{8, 8, 8},
			script{on("eth_getBlockByNumber", faultproxy.Lie("hash", common.Hash{99}))}, 8},
		"one hangs": {[3]uint64{8, 8, 7}, script{always(faultproxy.Hang())}, 7},
	} {
		t.Run(name, func(t *testing.T) {
			first := proxied(t, at(tc.heads[0]), tc.lie...)
			p := pool(t, func(o *rpcpool.Options) { o.Quorum, o.Timeout, o.Hedge = 2, 10*time.Second, time.Second },
				first, proxied(t, at(tc.heads[1])), proxied(t, at(tc.heads[2])))
			var b rpcpool.Block
			if err := p.AgreedBlock(t.Context(), &b, "latest"); err != nil {
				t.Fatal(err)
			}
			if uint64(b.Number) != tc.want || b.Hash != (common.Hash{byte(tc.want)}) {
				t.Errorf("block %d, hash %s", b.Number, b.Hash)
			}
		})
	}
}

// Endpoints that do not have the block yet are no quorum against those that do.
func TestTheAgreedBlockIsThereThoughOthersAreBehind(t *testing.T) {
	p := pool(t, func(o *rpcpool.Options) { o.Quorum, o.Timeout, o.Hedge = 2, 10*time.Second, 2*time.Second },
		proxied(t, at(5)), proxied(t, at(6)), proxied(t, at(9)), proxied(t, at(9)))
	var b *rpcpool.Block
	if err := p.AgreedBlock(t.Context(), &b, "latest"); err != nil || b == nil || b.Number != 9 {
		t.Error(b, err)
	}
}

func TestAnEndpointThatIsBehindIsNotAskedForTheNewest(t *testing.T) {
	slow, fast := proxied(t, at(80)), proxied(t, at(100))
	p := pool(t, nil, slow, fast)
	var balance hexutil.Uint64
	for range 3 {
		err := p.Call(t.Context(), &balance, "eth_getBalance", common.Address{}, "latest")
		if err != nil || balance != 100 {
			t.Fatalf("%d, %v", balance, err)
		}
	}
	if err := p.Call(t.Context(), &balance, "eth_getBalance", common.Address{}, "0x10"); err != nil || balance != 80 {
		t.Errorf("an old block was asked elsewhere: %d, %v", balance, err)
	}
	if h := p.Health()[0]; h.State != rpcpool.Behind || h.Behind != 20 || h.Head != 80 {
		t.Errorf("%+v", h)
	}
}

func TestOneEndpointCannotSetTheOthersAside(t *testing.T) {
	liar := proxied(t, at(100), on("eth_blockNumber", faultproxy.Lie("", "0xffffffff")))
	p := pool(t, nil, proxied(t, at(100)), proxied(t, at(99)), liar)
	if err := p.Call(t.Context(), nil, "eth_getBalance", common.Address{}, "latest"); err != nil {
		t.Fatal(err)
	}
	if liar.Calls("eth_getBalance") != 0 {
		t.Error("the liar was asked")
	}
	for _, h := range p.Health() {
		if h.State != rpcpool.Up {
			t.Errorf("%+v", h)
		}
	}
}

func TestASlowReadIsAskedAtASecondEndpoint(t *testing.T) {
	slow := proxied(t, newNode().set("eth_gasPrice", "0x7"))
	fast := proxied(t, newNode().set("eth_gasPrice", "0x7"))
	p := pool(t, func(o *rpcpool.Options) { o.Timeout, o.Hedge = time.Minute, 50*time.Millisecond }, slow, fast)
	if _, err := p.Probe(t.Context()); err != nil {
		t.Fatal(err)
	}
	slow.Script(always(faultproxy.Hang()))
	for range 6 {
		within(t, func() {
			if err := p.Call(t.Context(), nil, "eth_gasPrice"); err != nil {
				t.Fatal(err)
			}
		})
	}
	if n := slow.Calls("eth_gasPrice"); n != 3 {
		t.Errorf("an endpoint that hangs was asked %d times", n)
	}
	if p.Health()[0].State != rpcpool.Resting {
		t.Errorf("%+v", p.Health()[0])
	}
}

func TestAMethodThatChangesSomethingIsSentOnce(t *testing.T) {
	for name, fault := range map[string]faultproxy.Fault{"deaf": faultproxy.Deaf(), "hang": faultproxy.Hang(),
		"429": faultproxy.Status(429, "", ""), "web page": faultproxy.HTML(), "503": faultproxy.Status(503, "", "")} {
		t.Run(name, func(t *testing.T) {
			for _, method := range []string{"evm_mine", "eth_sendUserOperation"} {
				n := newNode().set(method, "0x0")
				first, second := proxied(t, n, on(method, fault)), proxied(t, n)
				err := pool(t, nil, first, second).Call(t.Context(), nil, method)
				var gone *rpcpool.UnavailableError
				if !errors.As(err, &gone) || !gone.Sent {
					t.Errorf("%s: %v", method, err)
				}
				if first.Calls(method) != 1 || second.Calls(method) != 0 {
					t.Errorf("%s: %d and %d times", method, first.Calls(method), second.Calls(method))
				}
			}
		})
	}
	t.Run("nothing left", func(t *testing.T) {
		n := newNode().set("evm_mine", "0x0")
		gone := faultproxy.New(n, 1)
		p := pool(t, nil, gone, proxied(t, n))
		gone.Close()
		if err := p.Call(t.Context(), nil, "evm_mine"); err != nil {
			t.Error(err)
		}
	})
}

// A node that fails once is asked once more, also when it is the only one and also for a signed transaction, which the
// chain takes once however often it arrives. What is no repetition is not asked twice.
func TestAfterOneFailureThereIsASecondTry(t *testing.T) {
	key, _ := crypto.GenerateKey()
	tx := types.MustSignNewTx(key, types.LatestSignerForChainID(common.Big1), &types.LegacyTx{Gas: 21000})
	raw, _ := tx.MarshalBinary()
	for what, failure := range map[string]faultproxy.Fault{
		"500": faultproxy.Status(500, "", "internal error"), "dropped": faultproxy.Drop(), "deaf": faultproxy.Deaf(),
	} {
		for name, tc := range map[string]struct {
			method string
			nodes  int // as many have to agree
			do     func(p *rpcpool.Pool) error
		}{
			"a read": {"eth_call", 1, func(p *rpcpool.Pool) error {
				return p.Call(t.Context(), nil, "eth_call")
			}},
			"a batch": {"eth_call", 1, func(p *rpcpool.Pool) error {
				return p.Batch(t.Context(), []rpcpool.Call{{Method: "eth_gasPrice"}, {Method: "eth_call"}})
			}},
			"an agreed read": {"eth_call", 2, func(p *rpcpool.Pool) error {
				return p.Agreed(t.Context(), nil, "eth_call")
			}},
			"an agreed block": {"eth_getBlockByNumber", 2, func(p *rpcpool.Pool) error {
				return p.AgreedBlock(t.Context(), new(rpcpool.Block), "latest")
			}},
			"a number": {"getBlockHeight", 2, func(p *rpcpool.Pool) error {
				_, err := p.Reached(t.Context(), "getBlockHeight")
				return err
			}},
			"a send": {"eth_sendRawTransaction", 1, func(p *rpcpool.Pool) error {
				_, err := p.Broadcast(t.Context(), raw)
				return err
			}},
			"a send to two": {"eth_sendRawTransaction", 2, func(p *rpcpool.Pool) error {
				_, err := p.Broadcast(t.Context(), raw)
				return err
			}},
		} {
			t.Run(what+", "+name, func(t *testing.T) {
				t.Parallel()
				var all []*faultproxy.Proxy
				for range tc.nodes {
					var got atomic.Int64
					n := at(100).set("eth_call", "0x07").set("eth_gasPrice", "0x1").set("getBlockHeight", 100).
						set("eth_sendRawTransaction", func([]json.RawMessage) any {
							if got.Add(1) > 1 {
								return nodeError{Code: -32000, Message: "already known"}
							}
							return tx.Hash()
						})
					all = append(all, proxied(t, n, faultproxy.Rule{On: tc.method, Times: 1, Fault: failure}))
				}
				p := pool(t, func(o *rpcpool.Options) {
					o.Quorum, o.Timeout, o.Hedge = tc.nodes, 10*time.Second, 5*time.Second
				}, all...)
				if err := tc.do(p); err != nil {
					t.Error(err)
				}
				for _, a := range all {
					n := a.Calls(tc.method)
					if n < 2 && tc.nodes == 1 || n > 2 && tc.method == "eth_sendRawTransaction" {
						t.Errorf("%d requests", n)
					}
				}
			})
		}
	}
	t.Run("what is no repetition", func(t *testing.T) {
		one := proxied(t, newNode().set("eth_sendTransaction", tx.Hash()), faultproxy.Rule{On: "eth_sendTransaction",
			Times: 1, Fault: faultproxy.Status(500, "", "")})
		var gone *rpcpool.UnavailableError
		err := pool(t, nil, one).Call(t.Context(), nil, "eth_sendTransaction")
		if !errors.As(err, &gone) || !gone.Sent || one.Calls("eth_sendTransaction") != 1 {
			t.Errorf("%v after %d requests", err, one.Calls("eth_sendTransaction"))
		}
	})
}

func TestALimitSlowsRequestsDown(t *testing.T) {
	var now, most atomic.Int64
	limited := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := now.Add(1)
		defer now.Add(-1)
		most.Store(max(most.Load(), n))
		time.Sleep(5 * time.Millisecond)
		body, _ := io.ReadAll(r.Body)
		if n > 3 {
			w.Header().Set("Retry-After", "0")
			w.WriteHeader(http.StatusTooManyRequests)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		newNode().set("eth_gasPrice", "0x7").ServeHTTP(w, r)
	})
	p := pool(t, func(o *rpcpool.Options) { o.Timeout, o.Hedge = 20*time.Second, time.Minute }, proxied(t, limited))
	var failed atomic.Int64
	var all sync.WaitGroup
	for range 200 {
		all.Go(func() {
			if err := p.Call(t.Context(), nil, "eth_gasPrice"); err != nil {
				failed.Add(1)
				t.Log(err)
			}
		})
	}
	all.Wait()
	if failed.Load() > 0 || most.Load() < 4 || most.Load() > rpcpool.DefaultSlots {
		t.Errorf("%d of 200 failed, at most %d at once", failed.Load(), most.Load())
	}
}

func TestPartOfABatchThatIsLimitedIsAskedAgain(t *testing.T) {
	var asked atomic.Int64
	n := newNode().set("eth_getBalance", func(p []json.RawMessage) any {
		if asked.Add(1) == 3 {
			return nodeError{429, "Your app has exceeded its compute units per second capacity", nil}
		}
		return p[0]
	})
	p := pool(t, func(o *rpcpool.Options) { o.Timeout = 10 * time.Second }, proxied(t, n))
	calls := make([]rpcpool.Call, 5)
	got := make([]hexutil.Uint64, len(calls))
	for i := range calls {
		calls[i] = rpcpool.Call{Method: "eth_getBalance", Params: []any{hexutil.Uint64(i)}, Result: &got[i]}
	}
	if err := p.Batch(t.Context(), calls); err != nil {
		t.Fatal(err)
	}
	for i, v := range got {
		if int(v) != i || calls[i].Err != nil {
			t.Errorf("call %d: %d, %v", i, v, calls[i].Err)
		}
	}
	if asked.Load() != 6 {
		t.Errorf("%d calls for 5 answers", asked.Load())
	}
}

func TestABlockThatANodeLacksIsAskedAtAnother(t *testing.T) {
	lacking := proxied(t, newNode().set("eth_call", nodeError{-32000, "header not found", nil}))
	p := pool(t, nil, lacking, proxied(t, newNode().set("eth_call", "0x07")))
	var out hexutil.Bytes
	if err := p.Call(t.Context(), &out, "eth_call", 1, map[string]any{"blockHash": common.Hash{}}); err != nil {
		t.Fatal(err)
	}
	if h := p.Health()[0]; h.State != rpcpool.Up {
		t.Errorf("%+v", h)
	}
	var e *rpcpool.Error
	err := pool(t, nil, lacking).Call(t.Context(), &out, "eth_call", 1, "0x9")
	if !errors.As(err, &e) || e.Message != "header not found" {
		t.Error(err)
	}
}

func TestMembersThatTheCallerDoesNotReadMayDiffer(t *testing.T) {
	p := pool(t, quorum(2),
		proxied(t, newNode().set("eth_getBlockByHash", map[string]any{"number": "0x1", "hash": common.Hash{0xaa}})),
		proxied(t, newNode().set("eth_getBlockByHash", map[string]any{"l1Fee": "0x9", "number": "0x1",
			"hash": common.Hash{0xaa}})))
	var b *rpcpool.Block
	if err := p.Agreed(t.Context(), &b, "eth_getBlockByHash"); err != nil || b.Number != 1 {
		t.Error(b, err)
	}
	var raw json.RawMessage
	var none *rpcpool.NoQuorumError
	if err := p.Agreed(t.Context(), &raw, "eth_getBlockByHash"); !errors.As(err, &none) || len(none.Groups) != 2 {
		t.Error(string(raw), err)
	}
}

func TestAQuorumOfRevertsIsARevert(t *testing.T) {
	p := pool(t, quorum(2), proxied(t, newNode().set("eth_call", nodeError{3, "execution reverted", "0x0102"})),
		proxied(t, newNode().set("eth_call", nodeError{-32000, "Execution reverted", "0x0102"})))
	var e *rpcpool.Error
	if err := p.Agreed(t.Context(), nil, "eth_call"); !errors.As(err, &e) || !bytes.Equal(e.Data, []byte{1, 2}) {
		t.Error(err)
	}
}

func TestALargeAnswerIsRefusedHoweverSmallItArrives(t *testing.T) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, _ = z.Write([]byte(`{"jsonrpc":"2.0","id":2,"result":"`))
	for range 3 {
		_, _ = z.Write(bytes.Repeat([]byte{'a'}, 1<<20))
	}
	_ = z.Close()
	bomb := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if bytes.Contains(body, []byte("eth_chainId")) {
			r.Body = io.NopCloser(bytes.NewReader(body))
			newNode().ServeHTTP(w, r)
			return
		}
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = w.Write(packed.Bytes())
	})
	p := pool(t, func(o *rpcpool.Options) { o.MaxBytes, o.Timeout = 2<<20, 10*time.Second }, proxied(t, bomb))
	if err := p.Call(t.Context(), nil, "eth_getLogs"); !errors.Is(err, rpcpool.ErrTooLarge) {
		t.Error(err)
	}
	if h := p.Health()[0]; h.State != rpcpool.Up { // asking for less may work
		t.Errorf("%+v", h)
	}
}

func TestManyCallersUnderManyFaults(t *testing.T) {
	n := newNode().set("eth_getBalance", func(p []json.RawMessage) any { return p[0] })
	faults := func(seed uint64) *faultproxy.Proxy {
		p := faultproxy.New(n, seed,
			faultproxy.Rule{Chance: .1, Fault: faultproxy.Drop()},
			faultproxy.Rule{Chance: .05, Fault: faultproxy.HTML()},
			faultproxy.Rule{Chance: .1, Fault: faultproxy.Status(503, "", "")},
			faultproxy.Rule{Chance: .05, Fault: faultproxy.Cut(3)},
			faultproxy.Rule{Chance: .3, Fault: faultproxy.Shuffle()},
			faultproxy.Rule{On: "eth_getBalance", Chance: .1, Fault: faultproxy.LeaveOut()})
		t.Cleanup(p.Close)
		return p
	}
	p := pool(t, func(o *rpcpool.Options) { o.Timeout = 5 * time.Second }, faults(1), faults(2), proxied(t, n))
	var all sync.WaitGroup
	for g := range 20 {
		all.Go(func() {
			for round := range 10 {
				calls := make([]rpcpool.Call, 4)
				got := make([]hexutil.Uint64, len(calls))
				for i := range calls {
					calls[i] = rpcpool.Call{Method: "eth_getBalance", Result: &got[i],
						Params: []any{hexutil.Uint64(1000*g + 10*round + i)}}
				}
				if err := p.Batch(t.Context(), calls); err != nil {
					t.Error(err)
				}
				for i, v := range got {
					if int(v) != 1000*g+10*round+i {
						t.Errorf("call %d has the answer %d of another", i, v)
					}
				}
			}
		})
	}
	all.Wait()
}

func TestCloseEndsCalls(t *testing.T) {
	p := pool(t, func(o *rpcpool.Options) { o.Timeout = time.Minute }, proxied(t, newNode(), always(faultproxy.Hang())))
	done := make(chan error, 1)
	go func() { done <- p.Call(t.Context(), nil, "eth_gasPrice") }()
	time.Sleep(50 * time.Millisecond)
	within(t, func() {
		p.Close()
		if err := <-done; err == nil {
			t.Error("an answer from nowhere")
		}
	})
	if err := p.Call(t.Context(), nil, "eth_gasPrice"); !errors.Is(err, rpcpool.ErrClosed) {
		t.Error(err)
	}
}
