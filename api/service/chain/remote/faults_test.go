package remote_test

import (
	"context"
	"encoding/json"
	"errors"
	"math/big"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"

	"coffer/api/rpcpool"
	"coffer/api/service/chain"
	"coffer/api/service/chain/evm/exec"
	"coffer/api/service/chain/remote"
	"coffer/api/service/jsonrpc"
	"coffer/api/service/signers"
)

// dev calls a method of the development network.
func (l *lab) dev(method string, params ...any) json.RawMessage {
	l.tb.Helper()
	var p jsonrpc.Params
	for _, x := range params {
		p = append(p, must(json.Marshal(x)))
	}
	return must(json.Marshal(must(l.node.methods[method](l.tb.Context(), p))))
}

// broken holds that a view knows nothing any more: zeros are no answers, and no call is executed.
func broken(t *testing.T, st chain.State, why error) {
	t.Helper()
	if err := st.Err(); !errors.Is(err, why) {
		t.Errorf("the view says %v, expected %v", err, why)
	}
	if res := st.Call(chain.Message{From: person(0), To: made(1), Gas: 50_000}); res.Err == nil {
		t.Error("a call was executed on an unknown state")
	}
}

func TestAViewStaysAtItsBlockWhileTheChainGoesOn(t *testing.T) {
	for _, mode := range []string{"by hash", "by number"} {
		t.Run(mode, func(t *testing.T) {
			l := newLab(t)
			if mode == "by number" {
				l.node.each = noHashes
			}
			st := l.state(0)
			first := st.Balance(person(0))
			l.populate()
			second := st.Storage(l.tokens[0], balanceSlot(person(1)))
			nonce := st.Nonce(person(0))
			if st.Err() != nil || first.Cmp(new(big.Int).Lsh(big.NewInt(1), 80)) != 0 || second != (common.Hash{}) ||
				nonce != 0 {
				t.Errorf("%s coins, %s tokens, nonce %d: %v", first, second, nonce, st.Err())
			}
			now := l.state(0).Storage(l.tokens[0], balanceSlot(person(1)))
			if now.Big().Int64() != 1e6 {
				t.Error("a fresh view does not see the new block")
			}
		})
	}
}

func balanceSlot(of common.Address) common.Hash {
	w := world{tokens: []common.Address{{}}}
	for k := range w.credit(0, of, 0)[common.Address{}].Storage {
		return k
	}
	return common.Hash{}
}

// noHashes is a node without EIP-1898.
func noHashes(_ int, c *rpcpool.Call) bool {
	for _, p := range c.Params {
		if o, _ := p.(map[string]any); o["blockHash"] != nil {
			c.Err = &rpcpool.Error{Code: -32602, Message: "invalid argument 1: json: cannot unmarshal object"}
			return true
		}
	}
	return false
}

func TestAReorganisationBetweenTwoReadsIsSaid(t *testing.T) {
	for _, mode := range []string{"by hash", "by number"} {
		t.Run(mode, func(t *testing.T) {
			l := newLab(t)
			if mode == "by number" {
				l.node.each = noHashes
			}
			at := l.dev("evm_snapshot")
			l.populate()
			l.seal()
			st := l.state(0)
			if st.Balance(person(0)); st.Err() != nil {
				t.Fatal(st.Err())
			}
			l.dev("evm_revert", at)
			if mode == "by number" { // the same number, another block
				l.seal()
				l.seal(chain.Tx{From: signers.Local(key(2)), To: person(1), Value: big.NewInt(7), Gas: 21_000})
			}
			if got := st.Balance(person(1)); got.Sign() != 0 {
				t.Errorf("an unknown balance is %s", got)
			}
			broken(t, st, chain.ErrGone)
			fresh := l.state(0)
			if h := fresh.Header(); h.Hash != l.chain.Head().Hash {
				t.Errorf("the fresh view is of block %d, the head is %d", h.Number, l.chain.Head().Number)
			}
			if fresh.Balance(person(1)); fresh.Err() != nil {
				t.Error(fresh.Err())
			}
		})
	}
}

func TestHashesOfBlocksAreOfTheViewsChain(t *testing.T) {
	l := newLab(t)
	at := l.dev("evm_snapshot")
	for range 6 {
		l.seal()
	}
	st := l.state(0)
	l.node.each = func(_ int, c *rpcpool.Call) bool {
		if c.Method == "eth_getBlockByNumber" {
			l.node.each = nil
			l.dev("evm_revert", at)
			l.seal(chain.Tx{From: signers.Local(key(2)), To: person(1), Value: big.NewInt(7), Gas: 21_000})
			for range 6 {
				l.seal()
			}
		}
		return false
	}
	if res := st.Call(chain.Message{From: person(0), To: made(5), Gas: 100_000}); !errors.Is(res.Err, chain.ErrGone) {
		t.Errorf("%+v", res)
	}
	broken(t, st, chain.ErrGone)
}

func TestBalancesOfABlockThatIsGoneAreNotUnknownButAnError(t *testing.T) {
	l := newLab(t)
	at := l.dev("evm_snapshot")
	l.seal()
	l.node.whole = func(context.Context, int) error { // behind the answer about the head
		l.node.whole = func(context.Context, int) error { l.dev("evm_revert", at); return nil }
		return nil
	}
	if got, err := l.remote.Balances(t.Context(), person(0), l.tokens); !errors.Is(err, chain.ErrGone) {
		t.Errorf("%v: %v", got, err)
	}
	l.node.whole = nil
	if got, err := l.remote.Balances(t.Context(), person(0), l.tokens); err != nil || got[0].Int64() != 1e12 {
		t.Errorf("%v: %v", got, err)
	}
}

// On Arbitrum code sees the number of L1's block.
func TestTheNumberThatCodeSeesIsTheChainsOwn(t *testing.T) {
	l := newLab(t)
	l.seal()
	l.node.each = func(_ int, c *rpcpool.Call) bool {
		if c.Method != "eth_getBlockByNumber" || c.Params[0] != "latest" {
			return false
		}
		l.node.answer(t.Context(), &rpcpool.Call{Method: c.Method, Params: c.Params, Result: c.Result})
		c.Err = json.Unmarshal([]byte(`{"l1BlockNumber":"0x1234567"}`), c.Result)
		return true
	}
	st := l.state(0)
	st.Apply(chain.Overlay{{0xaa}: {Code: common.FromHex("435f5260205ff3")},
		{0xab}: {Code: common.FromHex("60014303405f52")}})
	res := st.Call(chain.Message{From: person(0), To: common.Address{0xaa}, Gas: 100_000})
	if got := new(big.Int).SetBytes(res.Return); got.Int64() != 0x1234567 || st.Header().Number != 1 {
		t.Errorf("block %d, code sees %d", st.Header().Number, got)
	}
	res = st.Call(chain.Message{From: person(0), To: common.Address{0xab}, Gas: 100_000})
	if !errors.Is(res.Err, chain.ErrUnchecked) {
		t.Errorf("the hash of a block that is not of this chain: %+v", res)
	}
}

func TestABlockThatTheNodesDroppedIsSaid(t *testing.T) {
	l := newLab(t)
	st := l.state(0)
	for range 140 { // more than the node keeps
		l.seal()
	}
	st.Code(made(1))
	broken(t, st, chain.ErrGone)
	if !strings.Contains(st.Err().Error(), "historical state of block 0 is not available") {
		t.Errorf("the node's words are missing: %v", st.Err())
	}
	if fresh := l.state(0); len(fresh.Code(made(1))) == 0 {
		t.Error(fresh.Err())
	}
}

func TestALieAboutTheHeadEndsInAnErrorAndIsForgotten(t *testing.T) {
	l := newLab(t)
	l.seal()
	l.node.each = func(_ int, c *rpcpool.Call) bool {
		if c.Method != "eth_getBlockByNumber" || c.Params[0] != "latest" {
			return false
		}
		c.Err = json.Unmarshal([]byte(`{"number":"0xffffff","hash":"0x`+strings.Repeat("ab", 32)+
			`","timestamp":"0x7fffffff","gasLimit":"0x3938700","baseFeePerGas":"0x7"}`), c.Result)
		return true
	}
	st := l.state(0)
	l.node.each = nil
	st.Balance(person(0))
	broken(t, st, chain.ErrGone)
	fresh := l.state(0)
	if fresh.Balance(person(0)).Sign() == 0 || fresh.Err() != nil || fresh.Header().Hash != l.chain.Head().Hash {
		t.Errorf("block %d: %v", fresh.Header().Number, fresh.Err())
	}
}

// A node behind the others does not take a chain back, unless for a while there is no other word.
func TestAnOlderHeadIsNotBelievedAtOnce(t *testing.T) {
	now := time.Unix(genesis, 0)
	l := newLab(t, func(o *remote.Options) { o.Clock = func() time.Time { return now } })
	l.seal()
	l.seal()
	if h := l.state(0).Header(); h.Number != 2 {
		t.Fatalf("block %d", h.Number)
	}
	l.node.each = func(_ int, c *rpcpool.Call) bool {
		if c.Method == "eth_getBlockByNumber" && c.Params[0] == "latest" {
			c.Params[0] = "0x1"
		}
		return false
	}
	for i, want := range []uint64{2, 2, 1} {
		now = now.Add(time.Duration(i) * 5 * time.Second)
		if st := l.state(0); st.Header().Number != want || st.Balance(person(0)).Sign() == 0 {
			t.Errorf("view %d is of block %d: %v", i, st.Header().Number, st.Err())
		}
	}
}

func TestAFaultOfTheNodesMakesZerosUnknown(t *testing.T) {
	fault := errors.New("no endpoint answers")
	for name, method := range map[string]string{"account": "eth_getBalance", "code": "eth_getCode",
		"slot": "eth_getStorageAt"} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t)
			st := l.state(0)
			l.node.each = func(_ int, c *rpcpool.Call) bool {
				if c.Method == method {
					c.Err = fault
				}
				return c.Err != nil
			}
			m := chain.Message{From: person(0), To: made(6), Data: make([]byte, 32), Gas: 100_000}
			if res := st.Call(m); !errors.Is(res.Err, fault) || res.GasUsed != 0 || res.Return != nil {
				t.Errorf("%+v", res)
			}
			l.node.each = nil
			broken(t, st, fault)
			if st.Balance(person(0)).Sign() != 0 || st.Nonce(made(1)) != 0 || st.Code(made(1)) != nil {
				t.Error("something is known")
			}
		})
	}
	l := newLab(t)
	l.node.whole = func(context.Context, int) error { return fault }
	if _, err := l.remote.State(t.Context(), 0); !errors.Is(err, fault) {
		t.Errorf("a view without a head: %v", err)
	}
}

func TestAnOverlayThatCannotBeFailsEveryCall(t *testing.T) {
	l := newLab(t)
	st := l.state(0)
	st.Apply(chain.Overlay{person(1): {Balance: big.NewInt(-1)}})
	broken(t, st, exec.ErrAmount)
	own := must(l.chain.State(t.Context(), 0))
	defer own.Close()
	own.Apply(chain.Overlay{person(1): {Balance: big.NewInt(-1)}})
	broken(t, own, exec.ErrAmount)
}

func TestAContextThatEndsCancelsReads(t *testing.T) {
	for _, how := range []string{"context", "chain"} {
		t.Run(how, func(t *testing.T) {
			l := newLab(t)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			st, err := l.remote.State(ctx, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer st.Close()
			asked, want := make(chan struct{}), context.Canceled
			l.node.whole = func(ctx context.Context, _ int) error {
				close(asked)
				<-ctx.Done() // it hangs
				return ctx.Err()
			}
			go func() {
				<-asked
				if how == "chain" {
					l.remote.Close()
				} else {
					cancel()
				}
			}()
			if how == "chain" {
				want = remote.ErrClosed
			}
			start := time.Now()
			st.Balance(person(0))
			if time.Since(start) > 5*time.Second {
				t.Error("the read was not cancelled")
			}
			l.node.whole = nil
			broken(t, st, want)
		})
	}
	st := newLab(t).state(0)
	st.Close()
	st.Balance(person(0))
	broken(t, st, context.Canceled)
}

func TestTheHeadIsFollowedWhileItIsUsed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, func(o *remote.Options) { o.Poll = 5 * time.Second })
		l.node.since()
		if h := l.remote.Head(); h.Hash != (common.Hash{}) || h.BaseFee == nil {
			t.Errorf("a head before the first look: %+v", h)
		}
		time.Sleep(time.Second)
		if h := l.remote.Head(); h.Hash != l.chain.Head().Hash {
			t.Errorf("head %+v", h)
		}
		l.seal()
		time.Sleep(5 * time.Second)
		if h := l.remote.Head(); h.Number != 1 {
			t.Errorf("head %d", h.Number)
		}
		if wei, at := l.remote.NextBaseFee(); wei == nil || wei.Sign() <= 0 || time.Since(at) > time.Minute {
			t.Errorf("the next base fee is %v, seen at %s", wei, at)
		}
		time.Sleep(2 * time.Minute)
		trips, _ := l.node.counted()
		time.Sleep(time.Hour)
		if idle, _ := l.node.counted(); idle != trips {
			t.Errorf("%d round trips in an hour in which nothing used the head", idle-trips)
		}
		l.remote.Head()
		time.Sleep(time.Second)
		if now, _ := l.node.counted(); now != trips+1 {
			t.Errorf("%d round trips after a use", now-trips)
		}
		l.remote.Close()
		l.remote.Head()
		if _, err := l.remote.State(t.Context(), 0); !errors.Is(err, remote.ErrClosed) {
			t.Errorf("a view of a closed chain: %v", err)
		}
	})
}

// What a node answers about its own hard forks decides the rules; what only its nodes can execute is not guessed.
func TestWhatANodeAnswersDecidesTheRules(t *testing.T) {
	clz := chain.Message{From: person(0), To: common.Address{0xcc}, Gas: 100_000}
	calls := func(a byte, more ...byte) chain.Message {
		to := common.BytesToAddress(append([]byte{a}, more...))
		return chain.Message{From: person(0), To: made(8), Data: common.LeftPadBytes(to[:], 32), Gas: 100_000}
	}
	for name, c := range map[string]struct {
		refuses  []string // starts of code that the node does not run
		none     []common.Address
		arbitrum bool
		clz      bool
		foreign  []chain.Message
		fine     []chain.Message
	}{
		"osaka": {clz: true, fine: []chain.Message{calls(1, 0), calls(0x64), calls(0x0b)}},
		"prague with P256": {refuses: []string{"0x60001e"}, foreign: []chain.Message{calls(1, 0)},
			fine: []chain.Message{calls(0x64), calls(0x0b)}},
		"prague": {refuses: []string{"0x60001e"}, none: []common.Address{{18: 1}},
			fine: []chain.Message{calls(1, 0), calls(0x64)}},
		"arbitrum": {refuses: []string{"0x60001e"}, arbitrum: true, none: []common.Address{{18: 1}},
			foreign: []chain.Message{calls(0x64), calls(0x6e), calls(0xc8)}, fine: []chain.Message{calls(1, 0)}},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t)
			l.node.each = func(_ int, call *rpcpool.Call) bool {
				if call.Method == "eth_getCode" && call.Params[0] == (common.Address{19: 0x64}) && c.arbitrum {
					*call.Result.(*hexutil.Bytes) = []byte{0xfe}
					return true
				}
				if call.Method != "eth_call" {
					return false
				}
				p, _ := call.Params[0].(map[string]any)
				for _, code := range c.refuses {
					if p["data"] == code {
						call.Err = &rpcpool.Error{Code: -32000, Message: "invalid opcode: opcode 0x1e not defined"}
					}
				}
				for _, a := range c.none {
					if p["to"] == a {
						*call.Result.(*hexutil.Bytes) = nil
						return true
					}
				}
				return call.Err != nil
			}
			st := l.state(0)
			st.Apply(chain.Overlay{clz.To: {Code: common.FromHex("60001e")}})
			if res := st.Call(clz); (res.Err == nil) != c.clz {
				t.Errorf("CLZ: %v", res.Err)
			}
			for _, m := range c.foreign {
				if res := st.Call(m); !errors.Is(res.Err, chain.ErrUnchecked) || res.GasUsed != 0 {
					t.Errorf("a contract of the nodes at %x: %+v", m.Data[30:], res)
				}
			}
			for _, m := range c.fine {
				if res := st.Call(m); res.Err != nil {
					t.Errorf("a call of %x: %v", m.Data[30:], res.Err)
				}
			}
			if st.Err() != nil {
				t.Error(st.Err())
			}
		})
	}
	l := newLab(t)
	l.node.each = func(_ int, c *rpcpool.Call) bool {
		if c.Method == "eth_call" {
			c.Err = &rpcpool.Error{Code: -32601, Message: "the method eth_call is not available"}
		}
		return c.Err != nil
	}
	if _, err := l.remote.State(t.Context(), 0); err == nil || !strings.Contains(err.Error(), "rules of the chain") {
		t.Errorf("a node that runs nothing: %v", err)
	}
}

func TestAChainDoesNotGoBackBehindAHardFork(t *testing.T) {
	now := time.Unix(genesis, 0)
	l := newLab(t, func(o *remote.Options) { o.Clock = func() time.Time { return now } })
	l.state(0)
	now = now.Add(time.Hour)
	l.node.each = func(_ int, c *rpcpool.Call) bool {
		if c.Method != "eth_call" {
			return false
		}
		if p, _ := c.Params[0].(map[string]any); p["data"] == "0x60001e" {
			c.Err = &rpcpool.Error{Code: -32000, Message: "execution aborted"}
		}
		return c.Err != nil
	}
	st := l.state(0)
	st.Apply(chain.Overlay{{0xcc}: {Code: common.FromHex("60001e")}})
	if res := st.Call(chain.Message{From: person(0), To: common.Address{0xcc}, Gas: 100_000}); res.Err != nil {
		t.Error(res.Err)
	}
}
