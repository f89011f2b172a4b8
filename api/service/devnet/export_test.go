package devnet

import "coffer/api/service/store"

// CreateSolana makes the ledger of an installation in another store, as a first start does.
func CreateSolana(in *Installation, s store.Store, now uint64) error { return in.createSolana(s, now) }
