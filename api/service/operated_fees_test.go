package service_test

import (
	"net/http"
	"testing"

	"coffer/api"
	"coffer/api/amount"
	"coffer/api/rpcpool/faultproxy"
)

// TestAQuoteIsPricedAtTheNewestBaseFee: prices are looked at once a minute, and a base fee that jumps between two looks
// is in the next quote, up and down. What asks for a quote saw the block anyway.
func TestAQuoteIsPricedAtTheNewestBaseFee(t *testing.T) {
	t.Parallel()
	var nodes []*faultproxy.Proxy
	o := newOperated(t, func(h http.Handler) http.Handler {
		p := faultproxy.New(h, 1)
		t.Cleanup(p.Close)
		nodes = append(nodes, p)
		return p
	})
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
	const gwei5 = "0x12a05f200"
	for _, n := range nodes {
		n.Script(faultproxy.Rule{On: "eth_feeHistory", Fault: faultproxy.Lie("baseFeePerGas.1", gwei5)})
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
