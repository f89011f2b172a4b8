package settle_test

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"coffer/api"
	"coffer/api/service/settle"
	. "coffer/api/service/settle/settletest"
)

func faultsFrom(t testing.TB, specs ...string) *settle.Faults {
	t.Helper()
	f, err := settle.ParseFaults(specs)
	Must(t, err)
	return &f
}

// Every name that --fault knows, with what becomes of a funded call and of a swap to Solana under it.
func TestEveryFaultBringsAboutItsStatusAndFailReason(t *testing.T) {
	t.Parallel()
	covered := map[string]bool{}
	for i, c := range []struct{ spec, status, reason string }{
		{"no-capacity", api.StatusRefunded, "SOLVER_CAPACITY_EXCEEDED"},
		{"revert", api.StatusRefunded, "EXECUTION_REVERTED"},
		{"unpriced", api.StatusRefunded, "NO_QUOTES"},
		{"transfer-fails", api.StatusRefunded, "TRANSFER_FAILED"},
		{"bad-nonce", api.StatusRefunded, "ACCOUNT_ABSTRACTION_INVALID_NONCE"},
		{"bad-signature", api.StatusRefunded, "ACCOUNT_ABSTRACTION_SIGNATURE_ERROR"},
		{"deposit-fails", api.StatusFailed, "TRANSACTION_REVERTED"},
		{"deposit-missing", api.StatusRefunded, "DEPOSIT_ADDRESS_MISMATCH"},
		{"price-jump=210", api.StatusRefunded, "SLIPPAGE"},
		{"price-jump=150", api.StatusCompleted, ""},
		{"expire", api.StatusRefunded, "ORDER_EXPIRED"},
		{"slow-deposit=1ms", api.StatusCompleted, ""},
		{"slow-fill=1ms", api.StatusCompleted, ""},
		{"slow-release=1ms", api.StatusCompleted, ""},
		{"revert@0.5", api.StatusCompleted, ""}, // the first of two goes through
	} {
		name, _, _ := strings.Cut(c.spec, "=")
		covered[name] = true
		if testing.Short() && i%4 != 0 {
			continue
		}
		for form, ask := range map[string]func(w *World) *api.Document{
			"call": func(w *World) *api.Document { return w.Quote(pay(w, Base, 300*usdcPlain), "ob:usdc") },
			"swap": func(w *World) *api.Document {
				return w.Swap(Exchange{From: "ob:usdc", Amount: big.NewInt(300 * usdcPlain), Get: "ob:sol"})
			},
		} {
			t.Run(c.spec+"/"+form, func(t *testing.T) {
				w := New(t, Options{Faults: faultsFrom(t, c.spec)})
				w.User = w.AddUser(api.AccountRoleBased+WithSolana, 7)
				stock(w, w.User)
				signed := w.SignQuote(ask(w))
				sums, had := w.Sums(payee()), holdings(w, w.User)
				s := w.Settle(signed)
				if s.Status != c.status || s.FailReason != c.reason {
					t.Fatalf("status %s %s", s.Status, s.FailReason)
				}
				w.SameSums(sums, w.Sums(payee()))
				nothingHeld(t, w)
				if c.status != api.StatusCompleted {
					same(t, had, holdings(w, w.User))
				}
			})
		}
	}
	covered["no-route"], covered["revert@0.5"] = true, true
	for _, line := range settle.FaultHelp() {
		name, _, _ := strings.Cut(strings.Fields(line)[0], "=")
		if !covered[name] {
			t.Errorf("nothing shows what %s brings about", name)
		}
	}
}

// holdings are all balances of a user.
func holdings(w *World, u *User) map[string]string {
	out := map[string]string{}
	for a, v := range balances(w, u.Address) {
		out[a.String()] = v
	}
	for _, a := range w.SolanaAssets {
		out[a.String()] = w.SolanaBalance(u.Wallet, a).String()
	}
	return out
}

func same(t *testing.T, before, after map[string]string) {
	t.Helper()
	for a, v := range before {
		if after[a] != v {
			t.Errorf("%s: %s, expected %s", a, after[a], v)
		}
	}
}

func TestFaultsOfTheSolverSpareACallThatNeedsNone(t *testing.T) {
	t.Parallel()
	for spec, reason := range map[string]string{
		"no-capacity": "", "unpriced": "", "transfer-fails": "", "price-jump=500": "", "deposit-fails": "",
		"deposit-missing": "",
		"revert":          "EXECUTION_REVERTED", "bad-nonce": "ACCOUNT_ABSTRACTION_INVALID_NONCE",
		"expire": "ORDER_EXPIRED",
	} {
		w := New(t, Options{Faults: faultsFrom(t, spec)})
		w.Fund(w.User.Address, w.Asset("usdc", Base), 25*usdcPlain)
		want := api.StatusCompleted
		if reason != "" {
			want = api.StatusFailed
		}
		s := w.Settle(w.SignQuote(w.Quote(pay(w, Base, 10*usdcPlain), "")))
		if s.Status != want || s.FailReason != reason {
			t.Errorf("%s: %s %s", spec, s.Status, s.FailReason)
		}
		nothingHeld(t, w)
	}
}

func TestNoRouteFaultHitsItsShareOfTheQuotes(t *testing.T) {
	f := faultsFrom(t, "no-route@3")
	var got []bool
	for range 7 {
		got = append(got, f.NoRoute())
	}
	if want := []bool{false, false, true, false, false, true, false}; !slices.Equal(got, want) {
		t.Errorf("%v", got)
	}
}

func TestAFaultDecidesOnceAboutAQuote(t *testing.T) {
	f := faultsFrom(t, "expire@0.5")
	for range 3 {
		for n, want := range []bool{false, true, false, true} {
			if got := f.Expire(fmt.Sprint(n)); got != want {
				t.Errorf("quote %d: %t", n, got)
			}
		}
	}
}

func TestFaultsAddUp(t *testing.T) {
	f := faultsFrom(t, "revert@2", "no-capacity", "price-jump=5@2", "price-jump=7")
	for n, want := range []string{"SOLVER_CAPACITY_EXCEEDED 7", "EXECUTION_REVERTED 5"} {
		if got := fmt.Sprint(f.Refuse(settle.AtFill, fmt.Sprint(n)), " ", f.PriceJump(fmt.Sprint(n))); got != want {
			t.Errorf("quote %d: %s", n, got)
		}
	}
	if got := f.Refuse(settle.AtDeposit, "x"); got != "" {
		t.Errorf("a deposit is refused with %s", got)
	}
}

func TestUnreadableFaultsAreRefusedWithTheirText(t *testing.T) {
	for _, spec := range []string{
		"", "typo", "revert=1", "slow-fill", "slow-fill=", "slow-fill=-1s", "slow-fill=3", "price-jump=x",
		"price-jump=0", "price-jump=-5",
		"revert@", "revert@0", "revert@0.0", "revert@1.1", "revert@.5", "revert@x", "revert@-1", "revert@0.1234567",
		"@2", "revert@2@2",
	} {
		_, err := settle.ParseFaults([]string{"expire", spec})
		if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("%q", spec)) {
			t.Errorf("%q: %v", spec, err)
		}
	}
}

func TestAFaultWithoutItsValueIsToldSuchAValue(t *testing.T) {
	for name, want := range map[string]string{
		"slow-deposit": "slow-deposit=2s", "slow-fill": "slow-fill=2s", "slow-release": "slow-release=2s",
		"price-jump": "price-jump=300",
	} {
		_, err := settle.ParseFaults([]string{name})
		if err == nil || !strings.HasSuffix(err.Error(), name+" needs a value, such as "+want) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := settle.ParseFaults([]string{want}); err != nil {
			t.Errorf("what was named is refused: %v", err)
		}
	}
}

func FuzzParseFaults(f *testing.F) {
	for _, spec := range []string{"revert", "slow-fill=2s@0.25", "price-jump=300@4", "no-route@1.0",
		"deposit-missing@2147483647", "x=@"} {
		f.Add(spec)
	}
	f.Fuzz(func(t *testing.T, spec string) {
		faults, err := settle.ParseFaults([]string{spec})
		if err != nil {
			return
		}
		if faults.NoRoute != nil {
			faults.NoRoute()
		}
		if faults.Refuse != nil {
			if first, second := faults.Refuse(settle.AtFill, "id"),
				faults.Refuse(settle.AtFill, "id"); first != second {
				t.Errorf("two decisions about one quote: %q and %q", first, second)
			}
		}
	})
}

func TestASlowFaultEndsWithTheService(t *testing.T) {
	for spec, status := range map[string]string{
		"slow-deposit=1h": api.StatusPending, "slow-fill=1h": api.StatusInProgress,
		"slow-release=1h": api.StatusExecuted,
	} {
		t.Run(spec, func(t *testing.T) {
			steps := make(chan string, 20)
			w := New(t, Options{Faults: faultsFrom(t, spec), AfterStep: func(s string) { steps <- s }})
			signed := w.SignQuote(w.Quote(crossChain(w), ""))
			Must(t, w.Execute(signed))
			last := map[string]string{api.StatusPending: "accepted", api.StatusInProgress: "deposit eip155:10",
				api.StatusExecuted: "target"}[status]
			for step := range steps {
				if step == last {
					break
				}
			}
			Must(t, w.Settler.Close())
			if s := w.Status(w.Decode(signed).ID); s.Status != status {
				t.Errorf("status %+v", s)
			}
		})
	}
}

func TestASlowFillLastsAsLongAsAskedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := faultsFrom(t, "slow-fill=90s")
		begun := time.Now()
		Must(t, f.Wait(t.Context(), settle.AtFill, "x"))
		if took := time.Since(begun); took != 90*time.Second {
			t.Errorf("it took %s", took)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := f.Wait(ctx, settle.AtFill, "x"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v", err)
		}
	})
}

// What no fault prevents: no clock moves a status while nothing is done.
func TestNoStatusMovesByTimeAlone(t *testing.T) {
	steps := make(chan string, 20)
	clock := NewClock()
	w := New(t, Options{Clock: clock, Faults: faultsFrom(t, "slow-fill=24h"), AfterStep: func(s string) { steps <- s }})
	signed := w.SignQuote(w.Quote(crossChain(w), ""))
	Must(t, w.Execute(signed))
	for step := range steps {
		if step == "deposit eip155:10" {
			break
		}
	}
	before := w.Status(w.Decode(signed).ID)
	clock.Advance(48 * time.Hour)
	if s := w.Status(w.Decode(signed).ID); s.Status != before.Status || s.Status != api.StatusInProgress {
		t.Errorf("status %s became %s", before.Status, s.Status)
	}
}
