package ethrpc

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
)

// testClock is moved by hand and by the methods.
type testClock struct {
	mu    sync.Mutex
	ahead time.Duration
}

func (c *testClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Unix(1_760_000_000, 0).Add(c.ahead)
}

func (c *testClock) Forward(by time.Duration) (time.Duration, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ahead += by
	return c.ahead, nil
}

func (c *testClock) Set(to time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ahead = to.Sub(time.Unix(1_760_000_000, 0))
	return nil
}

func devLab(tb testing.TB) *lab {
	tb.Helper()
	return newLab(tb, func(o *Options) {
		o.Dev, o.Accounts, o.Clock = true, []common.Address{addr(key(0))}, &testClock{}
	})
}

func TestADevelopmentNetworkSetsState(t *testing.T) {
	l := devLab(t)
	at := addr(key(9))
	for _, tool := range []string{"anvil_", "hardhat_"} {
		l.is("null", tool+"setBalance", at, "0xde0b6b3a7640000")
		l.is(`"0xde0b6b3a7640000"`, "eth_getBalance", at)
		l.is("null", tool+"setBalance", at, "7")
		l.is(`"0x7"`, "eth_getBalance", at, "latest")
		l.is("null", tool+"setNonce", at, "0x5")
		l.is(`"0x5"`, "eth_getTransactionCount", at, "latest")
		l.is("null", tool+"setCode", at, "0x"+slotZero.code)
		l.is("true", tool+"setStorageAt", at, "0x0", number(9))
		l.is(`"`+number(9).Hex()+`"`, "eth_call", object{"to": at})
		l.is("null", tool+"setCode", at, "0x")
		l.is(`"0x"`, "eth_getCode", at)
	}
	l.fails(-32602, "a balance is not negative", "anvil_setBalance", at, "-1")
}

func TestANetworkForOthersHasNoneOfIt(t *testing.T) {
	dev, plain := devLab(t), newLab(t)
	for name := range dev.methods {
		only := strings.HasPrefix(name, "anvil_") || strings.HasPrefix(name, "hardhat_") ||
			strings.HasPrefix(name, "evm_") || name == "eth_sendTransaction"
		if plain.methods[name] != nil == only {
			t.Errorf("%s", name)
		}
	}
}

func TestATransactionIsSentAsAnAccountOfTheNetwork(t *testing.T) {
	l := devLab(t)
	l.is(`["`+strings.ToLower(addr(key(0)).Hex())+`"]`, "eth_accounts")
	hash := into[common.Hash](t, l.call("eth_sendTransaction", object{"from": addr(key(0)), "to": notes.at,
		"input": number(3)}))
	rc := into[types.Receipt](t, l.call("eth_getTransactionReceipt", hash))
	tx := into[Transaction](t, l.call("eth_getTransactionByHash", hash))
	if rc.Status != 1 || tx.From != addr(key(0)) || len(rc.Logs) != 1 {
		t.Errorf("%+v %+v", rc, tx)
	}
	var group sync.WaitGroup
	for range 8 { // without a nonce each gets one of its own
		group.Go(func() {
			_, err := l.try(t.Context(), "eth_sendTransaction", object{"from": addr(key(0)), "to": echoes.at})
			if err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if n := l.nonce(key(0)); n != 9 {
		t.Errorf("nonce %d", n)
	}
}

func TestOnlyAnImpersonatedAccountIsSentAs(t *testing.T) {
	l := devLab(t)
	who, w := addr(key(9)), newWire(t)
	w.on(l, "newPendingTransactions", true)
	send := object{"from": who, "to": echoes.at, "value": "0x1"}
	refusal := "unknown account: " + who.Hex() + " is neither an account of this network nor impersonated"
	l.fails(-32000, refusal, "eth_sendTransaction", send)
	l.call("anvil_setBalance", who, "0xde0b6b3a7640000")
	l.is("null", "hardhat_impersonateAccount", who)
	l.call("eth_sendTransaction", send)
	if got := next[Transaction](t, w); got.From != who {
		t.Errorf("pushed as from %s", got.From)
	}
	l.is("null", "anvil_stopImpersonatingAccount", who)
	l.fails(-32000, refusal, "eth_sendTransaction", send)
	l.is("null", "anvil_autoImpersonateAccount", true)
	l.call("eth_sendTransaction", send)
	l.is("null", "anvil_autoImpersonateAccount", false)
	l.fails(-32000, refusal, "eth_sendTransaction", send)
	l.is(`"0x2"`, "eth_getTransactionCount", who, "latest")
}

func TestEmptyBlocksAreMined(t *testing.T) {
	l := devLab(t)
	l.is(`"0x0"`, "evm_mine")
	l.is("null", "anvil_mine")
	l.is("null", "hardhat_mine", "0x3", "0xa")
	l.is(`"0x5"`, "eth_blockNumber")
	third := into[types.Header](t, l.call("eth_getHeaderByNumber", "0x3"))
	fifth := into[types.Header](t, l.call("eth_getHeaderByNumber", "0x5"))
	if fifth.Time != third.Time+20 {
		t.Errorf("%d %d", third.Time, fifth.Time)
	}
}

func TestARevertTakesTheChainBack(t *testing.T) {
	l, w := devLab(t), newWire(t)
	l.note(number(1))
	blocks := into[string](t, l.call("eth_newBlockFilter"))
	id := into[string](t, l.call("evm_snapshot"))
	head := l.node.HeadHash()
	l.note(number(2))
	gone := l.note(number(3))
	l.call("eth_getFilterChanges", blocks)
	w.on(l, "newHeads")
	l.is("true", "evm_revert", id)
	l.is("false", "evm_revert", id)
	l.is(`"0x1"`, "eth_blockNumber")
	l.is("null", "eth_getTransactionByHash", gone)
	l.is(`"`+number(1).Hex()+`"`, "eth_getStorageAt", notes.at, "0x0", "latest")
	l.wantLogs(t, []uint64{1}, object{"fromBlock": "0x0"})
	if l.node.HeadHash() != head {
		t.Error("another head")
	}
	l.is("[]", "eth_getFilterChanges", blocks)
	l.note(number(4))
	l.is(`["`+l.node.HeadHash().Hex()+`"]`, "eth_getFilterChanges", blocks)
	if h := next[types.Header](t, w); h.Number.Uint64() != 2 || h.Hash() != l.node.HeadHash() {
		t.Errorf("%+v", h)
	}
	id = into[string](t, l.call("evm_snapshot"))
	l.note(number(5))
	l.call("eth_getFilterChanges", blocks)
	l.is("true", "evm_revert", id)
	l.note(number(6)) // as high as before, and yet new
	l.is(`["`+l.node.HeadHash().Hex()+`"]`, "eth_getFilterChanges", blocks)
}

func TestTheClockOfTheNetworkIsMoved(t *testing.T) {
	clock := &testClock{}
	l := newLab(t, func(o *Options) { o.Dev, o.Clock = true, clock })
	l.is("3600", "evm_increaseTime", 3600)
	l.is("3660", "anvil_increaseTime", "0x3c")
	l.is("null", "evm_setNextBlockTimestamp", 1_770_000_000)
	if at := clock.Now().Unix(); at != 1_770_000_000 {
		t.Errorf("%d", at)
	}
	l.is("null", "anvil_setTime", "0x69800000")
	l.is(`"0x0"`, "evm_mine", 1_790_000_000)
	if at := clock.Now().Unix(); at != 1_790_000_000 {
		t.Errorf("%d", at)
	}
	l = newLab(t, func(o *Options) { o.Dev = true })
	l.fails(-32000, "the clock of this network cannot be moved", "evm_increaseTime", 1)
}

// TestManyBlocksAreToldInParts: a range for any log is bounded; with an address or a topic the index knows the blocks
// and the range does not matter. A client that slept gets what it missed in parts.
func TestManyBlocksAreToldInParts(t *testing.T) {
	l := devLab(t)
	id := into[string](t, l.call("eth_newBlockFilter"))
	l.note(number(5))
	l.call("anvil_mine", quantity(mostBlocks))
	l.fails(-32602,
		"query without address and topics exceeds 10000 blocks, this block range should work: [0x0, 0x270f]",
		"eth_getLogs", object{"fromBlock": "0x0"})
	l.wantLogs(t, []uint64{5}, object{"fromBlock": "0x0", "toBlock": "0x270f"})
	l.wantLogs(t, []uint64{5}, object{"fromBlock": "0x0", "address": notes.at})
	l.wantLogs(t, []uint64{5}, object{"fromBlock": "0x0", "topics": []any{number(5)}})
	first := into[[]common.Hash](t, l.call("eth_getFilterChanges", id))
	second := into[[]common.Hash](t, l.call("eth_getFilterChanges", id))
	if len(first) != mostOfAPoll || len(second) != 1 || second[0] != l.node.HeadHash() {
		t.Errorf("%d %d", len(first), len(second))
	}
}

// TestReadersAndSendersDoNotDisturbEachOther runs under the race detector.
func TestReadersAndSendersDoNotDisturbEachOther(t *testing.T) {
	l := devLab(t)
	names := []string{"eth_call", "eth_estimateGas", "eth_getLogs", "eth_feeHistory", "eth_getBlockByNumber"}
	params := [][]any{{object{"to": slotZero.at}}, {object{"to": notes.at, "input": number(1)}},
		{object{"fromBlock": "0x0"}}, {"0x5", "latest", []int{50}}, {"latest", true}}
	ctx, end := context.WithCancel(t.Context())
	var group sync.WaitGroup
	for i, name := range names {
		group.Go(func() {
			for ctx.Err() == nil {
				if _, err := l.try(t.Context(), name, params[i]...); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
		})
	}
	for i := range uint64(20) {
		l.note(number(i))
	}
	end()
	group.Wait()
	if got := into[hexutil.Uint64](t, l.call("eth_blockNumber")); got != 20 {
		t.Errorf("%d", got)
	}
}
