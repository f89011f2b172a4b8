package cli

import (
	"fmt"
	"math/big"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"coffer/api"
	"coffer/api/amount"
	"coffer/api/caip"
	"coffer/api/catalog"
	"coffer/api/text"
)

func (p Program) balances(g *Global) *cobra.Command {
	var asJSON, all bool
	cmd := &cobra.Command{
		Use:     "balances",
		Short:   "Print the balances of the profile's accounts",
		Example: "  coffer balances\n  coffer balances --json | jq .totalBalance.fiatValue",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			doc, err := p.Balances(cmd.Context(), *g)
			if err != nil {
				return err
			}
			if asJSON {
				_, err = fmt.Fprintf(p.Out, "%s\n", doc.Raw())
				return err
			}
			cat, err := p.Catalog()
			if err != nil {
				return err
			}
			return p.printBalances(doc, cat, all)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the service's answer as it is")
	cmd.Flags().BoolVar(&all, "all", false, "list assets and chains with a zero balance too")
	return cmd
}

// printBalances writes a table: one line for each asset, its chains below it.
func (p Program) printBalances(doc *api.Document, cat *catalog.Catalog, all bool) error {
	var b api.AggregatedBalance
	if err := doc.Decode(&b); err != nil {
		return err
	}
	w := tabwriter.NewWriter(p.Out, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, a := range b.BalanceByAggregatedAsset {
		if a.Balance == "0" && !all {
			continue
		}
		agg, known := cat.Aggregate(caip.AggregateID(a.AggregatedAssetID))
		if !known {
			fmt.Fprintf(w, "%s\t%s base units\t%s\t\n", text.Clean(a.AggregatedAssetID, 60), text.Clean(a.Balance, 80), usd(a.FiatValue))
			continue
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t\n", agg.Symbol, units(a.Balance, agg.Decimals), usd(a.FiatValue))
		for _, one := range a.IndividualAssetBalances {
			if one.Balance == "0" && !all {
				continue
			}
			name, decimals := chainOf(cat, one.AssetType)
			fmt.Fprintf(w, "%s\t%s\t%s\t\n", name, units(one.Balance, decimals), usd(one.FiatValue))
		}
	}
	fmt.Fprintf(w, "total\t\t%s\t\n", usd(b.TotalBalance.FiatValue))
	return w.Flush()
}

// chainOf names the chain of an asset and gives its decimals, -1 when the asset is not in the catalogue.
func chainOf(cat *catalog.Catalog, assetType string) (string, int) {
	asset, err := caip.ParseAsset(assetType)
	if err != nil {
		return text.Clean(assetType, 80), -1
	}
	name := asset.Chain.String()
	if c, ok := cat.Chain(asset.Chain); ok {
		name = c.Name
	}
	if e, ok := cat.Entity(asset); ok {
		return name, e.Decimals
	}
	return name, -1
}

// units writes an amount with its decimals; what cannot be read or scaled is unknown, never zero.
func units(s string, decimals int) string {
	v, err := amount.ParseBase(s)
	if err != nil || decimals < 0 {
		return "unknown"
	}
	return amount.Group(amount.Format(v, decimals))
}

// usd writes a dollar value with two decimals, "unknown" when there is none.
func usd(n api.Number) string {
	micro, ok := n.Micro()
	if !ok {
		return "unknown"
	}
	cents := new(big.Int).Quo(micro, big.NewInt(10_000))
	return "$" + strings.TrimPrefix(amount.Group(amount.Format(cents, 2)), "$")
}
