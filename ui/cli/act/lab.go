package act

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"coffer/api"
	"coffer/ui/cli"
	"coffer/ui/present"
	"coffer/ui/quotelab"
)

// Lab builds `coffer lab`.
func (c Commands) Lab(g *cli.Global) *cobra.Command {
	var asJSON, asCSV, asSVG bool
	vary := []string{"funding"}
	best := "cost"
	cmd := &cobra.Command{
		Use:   "lab [QUESTION]",
		Short: "Compare the quotes of an order under several variants",
		Long: `Opens the dashboard's Lab on a question, or with --json, --csv or --svg, or without a terminal, prints
the comparison. Nothing is signed: swaps and transfers are quoted, calls are only prepared, and what they cost is an
estimate. A question is an order in words; the Lab's key y copies the question that it shows:

  swap AMOUNT ASSET for ASSET [to ADDRESS [on CHAIN]] [, at least AMOUNT ASSET] [, slippage PERCENT %]
  transfer AMOUNT ASSET to ADDRESS on CHAIN [, at least AMOUNT ASSET] [, slippage PERCENT %]
  call on CHAIN ADDRESS [value AMOUNT UNIT] [data 0x...] [function "..."] [; ADDRESS ...] [, needs AMOUNT ASSET]
      [, allow AMOUNT ASSET for ADDRESS] [, pay with ASSET] [, slippage PERCENT %]

Exit codes: 0 printed, 1 failed, 2 command line, 3 keys or access, 5 interrupted.`,
		Example: `  coffer lab 'swap 5 USDC@optimism for ETH@base, slippage 0.5 %'
  coffer lab 'swap 5 USDC for ETH@base' --vary funding,arrival --json | jq .best
  coffer lab 'transfer 25 USDC to 0x93DBD23b6b71b82E3A19aD8d51DdEBbB13aF7BC0 on base' --svg > route.svg`,
		Args: cobra.ArbitraryArgs,
	}
	f := cmd.Flags()
	cli.JSONFlag(cmd, &asJSON)
	f.BoolVar(&asCSV, "csv", false, "print a line of CSV for each variant")
	f.BoolVar(&asSVG, "svg", false, "print the route and the curve as a picture (SVG)")
	f.StringSliceVar(&vary, "vary", vary, "what varies: funding, slippage, accounts, arrival")
	f.StringVar(&best, "best", best, "what decides which variant is the best: cost, minimum, signatures, lifetime")
	printed := c.chosen(g, cmd, func(cmd *cobra.Command, s *Session, args []string) error {
		report, err := c.compare(cmd, s, strings.Join(args, " "), vary, best)
		if err != nil {
			return err
		}
		switch {
		case asJSON:
			b, err := report.JSON(s.world(c.Clock))
			return orWrite(c, b, err)
		case asCSV:
			b, err := report.CSV()
			return orWrite(c, b, err)
		case asSVG:
			return c.write(report.SVG())
		}
		return c.write([]byte(labRows(report)))
	}).RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if asJSON && asCSV || asJSON && asSVG || asCSV && asSVG {
			return cli.Misused(cmd, "--json, --csv and --svg are three forms: give one")
		}
		if c.Dashboard != nil && !asJSON && !asCSV && !asSVG {
			g.Question = strings.Join(args, " ")
			g.Lab = true
			return c.Dashboard(cmd.Context(), *g)
		}
		return printed(cmd, args)
	}
	return cmd
}

func orWrite(c Commands, b []byte, err error) error {
	if err != nil {
		return err
	}
	return c.write(b)
}

// compare asks a question under every variant.
func (c Commands) compare(cmd *cobra.Command, s *Session, text string, vary []string,
	best string) (out quotelab.Report, err error) {
	var axes quotelab.Axes
	for _, name := range vary {
		axis := map[string]*bool{"funding": &axes.Funding, "slippage": &axes.Slippage, "accounts": &axes.Accounts,
			"arrival": &axes.Arrival}[name]
		if axis == nil {
			return out, usage("", "--vary takes funding, slippage, accounts and arrival, with commas between them")
		}
		*axis = true
	}
	by := slices.Index([]string{"cost", "minimum", "signatures", "lifetime"}, best)
	if by < 0 {
		return out, usage("", "--best takes cost, minimum, signatures or lifetime")
	}
	w := s.world(c.Clock)
	draft, problem := w.Question(text)
	if problem != "" {
		return out, usage("for instance: coffer lab 'swap 5 USDC@optimism for ETH@base, slippage 0.5 %'", "%s",
			clean(problem))
	}
	in, err := c.frozen(s, draft)
	if err != nil {
		return out, err
	}
	asker, done, err := s.Lab()
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, done()) }()
	p := quotelab.Planner{Draft: in.Draft(), Rules: w.Rules(), Accounts: s.Accounts}
	if answer, err := s.Service.BalancesDocument(cmd.Context(), s.Query); err != nil {
		c.say("the balances are not known, so only the order's own funding is tried: %s", present.ErrorText(err))
	} else {
		var held api.AggregatedBalance
		if err := answer.Decode(&held); err != nil {
			return out, err
		}
		p.Held = &held
	}
	out, err = asker.Compare(cmd.Context(), p, axes, quotelab.Measure(by))
	out.Question, _ = w.QuestionOf(draft)
	return out, err
}

// labRows writes a report for a reader.
func labRows(r quotelab.Report) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n", r.Question)
	w := cli.Columns(&b)
	facts := slices.DeleteFunc(quotelab.Facts(r.Variants), func(f quotelab.Fact) bool {
		return !slices.Contains([]string{"pays with", "receives", "cost", "cost share"}, f.Name) && (!f.Differs ||
			slices.Contains([]string{"from", "fees", "minimum", "answered in"}, f.Name))
	})
	for i := -1; i < len(r.Variants); i++ {
		row := ""
		if i >= 0 {
			row = strconv.Itoa(i + 1)
		}
		for _, f := range facts {
			value := f.Name
			if i >= 0 {
				value = f.Values[i]
			}
			row += "\t" + value
		}
		fmt.Fprintln(w, row)
	}
	_ = w.Flush()
	for _, line := range r.Said() {
		fmt.Fprintln(&b, line)
	}
	return b.String()
}
