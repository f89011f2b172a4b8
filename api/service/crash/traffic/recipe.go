package traffic

import (
	"context"
	"math/big"
	"math/rand/v2"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/service/foreign"
)

// A Recipe is one sort of traffic: the accounts of a person and what the person does with them. A new sort of traffic
// is one more recipe.
type Recipe struct {
	Name string
	Kind string // of the person's accounts, one of foreign.Kinds
	// Offer makes up a payment to somebody out of what the person holds of Paying, and gets a signed quote for it. The
	// error is ErrPoor when there is too little.
	Offer func(ctx context.Context, c *Client, dice *rand.Rand, p *Person, have []Holding, to *Person) (*Offer, error)
}

// Recipes are all sorts of traffic.
func Recipes() []Recipe {
	return []Recipe{
		{"calls of a kernel account", api.AccountKernelV31, offerCall},
		{"calls of a role-based account", api.AccountRoleBased, offerCall},
		{"calls of a delegated account", api.AccountKernelV33, offerCall},
		{"calls that Solana helps to pay", api.AccountKernelV31 + foreign.WithSolana, offerCall},
		{"transfers and swaps between EVM chains", api.AccountKernelV31, offerTrade},
		{"transfers and swaps with Solana", api.AccountRoleBased + foreign.WithSolana, offerTrade},
	}
}

// offerCall pays by a call that other chains fund where the target chain cannot.
func offerCall(ctx context.Context, c *Client, dice *rand.Rand, p *Person, have []Holding, to *Person) (*Offer, error) {
	w, err := Choose(dice, have, to)
	if err != nil {
		return nil, err
	}
	prepared, err := p.Prepare(ctx, c, w)
	if err != nil {
		return nil, err
	}
	return p.CallQuote(ctx, c, w, prepared)
}

// offerTrade sends a good part of everything to an account of somebody else, on any chain where that one has an
// account; one time in four it swaps a little for itself.
func offerTrade(ctx context.Context, c *Client, dice *rand.Rand, p *Person, have []Holding, to *Person) (*Offer,
	error) {
	total := new(big.Int)
	for _, h := range have {
		total.Add(total, h.Amount)
	}
	if total.Cmp(big.NewInt(poor)) < 0 {
		return nil, ErrPoor
	}
	if dice.IntN(4) == 0 {
		at, get := caip.EVMAccount(base, p.Address), "ob:eth"
		if sol, ok := p.At(caip.SolanaMainnet()); ok && dice.IntN(2) == 0 {
			at, get = sol, "ob:sol"
		}
		return p.Swap(ctx, c, part(total, 1+dice.Int64N(2)), get, at)
	}
	for {
		h := have[dice.IntN(len(have))]
		if at, ok := to.At(h.Asset.Chain); ok {
			return p.Swap(ctx, c, part(total, 10+dice.Int64N(50)), h.Asset.Display(), at)
		}
	}
}

// base is the chain on which swaps deliver.
const base = 8453

// part is some percent of an amount.
func part(of *big.Int, percent int64) *big.Int {
	v := new(big.Int).Mul(of, big.NewInt(percent))
	return v.Quo(v, big.NewInt(100))
}
