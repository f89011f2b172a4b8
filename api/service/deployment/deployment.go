// Package deployment is what a use case knows of a network without owning it: which contracts and assets are where, the
// chains, and the reads that follow from both.
//
// Units: amounts in base units of their asset. Sources: protocol §4.2.
package deployment

import (
	"github.com/ethereum/go-ethereum/common"

	"coffer/api/caip"
	"coffer/api/catalog"
	"coffer/api/network"
	"coffer/api/op/solmsg"
	"coffer/api/service/chain"
	"coffer/api/service/chain/solana"
	"coffer/api/service/outbox"
)

// Network is a deployment and the chains that it is on. Its methods are safe for concurrent use; its fields must not be
// changed.
type Network struct {
	network.Descriptor
	Catalog  *catalog.Catalog
	Chains   map[uint64]chain.Chain // the EVM chains by id; the descriptor's names are Descriptor.Chains
	ChainIDs []uint64               // ascending
	Solana   solana.Chain
	Outbox   outbox.Ports // what the service sends to them
	// BalanceSlots says where each token of the EVM chains keeps its mapping of balances in storage.
	BalanceSlots map[caip.Asset]uint64

	Accounts map[common.Address]string // the service's own accounts that are not pinned, with their names
	Keys     map[solmsg.Key]string     // all of its own on Solana, with their names
	// The ones of them that pay fees and rent, take deposits, and fill.
	SponsorKey, VaultKey, SolverKey solmsg.Key

	// What the escrows demand of a release: signatures of so many attesters, in this network's domain.
	Threshold  int
	EscrowSalt [32]byte
}
