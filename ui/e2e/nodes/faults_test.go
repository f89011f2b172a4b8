//go:build unix

package nodes

import (
	"io"
	"log"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"
	"time"

	"coffer/api/rpcpool/faultproxy"
	"coffer/ui/e2e/rig"
)

// through passes requests on to a node.
func through(t *testing.T, node string) *httputil.ReverseProxy {
	t.Helper()
	to, err := url.Parse(node)
	if err != nil {
		t.Fatal(err)
	}
	p := httputil.NewSingleHostReverseProxy(to)
	p.ErrorLog = log.New(io.Discard, "", 0) // a program that is killed or told to wait goes away
	return p
}

// three is a person whose file names three nodes of a chain, of which two must agree; each misbehaves as it is told.
func three(t *testing.T) (*person, []*faultproxy.Proxy) {
	t.Helper()
	w := newWorld(t, base)
	node := through(t, w.url[base])
	var all []*faultproxy.Proxy
	for i := range 3 {
		p := faultproxy.New(node, uint64(i))
		t.Cleanup(p.Close)
		all = append(all, p)
	}
	return w.person(w.names(func(string) (urls []string) {
		for _, p := range all {
			urls = append(urls, p.URL)
		}
		return urls
	})), all
}

// paysOnce demands that a payment ends well and happened once.
func (p *person) paysOnce(n int64) {
	p.Helper()
	before := p.holds(base, p.at["daily"])
	p.completes(p.pays("daily", payee(n), "2")...)
	if has, left := p.holds(base, payee(n)), p.holds(base, p.at["daily"]); has != 2_000_000 || before-left != has {
		p.Errorf("payment %d: %d millionths arrived, %d left the account", n, has, before-left)
	}
}

// One of three nodes lies about every receipt and hides every log, then one limits, then one answers with pages: the
// payments happen once, and the program says that they did.
func TestOneNodeOfThreeThatLiesOrLimitsChangesNothing(t *testing.T) {
	t.Parallel()
	p, nodes := three(t)
	limit := faultproxy.Status(429, "1", "slow down")
	for i, rules := range [][]faultproxy.Rule{
		{{On: "eth_getTransactionReceipt", Fault: faultproxy.Lie("status", "0x0")},
			{On: "eth_getLogs", Fault: faultproxy.Lie("", []any{})}},
		{{On: "eth_getTransactionReceipt", Fault: faultproxy.Lie("", nil)}},
		{{Chance: 0.5, Fault: limit}, {Chance: 0.3, Fault: faultproxy.Refuse(-32005, "limit exceeded", nil)}},
		{{Fault: faultproxy.HTML()}},
	} {
		bad := nodes[i%len(nodes)]
		bad.Script(rules...)
		p.paysOnce(int64(i) + 1)
		if bad.Calls("") == 0 {
			t.Errorf("case %d: the node was not asked", i)
		}
		bad.Script()
	}
}

// The answer to a send is lost at every node, and then the first two sends do not reach any: the payment happens once.
func TestALostAnswerToASendDoublesNothing(t *testing.T) {
	t.Parallel()
	p, nodes := three(t)
	for i, rule := range []faultproxy.Rule{{Fault: faultproxy.Deaf()}, {Times: 1, Fault: faultproxy.Drop()}} {
		rule.On = "eth_sendRawTransaction"
		for _, n := range nodes {
			n.Script(rule)
		}
		p.paysOnce(int64(i) + 1)
	}
}

// Two of three nodes hang: nothing that needs two is done or said, in bounded time and with words; once one of them
// answers again, everything goes on. While a payment is under way, it waits and then happens once.
func TestWhileTwoNodesOfThreeHangThePaymentWaits(t *testing.T) {
	t.Parallel()
	p, nodes := three(t)
	hang := func(rules ...faultproxy.Rule) {
		for _, n := range nodes[:2] {
			n.Script(rules...)
		}
	}
	hang(faultproxy.Rule{Fault: faultproxy.Hang()})
	began := time.Now()
	if out, errs, code := rig.Run(t, p.env, "balances"); code != 0 || time.Since(began) > 40*time.Second ||
		!strings.Contains(out, "unknown") || strings.Contains(out, "1,000") ||
		!strings.Contains(out+errs, "2 endpoints must give the same answer") {
		t.Errorf("after %s, exit code %d: %s\n%s", time.Since(began), code, out, errs)
	}
	hang()
	p.paysOnce(1)

	sends := nodes[2].Calls("eth_sendRawTransaction")
	cmd, o, e := p.script().Starts(p.pays("daily", payee(2), "2")...)
	p.until("a send", func() bool { return nodes[2].Calls("eth_sendRawTransaction") > sends })
	hang(faultproxy.Rule{Fault: faultproxy.Hang()})
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case <-ended:
		t.Errorf("it ended while two nodes say nothing: %s\n%s", o, e)
	case <-time.After(12 * time.Second): // more than a node has to answer
		hang()
		<-ended
	}
	if code := cmd.ProcessState.ExitCode(); code != 0 || p.holds(base, payee(2)) != 2_000_000 {
		t.Errorf("exit code %d, %d millionths arrived\n%s\n%s", code, p.holds(base, payee(2)), o, e)
	}
}
