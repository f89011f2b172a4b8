//go:build unix

package settle_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"coffer/api"
	"coffer/api/op"
	"coffer/api/service/settle"
	. "coffer/api/service/settle/settletest"
	"coffer/api/service/store"
)

// Environment of the process that kills itself.
const (
	crashFile   = "COFFER_TEST_CRASH_FILE"
	crashStep   = "COFFER_TEST_CRASH_STEP"
	crashRevert = "COFFER_TEST_CRASH_REVERT"
)

// crash executes the cross-chain scenario on a file and kills its own process after the given commit.
func crash(t *testing.T) {
	at, err := strconv.Atoi(os.Getenv(crashStep))
	Must(t, err)
	s, err := store.OpenBolt(os.Getenv(crashFile), store.BoltOptions{})
	Must(t, err)
	scenario(t, s, os.Getenv(crashRevert) != "", func(n int, _ string) {
		if n == at {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
	})
	t.Fatalf("step %d never came", at)
}

// scenario is the cross-chain call; each hears of every commit with its number from 1.
func scenario(t *testing.T, s store.Store, revert bool, each func(n int, step string)) (*World, string) {
	n := 0
	w := New(t, Options{Store: s, Faults: faultsOf(revert), AfterStep: func(step string) { n++; each(n, step) }})
	signed := w.SignQuote(w.Quote(crossChain(w), ""))
	w.Settle(signed)
	return w, w.Decode(signed).ID
}

func faultsOf(revert bool) *settle.Faults {
	return &settle.Faults{Revert: func(string) bool { return revert }}
}

func TestKilledAfterAnyCommitTheSagaEndsWithSumsIntact(t *testing.T) {
	if os.Getenv(crashFile) != "" { // this is the process that crashes
		crash(t)
		return
	}
	for _, revert := range []bool{false, true} {
		var steps []string
		clean, _ := scenario(t, store.NewMemory(), revert, func(_ int, step string) { steps = append(steps, step) })
		if len(steps) < 8 {
			t.Fatalf("only %d steps: %v", len(steps), steps)
		}
		for i, step := range steps {
			t.Run(fmt.Sprintf("revert=%t/%s", revert, step), func(t *testing.T) {
				killAndResume(t, i+1, revert, i+1 == len(steps), clean)
			})
		}
	}
}

func killAndResume(t *testing.T, step int, revert, last bool, clean *World) {
	path := filepath.Join(t.TempDir(), "coffer.db")
	c := exec.Command(os.Args[0], "-test.run=^TestKilledAfterAnyCommitTheSagaEndsWithSumsIntact$")
	c.Env = append(os.Environ(), crashFile+"="+path, fmt.Sprintf("%s=%d", crashStep, step))
	if revert {
		c.Env = append(c.Env, crashRevert+"=1")
	}
	out, err := c.CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Fatalf("the process was not killed: %v\n%s", err, out)
	}
	s, err := store.OpenBolt(path, store.BoltOptions{})
	Must(t, err)
	defer func() { Must(t, s.Close()) }()
	w := New(t, Options{Store: s, Faults: faultsOf(revert)})
	defer func() { Must(t, w.Settler.Close()) }()
	var open []string
	Must(t, s.View(func(tx store.Tx) error { open = w.Book.Open(tx); return nil }))
	if want := 1; last && len(open) != 0 || !last && len(open) != want {
		t.Fatalf("%d quotes are open after the crash", len(open))
	}
	Must(t, w.Settler.Resume(context.Background()))
	Must(t, w.Settler.Idle(context.Background()))
	sameEnd(t, w, clean, revert)
}

// sameEnd compares with a run that was never interrupted: balances of everybody, nonces, and the record.
func sameEnd(t *testing.T, w, clean *World, revert bool) {
	t.Helper()
	sameBalances(t, balances(clean, clean.User.Address), balances(w, w.User.Address))
	sameBalances(t, balances(clean, payee()), balances(w, payee()))
	for _, id := range []uint64{Base, Arbitrum, Polygon, Optimism} {
		usdc := w.Asset("usdc", id)
		wantBalance(t, w, solverOf(w), usdc, clean.Balance(solverOf(clean), usdc))
		wantBalance(t, w, w.Installation.Network.Pins.Escrow, usdc, zero())
		for _, lane := range []uint16{op.LanePrepared, op.LaneFunding} {
			if x, y := w.Nonce(id, lane), clean.Nonce(id, lane); x != y {
				t.Errorf("nonce of lane %d on %d is %d, expected %d", lane, id, x, y)
			}
		}
		if x, y := w.Installation.Chains[id].Head().Number, clean.Installation.Chains[id].Head().Number; x != y {
			t.Errorf("%d has %d blocks, expected %d: a step happened twice or never", id, x, y)
		}
	}
	page, err := w.Book.History(context.Background(), query(w))
	Must(t, err)
	want := api.StatusCompleted
	if revert {
		want = api.StatusRefunded
	}
	if len(page.Transactions) != 1 || page.Transactions[0].Status != want {
		t.Fatalf("history %+v", page.Transactions)
	}
	erased(t, w, page.Transactions[0].QuoteID)
	supplies(t, w)
}

// supplies checks that each token's sum is what genesis made, and each coin's is that minus burned fees (protocol §5.3).
func supplies(t *testing.T, w *World) {
	t.Helper()
	for a, sum := range w.Sums(payee()) {
		e, _ := w.Installation.Catalog.Entity(a)
		want := zero().Exp(bigOf(10), bigOf(int64(9+e.Decimals)), nil)
		if sum.Cmp(want) != 0 {
			t.Errorf("%s: %s exist, genesis made %s", a, sum, want)
		}
	}
}
