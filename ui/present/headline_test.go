package present

import (
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"coffer/api/amount"
	"coffer/api/caip"
	"coffer/api/catalog"
	"coffer/ui/internal/reviewtest"
	"coffer/wallet/consent"
	"coffer/wallet/intent"
	"coffer/wallet/verify"
)

func headlineOf(t testing.TB, c consent.Review, name func(string) string) string {
	t.Helper()
	cat, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	h := Review{Review: c, Catalog: cat, Names: name}.Headline()
	return h[0] + " " + h[1]
}

func TestD14_AHeadlineSaysWhatHappensAndCountsEverythingThatLeaves(t *testing.T) {
	for name, want := range map[string]string{
		"call": "Send 250.50 USDC to 0x93DB..7BC0 on Base. " +
			"250.50 USDC leaves your account; review 2 gives the cost.",
		"two calls, one of them cannot be decoded": "Run 2 calls on Base; 1 of them cannot be decoded. " +
			"As far as the call data shows, 250.50 USDC and 0.001 ETH leave your account; " +
			"review 2 gives the cost.",
		"payouts": "Send 30.00 USDC and 0.005 ETH in 4 payments on Base. " +
			"30.00 USDC and 0.005 ETH leave your account; review 2 gives the cost.",
		"whole consent": "Send 250.50 USDC to 0x93DB..7BC0 on Base. " +
			"250.50 USDC leaves your account, with this one signature.",
		// 25 USDC are there, 225.98 are paid: 250.5 and 0.48
		"quote": "Send 250.50 USDC to 0x93DB..7BC0 on Base. " +
			"250.98 USDC leaves your account; 0.48 of it is the cost.",
		"same chain": "Send 250.50 USDC to 0x93DB..7BC0 on Base. " +
			"250.50 USDC leaves your account; no payment comes on top.",
		"unknown figures": "Send 250.50 USDC to 0x93DB..7BC0 on Base. " +
			"250.98 USDC leaves your account; what of it is the cost is not known.",
		"swap": "Swap 100.00 USDC for at least 0.0291 ETH on Optimism. " +
			"100.00 USDC leaves your account; $0.48 of it is the cost.",
		"transfer": "Send at least 99.50 USDC to 0x93DB..7BC0 on Base. " +
			"100.00 USDC leaves your account; 0.48 of it is the cost, 0.50 at most.",
	} {
		for _, c := range reviewtest.All() {
			if got := headlineOf(t, c.Review, nil); c.Name == name && got != want {
				t.Errorf("%s:\n%s\n%s", name, got, want)
			}
		}
	}
}

func TestD14_AHeadlineNamesContactsAndNeverAnABIFile(t *testing.T) {
	c := reviewtest.Quote()
	book := func(a string) string {
		return map[string]string{reviewtest.Payee: "Demo payee"}[a]
	}
	if got := headlineOf(t, c, book); !strings.HasPrefix(got, "Send 250.50 USDC to Demo payee on Base. ") {
		t.Error(got)
	}
	l := &c.Call.Lines[0]
	l.Function, l.Recipient, l.Amount = "sendMeHome(address to)", "", nil // as a file of the person has it
	if got := headlineOf(t, c, book); !strings.HasPrefix(got, "Run 1 call on Base. ") {
		t.Error(got)
	}
	l.Decoded, l.Function = false, ""
	if got := headlineOf(t, c, book); !strings.HasPrefix(got, "Run 1 call on Base; it cannot be decoded. As far as ") {
		t.Error(got)
	}
	a := c.Call.Outflow[0]
	l.Decoded, l.Amount, l.Recipient, l.Function = true, &a, reviewtest.Payee,
		"approve(address spender, uint256 amount)"
	if got := headlineOf(t, c, book); !strings.HasPrefix(got, "Let Demo payee take up to 250.50 USDC on Base. ") {
		t.Error(got)
	}
	own := reviewtest.Swap()
	own.Intent.Kind, own.Quote.Recipient = intent.KindTransfer, reviewtest.Account
	if got := headlineOf(t, own, nil); !strings.HasPrefix(got, "Send at least 0.0291 ETH to your own account on Opt") {
		t.Error(got)
	}
}

// What no payment is known to bring has to be there: it counts as leaving in full.
func TestD14_WhatIsOnTheTargetChainCountsInFullWhereNobodySaysHowMuchComesFromElsewhere(t *testing.T) {
	c := reviewtest.Quote()
	c.Quote.Needs, c.Quote.Promise = nil, nil
	if got := headlineOf(t, c, nil); !strings.Contains(got, "476.48 USDC leaves your account; ") {
		t.Error(got)
	}
	c.Call.Outflow, c.Quote.Legs = nil, nil
	const want = "As far as the call data shows, nothing leaves your account."
	if got := headlineOf(t, c, nil); !strings.HasSuffix(got, want) {
		t.Error(got)
	}
}

// TestTheCostOfASwapIsOneFigure: the headline and the row of the cost write it alike, at every sum.
func TestTheCostOfASwapIsOneFigure(t *testing.T) {
	cat, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range reviewtest.All() {
		if c.Name != "swap" {
			continue
		}
		for _, micro := range []int64{384_580, 385_000, 4_999, 999_999_999} {
			r := Review{Review: c.Review, Catalog: cat}
			v := *r.Quote
			v.CostMicro, r.Quote = big.NewInt(micro), &v
			if row := r.cost().Text; !strings.Contains(r.costWords(), row+" of it is the cost") {
				t.Errorf("%q and %q", r.costWords(), row)
			}
		}
	}
}

// However it is written, a figure that leaves is at least, and one that arrives at most, the exact one; either is off
// by less than two cents, and by nothing where the value is unknown.
func TestD14_WhatLeavesIsRoundedUpAndWhatArrivesDown(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		a := verify.AmountView{Asset: caip.Native(8453), Symbol: "ETH",
			Decimals: rapid.IntRange(0, 18).Draw(rt, "decimals")}
		a.Amount = big.NewInt(rapid.Int64Range(1, 1<<62).Draw(rt, "amount"))
		if rapid.Bool().Draw(rt, "priced") {
			a.Micro = big.NewInt(rapid.Int64Range(0, 1<<40).Draw(rt, "micro"))
		}
		read := func(text string) *big.Int {
			figure, _ := strings.CutSuffix(strings.ReplaceAll(text, ",", ""), " ETH")
			v, err := amount.Parse(figure, a.Decimals)
			if err != nil {
				rt.Fatal(err)
			}
			return v
		}
		up, down := read(near(a, true)), read(near(a, false))
		if up.Cmp(a.Amount) < 0 || down.Cmp(a.Amount) > 0 || down.Sign() == 0 {
			rt.Fatalf("%s is written as %s up and %s down", a.Amount, near(a, true), near(a, false))
		}
		off := new(big.Int).Sub(up, down)
		if a.Micro == nil || a.Micro.Sign() == 0 {
			if off.Sign() != 0 {
				rt.Fatalf("without a value it is rounded: %s, %s", near(a, true), near(a, false))
			}
			return
		}
		if worth := new(big.Int).Mul(off, a.Micro); worth.Cmp(new(big.Int).Mul(a.Amount, big.NewInt(cent))) > 0 {
			rt.Fatalf("off by %s of %s, worth %s in all", off, a.Amount, a.Micro)
		}
	})
}
