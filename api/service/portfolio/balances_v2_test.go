package portfolio_test

import (
	"context"
	"math/big"
	"reflect"
	"strings"
	"testing"

	"coffer/api"
	"coffer/api/amount"
	"coffer/api/caip"
	"coffer/api/service/portfolio"
)

func TestLamportsAndSolanaTokensAreInTheAggregates(t *testing.T) {
	in, p := world(t)
	mint := "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp/token:EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v"
	both, err := p.Balances(context.Background(), query(t, in, "eip155:1:"+someone.Hex()+",solana:"+solanaAddress,
		"ob:sol,ob:usdc", mint))
	if err != nil {
		t.Fatal(err)
	}
	if both.Accounts.Solana != solanaAddress || both.Accounts.EVM != someone.Hex() {
		t.Errorf("accounts %+v", both.Accounts)
	}
	if sol := both.BalanceByAggregatedAsset[0]; sol.Balance != "5000000000" ||
		sol.IndividualAssetBalances[0].Balance != "5000000000" {
		t.Errorf("%+v", sol)
	}
	if one := both.BalanceBySpecificAsset[0]; one.AssetType != mint || one.Balance != "250000000" {
		t.Errorf("%+v", one)
	}
	if micro, ok := both.BalanceBySpecificAsset[0].FiatValue.Micro(); !ok || micro.Sign() == 0 {
		t.Errorf("fiat value %q", both.BalanceBySpecificAsset[0].FiatValue)
	}
	evm, err := p.Balances(context.Background(), query(t, in, "eip155:1:"+someone.Hex(), "ob:sol,ob:usdc", mint))
	if err != nil {
		t.Fatal(err)
	}
	without, err := amount.ParseBase(evm.BalanceByAggregatedAsset[1].Balance)
	if err != nil {
		t.Fatal(err)
	}
	if with := without.Add(without, big.NewInt(250_000_000)).String(); both.BalanceByAggregatedAsset[1].Balance !=
		with {
		t.Errorf("ob:usdc is %s, without Solana and 250 USDC it is %s", both.BalanceByAggregatedAsset[1].Balance, with)
	}
	if evm.BalanceByAggregatedAsset[0].Balance != "0" || evm.BalanceBySpecificAsset[0].Balance != "0" {
		t.Error("an EVM address holds something on Solana")
	}
}

func TestTheSecondVersionListsEveryAggregateAndNoAccounts(t *testing.T) {
	in, p := world(t)
	const usdc = "eip155:8453/erc20:0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"
	at, asked, failures := portfolio.ParseQueryV2(in.Catalog, someone.Hex(), usdc+", eip155:1/slip44:60,"+usdc)
	if len(failures) > 0 || at != someone || len(asked) != 2 {
		t.Fatal(at, asked, failures)
	}
	out, err := p.BalancesV2(context.Background(), at, asked)
	if err != nil {
		t.Fatal(err)
	}
	all := in.Catalog.Aggregates()
	if out.Accounts != nil || len(out.BalanceByAggregatedAsset) != len(all) || len(out.BalanceBySpecificAsset) != 2 {
		t.Fatalf("accounts %v, %d of %d aggregates, %d specific assets", out.Accounts,
			len(out.BalanceByAggregatedAsset), len(all), len(out.BalanceBySpecificAsset))
	}
	var ids []string
	for i, a := range all {
		ids = append(ids, a.ID.String())
		if line := out.BalanceByAggregatedAsset[i]; line.AggregatedAssetID != a.ID.String() ||
			len(line.IndividualAssetBalances) != len(a.Entities) {
			t.Errorf("line %d is %s with %d entities", i, line.AggregatedAssetID, len(line.IndividualAssetBalances))
		}
	}
	if got := out.BalanceBySpecificAsset[0]; got.AssetType != usdc || got.Balance != "25000000" {
		t.Errorf("%+v", got)
	}
	third, err := p.Balances(context.Background(), query(t, in, "eip155:1:"+someone.Hex(), strings.Join(ids, ","),
		usdc+",eip155:1/slip44:60"))
	if err != nil {
		t.Fatal(err)
	}
	third.Accounts = nil
	if !reflect.DeepEqual(third, out) {
		t.Errorf("the third version says\n%+v\nthe second\n%+v", third, out)
	}
	doc, err := api.Encode(out)
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := doc.At("/accounts"); ok {
		t.Error("accounts is written")
	}
	bare, err := p.BalancesV2(context.Background(), at, nil)
	if err != nil || len(bare.BalanceBySpecificAsset) != 0 || bare.TotalBalance != out.TotalBalance {
		t.Errorf("without assets: %d specific, total %q and %q, %v", len(bare.BalanceBySpecificAsset),
			bare.TotalBalance.FiatValue, out.TotalBalance.FiatValue, err)
	}
}

func TestAQueryOfTheSecondVersionNamesEveryFailure(t *testing.T) {
	in, _ := world(t)
	for name, c := range map[string]struct {
		address, assets string
		want            []string
	}{
		"only an address":  {someone.Hex(), "", nil},
		"lower case":       {strings.ToLower(someone.Hex()), "eip155:1/slip44:60", nil},
		"a Solana asset":   {someone.Hex(), caip.SOL().String(), nil},
		"nothing":          {"", "", []string{"address"}},
		"CAIP-10":          {"eip155:1:" + someone.Hex(), "", []string{"address"}},
		"a Solana address": {solanaAddress, "", []string{"address"}},
		"everything wrong": {"0x12", "x,eip155:5/erc20:0x1111111111111111111111111111111111111111",
			[]string{"address", "assetId[0]", "assetId[1]"}},
		"oversized": {someone.Hex(), strings.Repeat("x", portfolio.MaxQuery+1), []string{"assetId"}},
	} {
		_, _, failures := portfolio.ParseQueryV2(in.Catalog, c.address, c.assets)
		var got []string
		for _, f := range failures {
			got = append(got, f.Path)
		}
		if strings.Join(got, " ") != strings.Join(c.want, " ") {
			t.Errorf("%s: %v, expected %v", name, got, c.want)
		}
	}
}

func FuzzParseQueryV2(f *testing.F) {
	f.Add("0x1111111111111111111111111111111111111111", "eip155:1/slip44:60")
	f.Add("eip155:1:0x1111111111111111111111111111111111111111", ",,")
	in, _ := world(f)
	f.Fuzz(func(t *testing.T, address, assets string) {
		a, asked, failures := portfolio.ParseQueryV2(in.Catalog, address, assets)
		if len(failures) == 0 && !strings.EqualFold(a.Hex(), address) {
			t.Errorf("%q was read as %s", address, a)
		}
		for _, x := range asked {
			if a, err := caip.ParseAsset(x.As); err != nil || a != x.Asset {
				t.Errorf("%q stands for %s", x.As, x.Asset)
			}
		}
	})
}
