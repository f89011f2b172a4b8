package tuitest

import (
	"cmp"
	"fmt"
	"math/big"
	"testing"
	"time"

	"coffer/api"
	"coffer/api/amount"
	"coffer/api/catalog"
	"coffer/ui/sample"
	"coffer/ui/tui/screen"
)

// The sample account and its signer, in EIP-55 form.
const (
	Account = sample.Account
	Signer  = sample.Signer
)

// Now is the time of the sample clock.
func Now() time.Time { return sample.Now() }

// Context is the context of the demo profile on an embedded network, with a stopped clock.
func Context(t testing.TB) screen.Context {
	c, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	return screen.Context{
		Profile: "demo", BaseURL: "https://embedded.invalid/api", Catalog: c, Clock: Now,
		Network: sample.Network(),
		Accounts: []api.Account{{Type: api.AccountKernelV31, AccountAddress: Account, SignerAddress: Signer,
			DeploymentType: api.DeploymentERC4337}},
	}
}

// Balances lists the balances of the sample account; every other asset of the catalog is zero.
func Balances(t testing.TB) api.AggregatedBalance {
	held := map[string]string{ // whole units, by aggregate and index of its entity
		"ob:usdc 3": "25", "ob:usdc 1": "850.25", "ob:usdc 4": "1400", "ob:eth 0": "0.1", "ob:eth 2": "0.2123",
		"ob:eth 3": "0.100000000000000001", "ob:wbtc 0": "0.01", "ob:dai 0": "310.5", "ob:weth 3": "0.05",
		"ob:zero 0": "1200",
	}
	return sample.Balances(Context(t).Catalog, func(a catalog.Aggregate, i int) *big.Int {
		v, err := amount.Parse(cmp.Or(held[fmt.Sprint(a.ID, " ", i)], "0"), a.Entities[i].Decimals)
		if err != nil {
			t.Fatal(err)
		}
		return v
	})
}

// QuoteID is the id of sample record i.
func QuoteID(i int) string { return sample.QuoteID(i) }

// Record is sample record i of history; a larger i is older.
func Record(i int) api.HistoryRecord { return sample.Record(i) }
