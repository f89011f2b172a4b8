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
	"coffer/wallet/verify"
)

func (p Program) balances(g *Global) *cobra.Command {
	var asJSON, all bool
	cmd := &cobra.Command{
		Use:   "balances",
		Short: "Print the balances of the profile's accounts",
		Long: `Prints what the accounts hold, added up over chains. What a check of the answer finds is said on
standard error, one line each, also with --json. A figure that must not be used reads "refused", one that is not known
"unknown"; the total is the sum of the lines above it.`,
		Example: "  coffer balances\n  coffer balances --json | jq .totalBalance.fiatValue",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			doc, err := p.Balances(cmd.Context(), *g)
			if err != nil {
				return err
			}
			cat, err := p.Catalog()
			if err != nil {
				return err
			}
			var b api.AggregatedBalance
			if err := doc.Decode(&b); err != nil {
				return err
			}
			p.findings(cat, b)
			if asJSON {
				_, err = fmt.Fprintf(p.Out, "%s\n", doc.Raw())
				return err
			}
			return p.printBalances(b, cat, all)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the service's answer as it is")
	cmd.Flags().BoolVar(&all, "all", false, "list assets and chains with a zero balance too")
	return cmd
}

// findings prints the findings of the checks of an answer (TH-B1), and what the symbols of unknown assets look like
// (TH-B4).
func (p Program) findings(cat *catalog.Catalog, b api.AggregatedBalance) {
	for _, r := range verify.Balances(cat, b).Reasons {
		p.finding(r)
	}
	symbols := verify.NewSymbols(cat)
	for i, a := range b.BalanceByAggregatedAsset {
		if _, known := cat.Aggregate(caip.AggregateID(a.AggregatedAssetID)); known {
			continue
		}
		if _, r := symbols.Judge(symbolOf(a.AggregatedAssetID)); r != nil {
			r.Path = fmt.Sprintf("/balanceByAggregatedAsset/%d/aggregatedAssetId", i)
			p.finding(*r)
		}
	}
	sum, says := newSheet(cat, b).total, micro(b.TotalBalance.FiatValue)
	if sum != nil && says != nil && new(big.Int).Sub(sum,
		says).CmpAbs(big.NewInt(int64(len(b.BalanceByAggregatedAsset)+1)*10_000)) > 0 {
		p.finding(verify.Reason{Code: "B1", Level: verify.Warn, Title: "The total is not what the assets add up to.",
			Path: "/totalBalance/fiatValue", Want: dollars(sum), Got: dollars(says)})
	}
}

// finding writes a reason as one line on standard error.
func (p Program) finding(r verify.Reason) {
	line := string(r.Level) + " " + r.Code + ": " + r.Title
	if r.Want != "" {
		line += " Expected: " + r.Want + "."
	}
	if r.Got != "" {
		line += " Found: " + r.Got + "."
	}
	if r.Path != "" {
		line += " At " + r.Path
	}
	fmt.Fprintln(p.Err, text.Clean(line, maxReport))
}

func symbolOf(id string) string { return strings.TrimPrefix(id, "ob:") }

// sheetLine is a line of the table: an asset, or a chain of one. zero: only --all shows it.
type sheetLine struct {
	name, amount, fiat string
	zero               bool
	chains             []sheetLine
}

// sheet is an answer for printing. total is micro USD, nil when nothing has a price.
type sheet struct {
	lines []sheetLine
	total *big.Int
}

const refusedFigure = "refused"

// newSheet takes decimals and names from the catalogue, and leaves out figures that a check refuses: those of an asset
// that is listed twice, and of a part that belongs to another asset.
func newSheet(cat *catalog.Catalog, b api.AggregatedBalance) sheet {
	var s sheet
	symbols := verify.NewSymbols(cat)
	seen := map[string]bool{}
	for _, a := range b.BalanceByAggregatedAsset {
		line := sheetLine{name: symbolOf(a.AggregatedAssetID), fiat: usd(a.FiatValue), zero: a.Balance == "0"}
		agg, known := cat.Aggregate(caip.AggregateID(a.AggregatedAssetID))
		if known {
			line.name, line.amount = agg.Symbol, units(a.Balance, agg.Decimals)
		} else {
			view, _ := symbols.Judge(line.name)
			line.name, line.amount = text.Clean(view.String(), 200), "unknown"
			if v, err := amount.ParseBase(a.Balance); err == nil {
				line.amount = v.String() + " base units"
			}
		}
		if seen[a.AggregatedAssetID] {
			line.amount, line.fiat, line.zero = refusedFigure, refusedFigure, false
			s.lines = append(s.lines, line)
			continue
		}
		seen[a.AggregatedAssetID] = true
		if v := micro(a.FiatValue); v != nil {
			if s.total == nil {
				s.total = new(big.Int)
			}
			s.total.Add(s.total, v)
		}
		parts := map[caip.Asset]bool{}
		for _, one := range a.IndividualAssetBalances {
			line.chains = append(line.chains, chainLine(cat, one, a.AggregatedAssetID, parts))
		}
		s.lines = append(s.lines, line)
	}
	return s
}

// chainLine is the asset of one chain; seen are the assets of the lines above it.
func chainLine(cat *catalog.Catalog, b api.AssetBalance, of string, seen map[caip.Asset]bool) sheetLine {
	asset, err := caip.ParseAsset(b.AssetType)
	if err != nil {
		return sheetLine{name: text.Clean(b.AssetType, 80), amount: refusedFigure, fiat: refusedFigure}
	}
	line := sheetLine{name: asset.Chain.String(), amount: "unknown", fiat: usd(b.FiatValue), zero: b.Balance == "0"}
	if c, ok := cat.Chain(asset.Chain); ok {
		line.name = c.Name
	}
	e, ok := cat.Entity(asset)
	if ok && e.Aggregate.String() != of || seen[asset] {
		line.amount, line.fiat, line.zero = refusedFigure, refusedFigure, false
	} else if ok {
		line.amount = units(b.Balance, e.Decimals)
	}
	seen[asset] = true
	return line
}

// printBalances writes a table: one line for each asset, its chains below it.
func (p Program) printBalances(b api.AggregatedBalance, cat *catalog.Catalog, all bool) error {
	w := tabwriter.NewWriter(p.Out, 0, 0, 2, ' ', tabwriter.AlignRight)
	s := newSheet(cat, b)
	for _, a := range s.lines {
		if a.zero && !all {
			continue
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t\n", a.name, a.amount, a.fiat)
		for _, one := range a.chains {
			if !one.zero || all {
				fmt.Fprintf(w, "%s\t%s\t%s\t\n", one.name, one.amount, one.fiat)
			}
		}
	}
	total := "unknown"
	if s.total != nil {
		total = dollars(s.total)
	}
	fmt.Fprintf(w, "total\t\t%s\t\n", total)
	return w.Flush()
}

// units writes an amount with its decimals; an amount that does not parse or scale is unknown, never zero.
func units(s string, decimals int) string {
	v, err := amount.ParseBase(s)
	if err != nil || decimals < 0 {
		return "unknown"
	}
	return amount.Group(amount.Format(v, decimals))
}

// usd writes a dollar value with two decimals, "unknown" without one.
func usd(n api.Number) string {
	v := micro(n)
	if v == nil {
		return "unknown"
	}
	return dollars(v)
}

// micro reads a dollar value in micro USD, nil when it is no figure or negative.
func micro(n api.Number) *big.Int {
	v, ok := n.Micro()
	if !ok || v.Sign() < 0 {
		return nil
	}
	return v
}

// dollars writes micro USD with two decimals, rounded towards zero.
func dollars(micro *big.Int) string {
	return "$" + amount.Group(amount.Format(new(big.Int).Quo(micro, big.NewInt(10_000)), 2))
}
