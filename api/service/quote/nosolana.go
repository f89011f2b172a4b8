package quote

import (
	"errors"
	"slices"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/catalog"
)

// withoutSolana is the refusal of what takes Solana on a network that has none: a route that is missing, and no mistake
// of the request. An operator cannot have one, as nothing holds a deposit there (protocol §5.7).
func (q *Quoter) withoutSolana() error {
	if q.Network.OnOwnNodes() {
		return overSolana()
	}
	return api.NewError(api.ErrNoRoute, "no routes found: this network's operator delivers to and from EVM chains "+
		"only, until a deposit program for Solana exists")
}

// overSolana is the refusal of what crosses from or to Solana without a solver.
func overSolana() error {
	return noSolver("nothing crosses between Solana and another chain, and nothing is swapped there; send an amount " +
		"on its own chain")
}

// orWithoutSolana is the refusal of a request by the rules: withoutSolana where the only fault is that it names Solana,
// at the paths that named tells, and the network has none; else as it is.
func (q *Quoter) orWithoutSolana(err error, named map[string]bool) error {
	var refused *api.Error
	if q.Network.Solana != nil || !errors.As(err, &refused) || len(refused.Details) == 0 ||
		slices.ContainsFunc(refused.Details, func(f api.Failure) bool { return !named[f.Path] }) {
		return err
	}
	return q.withoutSolana()
}

// solanaIn tells at which paths a swap or a transfer names Solana. What only Solana accounts pay for does so wherever
// the other chain is named.
func solanaIn(doc *api.Document) map[string]bool {
	var r api.QuoteRequest
	if doc.Decode(&r) != nil {
		return nil
	}
	alone := len(r.From.Accounts) > 0 && !slices.ContainsFunc(r.From.Accounts, api.Account.IsEVM)
	account, err := caip.ParseAccount(r.To.Account)
	return map[string]bool{
		"from.asset.assetId": alone || catalog.SolanaOnly(r.From.Asset.AssetID),
		"to.asset.assetId":   catalog.SolanaOnly(r.To.Asset.AssetID),
		"to.account":         alone || err == nil && account.Chain.IsSolana() || catalog.SolanaOnly(r.To.Asset.AssetID),
	}
}
