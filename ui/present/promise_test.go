package present

import (
	"strings"
	"testing"

	"coffer/ui/internal/reviewtest"
)

// TestAReviewSaysWhoDecidesThatSomethingWasDelivered: how many, and that one alone is enough; of a payment on Solana
// that the service's word alone brings it back.
func TestAReviewSaysWhoDecidesThatSomethingWasDelivered(t *testing.T) {
	says := func(c reviewtest.Case, words string) {
		t.Helper()
		p, _ := pageOf(t, c)
		if got := textOf(p); !strings.Contains(got, words) {
			t.Errorf("%q is not said:\n%s", words, got)
		}
	}
	for words, of := range map[string][2]int{
		"one attester: the operator of this service": {1, 1}, "2 of 3 attesters": {2, 3},
		"any one of 3 attesters": {1, 3}, "someone this wallet does not know": {0, 0},
	} {
		r := reviewtest.Quote()
		r.Quote.Promise.Threshold, r.Quote.Promise.Attesters = of[0], of[1]
		says(reviewtest.Case{Review: r}, words)
	}
	none := reviewtest.Quote()
	none.Quote.Promise.Minimums = nil
	says(reviewtest.Case{Review: none}, "only if your call runs by ")
	says(reviewtest.Case{Review: reviewtest.Swap()}, " arrives by ")
	for _, c := range reviewtest.All() {
		if c.Name == "solana" {
			says(c, SolanaHolds)
			return
		}
	}
	t.Error("no review has a payment on Solana")
}
