package profile

import (
	"bytes"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"coffer/api/caip"
	"coffer/api/network"
	"coffer/api/networks"
	"coffer/wallet/verify"
)

// feedNode is a node of Base on which one of the feeds that this program knows has a round, and the sequencer works.
type feedNode struct {
	feed   common.Address
	answer int64 // with 8 decimals
	at     time.Time
	asked  chan struct{}
}

func (n *feedNode) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	type call struct {
		ID     jsontext.Value   `json:"id"`
		Method string           `json:"method"`
		Params []jsontext.Value `json:"params"`
	}
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	one := !bytes.HasPrefix(bytes.TrimSpace(raw), []byte("["))
	if one {
		raw = append(append([]byte("["), raw...), ']')
	}
	var calls []call
	if json.Unmarshal(raw, &calls, json.RejectUnknownMembers(false)) != nil {
		return
	}
	select {
	case n.asked <- struct{}{}:
	default:
	}
	var out []string
	for _, c := range calls {
		answer := map[string]string{"eth_chainId": `"0x2105"`, "eth_gasPrice": `"0x1"`,
			"eth_feeHistory": `{"baseFeePerGas":["0x1","0x1"]}`}[c.Method]
		if c.Method == "eth_call" {
			answer = n.call(c.Params[0])
		}
		if answer == "" {
			out = append(out, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":3,"message":"execution reverted",`+
				`"data":"0x"}}`, c.ID))
			continue
		}
		out = append(out, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, c.ID, answer))
	}
	body := strings.Join(out, ",")
	if !one {
		body = "[" + body + "]"
	}
	_, _ = io.WriteString(w, body)
}

// call answers the methods of the feed, and that of the sequencer; "" is a revert.
func (n *feedNode) call(params jsontext.Value) string {
	var m struct {
		To   common.Address `json:"to"`
		Data string         `json:"data"`
	}
	if json.Unmarshal(params, &m, json.RejectUnknownMembers(false)) != nil {
		return ""
	}
	words := func(list ...int64) string {
		out := `"0x`
		for _, v := range list {
			out += fmt.Sprintf("%064x", v)
		}
		return out + `"`
	}
	sequencer := common.HexToAddress("0xBCF85224fc0756B9Fa45aA7892530B47e10b6433")
	switch {
	case m.To == sequencer && m.Data == "0xfeaf968c":
		return words(1, 0, n.at.Add(-48*time.Hour).Unix(), n.at.Unix(), 1)
	case m.To == n.feed && m.Data == "0xfeaf968c":
		return words(1, n.answer, n.at.Unix(), n.at.Unix(), 1)
	case m.To == n.feed && m.Data == "0x313ce567":
		return words(8)
	}
	return ""
}

// On a service's network of real assets prices are those that the profile's own nodes read from the feeds that this
// program was built with. The shipped figures count on a lab alone.
func TestPricesOfARealNetworkAreReadThroughOwnNodes(t *testing.T) {
	shipped, err := networks.Shipped()
	if err != nil {
		t.Fatal(err)
	}
	node := &feedNode{answer: 1234e8, at: time.Now().Add(-7 * time.Minute), asked: make(chan struct{}, 1)}
	for _, c := range shipped {
		for _, f := range c.Feeds {
			if c.ID == 8453 && f.Aggregate == "ob:eth" {
				node.feed = f.Address
			}
		}
	}
	web := httptest.NewServer(node)
	t.Cleanup(web.Close)
	eth, usdc := caip.Native(8453), caip.Native(8453)
	m := newMachine(t)
	price := func(kind network.Kind, nodes ...string) (*Opened, verify.Policy) {
		t.Helper()
		_, o := m.remote(kind, 1, nodes...)
		if err := o.openView(t.Context()); err != nil {
			t.Fatal(err)
		}
		rules, err := o.Policy()
		if err != nil {
			t.Fatal(err)
		}
		for e := range rules.Catalog.Entities() {
			if e.Symbol == "USDC" && e.Asset.Chain == eth.Chain {
				usdc = e.Asset
			}
		}
		return o, rules
	}
	if _, rules := price(network.Lab, `"base=`+web.URL+`"`); rules.Catalog.Price(eth) == nil ||
		rules.Catalog.IsWatched() {
		t.Error("play money has no price")
	}
	for _, kind := range []network.Kind{network.Real, network.Test} {
		_, rules := price(kind)
		got, watched := rules.Catalog.Market("ob:usdc")
		if rules.Catalog.Price(usdc) != nil || !watched || got.Problem != verify.NoMarket {
			t.Errorf("%s without nodes: %v", kind, got)
		}
		o, rules := price(kind, `"base=`+web.URL+`"`)
		select {
		case <-node.asked:
			t.Error("a node was asked before anything needed a price")
		default:
		}
		o.View().Look(t.Context(), nil) // as before each review
		got, _ = rules.Catalog.Market("ob:eth")
		if p := rules.Catalog.Price(eth); p == nil || p.Cmp(big.NewInt(1_234_000_000)) != 0 ||
			!strings.HasPrefix(got.Source, "Chainlink on Base, 0x") ||
			!got.Updated.Equal(node.at.Truncate(time.Second)) {
			t.Errorf("%s: ETH costs %v: %+v", kind, p, got)
		}
		if got, _ := rules.Catalog.Market("ob:usdc"); got.MicroUSD != nil || got.Problem == "" {
			t.Errorf("%s: a feed without a round: %+v", kind, got)
		}
		<-node.asked
		other := &feedNode{feed: node.feed, answer: node.answer + 1, at: node.at, asked: make(chan struct{}, 1)}
		second := httptest.NewServer(other)
		t.Cleanup(second.Close)
		o, rules = price(kind, `"base=`+web.URL+`"`, `"base=`+second.URL+`"`)
		o.View().Look(t.Context(), nil)
		if got, _ := rules.Catalog.Market("ob:eth"); got.MicroUSD != nil || got.Problem == "" {
			t.Errorf("%s: two nodes that differ: %+v", kind, got)
		}
		select {
		case <-node.asked:
		default:
		}
	}
}
