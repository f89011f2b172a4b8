//go:build unix

package nodes

import (
	"context"
	"flag"
	"math/big"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"

	"coffer/api/rpcpool/faultproxy"
	"coffer/ui/e2e/rig"
)

var operatorKills = flag.Int("operator-kills", 3, "how many times an operator's service is killed")

// sevenChains are those of an operator.
func sevenChains() []string { return []string{"1", "10", "137", base, "42161", "43114", "59144"} }

// gated is an operator all of whose requests pass one gate.
func gated(t *testing.T) (*operated, *gate) {
	t.Helper()
	g := new(gate)
	return newOperated(t, func(w *world, id string) []string { return []string{g.front(t, w.url[id])} },
		[]string{"10", "42161"}, sevenChains()...), g
}

// An operator's service on seven chains is killed with signal 9 at requests to its nodes while it settles, before the
// node has them or before it has the answer, three times a payment, and again while it starts: each quote is filled
// once at most, each deposit ends once, and no millionth is lost.
func TestKilledAtEveryStepAnOperatorFillsOnceAtMost(t *testing.T) {
	needsAnvil(t)
	t.Parallel()
	o, g := gated(t)
	o.dies()
	o.edits(o.file, "sponsor_usd_per_day = 5\n", "sponsor_usd_per_day = 100000\n") // killed quotes fail, and cost gas
	o.starts()
	dice := rand.New(rand.NewPCG(7, 7))
	kills, began := 0, time.Now()
	var payees []common.Address
	for n := int64(1); kills < *operatorKills; n++ {
		to := payee(n)
		payees = append(payees, to)
		on := []string{base, "137", "43114", "1"}[n%4]
		cmd, out, _ := o.script().Starts(o.calls(on, to, "130", "--wait", "2s")...)
		for range 3 {
			g.kills(o.service.Process, 1+dice.IntN(120), dice.IntN(2) == 0)
			o.killed(4 * time.Second)
			g.kills(nil, 0, false)
			o.starts()
			kills++
		}
		_ = cmd.Wait()
		if r := out.String(); strings.Contains(r, `"operation"`) {
			op := rig.ResultOf(t, r).Operation
			for range 3 { // what the wallet cannot know yet ends all the same
				if _, _, code := o.ends([]string{"status", op, "--watch", "--wait", "20s"}); code == 0 {
					break
				}
			}
		}
		if has := o.owns(on, to); has != 0 && has != 130e6 {
			t.Errorf("payment %d: %d millionths arrived", n, has)
		}
	}
	fills := o.settled(payees...)
	paid := 0
	for i, to := range payees {
		if o.owns([]string{base, "137", "43114", "1"}[(i+1)%4], to) > 0 {
			paid++
		}
	}
	if fills != paid || fills == 0 {
		t.Errorf("%d deliveries, %d arrived", fills, paid)
	}
	t.Logf("%d kills, %d payments, %d deliveries, %s", kills, len(payees), fills, time.Since(began).Round(time.Second))
}

// killed waits until the service was killed, and kills it after a while.
func (o *operated) killed(within time.Duration) {
	o.Helper()
	late := time.AfterFunc(within, func() { _ = o.service.Process.Kill() })
	_ = o.service.Wait()
	late.Stop()
}

// While an operator settles, blocks above the final ones are taken back again and again on the chains that pay and on
// the one that is delivered on, until three took a transaction with them: nothing is lost, nothing happens twice.
func TestReorganisationsAboveFinalLoseAnOperatorNothing(t *testing.T) {
	needsAnvil(t)
	t.Parallel()
	o := newOperated(t, (*world).direct, []string{"10"}, "10", base)
	o.dies()
	o.edits(o.file, "final = 0\n", "final = 8\n")
	o.starts()
	ctx, stop := context.WithCancel(t.Context())
	var reorganising sync.WaitGroup
	const enough = 3 // each of them costs a lane 20 s until it sends again
	var back atomic.Int64
	for _, id := range []string{"10", base} {
		reorganising.Go(func() {
			for depth := 1; ctx.Err() == nil && back.Load() < enough; depth = depth%5 + 1 {
				time.Sleep(7 * tick)
				var before, after hexutil.Uint64
				_ = o.call(ctx, id, &before, "eth_getTransactionCount", o.hot, "latest")
				_ = o.call(ctx, id, nil, "anvil_reorg", depth, []any{})
				_ = o.call(ctx, id, &after, "eth_getTransactionCount", o.hot, "latest")
				if after < before {
					back.Add(1)
				}
				_ = o.call(ctx, id, nil, "evm_setTime", time.Now().Unix()) // which it had set back with the blocks
			}
		})
	}
	var payees []common.Address
	for n := int64(1); n <= 2 || n <= 8 && back.Load() == 0; n++ {
		to := payee(n)
		payees = append(payees, to)
		o.leaves(o.calls(base, to, "130", "--wait", "1m"))
	}
	delivered := func() bool {
		for _, to := range payees {
			var has hexutil.Bytes
			if err := o.call(ctx, base, &has, "eth_call", map[string]any{"to": o.tokens[base],
				"data": hexutil.Bytes(method("balanceOf(address)", to[:]))}, "latest"); err != nil {
				t.Logf("not read while blocks are taken back: %v", err)
				return false
			}
			if new(big.Int).SetBytes(has).Int64() != 130e6 {
				return false
			}
		}
		return true
	}
	for end := time.Now().Add(4 * rig.Limit); !delivered(); time.Sleep(tick) {
		if time.Now().After(end) {
			t.Fatal("not all was delivered")
		}
	}
	stop()
	reorganising.Wait()
	time.Sleep(20 * tick)
	if fills := o.settled(payees...); fills != len(payees) {
		t.Errorf("%d deliveries of %d", fills, len(payees))
	}
	if back.Load() == 0 {
		t.Error("no reorganisation took anything back")
	}
	t.Logf("%d payments, %d reorganisations took something back", len(payees), back.Load())
}

// A reorganisation deeper than what counts as final takes a deposit back after it was delivered for: the member has
// what was paid for and his money, and the operator has lost that deposit alone.
func TestAReorganisationBelowFinalCostsTheOperatorAlone(t *testing.T) {
	needsAnvil(t)
	t.Parallel()
	o := newOperated(t, (*world).direct, []string{"10"}, "10", base)
	o.mines("10", 0)
	var mark hexutil.Uint64
	o.ask("10", &mark, "eth_blockNumber")
	o.mines("10", tick)
	member := o.owns("10", o.at["daily"])
	o.completes(o.calls(base, payee(1), "130")...)
	o.settled(payee(1))
	o.mines("10", 0)
	var now hexutil.Uint64
	o.ask("10", &now, "eth_blockNumber")
	o.ask("10", nil, "anvil_reorg", uint64(now-mark), []any{})
	o.mines("10", tick)
	if has := o.owns("10", o.at["daily"]); has != member || o.owns(base, payee(1)) != 130e6 {
		t.Errorf("the member has %d millionths and had %d; %d arrived", has, member, o.owns(base, payee(1)))
	}
	if lost := int64(inventory) - o.owns("10", o.filler); lost != 0 {
		t.Errorf("the filler on the chain that paid lacks %d millionths that it had before", lost)
	}
	if gave := int64(inventory) - o.owns(base, o.filler); gave != 130e6 {
		t.Errorf("the operator gave %d millionths", gave)
	}
}

// One of three nodes of the chain that pays and of the one that is delivered on lies about receipts, hides logs,
// limits, or hangs: the calls are paid once.
func TestOneBadNodeOfThreeCostsAnOperatorNothing(t *testing.T) {
	needsAnvil(t)
	t.Parallel()
	nodes := map[string][]*faultproxy.Proxy{}
	o := newOperated(t, func(w *world, id string) (urls []string) {
		for i := range 3 {
			p := faultproxy.New(through(t, w.url[id]), uint64(i))
			t.Cleanup(p.Close)
			nodes[id], urls = append(nodes[id], p), append(urls, p.URL)
		}
		return urls
	}, []string{"10"}, "10", base)
	var payees []common.Address
	for i, rules := range [][]faultproxy.Rule{
		{{On: "eth_getTransactionReceipt", Fault: faultproxy.Lie("status", "0x0")},
			{On: "eth_getLogs", Fault: faultproxy.Lie("", []any{})}},
		{{On: "eth_getTransactionReceipt", Fault: faultproxy.Lie("", nil)}},
		{{Chance: 0.5, Fault: faultproxy.Status(429, "1", "slow down")},
			{Chance: 0.3, Fault: faultproxy.Refuse(-32005, "limit exceeded", nil)}},
		{{Fault: faultproxy.Hang()}},
	} {
		for _, id := range []string{"10", base} {
			nodes[id][i%3].Script(rules...)
		}
		to := payee(int64(i) + 1)
		payees = append(payees, to)
		o.completes(o.calls(base, to, "130")...)
		for _, id := range []string{"10", base} {
			if nodes[id][i%3].Calls("") == 0 {
				t.Errorf("case %d: the node of %s was not asked", i, id)
			}
			nodes[id][i%3].Script()
		}
	}
	if fills := o.settled(payees...); fills != len(payees) {
		t.Errorf("%d deliveries of %d", fills, len(payees))
	}
}
