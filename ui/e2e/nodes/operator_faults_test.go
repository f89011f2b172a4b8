//go:build unix

package nodes

import (
	"context"
	"flag"
	"math/big"
	"math/rand/v2"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
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

// An operator's service on seven chains is killed with signal 9 at requests to its nodes while it settles the payments
// of three accounts side by side, before the node has them or before it has the answer, mostly when it sends, and while
// it starts: each quote is filled once at most, each deposit ends once, no millionth is lost, and the wallet knows what
// became of each payment.
func TestKilledAtEveryStepAnOperatorFillsOnceAtMost(t *testing.T) {
	needsAnvil(t)
	t.Parallel()
	operators := min(3, 1+*operatorKills/50)
	for worker := range operators {
		t.Run(strconv.Itoa(worker), func(t *testing.T) {
			t.Parallel()
			k := newOperatorKilling(t, worker)
			began := time.Now()
			ctx, stop := context.WithCancel(t.Context())
			var paying sync.WaitGroup
			for account := range kinds {
				paying.Go(func() { k.keepsPaying(ctx, account) })
			}
			for want := (*operatorKills + worker) / operators; k.kills < want && !t.Failed(); {
				k.kill()
			}
			stop()
			paying.Wait()
			k.judge()
			t.Logf("in %s", time.Since(began).Round(time.Second))
		})
	}
}

// operatorKilling is an operator whose service is killed again and again, and members that go on.
type operatorKilling struct {
	*operated
	gate  *gate
	dice  *rand.Rand
	kills int
	sends int // kills at a request that sends

	mu    sync.Mutex
	tries []attempt
}

func newOperatorKilling(t *testing.T, worker int) *operatorKilling {
	t.Helper()
	o, g := gated(t)
	o.dies()
	o.edits(o.file, "sponsor_usd_per_day = 5\n", "sponsor_usd_per_day = 100000\n") // killed quotes fail, and cost gas
	o.starts()
	for name, kind := range kinds {
		if o.at[name] == (common.Address{}) {
			o.joins(name, kind)
			for _, id := range []string{"10", "42161"} {
				o.gives(id, o.at[name], savings)
			}
		}
	}
	for _, id := range o.ids {
		o.began[id] = o.sum(id)
	}
	return &operatorKilling{operated: o, gate: g, dice: rand.New(rand.NewPCG(7, uint64(worker)))}
}

// keepsPaying has an account make one payment after the other.
func (k *operatorKilling) keepsPaying(ctx context.Context, account string) {
	k.Helper()
	for ctx.Err() == nil {
		k.mu.Lock()
		n := len(k.tries)
		a := attempt{to: payee(int64(n) + 1), on: []string{base, "137", "43114", "1"}[n%4]}
		k.tries = append(k.tries, a)
		k.mu.Unlock()
		out, errs, code := k.ends(k.calls(a.on, a.to, "13", "--account", account, "--wait", "2s"))
		if out == "" {
			k.Errorf("a payment ended with %d and no word: %s", code, errs)
			return
		}
		r := rig.ResultOf(k.T, out)
		if r.State == "draft" {
			time.Sleep(tick) // the service is gone
			continue
		}
		k.mu.Lock()
		k.tries[n].id = r.Operation
		k.mu.Unlock()
		for try := 0; try < 3 && code == 6 && ctx.Err() == nil; try++ {
			_, _, code = k.ends([]string{"status", r.Operation, "--watch", "--wait", "2s"})
		}
	}
}

// kill has the service killed at a request, now and then again while it starts, and starts it.
func (k *operatorKilling) kill() {
	k.Helper()
	m := moment{at: 1 + k.dice.IntN(120), after: k.dice.IntN(2) == 0}
	if k.dice.IntN(2) == 0 {
		m.at, m.only = 1+k.dice.IntN(3), "eth_sendRawTransaction"
	}
	k.endsAt(m)
	for k.dice.IntN(4) == 0 {
		k.said = new(strings.Builder)
		k.service = exec.CommandContext(k.Context(), rig.Program(), k.serves()...)
		k.service.Env, k.service.Stderr = k.env, k.said
		k.ok(k.service.Start())
		k.endsAt(moment{at: 1 + k.dice.IntN(120), after: k.dice.IntN(2) == 0})
	}
	k.starts()
}

// endsAt has the service killed at a request, or at the first one after a while.
func (k *operatorKilling) endsAt(m moment) {
	k.Helper()
	k.gate.kills(k.service.Process, m)
	while := time.Duration(300+k.dice.IntN(2700)) * time.Millisecond
	if m.only != "" {
		while = 10 * time.Second // in which a payment gets that far, also on a busy machine
	}
	late := time.AfterFunc(while, k.gate.soon)
	ended := make(chan error, 1)
	go func() { ended <- k.service.Wait() }()
	select {
	case <-ended:
	case <-time.After(rig.Limit):
		_ = k.service.Process.Signal(syscall.SIGQUIT) // which tells where it is
		<-ended
		k.Fatalf("the service asks its nodes nothing: %+v, %d requests passed\n%s", m, k.gate.passed(), k.said)
	}
	late.Stop()
	shot, sending := k.gate.shot()
	if k.service.ProcessState.ExitCode() >= 0 || !shot || strings.Contains(k.said.String(), "panic") {
		k.Fatalf("it ended by itself: %v\n%s", k.service.ProcessState, k.said)
	}
	if k.kills++; k.kills%50 == 0 {
		k.Logf("%d kills", k.kills)
	}
	if sending {
		k.sends++
	}
	k.gate.kills(nil, moment{})
}

// judge compares what became of each payment with what the wallet says.
func (k *operatorKilling) judge() {
	k.Helper()
	var payees []common.Address
	for _, a := range k.tries {
		payees = append(payees, a.to)
	}
	fills, paid, unsigned, ends := k.settled(payees...), 0, 0, map[int]int{}
	for i, a := range k.tries {
		has := k.owns(a.on, a.to)
		if has != 0 {
			paid++
		}
		if a.id == "" {
			if unsigned++; has != 0 {
				k.Errorf("payment %d was not signed, and %d millionths arrived", i, has)
			}
			continue
		}
		out, _, code := k.ends([]string{"status", a.id, "--watch", "--wait", "1s"})
		for try := 0; try < 3 && has != 0 && code == 6; try++ {
			out, _, code = k.ends([]string{"status", a.id, "--watch", "--wait", "20s"})
		}
		ends[code]++
		if has != 0 && has != 13e6 || (has != 0) != (code == 0) {
			k.Errorf("payment %d, %s: %d millionths arrived; exit code %d, %s", i, a.id, has, code, out)
		}
	}
	if fills != paid {
		k.Errorf("%d deliveries, %d arrived", fills, paid)
	}
	if k.kills >= 20 && (fills < k.kills/20 || k.sends < k.kills/10) || fills == 0 {
		k.Error("these kills say nothing")
	}
	k.Logf("%d kills, %d of them at a send; %d payments: %d were not signed, the others ended with %v; %d deliveries",
		k.kills, k.sends, len(k.tries), unsigned, ends, fills)
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
		op := o.leaves(o.calls(base, to, "130", "--wait", "30s"))
		for end := time.Now().Add(5 * rig.Limit); ; { // its account pays for the next one with the nonce after this
			if out, _, code := o.ends([]string{"status", op, "--watch", "--wait", "30s"}); code == 0 {
				break
			} else if code != 6 || time.Now().After(end) {
				t.Fatalf("a payment ended with exit code %d: %s", code, out)
			}
		}
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
	for end := time.Now().Add(rig.Limit); !delivered(); time.Sleep(tick) {
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
