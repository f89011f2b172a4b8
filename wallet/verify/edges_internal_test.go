package verify

import (
	"math/big"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/caip"
	"coffer/wallet/intent"
	"coffer/wallet/internal/golden"
)

// told reports a reason of a level about the thing that a check names.
func told(j *judge, l Level, about string) bool {
	for _, x := range j.report.Reasons {
		if x.Level == l && strings.Contains(x.Title, about) {
			return true
		}
	}
	return false
}

func TestP3_TheIntegrityMarkIsAtMostAKilobyte(t *testing.T) {
	for s, ok := range map[string]bool{
		"": false, "0x": false, "0x0": false, "0x00": true, "0x0g": false, "1x00": false,
		"0x" + strings.Repeat("ab", 1024): true, "0x" + strings.Repeat("ab", 1025): false,
	} {
		j := &judge{}
		if j.tamperProof(s); j.refused() == ok {
			t.Errorf("%d characters: %+v", len(s), j.report)
		}
	}
}

func TestP4_PaymentsAreAnnouncedOnlyForWhatIsMissing(t *testing.T) {
	need := func(asset, amount string) api.TokenRequirement {
		return api.TokenRequirement{AssetType: asset, Amount: amount}
	}
	have := func(asset string, amount int64) AmountView {
		a, err := caip.ParseAsset(asset)
		if err != nil {
			t.Fatal(err)
		}
		return AmountView{Asset: a, Amount: big.NewInt(amount)}
	}
	for name, c := range map[string]struct {
		needs   []api.TokenRequirement
		sources []AmountView
		want    Level // "" when nothing is wrong
	}{
		"nothing is required": {nil, []AmountView{have(golden.BaseUSDC, 5)}, Refuse},
		"nothing of anything is required": {[]api.TokenRequirement{need(golden.BaseUSDC, "0")}, nil,
			Refuse},
		"nothing of one and something of another": {[]api.TokenRequirement{need(golden.BaseETH, "0"),
			need(golden.BaseUSDC, "5")}, nil, ""},
		"what is there is less": {[]api.TokenRequirement{need(golden.BaseUSDC, "5")},
			[]AmountView{have(golden.BaseUSDC, 4)}, ""},
		"what is there is just enough": {[]api.TokenRequirement{need(golden.BaseUSDC, "5")},
			[]AmountView{have(golden.BaseUSDC, 5)}, Warn},
		"another asset is there": {[]api.TokenRequirement{need(golden.BaseUSDC, "5")},
			[]AmountView{have(golden.ArbUSDC, 9)}, ""},
		"the first is missing and the second is there": {[]api.TokenRequirement{need(golden.BaseETH, "5"),
			need(golden.BaseUSDC, "5")}, []AmountView{have(golden.BaseUSDC, 5)}, ""},
		"the first is there and the second is missing": {[]api.TokenRequirement{need(golden.BaseUSDC, "5"),
			need(golden.BaseETH, "5")}, []AmountView{have(golden.BaseUSDC, 5)}, ""},
	} {
		j := &judge{}
		j.callTypeFits(intent.Draft{TokensRequired: c.needs}, api.CallCrossChain, c.sources)
		if (c.want == "" && len(j.report.Reasons) > 0) || (c.want != "" && !j.report.Has("P4", c.want)) {
			t.Errorf("%s: %+v", name, j.report.Reasons)
		}
		j = &judge{}
		if j.callTypeFits(intent.Draft{TokensRequired: c.needs}, api.CallSameChainExcludeSolver,
			c.sources); len(j.report.Reasons) > 0 {
			t.Errorf("%s: no payments are announced, but: %+v", name, j.report.Reasons)
		}
	}
}

func TestP6_AThousandBalancesAreListedAndEachIsLookedAt(t *testing.T) {
	w := golden.New(t)
	p := DefaultPolicy(w.Network, w.Catalog)
	for n, plausible := range map[int]bool{1000: true, 1001: false} {
		j := &judge{Policy: p}
		j.sources(make([]api.SourceAssetBalance, n))
		if told(j, Refuse, "plausible length") == plausible {
			t.Errorf("%d: %+v", n, j.report.Reasons[0])
		}
	}
	j := &judge{Policy: p}
	j.sources([]api.SourceAssetBalance{
		{AssetType: "a", Balance: "1"}, {AssetType: "b", Balance: "1"}, {AssetType: golden.BaseUSDC, Balance: "x"},
		{AssetType: golden.ArbUSDC, Balance: "y"},
	})
	var paths []string
	for _, x := range j.report.Reasons {
		paths = append(paths, x.Path)
	}
	want := "/sourceAssetBalances/0/assetType /sourceAssetBalances/1/assetType /sourceAssetBalances/2/balance " +
		"/sourceAssetBalances/3/balance"
	if got := strings.Join(paths, " "); got != want {
		t.Errorf("%s\nnot\n%s", got, want)
	}
}

func TestQ10_TheLifeOfAQuoteHasExactEnds(t *testing.T) {
	w := golden.New(t)
	p := DefaultPolicy(w.Network, w.Catalog)
	now := time.Unix(1_760_000_000, 0)
	for left, want := range map[int64]Level{
		1: Refuse, 2: Warn, 14: Warn, 15: "", 600: "", 630: "", 631: Refuse, 1 << 32: Refuse, 1<<33 + 60: Refuse,
		18_446_744_076: Refuse, 0: Refuse, -1: Refuse, -1_759_999_999: Refuse,
	} {
		j := &judge{Policy: p, now: now}
		at := j.expiry(strconv.FormatInt(now.Unix()+left, 10))
		if (want == "" && len(j.report.Reasons) > 0) || (want != "" && !j.report.Has("Q10", want)) ||
			(at == 0) != (want == Refuse) {
			t.Errorf("%d s: %d, %+v", left, at, j.report.Reasons)
		}
	}
}

func TestQ10_TheQuoteMayEndWithItsOperationAndNotAfterIt(t *testing.T) {
	w := golden.New(t)
	p := DefaultPolicy(w.Network, w.Catalog)
	for late, refused := range map[int64]bool{-1: false, 0: false, 1: true} {
		in := w.Intent()
		prepared := &SignedPrepared{prepared: &PreparedOp{intent: in.Hash(), end: w.Now.Unix() + 30 - late}}
		j := &judge{Policy: p, in: in, h: NoHistory{}, now: w.Now}
		j.quote(prepared, w.Document(w.CrossChain()))
		if told(j, Refuse, "ends before the operation") != refused {
			t.Errorf("%d s late: %+v", late, j.report.Reasons)
		}
	}
}

func TestQ3_TenOperationsAreLookedAt(t *testing.T) {
	w := golden.New(t)
	p := DefaultPolicy(w.Network, w.Catalog)
	for n, many := range map[int]bool{10: false, 11: true} {
		in, q := w.Intent(), w.CrossChain()
		for len(q.OriginChainsOperations) < n {
			q.OriginChainsOperations = append(q.OriginChainsOperations, q.OriginChainsOperations[0])
		}
		j := &judge{Policy: p, in: in, h: NoHistory{}, now: w.Now}
		j.quote(&SignedPrepared{
			prepared: &PreparedOp{intent: in.Hash(), end: w.Now.Unix() + 30}}, w.Document(q))
		if told(j, Refuse, "one to ten operations") != many {
			t.Errorf("%d: %+v", n, j.report.Reasons)
		}
	}
}

func TestEveryPaymentIsLookedAtAlsoAfterOneThatIsRefused(t *testing.T) {
	w := golden.New(t)
	p := DefaultPolicy(w.Network, w.Catalog)
	in, q := w.Intent(), w.CrossChain()
	for i := range q.OriginChainsOperations {
		q.OriginChainsOperations[i].UserOp.CallData = "0x00"
	}
	j := &judge{Policy: p, in: in, h: NoHistory{}, now: w.Now}
	j.quote(&SignedPrepared{prepared: &PreparedOp{intent: in.Hash(),
		end: w.Now.Unix() + 30}}, w.Document(q))
	for i := range q.OriginChainsOperations {
		path := operationPath(i)
		if !slices.ContainsFunc(j.report.Reasons, func(x Reason) bool {
			return x.Level == Refuse &&
				strings.HasPrefix(x.Path, path)
		}) {
			t.Errorf("%s: %+v", path, j.report.Reasons)
		}
	}
}

func TestH1_LookAlikesOfSolanaAddressesShareFourCharactersAtBothEnds(t *testing.T) {
	for _, c := range []struct {
		known, other string
		want         bool
	}{
		{"aaaabbbb", "aaaabbbb", false}, {"aaaabbbb", "aaaaXbbbb", true}, {"aaaaXbbbb", "aaaabbbb", true},
		{"aaaabbb", "aaaaXbbb", false}, {"aaaaXbbb", "aaaabbb", false},
		{"aaaaXbbbb", "aaaaYbbbb", true}, {"aaaaXbbbb", "aaabXbbbb", false}, {"aaaaXbbbb", "aaaaXabbb", false},
	} {
		if got := imitates(c.known, c.other); got != c.want {
			t.Errorf("%s and %s: %v", c.known, c.other, got)
		}
	}
}

func TestTheChainThatPaysMostIsTheFirstOfEquals(t *testing.T) {
	var legs []leg
	for _, asset := range []string{golden.BaseUSDC, golden.ArbUSDC, golden.OpUSDC} {
		a, err := caip.ParseAsset(asset)
		if err != nil {
			t.Fatal(err)
		}
		legs = append(legs, leg{asset: a, entity: entity{decimals: 6}, amount: big.NewInt(7)})
	}
	if got := paidMost(legs); got != caip.EVM(8453) {
		t.Errorf("%v of three that pay the same", got)
	}
	legs[1].amount = big.NewInt(8)
	if got := paidMost(legs); got != caip.EVM(42161) {
		t.Errorf("%v pays less", got)
	}
}

func TestU8_AnAllowanceIsThereOnlyForItsTokenAndItsSpender(t *testing.T) {
	usdc := golden.TokenOf(golden.BaseUSDC)
	d := intent.Draft{Allowances: []api.AllowanceRequirement{
		{AssetType: golden.BaseUSDC, Spender: someone.Hex(), Amount: "5"}}}
	for name, c := range map[string]struct {
		allow allowance
		left  bool
	}{
		"the declared one": {allowance{token: usdc, spender: someone}, false},
		"another token":    {allowance{token: other, spender: someone}, true},
		"another spender":  {allowance{token: usdc, spender: other}, true},
	} {
		j := &judge{}
		j.skippedAllowances(d, []line{{}, {allow: &c.allow}})
		if j.report.Has("U8", Show) != c.left {
			t.Errorf("%s: %+v", name, j.report.Reasons)
		}
	}
}

func TestQ5_ADepositThatIsCutOffIsNamedByWhatIsMissing(t *testing.T) {
	w := golden.New(t)
	p := DefaultPolicy(w.Network, w.Catalog)
	a, err := caip.ParseAsset(golden.BaseUSDC)
	if err != nil {
		t.Fatal(err)
	}
	want := w.DepositCalls(a, big.NewInt(5))
	for n, missing := range map[int]string{0: p.describe(8453, want[0]), 1: p.describe(8453, want[1])} {
		j := &judge{Policy: p}
		j.explainDeposit(8453, want[:n], want, "/x")
		if x := j.report.Reasons[0]; x.Code != "Q5" || !strings.HasPrefix(missing, strings.TrimSuffix(x.Want, "…")) ||
			len(x.Want) < 40 || x.Got != "nothing more" {
			t.Errorf("%d: %+v", n, x)
		}
	}
	j := &judge{Policy: p}
	j.explainDeposit(8453, append(want, call(common.Address{1}, 1, nil)), want, "/x")
	if x := j.report.Reasons[0]; x.Want != "nothing more" || !strings.Contains(x.Got, "plain transfer") {
		t.Errorf("%+v", x)
	}
}

func TestQ11_TheCostHasExactSteps(t *testing.T) {
	w := golden.New(t)
	p := DefaultPolicy(w.Network, w.Catalog)
	p.WarnCostBps, p.WarnCostFloor, p.RefuseCostBps, p.RefuseCostFloor = 500, big.NewInt(500_000), 2000,
		big.NewInt(1_000_000)
	for name, c := range map[string]struct {
		bps    int
		micro  int64
		level  Level // "" when nothing is told
		passed bool
	}{
		"nothing":                     {0, 0, "", true},
		"at the step of a warning":    {500, 9_000_000, "", true},
		"above it":                    {501, 9_000_000, Warn, false},
		"above it, and little":        {501, 500_000, "", true},
		"above it, and not so little": {501, 500_001, Warn, false},
		"at the step of a refusal":    {2000, 9_000_000, Warn, false},
		"above it, and more than bit": {2001, 1_000_001, Refuse, false},
		"above it, and a bit":         {2001, 1_000_000, Warn, false},
	} {
		j := &judge{Policy: p}
		j.cost(&VerifiedQuote{view: QuoteView{PayMicro: big.NewInt(1), MinimumCostMicro: big.NewInt(c.micro),
			MinimumCostBps: c.bps}})
		if (c.level == "") != (len(j.report.Reasons) == 0) || (c.level != "" && !j.report.Has("Q11", c.level)) ||
			(len(j.report.Passed) == 1) != c.passed {
			t.Errorf("%s: %+v", name, j.report)
		}
	}
	j := &judge{Policy: p}
	j.cost(&VerifiedQuote{view: QuoteView{MinimumCostBps: -1}})
	if !j.report.Has("Q11", Unknown) || len(j.report.Passed) != 0 {
		t.Errorf("an unknown cost passes: %+v", j.report)
	}
}

func TestQ5_WhatTheServiceSaidIsMissingIsComparedExactly(t *testing.T) {
	w := golden.New(t)
	p := DefaultPolicy(w.Network, w.Catalog)
	need := NeedView{Need: AmountView{Amount: big.NewInt(10), Decimals: 6}, Short: big.NewInt(7)}
	for delivered, c := range map[int64]struct {
		required int64
		level    Level
	}{7: {10, ""}, 8: {10, Warn}, 10: {10, Warn}, 11: {10, Refuse}} {
		j := &judge{Policy: p, in: w.Intent()}
		micro := func(v int64) *big.Int { return fine(big.NewInt(v), 6) }
		j.exactFlow(micro(delivered+1), micro(1), micro(c.required),
			&VerifiedQuote{view: QuoteView{Needs: []NeedView{need}}})
		if (c.level == "") != (len(j.report.Reasons) == 0) || (c.level != "" && !j.report.Has("Q5", c.level)) {
			t.Errorf("%d: %+v", delivered, j.report.Reasons)
		}
	}
	for name, c := range map[string]struct {
		needs []NeedView
		want  int64 // in millionths, -1 when it is not known
	}{
		"nothing is needed":      {nil, -1},
		"one is unknown":         {[]NeedView{need, {Need: AmountView{Decimals: 6}}}, -1},
		"decimals are unknown":   {[]NeedView{{Need: AmountView{Decimals: -1}, Short: big.NewInt(1)}}, -1},
		"no decimals":            {[]NeedView{{Need: AmountView{Decimals: 0}, Short: big.NewInt(1)}}, 1_000_000},
		"two of other precision": {[]NeedView{need, {Need: AmountView{Decimals: 4}, Short: big.NewInt(2)}}, 207},
	} {
		got, known := missing(c.needs)
		if known != (c.want >= 0) || (known && got.Cmp(fine(big.NewInt(c.want), 6)) != 0) {
			t.Errorf("%s: %v %v", name, got, known)
		}
	}
}

func TestQ12_AQuoteWithoutFeesHidesWhatIsPaidAboveTheRequirement(t *testing.T) {
	w := golden.New(t)
	p := DefaultPolicy(w.Network, w.Catalog)
	for paid, bps := range map[int64]int{9: -1, 10: 0, 20: 5000} {
		q := &VerifiedQuote{}
		(&judge{Policy: p, in: w.Intent()}).hiddenFees(big.NewInt(paid), big.NewInt(10), nil, q)
		if q.view.CostBps != bps || (q.view.CostMicro == nil) != (bps < 0) {
			t.Errorf("%d paid for 10: %d, %v", paid, q.view.CostBps, q.view.CostMicro)
		}
	}
}

func TestQ5_PricesExplainAPaymentInAnotherAsset(t *testing.T) {
	w := golden.New(t)
	p := DefaultPolicy(w.Network, w.Catalog)
	p.WarnUnexplainedBps = 100
	in := w.Intent()
	for name, c := range map[string]struct {
		pay, fees, need, delivered, unexplained int64
		explained                               bool
	}{
		"all of it arrives":        {1000, 0, 1000, 1000, 0, true},
		"less than is needed":      {1000, 10, 2000, 990, 0, true},
		"the fees explain it":      {1000, 10, 990, 990, 0, true},
		"one in a hundred is lost": {1000, 0, 990, 990, 10, true},
		"more is lost":             {1000, 0, 989, 989, 11, false},
	} {
		micro := func(v int64) AmountView { return AmountView{Amount: big.NewInt(1), Micro: big.NewInt(v)} }
		q := &VerifiedQuote{view: QuoteView{Pay: []AmountView{micro(c.pay)}, Fees: []AmountView{micro(c.fees)},
			Needs: []NeedView{
				{Need: micro(c.need)}, {Need: AmountView{Amount: new(big.Int)}}, // nothing of an asset without a price
			}}}
		j := &judge{Policy: p, in: in}
		j.pricedFlow(nil, q)
		v := q.view
		if v.DeliverMicro == nil || v.DeliverMicro.Int64() != c.delivered ||
			v.UnexplainedMicro.Int64() != c.unexplained || v.Explained != c.explained ||
			v.CostMicro.Int64() != c.pay-c.delivered {
			t.Errorf("%s: %+v", name, v)
		}
		if j.report.Has("Q5", Warn) == c.explained {
			t.Errorf("%s: %+v", name, j.report.Reasons)
		}
	}
	for name, q := range map[string]*VerifiedQuote{
		"what pays": {view: QuoteView{Pay: []AmountView{{Amount: big.NewInt(1)}}}},
		"what is needed, by one of two": {view: QuoteView{
			Pay: []AmountView{{Amount: big.NewInt(1), Micro: big.NewInt(1)}}, Needs: []NeedView{
				{Need: AmountView{Amount: big.NewInt(1)}},
				{Need: AmountView{Amount: big.NewInt(1), Micro: big.NewInt(1)}},
			}}},
	} {
		j := &judge{Policy: p, in: in}
		if j.pricedFlow(nil, q); !j.report.Has("Q5", Refuse) || q.view.CostBps != -1 {
			t.Errorf("%s has no price: %+v", name, j.report)
		}
	}
}

func TestY4_WhatIsCountedIsTheLargerOfWhatGoesAndWhatIsRequired(t *testing.T) {
	w := golden.New(t)
	p := DefaultPolicy(w.Network, w.Catalog)
	usdc, err := caip.ParseAsset(golden.BaseUSDC)
	if err != nil {
		t.Fatal(err)
	}
	out := []AmountView{p.amountView(caip.Native(8453), big.NewInt(3)), p.amountView(usdc, big.NewInt(5))}
	for need, want := range map[string]int64{"4": 5, "5": 5, "6": 6} {
		got := p.counted(intent.Draft{TokensRequired: []api.TokenRequirement{
			{AssetType: golden.BaseUSDC, Amount: need}}}, out)
		if len(got) != 2 || got[0].Amount.Int64() != 3 || got[1].Amount.Int64() != want {
			t.Errorf("%s: %+v", need, got)
		}
	}
	got := p.counted(intent.Draft{TokensRequired: []api.TokenRequirement{{AssetType: golden.ArbUSDC, Amount: "0"},
		{AssetType: golden.OpUSDC, Amount: "9"}}}, out)
	if len(got) != 3 || got[2].Amount.Int64() != 9 {
		t.Errorf("%+v", got)
	}
	if out[1].Amount.Int64() != 5 {
		t.Error("the outflow itself was changed")
	}
}

func TestK1_TheWorstCaseSumsEachAssetOnce(t *testing.T) {
	w := golden.New(t)
	p := DefaultPolicy(w.Network, w.Catalog)
	usdc, err := caip.ParseAsset(golden.BaseUSDC)
	if err != nil {
		t.Fatal(err)
	}
	view := func(a caip.Asset, v int64) AmountView { return p.amountView(a, big.NewInt(v)) }
	call, payments := []AmountView{view(usdc, 50), view(caip.Native(8453), 3)}, []AmountView{view(usdc, 7)}
	got := p.addAmounts(payments, call)
	if len(got) != 2 || got[0].Asset != usdc || got[0].Amount.Int64() != 57 || got[1].Amount.Int64() != 3 ||
		got[0].Micro == nil {
		t.Errorf("%+v", got)
	}
	if call[0].Amount.Int64() != 50 || payments[0].Amount.Int64() != 7 {
		t.Error("the sums changed what they were made of")
	}
}

func TestQ4_TheLargestPartPaysAndTheFirstOfEquals(t *testing.T) {
	w := golden.New(t)
	p := DefaultPolicy(w.Network, w.Catalog)
	a, err := caip.ParseAsset(golden.BaseUSDC)
	if err != nil {
		t.Fatal(err)
	}
	for want, amounts := range map[common.Address][]int64{someone: {5, 5}, other: {4, 5}} {
		l := &leg{asset: a, amount: big.NewInt(10)}
		(&judge{Policy: p}).shares(l, []part{{to: someone, amount: big.NewInt(amounts[0])},
			{to: other, amount: big.NewInt(amounts[1])}}, "/x")
		if l.escrow != want {
			t.Errorf("%v: %s pays", amounts, l.escrow)
		}
	}
	for n, many := range map[int]bool{maxParts: false, maxParts + 1: true} {
		j := &judge{Policy: p}
		list := w.DepositCalls(a, big.NewInt(1))
		for len(list) < n {
			list = append(list, call(someone, 1, []byte{1, 2, 3, 4}))
		}
		j.unknownTarget(&leg{asset: a, amount: big.NewInt(1)}, [32]byte{}, list, "/x")
		if told(j, Refuse, "few parts") != many {
			t.Errorf("%d: %+v", n, j.report.Reasons)
		}
	}
}
