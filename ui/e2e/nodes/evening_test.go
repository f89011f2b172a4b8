//go:build unix

package nodes

import (
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/go-json-experiment/json"

	"coffer/api/rpcpool/faultproxy"
	"coffer/ui/e2e/rig"
)

// One evening of an operator on seven chains: ten calls that are paid on other chains, while one of three nodes goes; a
// delivery that is stuck is replaced by one that pays more; and a member takes a payment back when the service is gone.
func TestOneEveningAsAnOperator(t *testing.T) {
	needsAnvil(t)
	t.Parallel()
	var nodes []*faultproxy.Proxy // of Base
	o := newOperated(t, func(w *world, id string) []string {
		if id != base {
			return []string{w.url[id]}
		}
		var urls []string
		for i := range 3 {
			p := faultproxy.New(through(t, w.url[base]), uint64(i))
			t.Cleanup(p.Close)
			nodes, urls = append(nodes, p), append(urls, p.URL)
		}
		return urls
	}, []string{"10", "42161"}, "1", "10", "137", base, "42161", "43114", "59144")
	if out, _ := o.runs(0, "balances"); !strings.Contains(out, "10,000.00") {
		t.Fatal(out)
	}

	var payees []common.Address
	for n := range int64(10) {
		if n == 3 {
			nodes[0].Script(faultproxy.Rule{Fault: faultproxy.Drop()})
		}
		id, to := []string{base, "137", "43114", "1"}[n%4], payee(n+1)
		payees = append(payees, to)
		o.completes(o.calls(id, to, "130")...)
		if has := o.owns(id, to); has != 130e6 {
			t.Errorf("call %d: %d millionths arrived", n, has)
		}
	}
	if fills := o.settled(payees...); fills != 10 {
		t.Errorf("%d deliveries of ten", fills)
	}

	// A delivery waits while the chain becomes dearer.
	stuck := payee(20)
	payees = append(payees, stuck)
	o.mines("137", 0)
	nonce, op := o.nonce("137", o.hot), o.leaves(o.calls("137", stuck, "130", "--wait", "2s"))
	o.until("a delivery that waits", func() bool {
		var n hexutil.Uint64
		o.ask("137", &n, "eth_getTransactionCount", o.hot, "pending")
		return uint64(n) > nonce
	})
	for end := time.Now().Add(2 * rig.Limit); o.nonce("137", o.hot) == nonce; time.Sleep(tick) {
		if time.Now().After(end) {
			t.Fatal("it is never replaced")
		}
		o.ask("137", nil, "anvil_setNextBlockBaseFeePerGas", (*hexutil.Big)(big.NewInt(20e9)))
		o.ask("137", nil, "evm_mine")
	}
	o.mines("137", tick)
	o.runs(0, "status", op, "--watch")
	if has := o.owns("137", stuck); has != 130e6 {
		t.Errorf("%d millionths arrived of the delivery that was replaced", has)
	}
	if fills := o.settled(payees...); fills != 11 {
		t.Errorf("%d deliveries of eleven", fills)
	}

	// The service is gone for good after a payment went in. Its delivery never reaches a block. The member's own nodes
	// see where the payment is.
	o.runs(0, "profile", "nodes", "--add", "10="+o.url["10"], "--add", "42161="+o.url["42161"])
	o.mines(base, 0)
	before := o.owns("10", o.at["daily"]) + o.owns("42161", o.at["daily"])
	gone := o.leaves(o.calls(base, payee(30), "130", "--wait", "2s"))
	o.until("a deposit", func() bool { return o.owns("10", o.escrow)+o.owns("42161", o.escrow) > 0 })
	o.dies()
	for _, args := range [][]string{{"status", gone}, {"activity"}, {"history"}} {
		out, errs, code := o.ends(args)
		if !strings.Contains(strings.Join(strings.Fields(out+errs), " "), "seen by your node: payment on ") ||
			(code == 0) != (args[0] == "activity") {
			t.Errorf("%v ends with %d and says\n%s%s", args, code, out, errs)
		}
	}
	id := "10"
	if o.owns(id, o.escrow) == 0 {
		id = "42161"
	}
	key := o.writes(o.dir+"/key", richKey)
	refund := []string{"refund", "--rpc", o.url[id], "--key-file", key, "--yes", "--json"}
	o.runs(1, refund...)
	o.ask(id, nil, "evm_increaseTime", hexutil.Uint64(4*60*60))
	o.ask(id, nil, "evm_mine")
	out, _ := o.runs(0, refund...)
	var did []struct {
		State string `json:"state"`
	}
	o.ok(json.Unmarshal([]byte(out), &did, json.RejectUnknownMembers(false)))
	if len(did) != 1 || did[0].State != "refunded" {
		t.Error(out)
	}
	if now := o.owns("10", o.at["daily"]) + o.owns("42161", o.at["daily"]); now != before {
		t.Errorf("the member has %d millionths, and had %d", now, before)
	}
}

// leaves carries out a command that is not waited for, or not for long, and returns its operation, which was sent.
func (o *operated) leaves(args []string) string {
	o.Helper()
	out, errs, code := o.ends(args)
	var r rig.Result
	if err := json.Unmarshal([]byte(out), &r); err != nil || r.Operation == "" || code != 0 && code != 6 {
		o.Fatalf("exit code %d: %s\n%s", code, out, errs)
	}
	return r.Operation
}

// ends carries out a command with any end.
func (o *operated) ends(args []string) (out, errs string, code int) {
	o.Helper()
	cmd, stdout, stderr := o.script().Starts(args...)
	_ = cmd.Wait()
	return stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()
}
