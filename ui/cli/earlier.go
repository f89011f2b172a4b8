package cli

import (
	"context"
	"fmt"
	"math/big"

	"coffer/api/amount"
	"coffer/api/caip"
)

// EarlierBalance is what an account had of an asset on a network whose place another one took, in base units. Network
// is its fingerprint.
type EarlierBalance struct {
	Network string     `json:"network"`
	Account string     `json:"account"`
	Asset   caip.Asset `json:"-"`
	Value   *big.Int   `json:"-"`

	AssetID string `json:"assetId"`
	Balance string `json:"balance"`
}

// earlierBalances prints what the accounts had on earlier networks.
func (p Program) earlierBalances(ctx context.Context, g Global, asJSON bool) error {
	all, err := p.Earlier(ctx, g)
	if err != nil {
		return err
	}
	for i, b := range all {
		all[i].AssetID, all[i].Balance = b.Asset.String(), b.Value.String()
	}
	if asJSON {
		return PrintJSON(p.Out, append([]EarlierBalance{}, all...))
	}
	if len(all) == 0 {
		_, err := fmt.Fprintln(p.Out, "These accounts had nothing on a network before this one.")
		return err
	}
	cat, err := p.Catalog(g.Profile)
	if err != nil {
		return err
	}
	w := Columns(p.Out)
	network, account := "", ""
	for _, b := range all {
		if b.Network != network {
			network, account = b.Network, ""
			fmt.Fprintf(w, "Network %s has ended. This is what was there; it was play money and cannot be moved.\n",
				network)
		}
		if b.Account != account {
			account = b.Account
			fmt.Fprintf(w, "%s\n", account)
		}
		e, _ := cat.Entity(b.Asset)
		chain, _ := cat.Chain(b.Asset.Chain)
		fmt.Fprintf(w, "  %s\t%s\t%s\n", e.Symbol, chain.Name, amount.Group(amount.Format(b.Value, e.Decimals)))
	}
	return w.Flush()
}
