package chainview_test

import (
	"errors"
	"math/big"
	"testing"

	"coffer/api/rpcpool"
	"coffer/api/rpcpool/faultproxy"
	"coffer/wallet/chainview"
)

// The base fee of the next block, as the nodes agree on it, is compared with the user's own cap. A node that is silent
// or differs says nothing, and a chain without a cap costs what it wants.
func TestGasIsComparedWithTheUsersOwnCap(t *testing.T) {
	over := errors.New("over the cap")
	dear := func(limit int64, nodes ...*faultproxy.Proxy) error {
		t.Helper()
		n := chainview.Node{Chain: 8453, Quorum: len(nodes)}
		for _, p := range nodes {
			n.Endpoints = append(n.Endpoints, rpcpool.Endpoint{URL: p.URL})
		}
		if limit > 0 {
			n.Dear = func(base *big.Int) error {
				if base.Cmp(big.NewInt(limit)) > 0 {
					return over
				}
				return nil
			}
		}
		v, err := chainview.New([]chainview.Node{n})
		if err != nil {
			t.Fatal(err)
		}
		defer v.Close()
		if err := v.Dear(t.Context(), []uint64{10}); err != nil {
			t.Errorf("a chain without a node: %v", err)
		}
		return v.Dear(t.Context(), []uint64{10, 8453})
	}
	silent, empty := node(t, 6), node(t, 6)
	silent.Script(faultproxy.Rule{Fault: faultproxy.Drop()})
	empty.Script(faultproxy.Rule{On: "eth_feeHistory", Fault: faultproxy.Lie("baseFeePerGas", []string{})})
	for name, c := range map[string]struct {
		limit int64
		nodes []*faultproxy.Proxy
		want  error
	}{
		"over":        {5, []*faultproxy.Proxy{node(t, 6)}, over},
		"within":      {6, []*faultproxy.Proxy{node(t, 6)}, nil},
		"no cap":      {0, []*faultproxy.Proxy{node(t, 6)}, nil},
		"two":         {5, []*faultproxy.Proxy{node(t, 6), node(t, 6)}, over},
		"they differ": {5, []*faultproxy.Proxy{node(t, 6), node(t, 7)}, nil},
		"silent":      {5, []*faultproxy.Proxy{silent}, nil},
		"no answer":   {5, []*faultproxy.Proxy{empty}, nil},
	} {
		if got := dear(c.limit, c.nodes...); !errors.Is(got, c.want) || (got == nil) != (c.want == nil) {
			t.Errorf("%s: %v", name, got)
		}
	}
}
