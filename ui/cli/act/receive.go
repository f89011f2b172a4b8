package act

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"coffer/api"
	"coffer/ui/cli"
	"coffer/ui/compose"
	"coffer/ui/present"
	"coffer/ui/qr"
)

const (
	receiveColumns = 80 // a wider code would wrap in a usual terminal
	receiveQuiet   = 2
)

// Receive builds `coffer receive`.
func (c Commands) Receive(g *cli.Global) *cobra.Command {
	var a compose.Asking
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "receive",
		Short: "Print your addresses, or a payment request to one of them",
		Long: `Prints the address of each account and where it can receive. With --asset it prints a payment request to
the account on that chain, for --amount or for as much as the payer likes: a link that Coffer (coffer transfer LINK) and
other wallets read, ethereum:... by EIP-681 and solana:... by Solana Pay. On a terminal the QR code is below. The
service is not asked.`,
		Example: "  coffer receive\n  coffer receive --amount 25 --asset usdc --chain base\n" +
			"  coffer receive --asset sol --json | jq -r '.[].request'",
	}
	f := cmd.Flags()
	f.StringVar(&a.Amount, "amount", "", "how much you ask for, in whole units (default: the payer chooses)")
	f.StringVar(&a.Asset, "asset", "", "asset that you ask for: usdc with --chain, usdc@base or a CAIP-19 id")
	f.StringVar(&a.Chain, "chain", "", "chain on which it is received: name, CAIP-2 or number")
	cli.JSONFlag(cmd, &asJSON)
	return c.works(g, cmd, func(_ *cobra.Command, s *Session, _ []string) error {
		return c.receive(s, a, asJSON)
	})
}

// receiveFact is a place to pay to, as JSON.
type receiveFact struct {
	Type    string `json:"type"`
	Address string `json:"address"`
	Asset   string `json:"asset,omitzero"`
	Amount  string `json:"amount,omitzero"` // base units
	Request string `json:"request,omitzero"`
}

func (c Commands) receive(s *Session, a compose.Asking, asJSON bool) error {
	facts, p := []receiveFact{}, &page{}
	add := func(account api.Account, f receiveFact) {
		f.Type, f.Address = account.Type, present.Checksummed(account.AccountAddress)
		facts = append(facts, f)
	}
	if a.Asset == "" {
		if a.Amount != "" || a.Chain != "" {
			return usage("for instance: coffer receive --amount 25 --asset usdc --chain base",
				"a payment request needs --asset: what you ask for")
		}
		for _, account := range s.Accounts {
			add(account, receiveFact{})
			p.Line(present.AccountType(account.Type))
			p.Row("address", present.Checksummed(account.AccountAddress))
			p.Line("  " + present.ReceiveOn(s.Catalog, s.Network, account))
			c.draw(p, present.Checksummed(account.AccountAddress))
		}
	} else {
		asked, problem := s.world(c.Clock).Ask(s.Network, s.Accounts, a)
		if problem != "" {
			return wrong("", problem, "for instance: coffer receive --amount 25 --asset usdc --chain base")
		}
		f := receiveFact{Asset: asked.Asset.Asset.String(), Request: asked.URI}
		if asked.Amount != nil {
			f.Amount = asked.Amount.String()
		}
		add(asked.Account, f)
		p.Line("Payment request: " + asked.Says())
		p.Row("address", present.Checksummed(asked.Account.AccountAddress))
		p.Row("request", asked.URI)
		p.Line("  " + present.Requests(asked.Account))
		c.draw(p, asked.URI)
	}
	if care, lost := present.ReceiveCare(s.Network.Kind); lost {
		c.say("%s", care)
	}
	if asJSON {
		return c.write(encode(facts))
	}
	return c.write([]byte(p.String()))
}

// draw adds the code of a text where there is a terminal that it fits.
func (c Commands) draw(p *page, text string) {
	if c.Code == nil {
		return
	}
	q, err := qr.New(text)
	if err != nil {
		return
	}
	if w, _ := q.Room(*c.Code, receiveQuiet); w <= receiveColumns {
		fmt.Fprintf(p, "\n%s\n\n", strings.Join(q.Lines(*c.Code, receiveQuiet), "\n"))
	}
}
