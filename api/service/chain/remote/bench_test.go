package remote_test

import (
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
)

func latencies(b *testing.B, run func(b *testing.B, l *lab)) {
	for _, delay := range []time.Duration{0, 50 * time.Millisecond} {
		b.Run(delay.String(), func(b *testing.B) {
			l := newLab(b)
			l.populate()
			l.state(0).Close() // the rules are known
			l.node.delay = delay
			l.node.since()
			b.ResetTimer()
			run(b, l)
			trips, requests := l.node.counted()
			b.ReportMetric(float64(trips)/float64(b.N), "trips/op")
			b.ReportMetric(float64(requests)/float64(b.N), "requests/op")
		})
	}
}

// BenchmarkPrepare simulates an operation that deploys its account.
func BenchmarkPrepare(b *testing.B) {
	latencies(b, func(b *testing.B, l *lab) {
		for b.Loop() {
			st := l.state(0)
			deployed := st.Call(l.deploy(4))
			st.Apply(l.credit(0, l.account(4), 1e6))
			done := st.Call(l.execute(4, l.transfer(0, person(3), 5)))
			if st.Close(); deployed.Err != nil || done.Err != nil {
				b.Fatal(deployed.Err, done.Err)
			}
		}
	})
}

// BenchmarkBatch simulates a batch of three transfers of an account that is there.
func BenchmarkBatch(b *testing.B) {
	latencies(b, func(b *testing.B, l *lab) {
		for b.Loop() {
			st := l.state(0)
			res := st.Call(l.execute(0, l.transfer(0, person(3), 5), l.transfer(1, person(4), 5),
				l.transfer(2, person(5), 5)))
			if st.Close(); res.Err != nil {
				b.Fatal(res.Err)
			}
		}
	})
}

// BenchmarkBalances reads the balances of 20 tokens and the coin.
func BenchmarkBalances(b *testing.B) {
	latencies(b, func(b *testing.B, l *lab) {
		all := append([]common.Address{{}}, l.tokens...)
		for b.Loop() {
			if got, err := l.remote.Balances(b.Context(), l.account(0), all); err != nil || got[20] == nil {
				b.Fatal(err)
			}
		}
	})
}
