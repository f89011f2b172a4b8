package remote_test

import (
	"bytes"
	"errors"
	"math/big"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api/service/chain"
)

// alike holds that two outcomes are one.
func alike(a, b chain.Result) bool {
	return bytes.Equal(a.Return, b.Return) && a.GasUsed == b.GasUsed && len(a.Logs) == len(b.Logs) &&
		(len(a.Logs) == 0 || reflect.DeepEqual(a.Logs, b.Logs)) && (a.Err == nil) == (b.Err == nil) &&
		(a.Err == nil || a.Err.Error() == b.Err.Error() &&
			errors.Is(a.Err, chain.ErrReverted) == errors.Is(b.Err, chain.ErrReverted))
}

// The embedded chain seen through its own JSON-RPC answers random calls as itself, with overlays and after one another.
func TestAChainThroughItsJSONRPCAnswersAsItself(t *testing.T) {
	l := newLab(t)
	for range 5 {
		l.seal()
	}
	l.populate()
	r := rand.New(rand.NewPCG(1, 2))
	count := map[string]int{}
	for calls := 0; calls < 1000; {
		at := l.chain.Head().Time + r.Uint64N(60)
		own, err := l.chain.State(t.Context(), at)
		if err != nil {
			t.Fatal(err)
		}
		seen, err := l.remote.State(t.Context(), at)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(own.Header(), seen.Header()) {
			t.Fatalf("head %+v, seen %+v", own.Header(), seen.Header())
		}
		for range r.IntN(12) {
			if r.IntN(5) == 0 {
				o := l.overlay(r)
				own.Apply(o)
				seen.Apply(o)
				count["overlay"]++
			}
			m, kind := l.random(r)
			want, got := own.Call(m), seen.Call(m)
			if !alike(want, got) {
				t.Fatalf("%s %+v:\n%+v\nseen\n%+v", kind, m, want, got)
			}
			calls++
			count[kind]++
			if want.Err == nil {
				count["succeeded"]++
			}
		}
		for range 3 {
			a := []common.Address{person(r.IntN(people + 2)), l.account(r.IntN(people)), made(3)}[r.IntN(3)]
			k := common.Hash{}
			if own.Balance(a).Cmp(seen.Balance(a)) != 0 || own.Nonce(a) != seen.Nonce(a) ||
				!bytes.Equal(own.Code(a), seen.Code(a)) || own.Storage(a, k) != seen.Storage(a, k) {
				t.Fatalf("%s is another account", a)
			}
		}
		if own.Err() != nil || seen.Err() != nil {
			t.Fatal(own.Err(), seen.Err())
		}
		own.Close()
		seen.Close()
		if r.IntN(3) == 0 {
			l.seal(l.start()[3:5]...)
		}
	}
	t.Log(count)
	if count["succeeded"] < 600 {
		t.Errorf("%d calls succeeded", count["succeeded"])
	}
}

func TestAnOperationIsPreparedInAFewRoundTrips(t *testing.T) {
	l := newLab(t)
	l.populate()
	st := l.state(0)
	n, _ := l.node.counted()
	deployed := st.Call(l.deploy(4))
	afterDeploy, _ := l.node.counted()
	st.Apply(chain.Overlay{l.account(4): {Balance: big.NewInt(1e18)}})
	st.Apply(l.credit(0, l.account(4), 1e6))
	done := st.Call(l.execute(4, l.transfer(0, person(3), 5), l.transfer(0, person(5), 6)))
	if deployed.Err != nil || done.Err != nil || len(done.Logs) != 2 {
		t.Fatal(deployed.Err, done.Err, done.Logs)
	}
	trips, requests := l.node.counted()
	t.Logf("open %d, deploy %d, execute %d round trips, %d requests", n, afterDeploy-n, trips-afterDeploy, requests)
	if trips > 6 {
		t.Errorf("%d round trips", trips)
	}
}
