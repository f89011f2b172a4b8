package settle_test

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"coffer/api"
	. "coffer/api/service/settle/settletest"
	"coffer/api/service/store"
)

func stores() map[string]func(testing.TB) store.Store {
	return map[string]func(testing.TB) store.Store{
		"memory": func(testing.TB) store.Store { return store.NewMemory() },
		"bolt": func(tb testing.TB) store.Store {
			s, err := store.OpenBolt(filepath.Join(tb.TempDir(), "coffer.db"), store.BoltOptions{})
			Must(tb, err)
			return s
		},
	}
}

// rich gives the user more than any benchmark spends, with three chains to pay from.
func rich(w *World) api.PrepareRequest {
	for _, id := range []uint64{Arbitrum, Polygon, Optimism} {
		w.Fund(w.User.Address, w.Asset("usdc", id), 100*usdcPlain)
	}
	return pay(w, Base, 250*usdcPlain)
}

func BenchmarkPrepare(b *testing.B) {
	for name, open := range stores() {
		b.Run(name, func(b *testing.B) {
			w := New(b, Options{Store: open(b)})
			body := w.Encode(rich(w))
			var all []time.Duration
			for b.Loop() {
				begin := time.Now()
				_, err := w.Quoter.Prepare(context.Background(), body)
				all = append(all, time.Since(begin))
				Must(b, err)
				w.Clock.Advance(time.Second)
			}
			reportPercentiles(b, all)
		})
	}
}

func BenchmarkCallQuoteWithThreeLegs(b *testing.B) {
	for name, open := range stores() {
		b.Run(name, func(b *testing.B) {
			w := New(b, Options{Store: open(b)})
			prepared, err := w.Prepare(rich(w))
			Must(b, err)
			body := w.CallQuoteBody(prepared, "", w.User.Key)
			for b.Loop() {
				_, err := w.Quoter.CallQuote(context.Background(), body)
				Must(b, err)
			}
		})
	}
}

// reportPercentiles reports the median and the 99th percentile.
func reportPercentiles(b *testing.B, all []time.Duration) {
	slices.Sort(all)
	b.ReportMetric(float64(all[len(all)/2].Microseconds()), "µs-p50")
	b.ReportMetric(float64(all[len(all)*99/100].Microseconds()), "µs-p99")
}

// BenchmarkCrossChainFlow is the whole way of one call with three deposits: prepare, sign, quote, sign, execute,
// settle. The breakdown is in microseconds of each part.
func BenchmarkCrossChainFlow(b *testing.B) {
	for name, open := range stores() {
		b.Run(name, func(b *testing.B) {
			w := New(b, Options{Store: open(b)})
			r := rich(w)
			body := w.Encode(r)
			parts := map[string]time.Duration{}
			var whole time.Duration // of the flow under way
			timed := func(part string, fn func()) {
				begin := time.Now()
				fn()
				took := time.Since(begin)
				parts[part] += took
				whole += took
			}
			var flows []time.Duration
			n := 0
			for b.Loop() {
				n++
				b.StopTimer()
				if n > 1 {
					refill(w)
				}
				b.StartTimer()
				var prepared, quoted, signed *api.Document
				var err error
				timed("prepare", func() { prepared, err = w.Quoter.Prepare(context.Background(), body); Must(b, err) })
				var ask *api.Document
				timed("sign", func() { ask = w.CallQuoteBody(prepared, "", w.User.Key) })
				timed("quote", func() { quoted, err = w.Quoter.CallQuote(context.Background(), ask); Must(b, err) })
				timed("sign", func() { signed = w.SignQuote(quoted) })
				timed("execute", func() { Must(b, w.Execute(signed)) })
				timed("settle", func() { Must(b, w.Settler.Idle(context.Background())) })
				flows, whole = append(flows, whole), 0
				w.Clock.Advance(time.Second)
			}
			reportPercentiles(b, flows)
			for part, d := range parts {
				b.ReportMetric(float64(d.Microseconds())/float64(n), fmt.Sprintf("µs-%s/op", part))
			}
		})
	}
}

// refill gives back what the last call spent.
func refill(w *World) {
	for _, id := range []uint64{Arbitrum, Polygon, Optimism} {
		have := w.Balance(w.User.Address, w.Asset("usdc", id))
		missing := bigOf(100 * usdcPlain)
		if missing.Sub(missing, have); missing.Sign() > 0 {
			w.FundBig(w.User.Address, w.Asset("usdc", id), missing)
		}
	}
}

// BenchmarkFlowOfEveryKind is prepare to COMPLETED of a call from two chains, and from Solana where the user has an
// account there, with the account deployed already.
func BenchmarkFlowOfEveryKind(b *testing.B) {
	for _, kind := range Kinds() {
		if kind == api.AccountSolana {
			continue
		}
		b.Run(kind, func(b *testing.B) {
			w := New(b, Options{Store: stores()["bolt"](b)})
			w.User = w.AddUser(kind, 7)
			for b.Loop() {
				b.StopTimer()
				for _, id := range []uint64{Arbitrum, Polygon} {
					w.Fund(w.User.Address, w.Asset("usdc", id), 50*usdcPlain)
				}
				sum := int64(90)
				if w.User.HasSolana() {
					w.FundSolana(w.User.Wallet, w.Asset("usdc", Solana), 50*usdcPlain)
					sum = 140
				}
				b.StartTimer()
				if s := w.Settle(w.SignQuote(w.Quote(pay(w, Base, sum*usdcPlain), "ob:usdc"))); s.Status !=
					api.StatusCompleted {
					b.Fatalf("status %+v", s)
				}
				w.Clock.Advance(time.Second)
			}
		})
	}
}
