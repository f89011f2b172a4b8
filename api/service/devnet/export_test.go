package devnet

import (
	"strings"

	"coffer/api/service/store"
)

// ConstructorTypes returns contract → argument types as genesis encodes them.
func ConstructorTypes() map[string]string {
	out := map[string]string{"Token": strings.ReplaceAll(tokenTypes, " ", ",")}
	for _, c := range sharedContracts(pinned{}, parties{}) {
		out[c.name] = strings.ReplaceAll(c.types, " ", ",")
	}
	return out
}

// CreateSolana makes the ledger of an installation in another store, as a first start does.
func CreateSolana(in *Installation, s store.Store, now uint64) error { return in.createSolana(s, now) }
