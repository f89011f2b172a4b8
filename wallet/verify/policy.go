package verify

import (
	"math/big"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api/caip"
	"coffer/api/catalog"
	"coffer/api/network"
)

// Policy holds what this machine pins and tolerates. Nothing in it may come from an answer.
type Policy struct {
	Network network.Descriptor
	Catalog *catalog.Catalog

	// MaxSlippageBps bounds the tolerance that an intent may ask for.
	MaxSlippageBps int
	// WarnCostBps and RefuseCostBps bound the cost of a quote (what is paid minus the minimum that arrives, at
	// catalogue prices) in basis points of what is paid. A cost up to WarnCostFloor or RefuseCostFloor (micro USD)
	// passes whatever its share is, so that small amounts stay possible.
	WarnCostBps, RefuseCostBps     int
	WarnCostFloor, RefuseCostFloor *big.Int
	// WarnUnexplainedBps bounds the part of a payment in another asset that neither the delivery nor the fees explain,
	// at catalogue prices; real prices move a few per cent around those.
	WarnUnexplainedBps int

	Caps Caps
	// MaxWindow bounds how long a sponsored operation may stay valid, MaxQuoteLife how far a quote's expiry may lie
	// ahead, MaxRefundDelay how long after the expiry a deposit may stay locked.
	MaxWindow, MaxQuoteLife, MaxRefundDelay time.Duration
	// ClockTolerance is how far the service's clock may differ.
	ClockTolerance time.Duration
	// MinQuoteLife and WarnQuoteLife are the remaining life below which a quote is refused and warned about.
	MinQuoteLife, WarnQuoteLife time.Duration
	// MaxSequenceGap is how far a nonce may lie after the last one known.
	MaxSequenceGap uint64

	// Limits are those of the user's policy file, with the daily cap of the kind of network where it names none
	// (Limits.OrDefault).
	Limits Limits
	// FirstSession names the session key that a role-based account was made with, for accounts whose session key was
	// replaced since.
	FirstSession map[common.Address]common.Address

	// shipped are the addresses that this program was built with. A Policy that DefaultPolicy did not make has none and
	// is refused.
	shipped network.Pins
}

// Caps bound the gas fields of one operation (TH-U11). Fees are wei per gas: zero on our networks, where the operator
// pays (protocol §2.4).
type Caps struct {
	CallGas, VerificationGas, PreVerificationGas, PaymasterVerificationGas, PaymasterPostOpGas uint64
	MaxFeePerGas                                                                               uint64
	// SolanaFee bounds what a message may cost in lamports where the user pays Solana's fee and not the sponsor
	// (TH-S3).
	SolanaFee uint64
}

// DefaultPolicy is the policy of the product for a network.
func DefaultPolicy(n network.Descriptor, c *catalog.Catalog) Policy {
	shipped, _ := shippedPins(n) // without them everything is refused
	if n.PricedByMarket() && !c.IsWatched() {
		c = c.Watched(func(caip.AggregateID) catalog.Market { return catalog.Market{Problem: NoMarket} })
	}
	return Policy{
		Network: n, Catalog: c,
		MaxSlippageBps: 1000,
		WarnCostBps:    300, WarnCostFloor: big.NewInt(500_000), RefuseCostBps: 1000,
		RefuseCostFloor: big.NewInt(2_000_000), WarnUnexplainedBps: 500,
		Caps: Caps{CallGas: 15_000_000, VerificationGas: 5_000_000, PaymasterVerificationGas: 1_000_000,
			PaymasterPostOpGas: 1_000_000, SolanaFee: 1_000_000},
		MaxWindow: 10 * time.Minute, MaxQuoteLife: 10 * time.Minute, MaxRefundDelay: 24 * time.Hour,
		ClockTolerance: 30 * time.Second, MinQuoteLife: 2 * time.Second, WarnQuoteLife: 15 * time.Second,
		MaxSequenceGap: 16, Limits: Limits{}.OrDefault(n.Kind), shipped: shipped,
	}
}

// History is what the journal knows about earlier operations.
type History interface {
	// LiveNonces returns the full nonces of signed operations of a lane that are not known to be used, whose window has
	// not ended, and of which the service has not spoken.
	LiveNonces(sender common.Address, chainID uint64, lane uint16, now time.Time) []*big.Int
	// Open returns the signatures of other operations that can still be used at a moment, however the service says that
	// they ended.
	Open(now time.Time) []Open
	// Sent returns what the operation under judgement sent before, calls and payments, whatever became of it.
	Sent() []Open
	// NextSequence returns the lowest sequence that can still be unused in a lane, by the service's word where nothing
	// proves it, and false when nothing is known.
	NextSequence(sender common.Address, chainID uint64, lane uint16) (uint64, bool)
	// SeenQuote reports whether a quote id was met before.
	SeenQuote(id string) bool
	// Recipients returns whom earlier completed operations of this network paid: addresses in checksum form, or base58.
	Recipients() []string
	// Spent returns what was signed and sent since then; the service's word that nothing came of it takes nothing off.
	Spent(since time.Time) []Spend
	// NextAuthorization returns the lowest account nonce of an EOA that can still be unused on a chain, and false when
	// nothing is known about it.
	NextAuthorization(eoa common.Address, chainID uint64) (uint64, bool)
}

// Spend is an amount of an asset in base units. Account is the one that it leaves, "" where that is not known.
type Spend struct {
	Account string
	Asset   caip.Asset
	Amount  *big.Int
}
