package act

import (
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"coffer/api/op/erc20"
	"coffer/ui/cli"
	"coffer/ui/present"
)

// Allowances builds `coffer accounts allowances`.
func (c Commands) Allowances(g *cli.Global) *cobra.Command {
	var o runOptions
	var revoke int
	cmd := &cobra.Command{
		Use:   "allowances",
		Short: "List what contracts were allowed to take, and revoke it",
		Long: `Lists the allowances in the journal: token, spender, amount, and the operation. Coffer takes back what it
sets, in the same operation. An allowance that was there before stays, because nothing of this wallet set it.
` + present.AllowancesUnknown + `

--revoke N runs an operation that sets allowance N of the list to 0, by the same reviews as any call. An operation needs
a call, so this one also reads the allowance, which changes nothing.
` + signingHelp,
		Example: "  coffer accounts allowances --json\n  coffer accounts allowances --revoke 1",
	}
	o.flags(cmd)
	cmd.Flags().IntVar(&revoke, "revoke", 0, "the number of the allowance to set to 0")
	cmd.PreRunE = func(cmd *cobra.Command, _ []string) error {
		if cmd.Flags().Changed("revoke") {
			return o.ready(c)
		}
		return nil
	}
	return c.chosen(g, cmd, func(cmd *cobra.Command, s *Session, _ []string) error {
		list, err := s.allowances()
		switch {
		case err != nil:
			return err
		case !cmd.Flags().Changed("revoke"):
			return c.listAllowances(s, list, o.json)
		case revoke < 1 || revoke > len(list):
			return usage("see `coffer accounts allowances`", "--revoke takes a number from the list, which has %s",
				present.Plural(len(list), "allowance", "allowances"))
		}
		d, problem := s.world(c.Clock).Revocation(list[revoke-1].Asset, list[revoke-1].Spender)
		if problem != "" {
			return wrong("--revoke", problem, "")
		}
		return c.freezeAndRun(cmd.Context(), s, o, d)
	})
}

func (s *Session) allowances() ([]present.Allowance, error) {
	b, err := s.Read()
	if err != nil || b == nil {
		return nil, err
	}
	defer func() { _ = b.Close() }()
	return present.Allowances(b.Operations(), s.Accounts), nil
}

// allowanceFact is an allowance as JSON. OnChain is always "unknown".
type allowanceFact struct {
	Number    int    `json:"number"`
	Asset     string `json:"asset"`
	Spender   string `json:"spender"`
	Amount    string `json:"amount"`
	Unlimited bool   `json:"unlimited"`
	State     string `json:"state"`
	Ran       bool   `json:"ran"`
	OnChain   string `json:"onChain"`
	Operation string `json:"operation"`
	At        string `json:"at"`
}

func (c Commands) listAllowances(s *Session, list []present.Allowance, asJSON bool) error {
	facts, p := []allowanceFact{}, &page{}
	p.Line(present.Plural(len(list), "allowance", "allowances") + " in the journal")
	for i, x := range list {
		f := allowanceFact{Number: i + 1, Asset: x.Asset, Spender: x.Spender, Amount: x.Amount.String(),
			Unlimited: erc20.Unlimited(x.Amount), State: string(x.State), Ran: x.Ran, OnChain: "unknown",
			Operation: x.Operation, At: at(x.At)}
		facts = append(facts, f)
		p.Row(strconv.Itoa(f.Number), x.Figure(s.Catalog))
		for _, r := range x.Rows(s.nameOf, cli.Clock) {
			p.Sub(r.Label, strings.TrimSpace(r.Name+" "+r.Address+r.Text))
		}
	}
	if asJSON {
		return c.write(encode(facts))
	}
	p.Line(present.AllowancesUnknown)
	return c.write([]byte(p.String()))
}
