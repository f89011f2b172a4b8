package verify

import (
	"math/big"
	"strings"
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

// AmountView is an amount of a known or unknown asset. Symbol and Decimals come from the catalogue; an unknown asset
// has Symbol "" and Decimals -1, and its Amount can only be shown in base units. Micro is its value in micro USD, nil
// when unknown.
type AmountView struct {
	Asset     caip.Asset
	Symbol    string
	Decimals  int
	Amount    *big.Int
	Micro     *big.Int
	ChainName string
}

// ArgView is one decoded argument. Value is written in full: an address in checksum form, a number in base units, bytes
// in hex.
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

// CallView is one call decoded from the bytes that get signed. Index counts from 1 among the calls of the operation,
// Asked is the index of the user's call from 1, or 0 for an approve or revoke. To is in checksum form, ToName a name
// from the catalogue or the pins ("" when unknown). Function and Args are filled when Decoded; otherwise Data must be
// shown. AsAsked says that the call equals the intent, which always holds when nothing was refused. Amount is what the
// call moves or approves when that is known.
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

// Window is when an operation can run, by the paymaster's signed window; the zero Window is not known (a foreign
// paymaster's).
type Window struct{ From, Until time.Time }

// PreparedView is everything that review 1 shows.
type PreparedView struct {
	Network       string // network id
	AccountType   string
	Chain         ChainLabel
	Sender        string // checksum form
	Signer        string // checksum form
	Lines         []CallView
	Outflow       []AmountView // what can leave the account on the target chain: values, transfers, approvals
	Requires      []AmountView // the tokens that the intent requires
	Worst         []AmountView // by asset: what this signature alone can make leave the account
	Window        Window
	CallType      string
	CallTypeWords string
	Deploys       bool
	Nonce         string
	OpHash        string
	Digest        string // what the key signs: EIP-191 of OpHash
	Fingerprint   string
	Sources       []AmountView // balances that the service says are usable; not checked
	// Seen is what the person's own nodes see of the balances.
	Seen []SeenView
	// Simulated is what the operation does in their simulation.
	Simulated []SimulationView
	// Codeless are the addresses, in checksum form, that calls go to and at which there is no code, as the person's
	// node sees or the service says.
	Codeless []string
	// WholeConsent: this signature is the only one and lets the calls run (same_chain_exclude_solver).
	WholeConsent bool
	Signatures   int // signatures that follow from confirming this review
	Delegation   *DelegationView
	Phrase       string // to be typed beside the confirmation, because a gate stands open; "" otherwise
}

// PayeeView is an account that a call of the user's pays, or the contract that it calls where the bytes do not say whom
// it pays. Amount is nil where they do not say what it gets.
type PayeeView struct {
	To        string // checksum form
	Amount    *AmountView
	FirstTime bool // nothing was ever sent there before
}

// Payees are those of the user's calls, in their order, approvals left out.
func (v PreparedView) Payees() []PayeeView {
	var out []PayeeView
	for _, l := range v.Lines {
		switch {
		case l.Role != RoleCall, strings.HasPrefix(l.Function, "approve("):
		case l.Recipient != "":
			out = append(out, PayeeView{To: l.Recipient, Amount: l.Amount, FirstTime: l.FirstTime})
		default:
			out = append(out, PayeeView{To: l.To, Amount: l.Amount})
		}
	}
	return out
}

// DelegationView is an EIP-7702 authorization: from its signature on the code at Contract controls the EOA on that
// chain until it is changed.
type DelegationView struct {
	Chain        ChainLabel
	Authority    string // checksum form: the EOA
	Contract     string // checksum form
	ContractName string
	Nonce        uint64
}

// InstructionView is one instruction of a Solana message, decoded from the bytes that get signed.
type InstructionView struct {
	Program     string // base58
	ProgramName string // "" when it has none
	Name        string
	Args        []ArgView
}

// SolanaView is what a Solana message contains. FeePayer and BlockHash are base58.
type SolanaView struct {
	FeePayer     string
	BlockHash    string
	Memo         string
	Instructions []InstructionView
	Own          *OwnSendView // of a transfer that pays its recipient itself; nil of a payment into the vault
}

// OwnSendView is what a transfer on Solana costs its sender: Solana's fee with what is offered for a quick place, and
// the rent of a token account that it opens for the recipient, nil where it opens none.
type OwnSendView struct {
	Fee  AmountView
	Rent *AmountView
}

// PartView is a part of a payment into a contract that is not pinned: a transfer, a native value, or an amount that To
// may take. ShareBps is its share of the payment.
type PartView struct {
	To       string // checksum form
	ToName   string // "" when unknown
	Amount   AmountView
	ShareBps int
	Approval bool
}

// LegView is one funding operation.
type LegView struct {
	Chain       ChainLabel
	Pays        AmountView
	Deploys     bool
	Nonce       string
	OpHash      string
	Escrow      string    // checksum form
	RefundAfter time.Time // zero when it is not known
	Until       time.Time // end of the operation's own window, zero when it is not known
	AccountType string
	Delegation  *DelegationView
	Parts       []PartView  // of a payment behind the gate of unknown targets: everybody who gets a part of it
	Solana      *SolanaView // of a Solana message; Nonce is then "" and Escrow the vault in base58
}

// PromiseView is what the payments on EVM chains are released for: Minimums arrive, for a call at the own account and
// together with the call that was signed, for a swap or a transfer at the recipient, and not after FillBy. Threshold of
// Attesters, who are all the service's own where it is 1 of 1, say whether that happened; both are 0 when they are not
// known.
type PromiseView struct {
	Minimums  []AmountView
	FillBy    time.Time
	Attesters int
	Threshold int
}

// Itself is the one message of a transfer that pays its recipient itself; nil of any other quote.
func (v *QuoteView) Itself() *OwnSendView {
	if v == nil || len(v.Legs) != 1 || v.Legs[0].Solana == nil {
		return nil
	}
	return v.Legs[0].Solana.Own
}

// NeedView compares what the calls need with what the service said is there. Have and Short are nil when unknown.
type NeedView struct {
	Need  AmountView
	Have  *big.Int
	Short *big.Int
}

// QuoteView is everything that review 2 shows. Pay sums the legs by asset. The micro figures use catalogue prices and
// are nil when a price is unknown. FeeUSD is what the service says and was not checked.
type QuoteView struct {
	ID            string
	Kind          string // "call", "swap" or "transfer"
	CallType      string
	CallTypeWords string
	Expires       time.Time
	Legs          []LegView
	Promise       *PromiseView // nil when no payment carries terms
	Pay           []AmountView
	// by asset: what can leave the account if every signature of this operation runs and nothing is delivered
	Worst            []AmountView
	PayMicro         *big.Int
	DeliverMicro     *big.Int
	FeesMicro        *big.Int
	CostMicro        *big.Int
	CostBps          int      // of PayMicro; -1 when unknown
	MinimumCostMicro *big.Int // the cost if no more than the minimum arrives; what limits are compared with
	MinimumCostBps   int      // of PayMicro; -1 when unknown
	UnexplainedMicro *big.Int
	Explained        bool
	Needs            []NeedView
	Seen             []SeenView       // what the person's own nodes see of the balances that pay
	Simulated        []SimulationView // what the payments, and the call with the minimum, do in their simulation
	Delivered        AmountView
	Minimum          AmountView
	Recipient        string // checksum form or base58
	Fees             []AmountView
	FeeUSD           string
	SlippageBps      int
	// SameChainOnly: the prepared operation is the only one; nothing more gets signed.
	SameChainOnly bool
	Fingerprint   string
	Phrase        string // to be typed beside the confirmation, because a gate stands open; "" otherwise
	// RecipientOwn: the recipient is one of the intent's accounts. RecipientFirstTime: no completed operation paid it
	// before.
	RecipientOwn       bool
	RecipientFirstTime bool
}
