package verify_test

import (
	"math/big"
	"testing"

	"coffer/api/catalog"
	"coffer/assets"
	"coffer/wallet/verify"
)

func TestQ11_TheToleranceIsOnTheReceivingSide(t *testing.T) {
	for _, name := range []string{"v3-swap-evm", "v3-transfer", paysTokens} {
		eachRefused(t, name, "Q11", map[string]func(a *answers){
			"of the payment":            func(a *answers) { a.quote.Slippage.Origin.Percent = "0.01" },
			"wider":                     func(a *answers) { a.quote.Slippage.Destination.Percent = "2.01" },
			"no number":                 func(a *answers) { a.quote.Slippage.Destination.Percent = "2e0" },
			"beyond the wallet's limit": func(a *answers) { a.policy.MaxSlippageBps = 199 },
			"fee of another asset":      func(a *answers) { a.quote.Fees.Assets[baseUSDC] = "1" },
			"fee with a sign":           func(a *answers) { a.fee("-1") },
			"fees of all that is paid":  func(a *answers) { a.fee(a.quote.OriginToken.Amount) },
		})
		a := answer(t, name)
		a.quote.Slippage = nil
		a.passes()
	}
}

func (a *answers) fee(v string) {
	for k := range a.quote.Fees.Assets {
		a.quote.Fees.Assets[k] = v
	}
}

func TestQ11_ASwapMustBeWorthWhatItDelivers(t *testing.T) {
	for name, c := range map[string]struct {
		delivers string
		level    verify.Level
	}{
		"a gift":                {"40000000", ""},
		"fair":                  {"29909161", ""},
		"seven per cent":        {"28000000", verify.Warn}, // unexplained
		"nine per cent":         {"27400000", verify.Warn},
		"eleven per cent":       {"26500000", verify.Warn},
		"a quarter":             {"22600000", verify.Refuse},
		"a hundredth":           {"300000", verify.Refuse},
		"one unit of the token": {"1", verify.Refuse},
	} {
		for _, run := range []string{"v3-swap-evm", "v1-swap"} {
			t.Run(run+" "+name, func(t *testing.T) {
				a := answer(t, run)
				v, _ := new(big.Int).SetString(c.delivers, 10)
				if run == "v1-swap" {
					v.Quo(v.Add(v, big.NewInt(1)), big.NewInt(2)) // of half as much
				}
				level := c.level
				if name == "eleven per cent" && run != "v1-swap" {
					level = verify.Refuse // of $30 that is more than two dollars, of $15 less
				}
				a.draft.Receive.Minimum = ""
				a.quote.DestinationToken.Amount, a.quote.DestinationToken.MinimumAmount = v.String(), v.String()
				q, r := a.judge(a.document())
				if (q == nil) != (level == verify.Refuse) || (level == verify.Refuse && !r.Has("Q11", verify.Refuse)) ||
					(level == verify.Warn) != (q != nil && r.Count(verify.Warn) > 0) {
					t.Fatalf("%+v", r.Reasons)
				}
			})
		}
	}
}

func TestQ11_ATransferOfWhichMuchIsLostIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		arrives string
		level   verify.Level
	}{
		"all": {"5000000000000000", ""}, "eleven per cent less": {"4450000000000000", verify.Warn},
		"a quarter less": {"3750000000000000", verify.Refuse},
	} {
		t.Run(name, func(t *testing.T) {
			a := answer(t, "v1-transfer-eip7702")
			a.seen = memory{paid: []string{payee}}
			a.quote.DestinationToken.Amount, a.quote.DestinationToken.MinimumAmount = c.arrives, c.arrives
			q, r := a.judge(a.document())
			if (q == nil) != (c.level == verify.Refuse) || (c.level != "" && !r.Has("Q11", c.level)) ||
				(c.level == "" && r.Count(verify.Warn) > 0) {
				t.Fatalf("%+v", r.Reasons)
			}
		})
	}
}

func TestQ11_FeesThatNobodyNamesAreUnknown(t *testing.T) {
	for _, name := range []string{"v3-swap-evm", "v3-transfer"} {
		a := answer(t, name)
		a.quote.Fees = nil
		q, r := a.judge(a.document())
		if q == nil || !r.Has("Q11", verify.Unknown) || q.View().FeesMicro != nil || len(q.View().Fees) != 0 ||
			q.View().CostMicro == nil {
			t.Errorf("%s: %+v", name, r.Reasons)
		}
	}
}

// withTokens judges the run with a catalogue in which one aggregate is changed.
func (a *answers) withTokens(id string, change func(k *assets.Token)) {
	a.t.Helper()
	d, err := assets.Catalogue()
	need(a.t, err)
	for i := range d.Tokens {
		if d.Tokens[i].AggregatedAssetID == id {
			change(&d.Tokens[i])
		}
	}
	c, err := catalog.New(d)
	need(a.t, err)
	a.policy.Catalog, a.rules.Catalog = c, c
}

func TestQ5_WithoutAPriceOnlyTheUsersOwnMinimumProtectsASwap(t *testing.T) {
	for _, id := range []string{"ob:eth", "ob:usdc"} {
		a := answer(t, "v3-swap-evm")
		a.withTokens(id, func(k *assets.Token) { k.PriceMicroUSD = "" })
		q, r := a.judge(a.document())
		if q == nil || !r.Has("Q11", verify.Unknown) || q.View().CostBps != -1 || q.View().CostMicro != nil ||
			q.View().Explained {
			t.Fatalf("%s: %+v", id, r.Reasons)
		}
		a.draft.Receive.Minimum = ""
		a.refuses("Q5")
	}
	a := answer(t, "v3-transfer") // one asset needs no price to be compared with itself
	a.withTokens("ob:usdc", func(k *assets.Token) { k.PriceMicroUSD = "" })
	if v := a.passes(); v.CostBps != 15 || v.CostMicro != nil {
		t.Errorf("%+v", v)
	}
}

func TestQ5_OnlyWhatTheCoarsestChainCannotExpressStays(t *testing.T) {
	coarse := func(decimals int) func(k *assets.Token) {
		return func(k *assets.Token) { k.AggregatedEntities[len(k.AggregatedEntities)-1].Decimals = new(decimals) }
	}
	for name, c := range map[string]struct {
		chosen   string
		decimals int
		ok       bool
	}{
		"all of it":           {"10000000000000000", 12, true},
		"the dust":            {"10000000000999999", 12, true},
		"more than the dust":  {"10000000001000000", 12, false},
		"less than is paid":   {"9999999999999999", 12, false},
		"dust without reason": {"10000000000000001", 18, false},
	} {
		t.Run(name, func(t *testing.T) {
			a := answer(t, "v3-swap-evm")
			a.withTokens("ob:eth", coarse(c.decimals))
			a.draft.Pay.Amount = c.chosen
			if !c.ok {
				a.refuses("Q5")
				return
			}
			a.passes()
		})
	}
	// An exact asset is paid exactly; only a transfer to a coarser chain leaves dust.
	a := answer(t, "v3-swap-evm")
	a.withTokens("ob:eth", coarse(12))
	a.draft.Pay.Asset, a.quote.OriginToken.AggregatedAssetID = "eip155:10/slip44:60", "ob:single"
	a.passes()
	a.draft.Pay.Amount = "10000000000000001"
	a.refuses("Q5")
	b := answer(t, "v1-transfer-eip7702")
	b.withTokens("ob:eth", func(k *assets.Token) { k.AggregatedEntities[1].Decimals = new(17) })
	b.draft.Pay.Asset, b.quote.OriginToken.AggregatedAssetID = "eip155:1/slip44:60", "ob:single"
	b.draft.Pay.Amount = "5000000000000001"
	b.quote.DestinationToken.Decimals = nil
	b.quote.DestinationToken.Amount, b.quote.DestinationToken.MinimumAmount = "487884023187020", "487884023187020"
	b.passes()
	b.draft.Pay.Amount = "5000000000000010"
	b.refuses("Q5")
	b.draft.Pay.Amount = "5000000000000001"
	b.quote.DestinationToken.Amount, b.quote.DestinationToken.MinimumAmount = "487884023187020000", "487884023187020000"
	b.refuses("Q5") // more than what is paid
}
