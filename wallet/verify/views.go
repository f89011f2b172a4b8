package verify

import (
	"math/big"
	"time"

	"coffer/api/caip"
)

// ChainLabel names a chain for a reader; the name comes from the catalogue.
type ChainLabel struct {
	ID    uint64
	CAIP  string
	Name  string
	Short string
}

// AmountView is an amount of a known or unknown asset. Symbol and Decimals come from the catalogue; an unknown asset has Symbol "" and Decimals -1, and
// its Amount can only be shown in base units. Micro is its value in micro USD, nil when unknown.
type AmountView struct {
	Asset     caip.Asset
	Symbol    string
	Decimals  int
	Amount    *big.Int
	Micro     *big.Int
	ChainName string
}

// ArgView is one decoded argument. Value is written in full: an address in checksum form, a number in base units, bytes in hex.
type ArgView struct {
	Name  string
	Type  string
	Value string
}

// The roles of a call inside a prepared operation.
const (
	RoleCall    = "call"
	RoleApprove = "approve"
	RoleRevoke  = "revoke"
)

// CallView is one call decoded from the bytes that get signed. Index counts from 1 among the calls of the operation, Asked is the index of the user's
// call from 1, or 0 for an approve or revoke. To is in checksum form, ToName a name from the catalogue or the pins ("" when unknown). Function and Args
// are filled when Decoded; otherwise Data must be shown. AsAsked says that the call equals the intent, which always holds when nothing was refused.
// Amount is what the call moves or approves when that is known.
type CallView struct {
	Index     int
	Asked     int
	Role      string
	To        string
	ToName    string
	Value     *big.Int
	Function  string
	Args      []ArgView
	Data      string
	Decoded   bool
	AsAsked   bool
	Amount    *AmountView
	Recipient string // checksum form; who receives the amount or may spend it, "" when there is none
	FirstTime bool   // Recipient was never used in a completed operation
}

// Window is when an operation can run, by the paymaster's signed window.
type Window struct{ From, Until time.Time }

// PreparedView is everything that review 1 shows.
type PreparedView struct {
	Network       string // network id
	Chain         ChainLabel
	Sender        string // checksum form
	Signer        string // checksum form
	Lines         []CallView
	Outflow       []AmountView // what can leave the account on the target chain: values, transfers, approvals
	Requires      []AmountView // the tokens that the intent requires
	Window        Window
	CallType      string
	CallTypeWords string
	Deploys       bool
	Nonce         string
	OpHash        string
	Digest        string // what the key signs: EIP-191 of OpHash
	Fingerprint   string
	Sources       []AmountView // balances that the service says are usable; not checked
	// WholeConsent: this signature is the only one and lets the calls run (same_chain_exclude_solver).
	WholeConsent bool
	Signatures   int // signatures that follow from confirming this review: 1
}

// LegView is one funding operation.
type LegView struct {
	Chain       ChainLabel
	Pays        AmountView
	Deploys     bool
	Nonce       string
	OpHash      string
	Escrow      string // checksum form
	RefundAfter time.Time
	Until       time.Time // end of the operation's own window
}

// NeedView compares what the calls need with what the service said is there. Have and Short are nil when unknown.
type NeedView struct {
	Need  AmountView
	Have  *big.Int
	Short *big.Int
}

// QuoteView is everything that review 2 shows. Pay sums the legs by asset. The micro figures use catalogue prices and are nil when a price is unknown.
// FeeUSD is what the service says and was not checked.
type QuoteView struct {
	ID               string
	CallType         string
	CallTypeWords    string
	Expires          time.Time
	Legs             []LegView
	Pay              []AmountView
	PayMicro         *big.Int
	DeliverMicro     *big.Int
	FeesMicro        *big.Int
	CostMicro        *big.Int
	CostBps          int // of PayMicro; -1 when unknown
	UnexplainedMicro *big.Int
	Explained        bool
	Needs            []NeedView
	Delivered        AmountView
	Minimum          AmountView
	Recipient        string // checksum form
	Fees             []AmountView
	FeeUSD           string
	SlippageBps      int
	// SameChainOnly: the prepared operation is the only one; nothing more gets signed.
	SameChainOnly bool
	Fingerprint   string
}
