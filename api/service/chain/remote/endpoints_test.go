package remote_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"coffer/api/rpcpool"
	"coffer/api/rpcpool/faultproxy"
	"coffer/api/service/chain"
	"coffer/api/service/chain/remote"
	"coffer/api/service/jsonrpc"
)

// through opens the lab's chain over HTTP, each endpoint with its own faults.
func through(t *testing.T, l *lab, endpoints ...[]faultproxy.Rule) *remote.Chain {
	t.Helper()
	server := jsonrpc.NewServer(jsonrpc.Options{})
	t.Cleanup(server.Close)
	o := rpcpool.Options{ChainID: chainID, Timeout: 2 * time.Second, Hedge: 200 * time.Millisecond}
	for i, rules := range endpoints {
		p := faultproxy.New(server.Endpoint(l.node.methods), uint64(i+1), rules...)
		t.Cleanup(p.Close)
		o.URLs = append(o.URLs, rpcpool.Endpoint{URL: p.URL})
	}
	pool := must(rpcpool.New(o))
	t.Cleanup(pool.Close)
	c := must(remote.New(remote.Options{Node: pool, ChainID: chainID}))
	t.Cleanup(c.Close)
	return c
}

func TestFaultsOfEndpointsChangeNoOutcome(t *testing.T) {
	chance := func(on string, f faultproxy.Fault) faultproxy.Rule {
		return faultproxy.Rule{On: on, Chance: 0.04, Fault: f}
	}
	faults := []faultproxy.Rule{
		chance("", faultproxy.Drop()), chance("", faultproxy.Deaf()), chance("", faultproxy.HTML()),
		chance("", faultproxy.Status(503, "", "busy")), chance("", faultproxy.Cut(9)),
		chance("", faultproxy.Delay(20*time.Millisecond)),
		chance("eth_getStorageAt", faultproxy.LeaveOut()), chance("eth_getBalance", faultproxy.LeaveOut()),
		chance("eth_getCode", faultproxy.Refuse(-32000, "missing trie node 1f2e (path )", nil)),
		chance("eth_createAccessList", faultproxy.Refuse(-32000, "execution timeout", nil)),
		{Chance: 0.5, Fault: faultproxy.Shuffle()},
	}
	l := newLab(t)
	l.populate()
	c := through(t, l, faults, faults, faults)
	r := rand.New(rand.NewPCG(3, 4))
	succeeded, unknown := 0, 0
	for i := range 60 {
		if i%10 == 0 {
			l.seal(l.start()[3:4]...)
		}
		own, err := l.chain.State(t.Context(), 0)
		if err != nil {
			t.Fatal(err)
		}
		m, kind := l.random(r)
		want := own.Call(m)
		own.Close()
		seen, err := c.State(t.Context(), 0)
		if err != nil {
			unknown++
			continue
		}
		got := seen.Call(m)
		switch {
		case seen.Err() != nil && got.Err != nil:
			unknown++
		case !alike(want, got):
			t.Fatalf("%s %+v:\n%+v\nseen\n%+v", kind, m, want, got)
		case got.Err == nil:
			succeeded++
		}
		seen.Close()
	}
	t.Logf("%d succeeded, %d unknown", succeeded, unknown)
	if succeeded < 36 || unknown > 8 {
		t.Errorf("%d succeeded, %d are unknown", succeeded, unknown)
	}
}

// One endpoint hangs, one stays behind, one is well: a view is of the newest block, and nothing waits for the first.
func TestOneGoodEndpointIsEnough(t *testing.T) {
	l := newLab(t)
	l.populate()
	for range 10 { // so that an endpoint at block 0 is too far behind to be asked
		l.seal()
	}
	c := through(t, l, []faultproxy.Rule{{Fault: faultproxy.Hang()}},
		[]faultproxy.Rule{{On: "eth_getBlockByNumber", Fault: faultproxy.Lie("number", "0x0")},
			{On: "eth_blockNumber", Fault: faultproxy.Lie("", "0x0")}}, nil)
	for range 3 {
		l.seal(l.start()[3:4]...)
		st, err := c.State(t.Context(), 0)
		if err != nil {
			t.Fatal(err)
		}
		res := st.Call(chain.Message{From: person(0), To: l.tokens[0], Data: l.transfer(0, person(3), 5).Data,
			Gas: 100_000})
		if st.Err() != nil || res.Err != nil || st.Header().Hash != l.chain.Head().Hash ||
			st.Header().Number != l.chain.Head().Number {
			t.Errorf("block %d: %v, %v", st.Header().Number, st.Err(), res.Err)
		}
		st.Close()
	}
}
