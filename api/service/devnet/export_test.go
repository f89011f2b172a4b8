package devnet

import (
	"github.com/ethereum/go-ethereum/common"

	"coffer/api/service/store"
)

// ConstructorTypes returns contract → argument types as genesis encodes them.
func ConstructorTypes() map[string]string {
	out := map[string]string{"Token": tokenTypes}
	for _, c := range sharedContracts(pinned{}, common.Address{}) {
		out[c.name] = c.types
	}
	return out
}

// CreateSolana makes the ledger of an installation in another store, as a first start does.
func CreateSolana(in *Installation, s store.Store, now uint64) error { return in.createSolana(s, now) }
