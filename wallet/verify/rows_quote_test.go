package verify_test

import (
	"fmt"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/op"
	"coffer/api/op/erc20"
	"coffer/api/op/escrow"
	"coffer/wallet/internal/golden"
	"coffer/wallet/verify"
)

// quoteRefused changes a golden cross-chain quote on the service's side, for every account type and interface, and
// demands a refusal.
func quoteRefused(t *testing.T, code string, change func(w *world, q *api.Quote)) {
	t.Helper()
	each(t, func(t *testing.T, w *world) { quoteRefusedOf(t, w, code, change) })
}

// v3QuoteRefused does so for what only quotes of v3 have: fees, tolerances, several accounts.
func v3QuoteRefused(t *testing.T, code string, change func(w *world, q *api.Quote)) {
	t.Helper()
	eachV3(t, func(t *testing.T, w *world) { quoteRefusedOf(t, w, code, change) })
}

func quoteRefusedOf(t *testing.T, w *world, code string, change func(w *world, q *api.Quote)) {
	t.Helper()
	w.Freeze()
	s := w.signed()
	q := w.CrossChain()
	change(w, &q)
	v, report := w.quote(s, w.Document(q))
	refused(t, v != nil, report, code)
}

// rebuild replaces the calls of a funding operation, typed data included.
func (w *world) rebuild(q *api.Quote, i int, calls []op.Call) {
	o := q.OriginChainsOperations[i]
	a, _ := caip.ParseAsset(o.AssetType)
	chainID, _ := a.Chain.EVMID()
	q.OriginChainsOperations[i] = w.Operation(chainID, op.LaneFunding, 0, i == 1, calls, o.AssetType, o.Amount)
}

func assetOf(s string) caip.Asset {
	a, err := caip.ParseAsset(s)
	if err != nil {
		panic(err)
	}
	return a
}

func TestQ1_TheIDIsNewAndCarriedByEveryDeposit(t *testing.T) {
	// deposits carry another id
	quoteRefused(t, "Q1", func(_ *world, q *api.Quote) { q.ID = "0x" + strings.Repeat("11", 32) })
	quoteRefused(t, "Q1", func(_ *world, q *api.Quote) { q.ID = "0x12" })
	w := newWorld(t)
	q, r := verify.Quote(w.Intent(), w.Policy, memory{seen: quoteID}, clock(), w.signed(), w.Document(w.CrossChain()))
	refused(t, q != nil, r, "Q1")
}

func TestQ2_AccountsAreExactlyThoseThatWereSent(t *testing.T) {
	quoteRefused(t, "Q2", func(_ *world, q *api.Quote) { q.Accounts[0].SignerAddress = stranger })
	quoteRefused(t, "Q2", func(_ *world, q *api.Quote) { q.Accounts[0].AccountAddress = stranger })
	quoteRefused(t, "Q2", func(_ *world, q *api.Quote) { q.Accounts[0].AdminAddress = stranger })
	v3QuoteRefused(t, "Q2", func(_ *world, q *api.Quote) { q.Accounts = append(q.Accounts, q.Accounts[0]) })
	v3QuoteRefused(t, "Q2", func(_ *world, q *api.Quote) { q.Accounts = nil })
}

func TestQ3_TheNumberOfOperationsIsBoundedAndNoneRepeats(t *testing.T) {
	quoteRefused(t, "Q3", func(_ *world, q *api.Quote) { q.OriginChainsOperations = nil })
	quoteRefused(t, "Q3", func(_ *world, q *api.Quote) {
		for len(q.OriginChainsOperations) < 11 {
			q.OriginChainsOperations = append(q.OriginChainsOperations, q.OriginChainsOperations[0])
		}
	})
	quoteRefused(t, "Q3", func(w *world, q *api.Quote) {
		q.OriginChainsOperations = append(q.OriginChainsOperations, q.OriginChainsOperations[0])
		q.OriginToken.Amount = "351960000"
	})
}

func TestQ3_TooManyOperationsAreNotEvenLookedAt(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		s := w.signed()
		q := w.CrossChain()
		for len(q.OriginChainsOperations) < 11 {
			q.OriginChainsOperations = append(q.OriginChainsOperations, q.OriginChainsOperations[0])
		}
		v, r := w.quote(s, w.Document(q))
		refused(t, v != nil, r, "Q3")
		if r.Count(verify.Refuse) != 1 {
			t.Fatalf("%+v", r.Reasons)
		}
	})
}

func TestQ3_AValidOperationOfAnotherAssetIsRefused(t *testing.T) {
	quoteRefused(t, "Q6", func(w *world, q *api.Quote) {
		q.OriginChainsOperations = append(q.OriginChainsOperations,
			w.Deposit(golden.Payment{Asset: arbETH, Amount: 1_000_000_000_000_000, Sequence: 5, Deploy: false}))
	})
}

func TestQ5_EveryPaymentIsExactlyItsAmount(t *testing.T) {
	at := assetOf(arbUSDC)
	for name, calls := range map[string]func(w *world) []op.Call{
		"approve more": func(w *world) []op.Call {
			c := w.DepositCalls(at, big.NewInt(125_980_000))
			c[0].Data = erc20.Approve(w.Network.Pins.Escrow, big.NewInt(125_980_001))
			return c
		},
		"deposit more": func(w *world) []op.Call { return w.DepositCalls(at, big.NewInt(125_980_001)) },
		"fee leg": func(w *world) []op.Call {
			fee := op.Call{To: golden.TokenOf(arbUSDC), Value: new(big.Int),
				Data: erc20.Transfer(common.HexToAddress(stranger), big.NewInt(1))}
			return append([]op.Call{fee}, w.DepositCalls(at, big.NewInt(125_980_000))...)
		},
		"native beside": func(w *world) []op.Call {
			c := w.DepositCalls(at, big.NewInt(125_980_000))
			c[1].Value = big.NewInt(1)
			return c
		},
		"no approve": func(w *world) []op.Call { return w.DepositCalls(at, big.NewInt(125_980_000))[1:] },
		"for another token": func(w *world) []op.Call {
			c := w.DepositCalls(at, big.NewInt(125_980_000))
			c[1].Data = w.DepositData(escrow.Deposit{QuoteID: [32]byte(common.FromHex(quoteID)),
				Token: golden.TokenOf(opUSDC), Amount: big.NewInt(125_980_000),
				RefundDeadline: uint64(clock().Unix()) + 3600})
			return c
		},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, w *world) {
				s := w.signed()
				q := w.CrossChain()
				w.rebuild(&q, 0, calls(w))
				v, r := w.quote(s, w.Document(q))
				if v != nil || (!r.Has("Q5", verify.Refuse) && !r.Has("U8", verify.Refuse)) {
					t.Fatalf("report %+v", r.Reasons)
				}
			})
		})
	}
	for _, amount := range []string{"0", "1e9", "-1", "0x10", "1.5", " 1"} {
		quoteRefused(t, "Q5", func(_ *world, q *api.Quote) { q.OriginChainsOperations[0].Amount = amount })
	}
}

func TestQ5_RefundDeadlinesAreAfterTheExpiryAndSoon(t *testing.T) {
	for name, deadline := range map[string]uint64{"before the expiry": 30, "far away": 30 + 86_401,
		"never": 1<<63 - uint64(clock().Unix())} {
		t.Run(name, func(t *testing.T) {
			quoteRefused(t, "Q5", func(w *world, q *api.Quote) {
				calls := w.DepositCalls(assetOf(arbUSDC), big.NewInt(125_980_000))
				calls[1].Data = w.DepositData(escrow.Deposit{QuoteID: [32]byte(common.FromHex(quoteID)),
					Token: golden.TokenOf(arbUSDC), Amount: big.NewInt(125_980_000),
					RefundDeadline: uint64(clock().Unix()) + deadline})
				w.rebuild(q, 0, calls)
			})
		})
	}
}

func TestQ5_TheSumOfTheOperationsIsTheAnnouncedPayment(t *testing.T) {
	quoteRefused(t, "Q5", func(_ *world, q *api.Quote) { q.OriginToken.Amount = "225980001" })
	// One unit moved between the legs, announcement unchanged: the sum still fits, each leg is its own amount, so this
	// is another valid split.
	each(t, func(t *testing.T, w *world) {
		s := w.signed()
		q := w.QuoteResponse("225980000", map[string]string{arbUSDC: "300000", opUSDC: "180000"},
			golden.Payment{Asset: arbUSDC, Amount: 125_980_001, Sequence: 4, Deploy: false},
			golden.Payment{Asset: opUSDC, Amount: 99_999_999, Sequence: 0, Deploy: true})
		if v, r := w.quote(s, w.Document(q)); v == nil {
			t.Fatalf("refused %+v", r.Reasons)
		}
	})
}

func TestQ5_NoMoreIsTakenThanRequiredPlusFees(t *testing.T) {
	// Everything is consistent: calls, amounts, sums. Only the intent tells that 300 USDC are not needed for 250.5.
	eachV3(t, func(t *testing.T, w *world) {
		s := w.signed()
		q := w.QuoteResponse("300000000", map[string]string{arbUSDC: "480000"},
			golden.Payment{Asset: arbUSDC, Amount: 300_000_000, Sequence: 4, Deploy: false})
		v, r := w.quote(s, w.Document(q))
		refused(t, v != nil, r, "Q15")
		w.Lie = func(t *escrow.Terms) { t.Minimums[0].Amount = big.NewInt(250_500_000) }
		w.rebuild(&q, 0, w.DepositCalls(assetOf(arbUSDC), big.NewInt(300_000_000)))
		v, r = w.quote(s, w.Document(q))
		refused(t, v != nil, r, "Q5")
	})
}

func TestQ6_ThePayingAssetIsTheChosenOne(t *testing.T) {
	quoteRefused(t, "Q6", func(_ *world, q *api.Quote) { q.OriginToken.AggregatedAssetID = "ob:usdt" })
	quoteRefused(t, "Q6", func(_ *world, q *api.Quote) { q.OriginToken.AssetType = q.OriginToken.AssetType[:1] })
	quoteRefused(t, "Q6", func(_ *world, q *api.Quote) { q.OriginToken.AssetType[1] = q.OriginToken.AssetType[0] })
	quoteRefused(t, "Q6", func(_ *world, q *api.Quote) {
		q.OriginChainsOperations[0].AssetType = "eip155:42161/erc20:0x000000000000000000000000000000000000dead"
	})
}

func TestQ6_AnExactAssetMeansThatAssetOnly(t *testing.T) {
	eachV3(t, func(t *testing.T, w *world) {
		w.Draft.FundWith = arbUSDC
		s := w.signed()
		q := w.QuoteResponse("225980000", map[string]string{arbUSDC: "480000"},
			golden.Payment{Asset: arbUSDC, Amount: 225_980_000, Sequence: 4, Deploy: false})
		q.OriginToken.AggregatedAssetID = "ob:single"
		if v, r := w.quote(s, w.Document(q)); v == nil {
			t.Fatalf("refused: %+v", r.Reasons)
		}
		q = w.QuoteResponse("225980000", map[string]string{opUSDC: "480000"},
			golden.Payment{Asset: opUSDC, Amount: 225_980_000, Sequence: 4, Deploy: false})
		q.OriginToken.AggregatedAssetID = "ob:single"
		v, r := w.quote(s, w.Document(q))
		refused(t, v != nil, r, "Q6")
	})
}

func TestQ7_TheDeliveredTokenIsTheRequiredOne(t *testing.T) {
	eighteen := 18
	for name, change := range map[string]func(w *world, q *api.Quote){
		"fake token": func(_ *world, q *api.Quote) {
			q.DestinationToken.AssetType = "eip155:8453/erc20:0x000000000000000000000000000000000000dead"
		},
		"other chain": func(_ *world, q *api.Quote) { q.DestinationToken.AssetType = arbUSDC },
		"decimals":    func(_ *world, q *api.Quote) { q.DestinationToken.Decimals = &eighteen },
		// the last letter is Cyrillic
		"symbol":    func(_ *world, q *api.Quote) { q.DestinationToken.Symbol = "USDС" },
		"aggregate": func(_ *world, q *api.Quote) { q.DestinationToken.AggregatedAssetID = "ob:usdt" },
	} {
		t.Run(name, func(t *testing.T) { quoteRefused(t, "Q7", change) })
	}
}

func TestQ7_NamesMayBeLeftOutAndTheIdMayBeThatOfASingleAsset(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		s := w.signed()
		q := w.CrossChain()
		q.DestinationToken.Decimals, q.DestinationToken.Symbol, q.DestinationToken.AggregatedAssetID = nil, "",
			"ob:single"
		if v, r := w.quote(s, w.Document(q)); v == nil || v.View().Delivered.Symbol != "USDC" ||
			v.View().Delivered.Decimals != 6 {
			t.Fatalf("%+v", r.Reasons)
		}
	})
}

func TestQ5Q6_WithoutAPaymentTheQuoteNamesWhatTheCallsTake(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		s := w.signed()
		q := w.SameChain()
		q.DestinationToken.AssetType = arbUSDC
		v, r := w.quote(s, w.Document(q))
		refused(t, v != nil, r, "Q7")
	})
	for name, c := range map[string]struct {
		code   string
		change func(o *api.OriginToken)
	}{
		"another aggregate": {"Q6", func(o *api.OriginToken) { o.AggregatedAssetID = "ob:usdt" }},
		"a single asset":    {"Q6", func(o *api.OriginToken) { o.AggregatedAssetID = "ob:single" }},
		"more":              {"Q5", func(o *api.OriginToken) { o.Amount = "250500001" }},
		"less":              {"Q5", func(o *api.OriginToken) { o.Amount = "250499999" }},
		"another asset":     {"Q6", func(o *api.OriginToken) { o.AssetType = []string{arbUSDC} }},
		"one more":          {"Q6", func(o *api.OriginToken) { o.AssetType = []string{baseUSDC, arbUSDC} }},
		"twice":             {"Q6", func(o *api.OriginToken) { o.AssetType = []string{baseUSDC, baseUSDC} }},
		"no asset":          {"Q6", func(o *api.OriginToken) { o.AssetType = []string{"USDC"} }},
		"nothing":           {"Q6", func(o *api.OriginToken) { o.AssetType = nil }},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, w *world) {
				w.CallType = api.CallSameChainExcludeSolver
				s := w.signed()
				q := w.SameChain()
				c.change(&q.OriginToken)
				v, r := w.quote(s, w.Document(q))
				refused(t, v != nil, r, c.code)
			})
		})
	}
}

func TestQ8_CallsReceiveExactlyWhatTheyRequire(t *testing.T) {
	for name, change := range map[string]func(w *world, q *api.Quote){
		"minimum less one": func(_ *world, q *api.Quote) { q.DestinationToken.MinimumAmount = "250499999" },
		"minimum absent":   func(_ *world, q *api.Quote) { q.DestinationToken.MinimumAmount = "" },
		"amount less": func(_ *world, q *api.Quote) {
			q.DestinationToken.Amount, q.DestinationToken.MinimumAmount =
				"1", "1"
		},
		"amount more": func(_ *world, q *api.Quote) { q.DestinationToken.Amount = "250500001" },
	} {
		t.Run(name, func(t *testing.T) { quoteRefused(t, "Q8", change) })
	}
}

func TestQ9_TheRecipientIsTheAccountItself(t *testing.T) {
	for name, recipient := range map[string]string{
		"stranger": "eip155:8453:" + stranger, "other chain": "eip155:1:" + newWorld(t).Account.Hex(),
		"slash form": "eip155:8453/" + newWorld(t).Account.Hex(), "absent": "",
	} {
		t.Run(name, func(t *testing.T) {
			quoteRefused(t, "Q9", func(_ *world, q *api.Quote) { q.DestinationToken.RecipientAccount = recipient })
		})
	}
	quoteRefused(t, "L5", func(w *world, q *api.Quote) {
		q.DestinationToken.RecipientAccount = "eip155:8453:0x" + strings.ToUpper(w.Account.Hex()[2:])
	})
}

func TestQ10_TheExpiryIsSoonButNotPast(t *testing.T) {
	now := clock().Unix()
	for name, at := range map[string]string{
		"zero": "0", "past": fmt.Sprint(now - 1), "now": fmt.Sprint(now), "one second": fmt.Sprint(now + 1),
		"a year": fmt.Sprint(now + 31_536_000),
		"2^63":   "9223372036854775808", "int64": "9223372036854775807", "sign": "-5",
		"around the clock": fmt.Sprint(now + 18_446_744_076), "plus": "+" + fmt.Sprint(now+30),
		"a zero in front": "0" + fmt.Sprint(now+30), "eleven minutes": fmt.Sprint(now + 660), "words": "soon",
	} {
		t.Run(name, func(t *testing.T) {
			quoteRefused(t, "Q10", func(_ *world, q *api.Quote) { q.ExpirationTimestamp = at })
		})
	}
	w := newWorld(t)
	q := w.CrossChain()
	q.ExpirationTimestamp = fmt.Sprint(now + 10)
	v, r := w.quote(w.signed(), w.Document(q))
	if v == nil || !r.Has("Q10", verify.Warn) {
		t.Fatalf("ten seconds are few: %+v", r.Reasons)
	}
}

func TestQ11_SlippageStaysWithinTheIntent(t *testing.T) {
	v3QuoteRefused(t, "Q11", func(_ *world, q *api.Quote) { q.Slippage.Origin.Percent = "0.51" })
	v3QuoteRefused(t, "Q11", func(_ *world, q *api.Quote) { q.Slippage.Origin.Percent = "NaN" })
	v3QuoteRefused(t, "Q11", func(_ *world, q *api.Quote) { q.Slippage.Origin.Percent = "1/300" })
	v3QuoteRefused(t, "Q11", func(_ *world, q *api.Quote) { q.Slippage.Destination.Percent = "0.01" })
	w := newWorld(t)
	w.Draft.SlippageBps = w.Policy.MaxSlippageBps + 1
	p, r := w.prepared(w.Document(w.PrepareResponse()))
	refused(t, p != nil, r, "Q11")
}

func TestQ11_FeesAreAmountsOfWhatPaysAndInProportion(t *testing.T) {
	v3QuoteRefused(t, "Q11", func(_ *world, q *api.Quote) { q.Fees.Assets[baseUSDC] = "1" })
	v3QuoteRefused(t, "Q11", func(_ *world, q *api.Quote) { q.Fees.Assets[arbUSDC] = "-1" })
	v3QuoteRefused(t, "Q11", func(_ *world, q *api.Quote) { q.Fees.Assets[arbUSDC] = "225980000" })
	for name, c := range map[string]struct {
		paid, fee int64
		level     verify.Level
	}{
		"in proportion":         {226_000_000, 480_000, ""},
		"four per cent":         {226_000_000, 9_040_000, verify.Warn},
		"eleven per cent":       {226_000_000, 24_860_000, verify.Refuse},
		"large share of little": {2_000_000, 900_000, verify.Warn},
		"all of little":         {900_000, 900_000, verify.Refuse},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			q := w.QuoteResponse(fmt.Sprint(c.paid), map[string]string{arbUSDC: fmt.Sprint(c.fee)},
				golden.Payment{Asset: arbUSDC, Amount: c.paid, Sequence: 4, Deploy: false})
			v, r := w.quote(w.signed(), w.Document(q))
			if (v == nil) != (c.level == verify.Refuse) || (c.level != "" && !r.Has("Q11", c.level)) {
				t.Fatalf("report %+v", r.Reasons)
			}
		})
	}
}

func TestQ11_APaymentInAnotherAssetMustBeWorthWhatItDelivers(t *testing.T) {
	for name, c := range map[string]struct {
		wei     int64
		refused bool
		warned  bool
	}{
		"fair":             {83_200_000_000_000_000, false, false},
		"seven per cent":   {89_500_000_000_000_000, false, true},
		"a quarter more":   {110_000_000_000_000_000, true, true},
		"a hundred times ": {8_320_000_000_000_000_000, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.Draft.FundWith, w.CallType = "ob:eth", api.CallCrossChainSwaps
			q := w.QuoteResponse(fmt.Sprint(c.wei), map[string]string{arbETH: "60000000000000"},
				golden.Payment{Asset: arbETH, Amount: c.wei, Sequence: 2, Deploy: false})
			v, r := w.quote(w.signed(), w.Document(q))
			if (v == nil) != c.refused || (c.warned && r.Count(verify.Warn) == 0) {
				t.Fatalf("report %+v", r.Reasons)
			}
			if v != nil && (v.View().PayMicro == nil || v.View().CallType != api.CallCrossChainSwaps) {
				t.Fatalf("view %+v", v.View())
			}
		})
	}
}

func TestQ12_OnlyAPlainFigureIsShownAsTheServicesFee(t *testing.T) {
	eachV3(t, func(t *testing.T, w *world) {
		s := w.signed()
		for text, shown := range map[string]string{"0.48": "0.48", "1e3": "", "free of charge": "", "-1": ""} {
			q := w.CrossChain()
			q.Fees.CumulativeUSD = text
			if v, r := w.quote(s, w.Document(q)); v == nil || v.View().FeeUSD != shown {
				t.Fatalf("%q: %+v", text, r.Reasons)
			}
		}
	})
}

func TestNeedsCompareWithWhatTheServiceSaidIsThere(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.Draft.TokensRequired = append(w.Draft.TokensRequired, api.TokenRequirement{AssetType: baseETH, Amount: "0"})
		answer := w.PrepareResponse()
		answer.SourceAssetBalances[0].Balance = "300000000" // more than is required
		p, r := w.prepared(w.Document(answer))
		if p == nil {
			t.Fatalf("%+v", r.Reasons)
		}
		q, r := w.quote(signedBy(t, p, w.Key), w.Document(w.CrossChain()))
		if q == nil {
			t.Fatalf("%+v", r.Reasons)
		}
		if n := q.View().Needs; n[0].Have.Int64() != 300_000_000 || n[0].Short.Sign() != 0 || n[1].Have != nil ||
			n[1].Short != nil {
			t.Fatalf("%+v", n)
		}
	})
}

func TestQ12_FiatTextDecidesNothing(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		s := w.signed()
		a, ra := w.quote(s, w.Document(w.CrossChain()))
		q := w.CrossChain()
		q.DestinationToken.FiatValue, q.DestinationToken.MinimumFiatValue = "0.01", "999999"
		q.Fees.CumulativeUSD, q.OriginToken.FiatValue[0].FiatValue = "0.00", ""
		b, rb := w.quote(s, w.Document(q))
		if a == nil || b == nil || len(ra.Reasons) != len(rb.Reasons) || a.View().CostBps != b.View().CostBps ||
			a.View().PayMicro.Cmp(b.View().PayMicro) != 0 {
			t.Fatalf("fiat text changed the judgement: %+v %+v", ra.Reasons, rb.Reasons)
		}
	})
}

func TestQ13_NoSecondPreparedOperation(t *testing.T) {
	w := newWorld(t)
	s := w.signed()
	v, r := w.quote(s, replace(t, w.Document(w.CrossChain()), "/destinationChainOperation",
		map[string]any{"userOp": map[string]any{}}))
	refused(t, v != nil, r, "Q13")
}

func TestQ14_ASameChainQuoteIsTheSignedOperationByteForByte(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.CallType = api.CallSameChainExcludeSolver
		s := w.signed()
		base := w.Document(w.SameChain())
		for pointer, value := range map[string]any{
			"/originChainsOperations/0/userOp/callGasLimit": "400001",
			"/originChainsOperations/0/userOp/paymasterData": golden.HexOf(op.EncodePaymasterData(
				op.PaymasterWindow{ValidUntil: uint64(clock().Unix()) + 601}, make([]byte, 65))),
			"/originChainsOperations/0/amount": "250500001",
		} {
			v, r := w.quote(s, replace(t, base, pointer, value))
			refused(t, v != nil, r, "Q14")
		}
		if w.Draft.Interface != "" {
			return // names no fees
		}
		q := w.SameChain()
		q.Fees.CumulativeUSD = "0.01"
		v, r := w.quote(s, w.Document(q))
		refused(t, v != nil, r, "Q11")
	})
}

func TestQ14_AQuoteForAnotherIntentIsRefused(t *testing.T) {
	w := newWorld(t)
	s := w.signed()
	other := newWorld(t)
	other.Draft.SlippageBps = 51
	v, r := other.quote(s, other.Document(other.CrossChain()))
	refused(t, v != nil, r, "Q14")
}

func TestU2_FundingUsesItsOwnLaneAndThePreparedOneNeverRunsTwice(t *testing.T) {
	// an operation in the prepared lane among the funding operations
	quoteRefused(t, "U2", func(w *world, q *api.Quote) {
		o := w.Operation(42161, op.LanePrepared, 4, false, w.DepositCalls(assetOf(arbUSDC), big.NewInt(125_980_000)),
			arbUSDC, "125980000")
		q.OriginChainsOperations[0] = o
	})
}

func TestU4_FundingDeploysOnlyOnOtherChains(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		s := w.signed()
		q := w.QuoteResponse("225980000", nil, golden.Payment{Asset: baseUSDC, Amount: 225_980_000, Sequence: 0,
			Deploy: true})
		v, r := w.quote(s, w.Document(q))
		if w.Kind == api.AccountKernelV33 { // whose first payment asks for a delegation instead
			if v == nil || v.View().Legs[0].Delegation == nil {
				t.Fatalf("%+v", r.Reasons)
			}
			return
		}
		refused(t, v != nil, r, "U4")
	})
}

func TestU1_FundingBelongsToTheAccount(t *testing.T) {
	quoteRefused(t, "U1", func(w *world, q *api.Quote) {
		w.Account = common.HexToAddress(stranger)
		q.OriginChainsOperations[0] = w.Deposit(golden.Payment{Asset: arbUSDC, Amount: 125_980_000, Sequence: 4,
			Deploy: false})
	})
}

func TestT2_FundingIsForItsOwnChain(t *testing.T) {
	quoteRefused(t, "T2", func(w *world, q *api.Quote) { // the typed data of another chain
		other := w.Operation(10, op.LaneFunding, 4, false, w.DepositCalls(assetOf(arbUSDC), big.NewInt(125_980_000)),
			arbUSDC, "125980000")
		q.OriginChainsOperations[0] = other
	})
}

func TestP4_AChangedWayOfPayingIsPointedOut(t *testing.T) {
	w := newWorld(t)
	w.CallType = api.CallSameChainExcludeSolver
	v, r := w.quote(w.signed(), w.Document(w.CrossChain()))
	if v == nil || !r.Has("P4", verify.Warn) || v.SameChainOnly() {
		t.Fatalf("report %+v", r.Reasons)
	}
	w = newWorld(t)
	v, r = w.quote(w.signed(), w.Document(w.SameChain()))
	if v == nil || !r.Has("P4", verify.Warn) || !v.SameChainOnly() {
		t.Fatalf("report %+v", r.Reasons)
	}
}

func TestQuoteWithoutRequirementsNamesTheCoinWithNothing(t *testing.T) {
	w := newWorld(t)
	w.CallType, w.Draft.TokensRequired, w.Draft.FundWith = api.CallSameChainExcludeSolver, nil, ""
	q := w.SameChain()
	eighteen := 18
	q.OriginToken = api.OriginToken{AggregatedAssetID: "ob:eth", Amount: "0", AssetType: []string{baseETH}}
	q.DestinationToken = api.DestinationToken{
		AggregatedAssetID: "ob:eth", AssetType: baseETH, Amount: "0", MinimumAmount: "0", Decimals: &eighteen,
		Symbol:           "ETH",
		RecipientAccount: "eip155:8453:" + strings.ToLower(w.Account.Hex()),
	}
	s := w.signed()
	if v, r := w.quote(s, w.Document(q)); v == nil {
		t.Fatalf("refused: %+v", r.Reasons)
	}
	if body, err := s.CallQuoteBody(); err != nil || strings.Contains(string(body), `"from`) {
		t.Fatalf("a funding asset that nobody chose: %s, %v", body, err)
	}
	// With nothing required nothing may be taken.
	w2 := newWorld(t)
	w2.CallType, w2.Draft.TokensRequired, w2.Draft.FundWith = api.CallSameChainExcludeSolver, nil, ""
	bad := w2.QuoteResponse("1000000", nil, golden.Payment{Asset: arbUSDC, Amount: 1_000_000, Sequence: 4,
		Deploy: false})
	bad.OriginToken.AggregatedAssetID = "ob:usdc"
	v, r := w2.quote(w2.signed(), w2.Document(bad))
	refused(t, v != nil, r, "Q6")
}

// Of a token that the catalogue does not have nothing can be required: neither is it delivered, nor does it pay.
func TestQ7_AnUnlistedTokenIsNeverDelivered(t *testing.T) {
	unlisted := api.TokenRequirement{AssetType: "eip155:8453/erc20:0x000000000000000000000000000000000000dead",
		Amount: "0"}
	each(t, func(t *testing.T, w *world) {
		w.Draft.TokensRequired = append([]api.TokenRequirement{unlisted}, w.Draft.TokensRequired...)
		w.Draft.FundWith = ""
		s := w.signed()
		w.Draft.FundWith = "ob:usdc" // what the quote names
		q := w.CrossChain()
		w.Draft.FundWith = ""
		v, r := w.quote(s, w.Document(q))
		if v == nil {
			t.Fatalf("refused: %+v", r.Reasons)
		}
		if n := v.View().Needs; len(n) != 1 || n[0].Need.Symbol != "USDC" {
			t.Errorf("needs %+v", n)
		}
		q.DestinationToken.AssetType, q.DestinationToken.Amount, q.DestinationToken.MinimumAmount = unlisted.AssetType,
			"0", "0"
		v, r = w.quote(s, w.Document(q))
		refused(t, v != nil, r, "Q7")
	})
	// alone it is as if nothing were required
	w := newWorld(t)
	w.CallType, w.Draft.FundWith = api.CallSameChainExcludeSolver, ""
	w.Draft.TokensRequired = []api.TokenRequirement{unlisted}
	s, q := w.signed(), w.SameChain()
	q.OriginToken = api.OriginToken{AggregatedAssetID: "ob:eth", Amount: "0", AssetType: []string{baseETH}}
	q.DestinationToken = api.DestinationToken{AggregatedAssetID: "ob:eth", AssetType: baseETH, Amount: "0",
		MinimumAmount: "0", Symbol: "ETH", RecipientAccount: "eip155:8453:" + strings.ToLower(w.Account.Hex())}
	if v, r := w.quote(s, w.Document(q)); v == nil {
		t.Fatalf("refused: %+v", r.Reasons)
	}
}

func TestFundingOnTheTargetChainMayWaitForTheAskedStart(t *testing.T) {
	w := newWorld(t)
	start := clock().Add(2 * time.Minute).Unix()
	w.Draft.ValidAfter = fmt.Sprint(start)
	window := golden.HexOf(op.EncodePaymasterData(op.PaymasterWindow{ValidAfter: uint64(start),
		ValidUntil: uint64(clock().Unix()) + 600}, make([]byte, 65)))
	answer := w.PrepareResponse()
	answer.ChainOperation.UserOp.PaymasterData = window
	p, report := w.prepared(w.Document(answer))
	if p == nil {
		t.Fatalf("refused: %+v", report.Reasons)
	}
	w.Signed = answer.ChainOperation.UserOp
	s := signedBy(t, p, w.Key)
	usdt := "eip155:8453/erc20:0x833589fcd6edb6e08f4c7c32d4f71b54bda02913"
	q := w.QuoteResponse("225980000", map[string]string{usdt: "480000"},
		golden.Payment{Asset: usdt, Amount: 225_980_000, Sequence: 0, Deploy: false})
	q.OriginChainsOperations[0].UserOp.PaymasterData = window
	if v, r := w.quote(s, w.Document(q)); v == nil {
		t.Fatalf("refused: %+v", r.Reasons)
	}
	q = w.QuoteResponse("225980000", map[string]string{arbUSDC: "480000"},
		golden.Payment{Asset: arbUSDC, Amount: 225_980_000, Sequence: 0, Deploy: false})
	q.OriginChainsOperations[0].UserOp.PaymasterData = window
	v, r := w.quote(s, w.Document(q))
	refused(t, v != nil, r, "U12")
}
