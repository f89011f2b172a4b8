package act

import (
	"time"

	"coffer/api/caip"
	"coffer/api/catalog"
	"coffer/ui/compose"
)

// world is what the flags refer to.
func (s *Session) world(clock func() time.Time) *compose.World {
	return &compose.World{Catalog: s.Catalog, Network: s.Network.ID, Accounts: s.Accounts, Clock: clock, Book: s.Book}
}

// chainNamed finds a chain of the catalogue.
func chainNamed(cat *catalog.Catalog, s string) (caip.Chain, error) {
	chain, problem := (&compose.World{Catalog: cat}).Chain(s)
	return chain, wrong("", problem, "`coffer chains` lists the chains")
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
