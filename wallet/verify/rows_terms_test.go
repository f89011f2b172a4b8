package verify_test

import (
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/network"
	"coffer/api/op/escrow"
	"coffer/wallet/intent"
	"coffer/wallet/internal/golden"
	"coffer/wallet/verify"
)

// termsLie is what the terms of deposits say instead of the truth. ofCall and ofTrade are what the refusal says, ""
// where the lie is none.
type termsLie struct {
	ofCall, ofTrade string
	tell            func(t *escrow.Terms)
}

// minimum changes the first minimum.
func minimum(change func(m *escrow.Minimum)) func(t *escrow.Terms) {
	return func(t *escrow.Terms) {
		t.Minimums = slices.Clone(t.Minimums)
		t.Minimums[0].Amount = new(big.Int).Set(t.Minimums[0].Amount)
		change(&t.Minimums[0])
	}
}

func termsLies() map[string]termsLie {
	const (
		runs, one   = "only if the operation that you signed runs", "one delivery is promised and nothing else"
		own, theirs = "arrives at your own account", "for a delivery to the recipient"
		soon, back  = "soon or not at all", "once a payment can be taken back"
		chain, once = "on the chain that you chose", "each delivery is promised once"
	)
	now, word := uint64(clock().Unix()), [32]byte{1}
	return map[string]termsLie{
		"the operator's operation": {runs, one, func(t *escrow.Terms) { t.Operations = [][32]byte{word} }},
		"no operation":             {runs, "", func(t *escrow.Terms) { t.Operations = nil }},
		"a second operation":       {runs, one, func(t *escrow.Terms) { t.Operations = append(t.Operations, word) }},
		"a first operation": {runs, one, func(t *escrow.Terms) {
			t.Operations = slices.Insert(t.Operations, 0, word)
		}},
		"another chain": {chain, chain, func(t *escrow.Terms) { t.TargetChain = 56 }},
		"late":          {soon, soon, func(t *escrow.Terms) { t.FillDeadline = now + 30 + 601 }},
		"never":         {back, back, func(t *escrow.Terms) { t.FillDeadline = 1<<64 - 1 }},
		"when the payment comes back": {back, back, func(t *escrow.Terms) {
			t.FillDeadline = now + 3600
		}},
		"a minimum twice": {once, one, func(t *escrow.Terms) { t.Minimums = append(t.Minimums, t.Minimums...) }},
		"minimums in another order": {once, one, func(t *escrow.Terms) {
			t.Minimums = append(slices.Clone(t.Minimums), escrow.Minimum{Amount: big.NewInt(1)})
		}},
		"no minimum": {"", one, func(t *escrow.Terms) { t.Minimums = nil }},
		"to a stranger": {own, theirs, minimum(func(m *escrow.Minimum) {
			m.To = escrow.Padded(common.HexToAddress(stranger))
		})},
		"to the account behind other bytes": {own, theirs, minimum(func(m *escrow.Minimum) { m.To[0] = 1 })},
		"of another token": {"only tokens that you require", "for the asset that you asked for",
			minimum(func(m *escrow.Minimum) { m.Token = escrow.Padded(golden.TokenOf(arbUSDC)) })},
		"one unit less than the floor": {"", "for no less than the minimum",
			minimum(func(m *escrow.Minimum) { m.Amount.Sub(m.Amount, big.NewInt(1)) })},
		"more than is required": {"no more of a token is promised than you require", "",
			minimum(func(m *escrow.Minimum) { m.Amount.SetInt64(250_500_001) })},
	}
}

// refusedForTerms demands a refusal of row Q15 in these words.
func refusedForTerms(t *testing.T, accepted bool, r verify.Report, words string) {
	t.Helper()
	refused(t, accepted, r, "Q15")
	for _, x := range r.Reasons {
		if x.Code == "Q15" && x.Level == verify.Refuse && strings.Contains(x.Title, words) {
			return
		}
	}
	t.Fatalf("no refusal says %q: %+v", words, r.Reasons)
}

func TestQ15_PaymentsForACallAreReleasedOnlyForThatCall(t *testing.T) {
	for name, lie := range termsLies() {
		if lie.ofCall == "" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, w *world) {
				s := w.signed()
				w.Lie = lie.tell
				q, r := w.quote(s, w.Document(w.CrossChain()))
				refusedForTerms(t, q != nil, r, lie.ofCall)
			})
		})
	}
}

// trades are a swap and transfers, to an account of the user's, to a stranger's and to Solana.
func trades() map[string]func(w *world) api.Quote {
	const sol = "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp"
	_, friend := solanaKey("friend")
	return map[string]func(w *world) api.Quote{
		"swap": func(w *world) api.Quote {
			return w.Trade(intent.KindSwap, baseETH, caip.EVMAccount(8453, w.Account), "33000000000000000",
				"32900000000000000")
		},
		"transfer": func(w *world) api.Quote {
			return w.Trade(intent.KindTransfer, baseUSDC, caip.EVMAccount(8453, common.HexToAddress(payee)), "99500000",
				"99000000")
		},
		"transfer to Solana": func(w *world) api.Quote {
			return w.Trade(intent.KindTransfer, sol+"/token:EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v",
				caip.SolanaAccount(friend), "99500000", "99000000")
		},
		"swap to Solana": func(w *world) api.Quote {
			return w.Trade(intent.KindSwap, sol+"/slip44:501", caip.SolanaAccount(friend), "591000000", "585000000")
		},
	}
}

func (w *world) exchange(q api.Quote) (*verify.VerifiedQuote, verify.Report) {
	return verify.Exchange(w.Intent(), w.Policy, verify.NoHistory{}, clock(), w.Document(q))
}

func TestQ15_PaymentsForATradeAreReleasedOnlyForItsMinimumAtTheRecipient(t *testing.T) {
	for name, trade := range trades() {
		t.Run(name, func(t *testing.T) {
			eachV3(t, func(t *testing.T, w *world) {
				q, r := w.exchange(trade(w))
				if q == nil {
					t.Fatalf("the truth is refused: %+v", r.Reasons)
				}
				w.Lie = minimum(func(m *escrow.Minimum) { m.Amount.Add(m.Amount, big.NewInt(1)) })
				if q, r = w.exchange(trade(w)); q == nil {
					t.Fatalf("more than the minimum is refused: %+v", r.Reasons)
				}
				for name, lie := range termsLies() {
					if w.Lie = lie.tell; lie.ofTrade != "" {
						q, r := w.exchange(trade(w))
						t.Run(name, func(t *testing.T) { refusedForTerms(t, q != nil, r, lie.ofTrade) })
					}
				}
			})
		})
	}
}

// TestQ15_TheRecipientOfTheTermsIsThatOfTheIntent: a quote that names the recipient and terms that name another one
// differ in 32 bytes of call data only.
func TestQ15_TheRecipientOfTheTermsIsThatOfTheIntent(t *testing.T) {
	w := newWorld(t)
	w.Lie = minimum(func(m *escrow.Minimum) { m.To = escrow.Padded(w.Account) })
	q, r := w.exchange(trades()["transfer"](w))
	refusedForTerms(t, q != nil, r, "for a delivery to the recipient")
}

func TestQ15_AllPaymentsHaveTheSameTerms(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		s := w.signed()
		for i := range 2 {
			w.Lie = nil
			q := w.CrossChain()
			o := q.OriginChainsOperations[i]
			w.Lie = func(t *escrow.Terms) { t.FillDeadline-- }
			w.rebuild(&q, i, w.DepositCalls(assetOf(o.AssetType), bigOf(o.Amount)))
			v, r := w.quote(s, w.Document(q))
			refusedForTerms(t, v != nil, r, "all payments are bound to the same terms")
		}
		w.Lie = func(t *escrow.Terms) { t.FillDeadline-- }
		if v, r := w.quote(s, w.Document(w.CrossChain())); v == nil {
			t.Fatalf("an earlier deadline in both: %+v", r.Reasons)
		}
	})
}

func TestQ15_TheLatestDeliveryIsTenMinutesAfterTheExpiry(t *testing.T) {
	w := newWorld(t)
	s := w.signed()
	w.Lie = func(t *escrow.Terms) { t.FillDeadline = uint64(clock().Unix()) + 30 + 600 }
	if q, r := w.quote(s, w.Document(w.CrossChain())); q == nil {
		t.Fatalf("%+v", r.Reasons)
	}
}

func TestQ15_APaymentWithNamedFeesIsPromisedToTheUnit(t *testing.T) {
	for name, by := range map[string]int64{"one unit less": -1, "one unit more": 1, "nothing": -225_500_000} {
		t.Run(name, func(t *testing.T) {
			eachV3(t, func(t *testing.T, w *world) {
				s := w.signed()
				w.Lie = minimum(func(m *escrow.Minimum) { m.Amount.Add(m.Amount, big.NewInt(by)) })
				q, r := w.quote(s, w.Document(w.CrossChain()))
				refusedForTerms(t, q != nil, r, "all that is paid, except for the fees")
			})
		})
	}
}

// TestQ15_WithoutFeesThePromiseIsWhatAQuoteCosts: a quote of v1 names no fees, so what is paid and not promised is its
// cost, which has bounds.
func TestQ15_WithoutFeesThePromiseIsWhatAQuoteCosts(t *testing.T) {
	for promised, bps := range map[int64]int{225_980_000: 0, 225_500_000: 22, 226_500_000: 0, 220_000_000: 265} {
		w := variant{kind: api.AccountKernelV31, v1: true}.world(t)
		s := w.signed()
		w.Lie = minimum(func(m *escrow.Minimum) { m.Amount.SetInt64(promised) })
		q, r := w.quote(s, w.Document(w.CrossChain()))
		if q == nil || q.View().CostBps != bps {
			t.Fatalf("%d is promised: %+v", promised, r.Reasons)
		}
	}
	for name, lie := range map[string]func(t *escrow.Terms){
		"an eighth is lost": minimum(func(m *escrow.Minimum) { m.Amount.SetInt64(198_000_000) }),
		"all is lost":       func(t *escrow.Terms) { t.Minimums = nil },
	} {
		w := variant{kind: api.AccountKernelV31, v1: true}.world(t)
		s := w.signed()
		w.Lie = lie
		q, r := w.quote(s, w.Document(w.CrossChain()))
		t.Run(name, func(t *testing.T) { refused(t, q != nil, r, "Q11") })
	}
}

// TestQ15_APromiseInAnotherAssetIsWorthThePayment: what the wallet compares is what is promised, whatever is required.
func TestQ15_APromiseInAnotherAssetIsWorthThePayment(t *testing.T) {
	for promised, code := range map[int64]string{250_500_000: "", 240_000_000: "", 220_000_000: "Q11", 1: "Q11"} {
		w := newWorld(t)
		w.Draft.FundWith, w.CallType = "ob:eth", api.CallCrossChainSwaps
		s := w.signed()
		w.Lie = minimum(func(m *escrow.Minimum) { m.Amount.SetInt64(promised) })
		q, r := w.quote(s, w.Document(w.nativeQuote()))
		if code != "" {
			refused(t, q != nil, r, code)
		} else if q == nil {
			t.Fatalf("%d: %+v", promised, r.Reasons)
		}
	}
}

// TestQ15_NothingOfATokenIsRequiredNothingOfItIsPromised: a token of which nothing is required may not stand for
// another one in the sum.
func TestQ15_NothingOfATokenIsRequiredNothingOfItIsPromised(t *testing.T) {
	w := newWorld(t)
	w.Draft.TokensRequired = append(w.Draft.TokensRequired, api.TokenRequirement{AssetType: baseETH, Amount: "0"})
	s := w.signed()
	w.Lie = func(t *escrow.Terms) { // in 18 decimals the same sum as that of USDC
		t.Minimums = []escrow.Minimum{{To: escrow.Padded(w.Account),
			Amount: new(big.Int).Mul(big.NewInt(225_500_000), big.NewInt(1e12))}}
	}
	q, r := w.quote(s, w.Document(w.CrossChain()))
	refusedForTerms(t, q != nil, r, "no more of a token is promised than you require")
}

// TestQ15_ADepositWithoutTermsIsRefused: no gate opens the escrow of a network of version 1, whose operator decides
// alone.
func TestQ15_ADepositWithoutTermsIsRefused(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		s := w.signed()
		w.Policy.Limits.Gates = []string{verify.GateTarget}
		for _, at := range []common.Address{w.Network.Pins.Escrow, common.HexToAddress(stranger)} {
			q := w.CrossChain()
			calls := w.DepositCalls(assetOf(arbUSDC), big.NewInt(paid))
			calls[0] = approveTo(at.Hex(), paid)
			calls[1].To, calls[1].Data = at, golden.EarlierDeposit(escrow.Deposit{
				QuoteID: [32]byte(common.FromHex(quoteID)), Token: golden.TokenOf(arbUSDC), Amount: big.NewInt(paid),
				RefundDeadline: uint64(clock().Unix()) + 3600})
			w.rebuild(&q, 0, calls)
			v, r := w.quote(s, w.Document(q))
			refusedForTerms(t, v != nil, r, "lets its operator take what is paid into it")
			if r.Has("Q4", verify.Gate) {
				t.Errorf("a gate stands open: %+v", r.Reasons)
			}
		}
	})
}

func TestQ15_TheReviewSaysWhatIsPromisedAndWhoDecides(t *testing.T) {
	for name, c := range map[string]struct {
		deployments []network.Deployment
		k, n        int
	}{
		"not known": {nil, 0, 0},
		"of another one": {[]network.Deployment{{Escrow: common.Address{1}, Attesters: []common.Address{{1}},
			Threshold: 1}}, 0, 0},
		"two of three": {[]network.Deployment{{Attesters: make([]common.Address, 3), Threshold: 2}}, 2, 3},
		"the one it uses": {[]network.Deployment{{Escrow: common.Address{1}},
			{Attesters: make([]common.Address, 1), Threshold: 1}}, 1, 1},
	} {
		w := newWorld(t)
		for _, d := range c.deployments {
			if d.Escrow == (common.Address{}) {
				d.Escrow = w.Network.Pins.Escrow
			}
			w.Policy.Network.Deployments = append(w.Policy.Network.Deployments, d)
		}
		q, r := w.quote(w.signed(), w.Document(w.CrossChain()))
		if q == nil {
			t.Fatalf("%s: %+v", name, r.Reasons)
		}
		if v := q.View().Promise; v.Threshold != c.k || v.Attesters != c.n || len(v.Minimums) != 1 ||
			v.Minimums[0].Amount.Int64() != 225_500_000 || v.Minimums[0].ChainName != "Base" {
			t.Errorf("%s: %+v", name, v)
		}
	}
	w := newWorld(t)
	if q, r := w.exchange(trades()["transfer"](w)); q == nil || len(q.View().Promise.Minimums) != 1 ||
		q.View().Promise.Minimums[0].Amount.Int64() != 99_000_000 {
		t.Errorf("%+v", r.Reasons)
	}
}
