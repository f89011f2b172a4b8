package faucet_test

import (
	"context"
	"math/big"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api/service/store"
)

// BenchmarkNamingBy64Clients is the wait of 64 clients that each name one new account after the other, on a synced
// file: p50, p99 and the longest, in milliseconds. One operation is 64 × 8 accounts.
func BenchmarkNamingBy64Clients(b *testing.B) {
	s, err := store.OpenBolt(b.TempDir()+"/coffer.db", store.BoltOptions{})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	f := newFaucet(b, open(b, s))
	var mu sync.Mutex
	var waits []time.Duration
	for round := 0; b.Loop(); round++ {
		var clients sync.WaitGroup
		for c := range 64 {
			clients.Go(func() {
				for i := range 8 {
					begin := time.Now()
					err := f.Consider(context.Background(),
						common.BigToAddress(big.NewInt(int64(1_000_000+(round*8+i)*64+c))))
					mu.Lock()
					if waits = append(waits, time.Since(begin)); err != nil {
						b.Error(err)
					}
					mu.Unlock()
				}
			})
		}
		clients.Wait()
	}
	slices.Sort(waits)
	for name, at := range map[string]int{"p50": len(waits) / 2, "p99": len(waits) * 99 / 100, "max": len(waits) - 1} {
		b.ReportMetric(float64(waits[at].Microseconds())/1000, "ms-"+name)
	}
	b.ReportMetric(float64(len(waits))/b.Elapsed().Seconds(), "accounts/s")
}
