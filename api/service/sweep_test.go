package service_test

import (
	"testing"
	"testing/synctest"
	"time"

	"coffer/api/service"
	"coffer/api/service/store"
)

// A signed operation does not outlive its window on a service that nobody calls (protocol §2.1).
func TestAnOpenServiceSweepsByItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := options(store.NewMemory())
		begin := time.Now() // of the bubble, long before any block
		o.Clock = func() time.Time { return time.Unix(1_760_000_000, 0).Add(time.Since(begin)) }
		s := open(t, o)
		w := newWallet(t, s)
		w.quote(300_000_000)
		count := func(want int) {
			t.Helper()
			if n, err := service.Operations(s); err != nil || n != want {
				t.Errorf("%d prepared operations are kept (%v), expected %d", n, err, want)
			}
		}
		count(1)
		time.Sleep(9 * time.Minute)
		synctest.Wait()
		count(1)
		time.Sleep(2*time.Minute + time.Second)
		synctest.Wait()
		count(0)
	})
}
