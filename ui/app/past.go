package app

import (
	"context"
	"slices"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/client"
	"coffer/api/op/solmsg"
	"coffer/ui/past"
	"coffer/ui/profile"
	"coffer/wallet/chainview"
)

// mostMints is how many tokens of the file are looked at for what came from others.
const mostMints = 20

// chainOf is the Solana account in use as own nodes see it; nil where none look at one.
func chainOf(s *profile.Opened) *past.Chain {
	i := slices.IndexFunc(s.Accounts, func(a api.Account) bool { return a.Type == api.AccountSolana })
	if i < 0 || !s.Nodes().SeesSolana() {
		return nil
	}
	me, err := solmsg.ParseKey(s.Accounts[i].AccountAddress)
	if err != nil {
		return nil // the profile was read with its accounts checked
	}
	w := chainview.Whose{Account: me}
	for _, e := range s.Catalog.On(caip.SolanaMainnet()) {
		if mint, token := e.Asset.Mint(); token && len(w.Mints) < mostMints {
			w.Mints = append(w.Mints, mint)
		}
	}
	return &past.Chain{Nodes: s.Nodes(), Whose: w, Catalog: s.Catalog, Kind: s.Network.Kind,
		Own: func(ctx context.Context, quoteID, signature string) (bool, error) {
			x, err := s.Client.Status(ctx, quoteID)
			if err != nil || x.Status == "" {
				return false, err
			}
			made := slices.Concat(x.OriginChainOperations, x.DestinationChainOperations)
			own := func(o api.OperationRef) bool { return o.Hash == signature }
			return len(made) == 0 || slices.ContainsFunc(made, own), nil
		}}
}

// pastOf is the history of the account in use, with what own nodes saw of the Solana account.
func pastOf(s *profile.Opened) past.Source {
	source := past.Source{Chain: chainOf(s),
		Read: func(ctx context.Context, user string, limit int, continuation string) (api.HistoryPage, error) {
			return s.Client.History(ctx, client.HistoryQuery{User: user, Limit: limit, Continuation: continuation})
		}}
	for _, a := range s.Accounts {
		source.Users = append(source.Users, a.AccountAddress)
	}
	return source
}
