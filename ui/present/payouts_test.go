package present

import (
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api/catalog"
	"coffer/api/network"
	"coffer/ui/internal/reviewtest"
	"coffer/wallet/verify"
)

func payoutReview(t *testing.T) Review {
	t.Helper()
	cat, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	return Review{Review: reviewtest.Payouts(), Catalog: cat, Clock: func(at time.Time) string { return "" },
		Names: func(address string) string {
			if address == reviewtest.Kernel {
				return "Ada"
			}
			return ""
		}}
}

// TestManyPaymentsAreRows: recipient in full, name, amount, first time, again and note of each, the sum of each asset,
// and no pair beside them.
func TestManyPaymentsAreRows(t *testing.T) {
	r := payoutReview(t)
	text := textOf(Review1(r))
	for _, want := range []string{
		"3 payments on Base, together 30 USDC", "1 payment on Base, together 0.005 ETH",
		Address(reviewtest.USDC), "2 " + Address(reviewtest.Kernel) + ", Ada, 10 USDC",
		"first time", "again, as payment 1", "invoice 9",
		"1 payment goes to an address that is paid before in this list.",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not there:\n%s", want, text)
		}
	}
	if n := strings.Count(text, Address(reviewtest.Escrow)); n != 1 {
		t.Errorf("a recipient stands there %d times\n%s", n, text)
	}
	if strings.Contains(text, "1 transfer(") {
		t.Errorf("a payment is a pair, too\n%s", text)
	}
}

// TestFirstPaymentsAreCountedOnceForEachAddress: one line of the warnings counts them, and every row has its mark.
func TestFirstPaymentsAreCountedOnceForEachAddress(t *testing.T) {
	r := payoutReview(t)
	r.Report = verify.Report{Reasons: []verify.Reason{{Code: "V4", Level: verify.Warn, Title: verify.FirstPayments,
		Got: reviewtest.Payee + ", " + reviewtest.Kernel + ", " + reviewtest.Escrow}}}
	for i := range r.Call.Lines {
		r.Call.Lines[i].FirstTime = true
	}
	text := textOf(Review1(r))
	if n := strings.Count(text, "First payment to 3 of 3 addresses"); n != 1 {
		t.Errorf("the warning is there %d times\n%s", n, text)
	}
	if n := strings.Count(text, "first time"); n != len(r.Call.Lines) {
		t.Errorf("%d of %d rows are marked\n%s", n, len(r.Call.Lines), text)
	}
	if strings.Contains(text, verify.FirstPayments) {
		t.Errorf("the warning is there in other words, too\n%s", text)
	}
}

// TestAPaymentThatIsNotAsAskedIsNoRow: it stands beside what was asked, with its verdict.
func TestAPaymentThatIsNotAsAskedIsNoRow(t *testing.T) {
	r := payoutReview(t)
	r.Intent.Calls[1].To = reviewtest.Escrow
	text := textOf(Review1(r))
	for _, want := range []string{"2 payments on Base, together 20 USDC", "not what you asked", "2 transfer("} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not there:\n%s", want, text)
		}
	}
	r = payoutReview(t)
	r.Call.Lines, r.Intent.Calls = r.Call.Lines[:2], r.Intent.Calls[:2]
	if text := textOf(Review1(r)); strings.Contains(text, "payments on Base, together") ||
		!strings.Contains(text, "invoice 6") {
		t.Errorf("two payments are pairs, with their notes\n%s", text)
	}
}

// On own nodes the review says which key pays for gas.
func TestOnOwnNodesTheReviewNamesTheGasTank(t *testing.T) {
	r := payoutReview(t)
	if strings.Contains(textOf(Review1(r)), "gas tank") {
		t.Error("a service pays there")
	}
	n := network.Descriptor{Version: 2, Kind: network.Test, Pins: network.Pins{Paymaster: network.Window(),
		Operator: common.HexToAddress(reviewtest.Kernel)}}
	r.GasTank = GasTank(n)
	if !strings.Contains(textOf(Review1(r)), "paid by your gas tank "+Address(reviewtest.Kernel)) {
		t.Errorf("%s", textOf(Review1(r)))
	}
	if n.Pins.Solver = (common.Address{1}); GasTank(n) != "" {
		t.Error("there is a solver")
	}
}
