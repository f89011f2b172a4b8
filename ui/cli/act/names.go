package act

import (
	"time"

	"coffer/api/caip"
	"coffer/api/catalog"
	"coffer/ui/compose"
)

// world is what the flags refer to.
func (s *Session) world(clock func() time.Time) *compose.World {
	return &compose.World{Catalog: s.Catalog, Network: s.Network.ID, Accounts: s.Accounts, Clock: clock, Book: s.Book,
		OwnNodes: s.Network.OnOwnNodes()}
}

// nameOf is the name of an account of the profile or of a contact's address, "" for any other.
func (s *Session) nameOf(address string) string {
	if s.Own != nil && s.Own(address) != "" {
		return s.Own(address)
	}
	return (&compose.World{Book: s.Book}).NameOf(address)
}

// chainNamed finds a chain of the catalogue.
func chainNamed(cat *catalog.Catalog, s string) (caip.Chain, error) {
	chain, problem := (&compose.World{Catalog: cat}).Chain(s)
	return chain, wrong("", problem, "`coffer chains` lists the chains")
}

// chainIDs finds chains of the catalogue, as CAIP-2 ids.
func chainIDs(cat *catalog.Catalog, names []string) (ids []string, err error) {
	for _, name := range names {
		chain, err := chainNamed(cat, name)
		if err != nil {
			return nil, err
		}
		ids = append(ids, chain.String())
	}
	return ids, nil
}

// assetNamed finds an asset of the catalogue; the result is an id for an intent.
func assetNamed(cat *catalog.Catalog, s string) (string, error) {
	id, problem := (&compose.World{Catalog: cat}).Asset(s)
	return id, wrong("", problem, "such as usdc, usdc@base, ob:usdc or a CAIP-19 id; `coffer assets` lists the assets")
}

// wrong is the mistake of a flag; nil without one.
func wrong(flag, problem, hint string) error {
	switch {
	case problem == "":
		return nil
	case flag == "":
		return usage(hint, "%s", clean(problem))
	}
	return usage(hint, "%s: %s", flag, clean(problem))
}
