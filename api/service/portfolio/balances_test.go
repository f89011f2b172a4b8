package portfolio_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/big"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/amount"
	"coffer/api/caip"
	"coffer/api/catalog"
	"coffer/api/op"
	"coffer/api/service/chain"
	"coffer/api/service/devnet"
	"coffer/api/service/portfolio"
	"coffer/api/service/price"
	"coffer/api/service/store"
	"coffer/assets"
)

func query(t testing.TB, in *devnet.Installation, account, aggregates, assets string) portfolio.Query {
	t.Helper()
	q, failures := portfolio.ParseQuery(in.Catalog, account, aggregates, assets)
	if len(failures) > 0 {
		t.Fatalf("%s | %s | %s: %v", account, aggregates, assets, failures)
	}
	return q
}

func TestEveryEntityOfAnAskedIDIsListedAndTheSumsAgree(t *testing.T) {
	in, p := world(t)
	out, err := p.Balances(context.Background(), query(t, in, "eip155:1:"+someone.Hex(), "ob:usdc,ob:zero,ob:eth", ""))
	if err != nil {
		t.Fatal(err)
	}
	if out.Accounts.EVM != someone.Hex() || out.Accounts.Solana != "" {
		t.Errorf("accounts %+v", out.Accounts)
	}
	total := new(big.Int)
	for i, id := range []caip.AggregateID{"ob:usdc", "ob:zero", "ob:eth"} {
		line := out.BalanceByAggregatedAsset[i]
		agg, _ := in.Catalog.Aggregate(id)
		if line.AggregatedAssetID != id.String() || len(line.IndividualAssetBalances) != len(agg.Entities) {
			t.Fatalf("line %d: %s with %d of %d entities", i, line.AggregatedAssetID, len(line.IndividualAssetBalances),
				len(agg.Entities))
		}
		sum, fiat := new(big.Int), new(big.Int)
		for j, e := range agg.Entities {
			one := line.IndividualAssetBalances[j]
			if one.AssetType != strings.ToLower(one.AssetType) && !e.Asset.Chain.IsSolana() {
				t.Errorf("%s is not lower case", one.AssetType)
			}
			v, err := amount.ParseBase(one.Balance)
			if err != nil {
				t.Fatal(err)
			}
			sum.Add(sum, amount.Scale(v, e.Decimals, agg.Decimals))
			if micro, ok := one.FiatValue.Micro(); ok {
				fiat.Add(fiat, micro)
			} else if agg.PriceMicroUSD != nil || v.Sign() == 0 {
				t.Errorf("%s has no fiat value", one.AssetType)
			}
		}
		if sum.String() != line.Balance {
			t.Errorf("%s: entities add up to %s, balance is %s", id, sum, line.Balance)
		}
		if micro, ok := line.FiatValue.Micro(); !ok || micro.Cmp(fiat) != 0 {
			t.Errorf("%s: fiat value %q, entities add up to %s micro-USD", id, line.FiatValue, fiat)
		}
		total.Add(total, fiat)
	}
	if micro, ok := out.TotalBalance.FiatValue.Micro(); !ok || micro.Cmp(total) != 0 || total.Sign() == 0 {
		t.Errorf("total %q, lines add up to %s micro-USD", out.TotalBalance.FiatValue, total)
	}
}

func TestAnUnknownPriceIsNullAndNotZero(t *testing.T) {
	in, _ := world(t)
	p := portfolio.New(portfolio.Deps{Network: in.Network, Prices: new(price.Table), Faucet: newFaucet(t, in),
		Clock: now})
	out, err := p.Balances(context.Background(), query(t, in, "eip155:1:"+someone.Hex(), "ob:usdc", ""))
	if err != nil {
		t.Fatal(err)
	}
	doc, err := api.Encode(out)
	if err != nil {
		t.Fatal(err)
	}
	held, empty := 0, 0
	for i, one := range out.BalanceByAggregatedAsset[0].IndividualAssetBalances {
		want := "null"
		if one.Balance == "0" { // which is worth nothing at any price
			want = "0"
			empty++
		} else {
			held++
		}
		at := fmt.Sprintf("/balanceByAggregatedAsset/0/individualAssetBalances/%d/fiatValue", i)
		if raw, ok := doc.At(at); !ok || string(raw) != want {
			t.Errorf("%s is %q, expected %s for a balance of %s", at, raw, want, one.Balance)
		}
	}
	if held == 0 || empty == 0 {
		t.Fatalf("%d balances and %d empty ones", held, empty)
	}
	for _, at := range []string{"/balanceByAggregatedAsset/0/fiatValue", "/totalBalance/fiatValue"} {
		if raw, ok := doc.At(at); !ok || string(raw) != "null" {
			t.Errorf("%s is %q, expected null", at, raw)
		}
	}
}

func TestSpecificAssetsEchoTheirSpellingAndCountOnceInTheTotal(t *testing.T) {
	in, p := world(t)
	const usdc = "eip155:8453/erc20:0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"
	account := "eip155:8453:" + someone.Hex()
	both, err := p.Balances(context.Background(), query(t, in, account, "ob:usdc,ob:usdc",
		usdc+","+strings.ToLower(usdc)+",eip155:8453/slip44:60"))
	if err != nil {
		t.Fatal(err)
	}
	if len(both.BalanceByAggregatedAsset) != 1 || len(both.BalanceBySpecificAsset) != 2 {
		t.Fatalf("%d aggregates and %d specific assets, expected 1 and 2", len(both.BalanceByAggregatedAsset),
			len(both.BalanceBySpecificAsset))
	}
	if got := both.BalanceBySpecificAsset[0]; got.AssetType != usdc || got.Balance != "25000000" {
		t.Errorf("%+v", got)
	}
	aggregate, err := p.Balances(context.Background(), query(t, in, account, "ob:usdc", "eip155:8453/slip44:60"))
	if err != nil {
		t.Fatal(err)
	}
	if both.TotalBalance != aggregate.TotalBalance {
		t.Errorf("total %q with the asset named twice, %q without", both.TotalBalance.FiatValue,
			aggregate.TotalBalance.FiatValue)
	}
}

func TestASolanaAccountIsEchoedAndItsEntitiesAreListed(t *testing.T) {
	in, _ := world(t)
	p := portfolio.New(portfolio.Deps{Network: in.Network, Prices: prices(t, in), Clock: now}) // without test funds
	for _, form := range []string{"solana:" + solanaAddress, caip.SolanaMainnet().String() + ":" + solanaAddress} {
		out, err := p.Balances(context.Background(), query(t, in, form, "ob:sol", ""))
		if err != nil {
			t.Fatal(err)
		}
		if out.Accounts.Solana != solanaAddress || out.Accounts.EVM != "" {
			t.Errorf("accounts %+v", out.Accounts)
		}
		line := out.BalanceByAggregatedAsset[0]
		if line.Balance != "0" || len(line.IndividualAssetBalances) != 1 ||
			line.IndividualAssetBalances[0].AssetType != caip.SOL().String() {
			t.Errorf("%+v", line)
		}
	}
}

func TestBalancesOfDifferentDecimalsAreScaledBeforeTheyAreAdded(t *testing.T) {
	in, _ := world(t)
	d, err := assets.Catalogue()
	if err != nil {
		t.Fatal(err)
	}
	for i, k := range d.Tokens {
		if k.AggregatedAssetID == "ob:dai" {
			d.Tokens[i].Decimals = new(6) // its entities have 18
		}
		if k.AggregatedAssetID == "ob:usdt" {
			d.Tokens[i].Decimals = new(18) // its entities have 6
		}
	}
	cat, err := catalog.New(d)
	if err != nil {
		t.Fatal(err)
	}
	prices, err := price.New(cat, nil)
	if err != nil {
		t.Fatal(err)
	}
	mixed := *in.Network
	mixed.Catalog = cat
	p := portfolio.New(portfolio.Deps{Network: &mixed, Prices: prices, Clock: now})
	solver := in.Pins.Solver // 400 million whole units on each chain
	out, err := p.Balances(context.Background(), query(t, &devnet.Installation{Network: &mixed},
		"eip155:1:"+solver.Hex(), "ob:dai,ob:usdt", ""))
	if err != nil {
		t.Fatal(err)
	}
	dai, usdt := out.BalanceByAggregatedAsset[0], out.BalanceByAggregatedAsset[1]
	for _, c := range []struct {
		line     api.AggregateBalance
		decimals int
	}{{dai, 6}, {usdt, 18}} {
		v, err := amount.ParseBase(c.line.Balance)
		if err != nil {
			t.Fatal(err)
		}
		want := fmt.Sprint(400_000_000 * len(c.line.IndividualAssetBalances))
		if got := amount.Trim(amount.Format(v, c.decimals)); got != want {
			t.Errorf("%s: %s whole units, expected %s", c.line.AggregatedAssetID, got, want)
		}
	}
}

func TestABalanceQueryNamesEveryFailure(t *testing.T) {
	in, _ := world(t)
	a, b := "eip155:1:0x1111111111111111111111111111111111111111", "eip155:1:0x2222222222222222222222222222222222222222"
	for name, c := range map[string]struct {
		account, aggregates, assets string
		want                        []string
	}{
		"nothing":          {"", "", "", []string{"account", "aggregatedAssetId"}},
		"no asset":         {a, "", "", []string{"aggregatedAssetId"}},
		"two EVM accounts": {a + "," + b, "ob:usdc", "", []string{"account[1]"}},
		"two Solana accounts": {"solana:" + solanaAddress + ",solana:EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v",
			"ob:sol", "", []string{"account[1]"}},
		"other namespace":       {"cosmos:hub-4:addr", "ob:usdc", "", []string{"account[0]"}},
		"bare address":          {"0x1111111111111111111111111111111111111111", "ob:usdc", "", []string{"account[0]"}},
		"a plus sign unescaped": {a, "ob:eth ", "", []string{"aggregatedAssetId[0]"}},
		"blanks before":         {a, " ob:usdc, ob:eth+", "", nil},
		"unknown ids": {a, "ob:nothing,USDC", "eip155:5/erc20:0x1111111111111111111111111111111111111111,x",
			[]string{"aggregatedAssetId[0]", "aggregatedAssetId[1]", "assetId[0]", "assetId[1]"}},
		"empty elements":       {a + ",", "ob:usdc,,ob:eth", "", []string{"account[1]", "aggregatedAssetId[1]"}},
		"oversized":            {a, "ob:usdc", strings.Repeat("x", portfolio.MaxQuery+1), []string{"assetId"}},
		"same address, chains": {a + "," + strings.Replace(a, ":1:", ":10:", 1), "ob:usdc", "", nil},
		"both kinds":           {a + ",solana:" + solanaAddress, "ob:usdc", "", nil},
	} {
		_, failures := portfolio.ParseQuery(in.Catalog, c.account, c.aggregates, c.assets)
		var got []string
		for _, f := range failures {
			got = append(got, f.Path)
		}
		if strings.Join(got, " ") != strings.Join(c.want, " ") {
			t.Errorf("%s: %v, expected %v", name, got, c.want)
		}
	}
}

func TestPredictionUsesOurCoSignerAndFundsThePredictedAddress(t *testing.T) {
	in, p := world(t)
	session, admin := common.HexToAddress("0x1cBFbFd62a276BF6D79d504eA4CA75a7baDcf5b1"),
		common.HexToAddress("0xc162a3cE45ad151eeCd0a5532D6E489D034aB3B8")
	doc, err := api.Encode(api.PredictRequest{SessionAddress: session.Hex(), AdminAddress: admin.Hex()})
	if err != nil {
		t.Fatal(err)
	}
	got, err := p.PredictAddress(context.Background(), doc)
	if err != nil {
		t.Fatal(err)
	}
	pins := in.Pins
	want := op.PredictAddress(pins.Factory, pins.KernelV31,
		op.InitDataRoleBased(pins.RoleBasedValidator, session, admin,
			in.CoSigner.Address()), new(big.Int))
	if got.PredictedAddress != want.Hex() {
		t.Errorf("%s, expected %s", got.PredictedAddress, want.Hex())
	}
	if len(balances(t, in, want)) == 0 {
		t.Error("the predicted address got no test funds")
	}
	for _, signer := range []common.Address{session, admin} {
		if len(balances(t, in, signer)) != 0 {
			t.Errorf("the signer %s got test funds", signer)
		}
	}
}

// The factory on the chain must put the account where the prediction says.
func TestPredictedAddressIsWhereTheFactoryDeploys(t *testing.T) {
	in, p := world(t)
	owner := common.HexToAddress("0x5d6fb4eb211a6a2e406a1111b54d26c534753c8e")
	doc, err := api.Encode(api.PredictRequest{Type: api.AccountKernelV31, SignerAddress: owner.Hex()})
	if err != nil {
		t.Fatal(err)
	}
	got, err := p.PredictAddress(context.Background(), doc)
	if err != nil {
		t.Fatal(err)
	}
	pins := in.Pins
	for _, id := range in.ChainIDs {
		block, err := in.Chains[id].Seal(context.Background(),
			chain.SealRequest{Time: uint64(now().Unix()), Accept: chain.AllSucceed,
				Txs: []chain.Tx{{
					From: in.Operator, To: pins.MetaFactory, Gas: 1_000_000,
					Data: op.FactoryData(pins.Factory, op.InitDataECDSA(pins.ECDSAValidator, owner), new(big.Int)),
				}}})
		if err != nil {
			t.Fatal(err)
		}
		if ok, err := in.Deployed(context.Background(), id, common.HexToAddress(got.PredictedAddress)); err != nil ||
			!ok {
			t.Errorf("eip155:%d: block %d deployed nothing at %s (%v)", id, block.Number, got.PredictedAddress, err)
		}
	}
}

func TestOnlyAccountAddressesOfARequestAreFunded(t *testing.T) {
	in, p := world(t)
	signer := common.HexToAddress("0x5161")
	err := p.FundAccounts(context.Background(), []api.Account{
		{Type: api.AccountKernelV31, AccountAddress: someone.Hex(), SignerAddress: signer.Hex()},
		{Type: api.AccountSolana, AccountAddress: solanaAddress},
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(balances(t, in, someone)) == 0 || len(balances(t, in, signer)) != 0 {
		t.Error("the account must be funded and its signer not")
	}
	if sol, usdc := onSolana(t, in, solanaKey(t)); sol != "5000000000" || usdc != "250000000" {
		t.Errorf("the Solana account has %s lamports and %s of USDC", sol, usdc)
	}
	if err := p.FundAccounts(context.Background(),
		[]api.Account{{Type: api.AccountSolana, AccountAddress: someone.Hex()}}); err == nil {
		t.Error("an EVM address was taken for a Solana account")
	}
}

func TestWithoutAFaucetNobodyIsFunded(t *testing.T) {
	in := open(t, store.NewMemory())
	p := portfolio.New(portfolio.Deps{Network: in.Network, Clock: now})
	both := []api.Account{{Type: api.AccountKernelV31, AccountAddress: someone.Hex()},
		{Type: api.AccountSolana, AccountAddress: solanaAddress}}
	if err := p.FundAccounts(context.Background(), both); err != nil {
		t.Fatal(err)
	}
	if sol, usdc := onSolana(t, in, solanaKey(t)); len(balances(t, in, someone)) != 0 || sol != "0" || usdc != "0" {
		t.Error("somebody was funded")
	}
}

func TestListsHaveTheDocumentedMembers(t *testing.T) {
	_, p := world(t)
	raw, err := json.Marshal(p.Chains()[0])
	if err != nil {
		t.Fatal(err)
	}
	if string(raw) != `{"chain":{"chain":"eip155:1","namespace":"eip155","reference":"1"},"isTestnet":false}` {
		t.Errorf("%s", raw)
	}
	solana := 0
	for _, a := range p.Assets() {
		for _, e := range a.AggregatedEntities {
			if strings.HasPrefix(e.AssetType, "solana:") {
				solana++
			}
		}
	}
	if solana == 0 {
		t.Error("no Solana entity is listed")
	}
}

func BenchmarkBalances(b *testing.B) {
	in, p := world(b)
	var ids []string
	for _, a := range in.Catalog.Aggregates() {
		ids = append(ids, a.ID.String())
	}
	q := query(b, in, "eip155:1:"+someone.Hex(), strings.Join(ids, ","), "")
	for b.Loop() {
		if _, err := p.Balances(context.Background(), q); err != nil {
			b.Fatal(err)
		}
	}
}

func FuzzParseQuery(f *testing.F) {
	f.Add("eip155:1:0x1111111111111111111111111111111111111111", "ob:usdc", "eip155:1/slip44:60")
	f.Add("solana:"+solanaAddress+",eip155:10:0x1111111111111111111111111111111111111111", "ob:usdc.e,ob:1inch", "")
	f.Add(",,", "ob:", "\x00")
	in, _ := world(f)
	f.Fuzz(func(t *testing.T, account, aggregates, assets string) {
		q, failures := portfolio.ParseQuery(in.Catalog, account, aggregates, assets)
		if len(failures) == 0 && (q.EVM == nil && q.Solana == "" || len(q.Aggregates)+len(q.Assets) == 0) {
			t.Errorf("accepted without account or asset: %+v", q)
		}
		for _, x := range failures {
			if len([]rune(x.Got)) > 81 {
				t.Errorf("a failure repeats %d runes", len([]rune(x.Got)))
			}
		}
		for _, asked := range q.Assets {
			if a, err := caip.ParseAsset(asked.As); err != nil || a != asked.Asset {
				t.Errorf("%q stands for %s", asked.As, asked.Asset)
			}
		}
	})
}
