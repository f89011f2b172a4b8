package act

import (
	"slices"
	"strings"

	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/spf13/cobra"

	"coffer/api"
	"coffer/api/caip"
	"coffer/ui/cli"
	"coffer/ui/present"
	"coffer/wallet/flow"
	"coffer/wallet/journal"
)

// Refund builds `coffer refund`.
func (c Commands) Refund(g *cli.Global) *cobra.Command {
	var asJSON, show bool
	cmd := &cobra.Command{
		Use:   "refund [QUOTE…]",
		Short: "Print the calls that take payments back",
		Long: `QUOTE is the id of a quote (0x…) that this wallet signed payments for; without one, of every quote that
did not end COMPLETED. Once its time is over, a payment for which nothing was delivered can be taken
back: anyone may send this call, from any account and without the service, and the payment goes to the account that made
it. The call does nothing where a delivery was made or the payment is back already. A payment on Solana has no such
call: the service's own account holds it.

--print reads the journal alone: chain, contract and call data, to paste into any wallet or node, with no value. So far
this program sends them nowhere itself; the service gives unused payments back.`,
		Example: "  coffer refund --print\n  coffer refund --json | jq -r '.[] | select(.due) | .data'",
		Args: func(_ *cobra.Command, args []string) error {
			if slices.ContainsFunc(args, func(a string) bool { return !reQuote.MatchString(a) }) {
				return usage("see `coffer history` and `coffer export`",
					"`coffer refund` takes ids of quotes: 0x and 64 digits")
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&show, "print", false, "print the calls and send nothing")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the calls as a JSON list and send nothing")
	return c.works(g, cmd, func(_ *cobra.Command, s *Session, args []string) error {
		return c.refund(s, args, show, asJSON)
	})
}

// refundFact is a refund as JSON.
type refundFact struct {
	QuoteID     string          `json:"quoteId"`
	Chain       string          `json:"chain"`
	To          string          `json:"to"`
	Data        string          `json:"data"`
	Value       string          `json:"value"`
	Depositor   string          `json:"depositor"`
	Pays        []journal.Spend `json:"pays,omitempty"`
	RefundAfter string          `json:"refundAfter,omitzero"`
	Due         bool            `json:"due"` // RefundAfter is past
}

func (c Commands) refund(s *Session, quotes []string, show, asJSON bool) error {
	list, err := s.refunds(quotes)
	if err != nil {
		return err
	}
	facts, p := []refundFact{}, &page{}
	p.Line(present.Plural(len(list), "payment", "payments") + " that may be taken back")
	for _, r := range list {
		f := refundFact{QuoteID: r.QuoteID, Chain: r.Chain, To: r.Escrow.Hex(), Data: hexutil.Encode(r.Data),
			Value:     "0",
			Depositor: r.Depositor.Hex(), Pays: r.Pays, RefundAfter: at(r.After),
			Due: !r.After.IsZero() && c.Clock().After(r.After)}
		facts = append(facts, f)
		p.refund(s, r, f)
	}
	switch {
	case asJSON:
		return c.write(encode(facts))
	case show || len(list) == 0:
		return c.write([]byte(p.String()))
	}
	return outcome(cli.ExitFailed, nil,
		"nothing was sent: on this network the service gives unused payments back. To do "+
			"it without the service, send what `coffer refund --print` prints, from any wallet or node")
}

// refunds finds the payments of the quotes; without any those of every operation that did not end COMPLETED.
func (s *Session) refunds(quotes []string) ([]flow.Refund, error) {
	b, err := s.Read()
	if err != nil {
		return nil, err
	}
	var out []flow.Refund
	if b != nil {
		defer func() { _ = b.Close() }()
		for _, o := range b.Operations() {
			if len(quotes) > 0 || o.Outcome != api.StatusCompleted {
				out = append(out, flow.Refunds(s.Network, o)...)
			}
		}
	}
	if len(quotes) == 0 {
		return out, nil
	}
	named := func(r flow.Refund) bool {
		return slices.ContainsFunc(quotes, func(q string) bool { return strings.EqualFold(q, r.QuoteID) })
	}
	for _, q := range quotes {
		if !slices.ContainsFunc(out, func(r flow.Refund) bool { return strings.EqualFold(q, r.QuoteID) }) {
			return nil, usage("`coffer export` lists the operations",
				"this wallet sent no payment on an EVM chain for the quote %s", q)
		}
	}
	return slices.DeleteFunc(out, func(r flow.Refund) bool { return !named(r) }), nil
}

// refund writes a call that takes a payment back.
func (p *page) refund(s *Session, r flow.Refund, f refundFact) {
	var paid []string
	for _, x := range r.Pays {
		paid = append(paid, present.Human(present.Base(s.Catalog, x.Asset, x.Amount)))
	}
	name := r.Chain
	if chain, err := caip.ParseChain(r.Chain); err == nil {
		if info, ok := s.Catalog.Chain(chain); ok {
			name = info.Name + " (" + r.Chain + ")"
		}
	}
	p.Row("quote "+clean(r.QuoteID), strings.Join(paid, ", "))
	p.Sub("chain", name)
	p.Sub("contract", f.To)
	p.Sub("call data", f.Data)
	p.Sub("value", f.Value)
	p.Sub("goes to", f.Depositor)
	switch {
	case f.Due:
		p.Sub("since", stamp(r.After)+": it can be sent now")
	case r.After.IsZero():
		p.Sub("from", "a time that this wallet does not know")
	default:
		p.Sub("after", stamp(r.After)+": before that it does nothing")
	}
}
