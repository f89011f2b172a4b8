package chainview_test

import (
	"math/big"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api/networks"
	"coffer/api/rpcpool"
	"coffer/api/rpcpool/faultproxy"
	"coffer/wallet/chainview"
	"coffer/wallet/verify"
)

// The nonce is that of a final block, as two nodes have it; one that differs or is silent says nothing.
func TestTheNextNonceIsReadInAFinalBlock(t *testing.T) {
	for name, place := range map[string]verify.Place{
		"of an entry point": {Chain: 8453, Account: common.Address{1}, EntryPoint: common.Address{2},
			Key: big.NewInt(0)},
		"of the account": {Chain: 8453, Account: common.Address{1}},
	} {
		t.Run(name, func(t *testing.T) { testReach(t, place) })
	}
}

func testReach(t *testing.T, place verify.Place) {
	reach := func(final networks.Finality, nodes ...*faultproxy.Proxy) verify.Reached {
		t.Helper()
		n := chainview.Node{Chain: 8453, Quorum: len(nodes), Final: final}
		for _, p := range nodes {
			n.Endpoints = append(n.Endpoints, rpcpool.Endpoint{URL: p.URL})
		}
		v, err := chainview.New([]chainview.Node{n})
		if err != nil {
			t.Fatal(err)
		}
		defer v.Close()
		got := v.Reach(t.Context(), []verify.Place{place, {Chain: 10, Key: big.NewInt(0)}})
		if len(got) != 1 {
			t.Fatalf("%+v", got)
		}
		return got[0]
	}
	for name, final := range map[string]networks.Finality{"by tag": {}, "by count": {Counted: true, Blocks: 2}} {
		one := node(t, 5)
		if got := reach(final, one); got.Next == nil || got.Next.Int64() != 5 || got.Trouble != "" {
			t.Errorf("%s: %+v", name, got)
		}
		if got := reach(final, node(t, 5), node(t, 6)); got.Next != nil || got.Trouble == "" {
			t.Errorf("%s, two that differ: %+v", name, got)
		}
		one.Script(faultproxy.Rule{Fault: faultproxy.Drop()})
		if got := reach(final, one); got.Next != nil || got.Trouble == "" {
			t.Errorf("%s, silent: %+v", name, got)
		}
	}
	if got := reach(networks.Finality{Counted: true, Blocks: 100}, node(t, 5)); got.Next != nil ||
		got.Trouble != "no block is final yet" {
		t.Errorf("%+v", got)
	}
	unknown := node(t, 5)
	unknown.Script(faultproxy.Rule{On: "eth_getBlockByNumber", Fault: faultproxy.Refuse(-32602, "no such tag", nil)})
	if got := reach(networks.Finality{}, unknown); got.Next != nil || got.Trouble == "" {
		t.Errorf("without the tag: %+v", got)
	}
}
