package verify_test

import (
	"math/big"
	"strings"
	"testing"

	"coffer/api"
	"coffer/api/caip"
	"coffer/wallet/intent"
	"coffer/wallet/verify"
)

func TestHonestAnswersOfTheServicePass(t *testing.T) {
	for _, name := range answerNames(t, func(string) bool { return true }) {
		t.Run(name, func(t *testing.T) {
			a := answer(t, name)
			q, r := a.judge(a.doc)
			accepted(t, r)
			v := q.View()
			if v.ID != a.quote.ID || v.Fingerprint == "" ||
				q.Confirmation() != v.Fingerprint || v.Kind != a.intent().Kind() || v.Phrase != "" {
				t.Errorf("%+v", v)
			}
			// of small sums, measured to the minimum
			costly := v.MinimumCostBps > a.policy.WarnCostBps && v.MinimumCostMicro.Cmp(a.policy.WarnCostFloor) > 0
			if r.Has("V4", verify.Warn) != v.RecipientFirstTime || r.Has("Q11", verify.Warn) != costly ||
				r.Count(verify.Warn) > 2 {
				t.Errorf("an honest answer raises %+v", r.Reasons)
			}
			if q.SameChainOnly() {
				return
			}
			if len(q.Operations()) != len(a.quote.OriginChainsOperations) || len(v.Legs) != len(q.Operations()) {
				t.Errorf("%d operations, %d legs", len(q.Operations()), len(v.Legs))
			}
			for i, s := range q.Operations() {
				if v.Legs[i].OpHash != s.Hash() || v.Legs[i].AccountType != s.Summary().Kind ||
					v.Legs[i].Pays.Amount.Cmp(s.Summary().Spend[0].Amount) != 0 {
					t.Errorf("leg %d: %+v", i, v.Legs[i])
				}
			}
		})
	}
}

func TestAReviewOfAnExchangeShowsWhatIsPaidDeliveredAndLost(t *testing.T) {
	for name, want := range map[string]struct {
		kind, pays, delivers, least, symbol string
		own                                 bool
		cost                                int // basis points
		explained                           bool
	}{
		"v3-swap-evm":           {intent.KindSwap, "10000000000000000", "29901260", "29303234", "USDC", true, 77, true},
		"v3-swap-from-solana":   {intent.KindSwap, "1000000000", "168197133", "164833190", "USDC", false, 15, true},
		"v3-swap-to-solana":     {intent.KindSwap, "500000000", "2963542077", "2904271235", "SOL", true, 17, true},
		"v3-transfer":           {intent.KindTransfer, "40000000", "39942202", "39143357", "USDC", false, 15, true},
		"v3-transfer-on-solana": {intent.KindTransfer, "100000000", "99920031", "97921630", "SOL", false, 8, true},
		"v1-swap":               {intent.KindSwap, "5000000000000000", "14316941", "14030602", "USDC", true, 497, true},
		"v1-transfer-eip7702": {intent.KindTransfer, "5000000000000000", "4835661771850207", "4738948536413202",
			"ETH", false, 329, false},
	} {
		t.Run(name, func(t *testing.T) {
			v := answer(t, name).passes()
			if v.Kind != want.kind || len(v.Pay) != 1 || v.Pay[0].Amount.String() != want.pays ||
				v.Delivered.Amount.String() != want.delivers || v.Minimum.Amount.String() != want.least {
				t.Errorf("%+v", v)
			}
			if v.Delivered.Symbol != want.symbol || v.RecipientOwn != want.own || v.RecipientFirstTime == want.own ||
				v.CostBps != want.cost || v.Explained != want.explained {
				t.Errorf("%s own %v first %v cost %d explained %v", v.Delivered.Symbol, v.RecipientOwn,
					v.RecipientFirstTime, v.CostBps, v.Explained)
			}
			if v.PayMicro == nil || v.DeliverMicro == nil || v.CostMicro == nil || v.UnexplainedMicro == nil ||
				(v.FeesMicro == nil) != strings.HasPrefix(name, "v1") ||
				strings.Contains(v.CallTypeWords, "another asset") != (want.kind == intent.KindSwap) ||
				v.SameChainOnly || v.SlippageBps != 200 {
				t.Errorf("%+v", v)
			}
		})
	}
}

func TestOperationsOfAnExchangeHaveItsRole(t *testing.T) {
	for name, role := range map[string]string{"v3-swap-evm": verify.RoleSwap, "v3-transfer": verify.RoleTransfer,
		"v1-swap": verify.RoleSwap, "v3-kernel-funded": verify.RoleFunding} {
		a := answer(t, name)
		q, r := a.judge(a.doc)
		accepted(t, r)
		if s := q.Operations()[0].Summary(); s.Role != role || s.Lane != 1 || s.Nonce == "" || s.BlockHash != "" {
			t.Errorf("%s: %+v", name, s)
		}
	}
}

func TestDelegationsOfAnExchangeAreVerified(t *testing.T) {
	a := answer(t, "v3-swap-several-chains")
	q, r := a.judge(a.doc)
	accepted(t, r)
	for i, s := range q.Operations() {
		d, ok := s.Delegation()
		if !ok || d.Authorization().Address != a.policy.Network.Pins.KernelV33 || s.Count() != 2 ||
			q.View().Legs[i].Delegation == nil {
			t.Errorf("operation %d: %+v", i, s.Summary())
		}
	}
	eachRefused(t, "v3-swap-several-chains", "D2", map[string]func(a *answers){
		"a sweeper": func(a *answers) {
			a.quote.OriginChainsOperations[1].Delegation = &api.Delegation{ContractAddress: strings.ToLower(stranger)}
		},
	})
	eachRefused(t, "v3-swap-evm", "D1", map[string]func(a *answers){
		"of a deployed account": func(a *answers) {
			a.quote.OriginChainsOperations[0].Delegation = &api.Delegation{
				ContractAddress: a.policy.Network.Pins.KernelV33.Hex()}
		},
	})
}

// delivers changes where an asset is delivered, and to whom.
func delivers(a *answers, asset, recipient string) {
	a.quote.DestinationToken.AssetType, a.quote.DestinationToken.RecipientAccount = asset, recipient
}

func TestQ7_AnAggregateIsDeliveredWhereMostIsPaidFrom(t *testing.T) {
	const name = "v3-swap-several-chains" // pays USDC on Arbitrum most, then on Avalanche
	self := func(a *answers, chain string) string { return chain + ":" + a.draft.Accounts[0].AccountAddress }
	with := func(t *testing.T, asset string) *answers {
		a := answer(t, name)
		a.draft.Receive.Asset, a.quote.DestinationToken.AggregatedAssetID = asset, asset
		return a
	}
	a := with(t, "ob:eth")
	delivers(a, arbETH, self(a, "eip155:42161"))
	a.passes()
	delivers(a, baseETH, self(a, "eip155:8453"))
	a.refuses("Q7")
	// Arbitrum has no ETH+ twin of cbBTC: the first one listed is that of Ethereum.
	a = with(t, "ob:cbbtc")
	one := caipOf(t, "eip155:1/erc20:0xcbB7C0000aB88B473b1f5aFd9ef808440eed33Bf")
	delivers(a, one, self(a, "eip155:1"))
	a.quote.DestinationToken.Symbol, a.quote.DestinationToken.Name = "cbBTC", ""
	*a.quote.DestinationToken.Decimals = 8
	a.quote.DestinationToken.Amount, a.quote.DestinationToken.MinimumAmount = "1945000", "1925550"
	a.passes()
	delivers(a, caipOf(t, "eip155:8453/erc20:0xcbB7C0000aB88B473b1f5aFd9ef808440eed33Bf"), self(a, "eip155:8453"))
	a.refuses("Q7")
}

func caipOf(t testing.TB, s string) string {
	t.Helper()
	a, err := caip.ParseAsset(s)
	need(t, err)
	return a.String()
}

// SOL is listed on Solana only, so the intent refuses an order for it in v1, with any recipient.
func TestQ7_OfSolanaOnlyThingsV1DeliversNothing(t *testing.T) {
	a := answer(t, "v1-swap")
	a.draft.Receive.Asset = "ob:sol"
	for _, to := range []string{"", "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp:" + somebody().String(),
		"eip155:1:" + payee} {
		a.draft.Receive.Account = to
		if _, err := intent.Freeze(a.draft, a.rules); err == nil {
			t.Errorf("%q receives SOL", to)
		}
	}
}

func TestV4AndH1_ARecipientIsComparedWithKnownOnes(t *testing.T) {
	const friend = "2JT1EMVsgfcoKWzXLSwVScQZf9uLUdrSx8FBGLZMj4ze"
	evm, sol := answer(t, "v3-transfer"), answer(t, "v3-transfer-to-solana")
	for name, c := range map[string]struct {
		a     *answers
		known string
		first bool
		code  string
	}{
		"known":                  {evm, payee, false, ""},
		"known on Solana":        {sol, friend, false, ""},
		"nobody known":           {evm, stranger, true, ""},
		"nobody known on Solana": {sol, somebody().String(), true, ""},
		"a look-alike":           {evm, payee[:6] + strings.Repeat("0", 32) + payee[38:], true, "H1"},
		"a look-alike on Solana": {sol, friend[:4] + strings.Repeat("1", len(friend)-8) + friend[len(friend)-4:],
			true, "H1"},
		"too short to be one":      {sol, "2JTj4ze", true, ""},
		"another kind of address":  {sol, payee, true, ""},
		"begins alike on Solana":   {sol, friend[:40] + "2222", true, ""},
		"ends alike on Solana":     {sol, "1111" + friend[4:], true, ""},
		"another kind of address ": {evm, friend, true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			a := *c.a
			a.t, a.seen = t, memory{paid: []string{c.known}}
			if c.code != "" {
				a.refuses(c.code)
				return
			}
			q, r := a.judge(a.document())
			accepted(t, r)
			if q.View().RecipientFirstTime != c.first || r.Has("V4", verify.Warn) != c.first {
				t.Errorf("%+v", r.Reasons)
			}
		})
	}
}

func TestH1_ARecipientThatImitatesAnOwnAddressIsRefused(t *testing.T) {
	twin := func(s string) string { return s[:6] + strings.Repeat("0", 32) + s[38:] }
	for _, of := range []func(x api.Account) string{
		func(x api.Account) string { return x.AccountAddress }, func(x api.Account) string { return x.SessionAddress },
		func(x api.Account) string { return x.AdminAddress },
	} {
		a := answer(t, "v3-transfer-one-chain")
		a.draft.Receive.Account = "eip155:10:" + strings.ToLower(twin(of(a.draft.Accounts[0])))
		a.quote.DestinationToken.RecipientAccount = a.draft.Receive.Account
		a.refuses("H1")
	}
	a := answer(t, "v3-transfer")
	a.draft.Receive.Account = "eip155:10:" + strings.ToLower(twin(a.draft.Accounts[0].SignerAddress))
	a.quote.DestinationToken.RecipientAccount = a.draft.Receive.Account
	a.refuses("H1")
}

func TestATransferToAnOwnAccountIsNobodyNew(t *testing.T) {
	a := answer(t, "v3-transfer")
	a.draft.Receive.Account = "eip155:10:" + a.draft.Accounts[0].AccountAddress
	a.quote.DestinationToken.RecipientAccount = a.draft.Receive.Account
	if v := a.passes(); !v.RecipientOwn || v.RecipientFirstTime {
		t.Errorf("%+v", v)
	}
}

func TestAPaymentCannotBeMoreOrLessThanWhatWasChosen(t *testing.T) {
	for name, v := range map[string]int64{"more": 10_000_000_000_000_001, "less": 9_999_999_999_999_999,
		"half": 5_000_000_000_000_000} {
		t.Run(name, func(t *testing.T) {
			a := answer(t, "v3-swap-evm")
			a.pays(0, big.NewInt(v))
			a.quote.OriginToken.Amount = big.NewInt(v).String()
			a.refuses("Q5")
		})
	}
}
