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
		Use:   "refund [QUOTE...]",
		Short: "Print the calls that reclaim payments",
		Long: `QUOTE is the id of a quote (0x...) that this wallet signed payments for; without one, the command lists
every quote. Where the service calls a quote COMPLETED, this wallet does not know whether the escrow still holds the
payment: it comes last, and the command prints its call when you give its id. After the refund deadline you can reclaim
a payment for which nothing was delivered: anyone may send this call, from any account and without the service, and the
payment goes to the account that made it. The call does nothing after a delivery or a refund. A payment on Solana has no
such call: the service's own account holds it.

--print reads the journal alone: chain, contract and call data, to paste into any wallet or node, with no value. This
program does not send them itself; the service refunds unused payments.`,
		Example: "  coffer refund --print\n  coffer refund --json | " +
			"jq -r '.[] | select(.due and .serviceSays != \"COMPLETED\") | .data'",
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
	ServiceSays string          `json:"serviceSays,omitzero"`
}

func (c Commands) refund(s *Session, quotes []string, show, asJSON bool) error {
	list, open, err := s.refunds(quotes)
	if err != nil {
		return err
	}
	facts, p := []refundFact{}, &page{}
	p.Line(present.Plural(open, "payment", "payments") + " that may be taken back")
	for i, r := range list {
		f := refundFact{QuoteID: r.QuoteID, Chain: r.Chain, To: r.Escrow.Hex(), Data: hexutil.Encode(r.Data),
			Value:     "0",
			Depositor: r.Depositor.Hex(), Pays: r.Pays, RefundAfter: at(r.After),
			Due: !r.After.IsZero() && c.Clock().After(r.After), ServiceSays: clean(r.Said)}
		facts = append(facts, f)
		p.refund(s, r, f, i < open)
	}
	switch {
	case asJSON:
		return c.write(encode(facts))
	case show || open == 0:
		return c.write([]byte(p.String()))
	}
	return outcome(cli.ExitFailed, nil,
		"nothing was sent: on this network the service gives unused payments back. To do it without the service, "+
			"where others run the chain, send what `coffer refund --print` prints from any wallet")
}

// refunds finds the payments of the quotes; without any those of every operation. The first so many are open: asked for
// by name, or not delivered even by what the service says.
func (s *Session) refunds(quotes []string) (out []flow.Refund, open int, err error) {
	b, err := s.Read()
	if err != nil {
		return nil, 0, err
	}
	var unsure []flow.Refund
	if b != nil {
		defer func() { _ = b.Close() }()
		for _, o := range b.Operations() {
			if len(quotes) > 0 || o.Outcome != api.StatusCompleted {
				out = append(out, flow.Refunds(s.Network, o)...)
			} else {
				unsure = append(unsure, flow.Refunds(s.Network, o)...)
			}
		}
	}
	if len(quotes) == 0 {
		return append(out, unsure...), len(out), nil
	}
	named := func(r flow.Refund) bool {
		return slices.ContainsFunc(quotes, func(q string) bool { return strings.EqualFold(q, r.QuoteID) })
	}
	for _, q := range quotes {
		if !slices.ContainsFunc(out, func(r flow.Refund) bool { return strings.EqualFold(q, r.QuoteID) }) {
			return nil, 0, usage("`coffer export` lists the operations",
				"this wallet sent no payment on an EVM chain for the quote %s", q)
		}
	}
	out = slices.DeleteFunc(out, func(r flow.Refund) bool { return !named(r) })
	return out, len(out), nil
}

// refund writes a call that takes a payment back; of one that the service calls delivered, how to get it.
func (p *page) refund(s *Session, r flow.Refund, f refundFact, open bool) {
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
	if !open {
		p.Sub("outcome", f.ServiceSays+", as the service says; whether the payment is still held is not known here")
		p.Sub("its call", "coffer refund --print "+clean(r.QuoteID))
		return
	}
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
