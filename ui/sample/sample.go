// Package sample makes up what a service answers about one account, for tests and measurements of the screens. Coffer
// does not link it.
package sample

import (
	"fmt"
	"math/big"
	"strings"
	"time"

	"coffer/api"
	"coffer/api/amount"
	"coffer/api/catalog"
	"coffer/api/network"
)

// Account is the address of the sample account, in EIP-55 form.
const Account = "0xfe52613d747E20F2f62e0A5cC36B0DFAe771C442"

// Signer is its signer.
const Signer = "0xcd75e991A4986A4E96042BFB3F6a7AB26F7b5B72"

// Now is the time of the sample clock.
func Now() time.Time { return time.Date(2026, 11, 21, 9, 30, 0, 0, time.UTC) }

// Network is the sample network, an embedded one.
func Network() network.Descriptor {
	return network.Descriptor{Version: 1, ID: "0x" + strings.Repeat("3fa94c01", 8), Kind: network.Embedded}
}

// Balances is an answer in which the account has of each asset of a catalogue what have says, in base units of the
// i-th entity of an aggregate.
func Balances(c *catalog.Catalog, have func(a catalog.Aggregate, i int) *big.Int) api.AggregatedBalance {
	var out api.AggregatedBalance
	total := new(big.Int)
	for _, a := range c.Aggregates() {
		agg := api.AggregateBalance{AggregatedAssetID: string(a.ID)}
		sum, worth := new(big.Int), new(big.Int)
		for i, e := range a.Entities {
			v := have(a, i)
			part := api.AssetBalance{AssetType: e.Asset.String(), Balance: v.String()}
			if a.PriceMicroUSD != nil {
				micro := amount.Value(v, e.Decimals, a.PriceMicroUSD)
				part.FiatValue = api.Micro(micro)
				worth.Add(worth, micro)
			}
			sum.Add(sum, amount.Scale(v, e.Decimals, a.Decimals))
			agg.IndividualAssetBalances = append(agg.IndividualAssetBalances, part)
		}
		agg.Balance = sum.String()
		if a.PriceMicroUSD != nil {
			agg.FiatValue = api.Micro(worth)
			total.Add(total, worth)
		}
		out.BalanceByAggregatedAsset = append(out.BalanceByAggregatedAsset, agg)
	}
	out.TotalBalance.FiatValue = api.Micro(total)
	return out
}

// QuoteID is the id of sample record i.
func QuoteID(i int) string { return fmt.Sprintf("0x%064x", 0x9f3c0000_00000000+uint64(i)*7919) }

// Record is sample record i of history; a larger i is older.
func Record(i int) api.HistoryRecord {
	const usdcBase = "eip155:8453/erc20:0x833589fcd6edb6e08f4c7c32d4f71b54bda02913"
	const usdcOptimism = "eip155:10/erc20:0x0b2c639c533813f4aa9d7837caf62653d097ff85"
	kinds := []string{api.RecordCall, api.RecordCall, api.RecordSwap, api.RecordTransfer}
	statuses := []string{api.StatusCompleted, api.StatusCompleted, api.StatusRefunded, api.StatusCompleted,
		api.StatusFailed, api.StatusCompleted, "SETTLING"}
	n := i & 0xffff // records newer than number 0 have negative numbers
	units := 225_500_000 + n*1_000_000
	r := api.HistoryRecord{
		QuoteID: QuoteID(i), Status: statuses[n%len(statuses)], User: Account,
		RecipientAccountID: "eip155:8453/" + Account, Type: kinds[n%len(kinds)],
		OriginToken: api.OriginToken{AggregatedAssetID: "ob:usdc", Amount: fmt.Sprint(units + 480_000),
			AssetType: []string{usdcOptimism}},
		DestinationToken: api.DestinationToken{AggregatedAssetID: "ob:usdc", Amount: fmt.Sprint(units),
			AssetType: usdcBase,
			FiatValue: amount.USD2(big.NewInt(int64(units)))},
		Timestamp: Now().Add(-time.Duration(i) * 97 * time.Minute).Format(time.RFC3339),
	}
	if r.Status == api.StatusRefunded {
		r.FailReason = "SLIPPAGE"
	}
	r.OriginChainOperations = []api.OperationRef{operation("eip155:10", i*2)}
	r.DestinationChainOperations = []api.OperationRef{operation("eip155:8453", i*2+1)}
	return r
}

func operation(chain string, i int) api.OperationRef {
	hash := fmt.Sprintf("0x%064x", 0x51ab0000_00000000+uint64(i)*104729)
	return api.OperationRef{Hash: hash, Chain: chain, ExplorerURL: "https://embedded.invalid/explorer/" + chain +
		"/tx/" + hash}
}
