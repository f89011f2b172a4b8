package compose

import (
	"math/big"
	"slices"
	"strings"

	"coffer/api"
	"coffer/api/amount"
	"coffer/api/catalog"
	"coffer/api/network"
	"coffer/ui/compose/payuri"
	"coffer/ui/present"
)

// Asking is what a person asks others to pay, as it was typed. Amount is in whole units; "" leaves it to the payer.
// Chain may be missing where the asset says it, or is on one chain alone.
type Asking struct{ Amount, Asset, Chain string }

// ReadAsking reads "25 usdc on base", "25 usdc@base" or "usdc@base".
func ReadAsking(text string) (a Asking, problem string) {
	words := strings.Fields(text)
	if i := slices.Index(words, "on"); i > 0 {
		a.Chain = strings.Join(words[i+1:], " ")
		words = words[:i]
	}
	switch len(words) {
	case 1:
		a.Asset = words[0]
	case 2:
		a.Amount, a.Asset = words[0], words[1]
	default:
		return a, "write an amount, an asset and a chain, such as 25 usdc on base"
	}
	return a, ""
}

// Asked is a payment request to one of the person's accounts. A nil Amount leaves it to the payer.
type Asked struct {
	URI     string
	Account api.Account
	Asset   catalog.Entity
	Amount  *big.Int
	where   string
}

// Says is what is to be paid, in words: "25 USDC on Base".
func (a Asked) Says() string {
	if a.Amount == nil {
		return a.Asset.Symbol + " on " + a.where + ", any amount"
	}
	return amount.Human(a.Amount, a.Asset.Decimals) + " " + a.Asset.Symbol + " on " + a.where
}

// Ask makes the payment request, the inverse of Payment: it goes to the first of these accounts that lives on the
// chain, which is one that the network runs.
func (w *World) Ask(n network.Descriptor, accounts []api.Account, a Asking) (out Asked, problem string) {
	if out.Asset, problem = w.askedAsset(n, accounts, a); problem != "" {
		return out, problem
	}
	chain := out.Asset.Asset.Chain
	out.where = w.ChainName(chain)
	i := slices.IndexFunc(accounts, func(a api.Account) bool { return a.IsEVM() != chain.IsSolana() })
	if i < 0 {
		return out, "this profile has no account on " + out.where
	}
	out.Account = accounts[i]
	if a.Amount != "" {
		if out.Amount, problem = Positive(a.Amount, out.Asset.Decimals, out.Asset.Symbol); problem != "" {
			return out, problem
		}
	}
	r := payuri.Request{To: present.Checksummed(out.Account.AccountAddress), Solana: chain.IsSolana()}
	switch {
	case r.Solana && out.Amount != nil:
		r.Amount = amount.Plain(out.Amount, out.Asset.Decimals)
	case out.Amount != nil:
		r.Amount = out.Amount.String()
	}
	r.Chain, _ = chain.EVMID()
	if token, ok := out.Asset.Asset.Token(); ok {
		r.Token = token.Hex()
	} else if !out.Asset.Asset.IsNative() {
		r.Token = out.Asset.Asset.Reference
	}
	out.URI = r.String()
	return out, ""
}

// askedAsset finds the asset, on a chain that the network runs.
func (w *World) askedAsset(n network.Descriptor, accounts []api.Account, a Asking) (catalog.Entity, string) {
	name := a.Asset
	if a.Chain != "" && !strings.Contains(name, "@") {
		name += "@" + a.Chain
	}
	id, problem := w.Asset(name)
	if problem != "" {
		return catalog.Entity{}, problem
	}
	if e, exact := w.Entity(id); exact {
		on, problem := e.Asset.Chain, ""
		if a.Chain != "" {
			on, problem = w.Chain(a.Chain)
		}
		switch {
		case problem != "":
			return e, problem
		case on != e.Asset.Chain:
			return e, "the asset is on " + w.ChainName(e.Asset.Chain) + ", not on " + w.ChainName(on)
		case !present.HasChain(n, e.Asset.Chain):
			return e, "this network has no " + w.ChainName(e.Asset.Chain)
		}
		return e, ""
	}
	side, _ := w.Side(id)
	here := slices.DeleteFunc(slices.Clone(side.Agg.Entities),
		func(e catalog.Entity) bool { return !present.HasChain(n, e.Asset.Chain) })
	first := func(e catalog.Entity) bool {
		return len(here) == 1 || e.Asset.Chain.IsSolana() && len(accounts) > 0 && !accounts[0].IsEVM()
	}
	if i := slices.IndexFunc(here, first); i >= 0 {
		return here[i], ""
	}
	if len(here) == 0 {
		return catalog.Entity{}, "this network has no " + side.Symbol
	}
	return catalog.Entity{}, "say on which chain, such as " + strings.ToLower(side.Symbol) + " on " +
		w.writtenChain(here[0].Asset.Chain)
}
