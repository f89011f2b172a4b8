// Package deployment is what a use case knows of a network without owning it: which contracts and assets are where, the
// chains, and the reads that follow from both.
//
// Units: amounts in base units of their asset. Sources: protocol §4.2.
package deployment

import (
	"context"
	"math/big"
	"slices"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api/caip"
	"coffer/api/catalog"
	"coffer/api/network"
	"coffer/api/op/escrow"
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
	// FinalWorst is how long a block of a chain takes at worst to become final, nothing where it is final at once.
	FinalWorst map[uint64]time.Duration
	// Limits are those of an operator on chains of others, nil without one.
	Limits *Limits
	// Dear is an error while gas on a chain, by its newest known block, costs more than the sender's cap; nil where gas
	// is free.
	Dear func(chainID uint64) error
}

// OnOthers reports whether the chains are those of others, whose nodes may be silent.
func (n *Network) OnOthers() bool { return n.OnOwnNodes() || n.OnNodes() }

// Limits are how far an operator goes, in micro-USD: SponsorPerDay is what an account may cost in gas in 24 hours,
// Exposure what may be in escrows at once. Accounts are those that are served, nil for all. Attested is an error while
// too few attesters answer, so that what is paid into an escrow might stay there; nil where that is not watched.
type Limits struct {
	SponsorPerDay, Exposure *big.Int
	Accounts                []common.Address
	Attested                func(now time.Time) error
}

// Serves reports whether an account is served.
func (l *Limits) Serves(account common.Address) bool {
	return l == nil || l.Accounts == nil || slices.Contains(l.Accounts, account)
}

// RefundDelay is how much longer than it takes a fill to become final a deposit is held. In it the fill is attested;
// settlement itself refunds at once.
const RefundDelay = 2 * time.Hour

// RefundDeadline is from when on anyone may send back a deposit under the terms of a quote, in Unix seconds.
func (n *Network) RefundDeadline(t escrow.Terms) uint64 {
	return t.FillDeadline + uint64((n.FinalWorst[t.TargetChain]+RefundDelay)/time.Second)
}

// Deep is a chain whose blocks become final late. Depth is how long that took of late.
type Deep interface {
	Depth(context.Context) (time.Duration, error)
}
