package service_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"coffer/api"
	"coffer/api/amount"
	"coffer/api/rpcpool/faultproxy"
	"coffer/api/service"
)

// dearNode is a node whose next block can be made dearer.
type dearNode struct{ *faultproxy.Proxy }

// asks has the next block ask for so many wei.
func (n dearNode) asks(wei int64) {
	var all []faultproxy.Rule
	for i := 1; i <= 10; i++ {
		all = append(all, faultproxy.Rule{On: "eth_feeHistory",
			Fault: faultproxy.Lie(fmt.Sprintf("baseFeePerGas.%d", i), fmt.Sprintf("%#x", wei))})
	}
	n.Script(all...)
}

// newDear is an operator on such nodes, of the chains 10, 8453 and 42161.
func newDear(t *testing.T) (o *operated, nodes []dearNode) {
	t.Helper()
	o = newOperated(t, func(h http.Handler) http.Handler {
		p := faultproxy.New(h, 1)
		t.Cleanup(p.Close)
		nodes = append(nodes, dearNode{p})
		return p
	})
	return o, nodes
}

// TestAQuoteIsPricedAtTheNewestBaseFee: prices are looked at once a minute, and a base fee that jumps between two looks
// is in the next quote, up and down. What asks for a quote saw the block anyway.
func TestAQuoteIsPricedAtTheNewestBaseFee(t *testing.T) {
	t.Parallel()
	o, nodes := newDear(t)
	c := o.member(o.open(nil), api.AccountKernelV31, 67)
	fees := func() int64 {
		t.Helper()
		var q api.Quote
		body := c.swap("ob:usdc", "30000000", "eip155:8453/slip44:60", "")
		if err := c.ask("POST", c.quotePath(), body).Decode(&q); err != nil {
			t.Fatal(err)
		}
		v, err := amount.Parse(q.Fees.CumulativeUSD, 6)
		if err != nil {
			t.Fatal(err)
		}
		return v.Int64()
	}
	was := fees()
	for _, n := range nodes {
		n.asks(5e9)
	}
	dear := fees()
	for _, n := range nodes {
		n.Script()
	}
	again := fees()
	if dear < was+was/4 || again > was+was/10 {
		t.Errorf("fees of %d, then %d when gas is dearer, then %d", was, dear, again)
	}
	t.Logf("fees in millionths of a dollar: %d, %d, %d", was, dear, again)
}

// TestNothingIsAcceptedThatTheCapOnFeesWouldHold: where gas costs more than the cap of a chain, the operator could not
// send what it accepts. A quote says so, a signed one is refused before anything happens and runs when gas is cheap
// again, and what lies on a dear chain pays for nothing.
func TestNothingIsAcceptedThatTheCapOnFeesWouldHold(t *testing.T) {
	t.Parallel()
	o, nodes := newDear(t)
	s := o.open(func(from *service.Options) { from.Lifetime = 5 * time.Minute }) // also on a slow machine
	c := o.member(s, api.AccountKernelV31, 68)
	const words = "costs more now than the operator pays for it; ask again later"
	swap := func(usdc string) string { return c.swap("ob:usdc", usdc, "eip155:8453/slip44:60", "") }
	signed, id := c.exchange(swap("30000000"))
	nodes[1].asks(200e9) // Base, whose cap is 100 gwei
	for path, body := range map[string]string{c.executePath(): string(signed.Raw()), c.quotePath(): swap("30000000")} {
		if e := c.denied(path, body, api.ErrNoRoute); !strings.Contains(e.Message, "gas on Base "+words) {
			t.Errorf("%s: %s", path, e.Message)
		}
	}
	if got := c.status(id); got.Status != "" {
		t.Errorf("a refused quote is %s", got.Status)
	}
	nodes[1].Script()
	nodes[2].asks(200e9) // Arbitrum
	if e := c.denied(c.quotePath(), swap("30000000"), api.ErrInsufficientBalance); !strings.Contains(e.Message,
		"gas on Arbitrum One "+words+", so nothing there can pay") {
		t.Error(e.Message)
	}
	if e := c.denied(c.executePath(), string(signed.Raw()), api.ErrNoRoute); !strings.Contains(e.Message, words) {
		t.Error(e.Message)
	}
	c.exchange(swap("15000000")) // Optimism pays alone
	nodes[2].Script()
	if got := c.waited(signed, id); got.Status != api.StatusCompleted {
		t.Errorf("%+v", got)
	}
}
