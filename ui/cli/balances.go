package cli

import (
	"fmt"
	"io"
	"math/big"
	"slices"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"coffer/api"
	"coffer/api/amount"
	"coffer/api/text"
	"coffer/ui/present"
	"coffer/wallet/verify"
)

func (p Program) balances(g *Global) *cobra.Command {
	var asJSON, all, earlier bool
	cmd := &cobra.Command{
		Use:   "balances",
		Short: "Print the balances of the profile's accounts",
		Long: `Prints what the accounts hold, added up over chains. What a check of the answer finds is said on
standard error, one line each, also with --json. A figure that must not be used reads "refused", one that is not known
"unknown"; the total is the sum of the lines above it.

--earlier prints what the accounts had on the network before this one, when that one ended. That was play money, and
nothing can move it.`,
		Example: "  coffer balances\n  coffer balances --earlier\n" +
			"  coffer balances --json | jq .totalBalance.fiatValue",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if earlier {
				return p.earlierBalances(cmd.Context(), *g, asJSON)
			}
			doc, err := p.Balances(cmd.Context(), *g)
			if err != nil {
				return err
			}
			cat, err := p.Catalog(g.Profile)
			if err != nil {
				return err
			}
			var b api.AggregatedBalance
			if err := doc.Decode(&b); err != nil {
				return err
			}
			r := present.BalanceReader{Catalog: cat, Symbols: verify.NewSymbols(cat)}
			h, err := r.Read(b)
			if err != nil {
				return err
			}
			p.findings(h)
			if asJSON {
				_, err = fmt.Fprintf(p.Out, "%s\n", doc.Raw())
				return err
			}
			return p.printBalances(h, all)
		},
	}
	AccountFlag(cmd, g)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the service's answer as it is")
	cmd.Flags().BoolVar(&earlier, "earlier", false, "print what the accounts had on the network before this one")
	cmd.Flags().BoolVar(&all, "all", false, "list assets and chains with a zero balance too")
	return cmd
}

// findings prints what the checks of an answer found (TH-B1), what the symbols of unknown assets look like (TH-B4), and
// whether the total is what its assets add up to.
func (p Program) findings(h *present.Holdings) {
	all := h.Reasons
	for _, a := range h.Assets {
		all = append(all, a.Reasons...)
		for _, part := range a.Parts {
			all = append(all, part.Reasons...)
		}
	}
	for _, r := range all {
		Finding(p.Err, r)
	}
	if h.Differs() {
		Finding(p.Err, verify.Reason{Code: "B1", Level: verify.Warn, Path: "/totalBalance/fiatValue",
			Title: "The total is not what the assets add up to.", Want: present.USD(h.Total),
			Got: present.USD(h.Says)})
	}
}

// Finding writes a reason as one line.
func Finding(w io.Writer, r verify.Reason) {
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
	fmt.Fprintln(w, text.Clean(line, maxReport))
}

// printBalances writes a table: one line for each asset, its chains below it.
func (p Program) printBalances(h *present.Holdings, all bool) error {
	w := tabwriter.NewWriter(p.Out, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, a := range h.Assets {
		if a.Given.Amount == "0" && !all {
			continue
		}
		line(w, a.Symbol, a.Amount, a.Decimals, a.Micro, a.Given, a.Reasons)
		for _, c := range a.Parts {
			if c.Given.Amount != "0" || all {
				line(w, c.ChainName, c.Amount, c.Decimals, c.Micro, c.Given, c.Reasons)
			}
		}
	}
	fmt.Fprintf(w, "total\t\t%s\t\n", dollars(h.Total))
	return w.Flush()
}

// line writes a line of the table. A figure that a check refuses is not shown, and one that is not known is never zero.
func line(w io.Writer, name string, v *big.Int, decimals int, micro *big.Int, given present.Stated,
	reasons []verify.Reason) {
	figure, fiat := amount.Unknown, dollars(micro)
	switch {
	case slices.ContainsFunc(reasons, func(r verify.Reason) bool { return r.Level == verify.Refuse && r.Code == "B1" }):
		figure, fiat = "refused", "refused"
	case v != nil && decimals >= 0:
		figure = amount.Group(amount.Format(v, decimals))
	case given.Amount != "":
		figure = given.Amount + " base units"
	}
	fmt.Fprintf(w, "%s\t%s\t%s\t\n", name, figure, fiat)
}

func dollars(micro *big.Int) string {
	if micro == nil {
		return amount.Unknown
	}
	return present.USD(micro)
}
