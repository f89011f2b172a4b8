package flow_test

import (
	"errors"
	"math/big"
	"strings"
	"sync"
	"testing"
	"time"

	"coffer/api"
	"coffer/wallet/flow"
	"coffer/wallet/verify"
)

// K3: a service holds what was signed, says at once that it failed, and runs it while its window is open. A repeat
// after the window is no longer gated, but for a day it is pointed out: the end of a window says that nothing can begin
// any more, not that nothing did.
func TestK3_ARepeatAfterTheWindowIsAWarningForADay(t *testing.T) {
	for after, warned := range map[time.Duration]bool{20 * time.Minute: true, 23 * time.Hour: true,
		25 * time.Hour: false} {
		b := onLab(t)
		b.ended(api.StatusFailed)
		b.clock.Add(int64(after / time.Second))
		b.w.Now, b.w.Sequence, b.w.Deploy = b.now(), 1, false
		s, err := b.start().Prepare(t.Context())
		if err != nil || s.Report1.Phrase() != "" || s.Report1.Has("J4", verify.Warn) != warned {
			t.Errorf("after %s: %v %+v", after, err, s.Report1.Reasons)
		}
	}
}

// K5: two operations of one process whose reviews were both within the cap of the day are not signed side by side.
func TestK5_TwoStepsOfOneProcessDoNotBothFitIntoTheDay(t *testing.T) {
	b := onLab(t)
	b.policy.Limits.MaxSpendPerDay = big.NewInt(490_000_000)
	b.reopen()
	first, second := b.review1(), b.review1()
	inside := make(chan struct{}, 2)
	b.pen.before = func() {
		inside <- struct{}{}
		select { // time enough for the other one, if nothing kept it out
		case <-inside:
		case <-time.After(200 * time.Millisecond):
		}
	}
	var wg sync.WaitGroup
	var mu sync.Mutex
	var failed []error
	for _, o := range []*flow.Operation{first, second} {
		wg.Go(func() {
			if _, err := o.SignPrepared(t.Context(), consent1(o)); err != nil {
				mu.Lock()
				defer mu.Unlock()
				failed = append(failed, err)
			}
		})
	}
	wg.Wait()
	if b.pen.count.Load() != 1 || len(failed) == 0 || !errors.Is(errors.Join(failed...), flow.ErrExpired) &&
		!errors.Is(errors.Join(failed...), flow.ErrBeside) {
		t.Errorf("%d signatures, %v", b.pen.count.Load(), failed)
	}
}

// K1: one own payment explains one lower balance, and not one after the other until nothing is left to contradict.
func TestK1_OnePaymentExplainsOneLowerBalance(t *testing.T) {
	b := onLab(t)
	o := b.review2()
	if _, err := o.Execute(t.Context(), consent2(o), nil); err != nil {
		t.Fatal(err)
	}
	if s, err := o.Watch(t.Context(), nil); err != nil || s.State != flow.StateDone {
		t.Fatal(s.State, err)
	}
	paid := o.Snapshot().Review2.Pay[0]
	accounts := b.w.Intent().Draft().Accounts
	told := func(v *big.Int) {
		b.clock.Add(2)
		b.flow.Stated(accounts, api.AggregatedBalance{BalanceByAggregatedAsset: []api.AggregateBalance{{
			IndividualAssetBalances: []api.AssetBalance{{AssetType: paid.Asset.String(), Balance: v.String()}},
		}}})
	}
	v := big.NewInt(10_000_000_000)
	for told(v); v.Cmp(paid.Amount) > 0; told(v) {
		v = new(big.Int).Sub(v, paid.Amount)
	}
	b.w.Now, b.w.Sequence, b.w.Deploy = b.now(), 1, false
	b.w.ID = "0x" + strings.Repeat("07", 32)
	for i, a := range o.Snapshot().Review1.Sources {
		if a.Asset == paid.Asset {
			b.f.prepare = states(i, "1")
		}
	}
	if s, err := b.start().Prepare(t.Context()); err != nil || !s.Report1.Has("P6", verify.Warn) {
		t.Errorf("%s of 10,000 USDC vanished in silence: %v %+v", v, err, s.Report1.Reasons)
	}
}
