package devnet_test

import (
	"math/big"
	"slices"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api/caip"
	"coffer/api/op/erc20"
	"coffer/api/service/chain/evm"
	"coffer/api/service/devnet"
	"coffer/api/service/store"
)

// Accounts that genesis endows have the coin and the tokens of test funds on every chain, out of the treasury's part;
// the data says who they are.
func TestGenesisEndowsAccounts(t *testing.T) {
	s, o := store.NewMemory(), options()
	o.Endow = []common.Address{{9}, {8}, {9}}
	in, err := devnet.Open(s, o)
	if err != nil {
		t.Fatal(err)
	}
	if in.ID == open(t, store.NewMemory()).ID {
		t.Error("it is the network without endowments")
	}
	again := open(t, s)
	if want := []common.Address{{8}, {9}}; !slices.Equal(in.Endowed, want) || !slices.Equal(again.Endowed, want) {
		t.Errorf("%v, opened again %v", in.Endowed, again.Endowed)
	}
	given := map[caip.Asset]bool{}
	for _, id := range devnet.FundAssets() {
		agg, known := again.Catalog.Aggregate(id)
		if !known {
			t.Errorf("there is no %s", id)
		}
		for _, e := range agg.Entities {
			given[e.Asset] = true
		}
	}
	for _, id := range again.ChainIDs {
		c := again.Chains[id].(*evm.Chain)
		if n, err := c.Verify(t.Context()); err != nil || n != 1 {
			t.Errorf("eip155:%d: %d blocks, %v", id, n, err)
		}
		st, err := c.State(t.Context(), 0)
		if err != nil {
			t.Fatal(err)
		}
		coins := new(big.Int)
		for _, a := range []common.Address{{8}, {9}} {
			if st.Balance(a).Cmp(devnet.Endowment(18)) != 0 {
				t.Errorf("eip155:%d: %s has %s of the coin", id, a, st.Balance(a))
			}
		}
		for _, a := range []common.Address{{8}, {9}, again.Treasury.Address(), again.Faucet.Address(),
			again.Operator.Address(), again.Pins.Solver} {
			coins.Add(coins, st.Balance(a))
		}
		st.Close()
		whole := new(big.Int).Mul(big.NewInt(1_000_000_000), big.NewInt(1_000_000_000_000_000_000))
		if burned := whole.Sub(whole, coins); burned.Sign() <= 0 || burned.BitLen() > 60 {
			t.Errorf("eip155:%d: %s of the coin is missing", id, burned)
		}
	}
	for _, a := range tokens(again) {
		sum := new(big.Int)
		e, _ := again.Catalog.Entity(a)
		for _, h := range []common.Address{{8}, {9}} {
			has := call(t, again, a, erc20.BalanceOf(h))
			if want := devnet.Endowment(e.Decimals); given[a] && has.Cmp(want) != 0 {
				t.Errorf("%s: %s has %s, expected %s", a, h, has, want)
			}
			sum.Add(sum, has)
		}
		for _, h := range []common.Address{again.Treasury.Address(), again.Pins.Solver, again.Faucet.Address()} {
			sum.Add(sum, call(t, again, a, erc20.BalanceOf(h)))
		}
		if total := call(t, again, a, common.FromHex("0x18160ddd")); sum.Cmp(total) != 0 {
			t.Errorf("%s: %s of %s", a, sum, total)
		}
	}
}

// A catalogue file that counts a token like one of the program among the test funds does not change what genesis gave.
func TestACatalogueFileLeavesEndowmentsAsTheyAre(t *testing.T) {
	s, o := store.NewMemory(), options()
	o.Endow = []common.Address{{9}}
	if _, err := devnet.Open(s, o); err != nil {
		t.Fatal(err)
	}
	const bridged = `{"aggregatedAssetId": "ob:usdc", "symbol": "USDC", "name": "USD Coin", "decimals": 6,
		"priceMicroUSD": "999800", "aggregatedEntities": [
		{"assetType": "eip155:100/erc20:0x2a22f9c3b484c3629090FeED35F17Ff8F88f76F0", "decimals": 6,
			"name": "Bridged USDC", "symbol": "USDC.e"}]}`
	for _, text := range []string{catalogFile(addedChain, addedCoin), catalogFile(addedChain, addedCoin, bridged)} {
		for _, c := range mustOpen(t, s, text).Chains {
			if n, err := c.(*evm.Chain).Verify(t.Context()); err != nil || n == 0 {
				t.Errorf("eip155:%d: %d blocks, %v", c.ID(), n, err)
			}
		}
	}
}
