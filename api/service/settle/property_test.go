package settle_test

import (
	"maps"
	"os"
	"slices"
	"strconv"
	"testing"

	"coffer/api"
	"coffer/api/service/quotestore"
	. "coffer/api/service/settle/settletest"
)

// The random run makes this many requests (prepare, quote, execute), and many more with COFFER_TEST_WHOLE;
// COFFER_TEST_OPERATIONS asks for a number, COFFER_TEST_SEED for another run.
const (
	defaultOperations = 200
	wholeOperations   = 15_000
	thickMix          = 1_500 // from this many on every way to end comes up
	operationsEnv     = "COFFER_TEST_OPERATIONS"
	seedEnv           = "COFFER_TEST_SEED"
)

func fromEnv(t *testing.T, name string, otherwise uint64) uint64 {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	v, err := strconv.ParseUint(text, 10, 63)
	Must(t, err)
	return v
}

// Whatever is asked for, together, twice, with every way of failing: sums stay constant, each quote ends, no clock
// moves a status, terminal states hold, nothing stays pledged, and escrow and vault hold exactly what open quotes have
// deposited.
func TestRandomOperationsOfAllKindsKeepEverySum(t *testing.T) {
	t.Parallel()
	usual := uint64(defaultOperations)
	if whole() {
		usual = wholeOperations
	}
	seed, most := fromEnv(t, seedEnv, 2), fromEnv(t, operationsEnv, usual)
	t.Logf("seed %d", seed)
	c := newChaos(t, seed)
	for c.operations < most && !t.Failed() {
		c.round()
		c.seen["rounds"]++
		if c.seen["rounds"]%25 == 0 {
			c.w.SameSums(c.sums, c.w.Sums(payee()))
		}
	}
	c.w.SameSums(c.sums, c.w.Sums(payee()))
	for id, want := range c.final {
		q := record(c.w, id)
		if got := states([]*quotestore.Quote{q})[0]; got != want {
			t.Errorf("%s moved to %s after its end", want, got)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(c.documents))[:min(50, len(c.documents))] {
		Refused(t, c.w.Execute(c.documents[id]), api.ErrAlreadyExecuted)
	}
	for a, want := range c.arrived {
		if a.Chain.IsSolana() {
			if got := c.w.SolanaBalance(stranger().Wallet, a); got.Cmp(want) != 0 {
				t.Errorf("%s of %s arrived, completed were %s", got, a, want)
			}
			continue
		}
		wantBalance(t, c.w, payee(), a, want)
	}
	t.Logf("%d requests: %v", c.operations, c.seen)
	if n := c.seen["ACCOUNT_ABSTRACTION_INVALID_NONCE"]; n > 0 {
		t.Errorf("%d quotes were accepted although their nonces were used", n)
	}
	mix := []string{api.StatusCompleted, api.ErrAlreadyExecuted}
	if most >= thickMix { // rare ends, which have tests of their own
		mix = append(mix, api.StatusRefunded, api.StatusFailed, "SLIPPAGE", "EXECUTION_REVERTED",
			"DEPOSIT_ADDRESS_MISMATCH", api.ErrPrepareAgain)
	}
	for _, must := range mix {
		if c.seen[must] == 0 && most >= defaultOperations {
			t.Errorf("the mix was too thin: no %s", must)
		}
	}
}
