package verify

import (
	"bytes"
	"math/big"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/op"
)

// verified is what all values have that an EVM account signs.
type verified struct {
	network string
	kind    string
	signer  common.Address
}

// Network is the id of the network that the value belongs to.
func (v verified) Network() string { return v.network }

// Kind is the account type.
func (v verified) Kind() string { return v.kind }

// Signer is the address whose key must sign: the owner, the session key, or the EOA itself.
func (v verified) Signer() common.Address { return v.signer }

// VerifiedUserOp is a user operation that passed every check and was built again from the checked values. Only this
// package makes one; the zero value is refused by the signer.
type VerifiedUserOp struct {
	verified
	userOp     op.UserOp
	chainID    uint64
	entryPoint common.Address
	opHash     common.Hash
}

// OpSummary says in short what an operation does; it goes into the journal. Kind is the account type, Chain CAIP-2,
// Sender in checksum form or base58. Lane and Nonce belong to EVM operations, BlockHash (base58) to Solana messages,
// which die with it. ValidUntil is in Unix seconds; NoEnd means that only the nonce ends the signature. Spend is what
// the signature can move, Counts what it adds to the spending that the user's limits bound (row Y4).
type OpSummary struct {
	Role       string
	Kind       string
	Chain      string
	Sender     string
	Lane       uint16
	Nonce      string
	BlockHash  string
	Spend      []AmountView
	Counts     []AmountView
	ValidUntil int64
}

// The roles of operations: the call that was prepared, what pays for one, and the paying side of a swap or a transfer.
const (
	RolePrepared = "prepared"
	RoleFunding  = "funding"
	RoleSwap     = "swap"
	RoleTransfer = "transfer"
)

// IsZero reports whether the value was not made by this package.
func (v VerifiedUserOp) IsZero() bool { return v.opHash == (common.Hash{}) }

// OpHash is the userOpHash on the operation's chain and the pinned entry point.
func (v VerifiedUserOp) OpHash() common.Hash { return v.opHash }

// Digest is what the key signs: the EIP-191 form of OpHash.
func (v VerifiedUserOp) Digest() common.Hash { return op.EIP191(v.opHash) }

// ChainID is the chain on which the operation runs.
func (v VerifiedUserOp) ChainID() uint64 { return v.chainID }

// VerifiedApprove is a role-based account's approval whose hash was computed here (TH-T7).
type VerifiedApprove struct {
	verified
	domain   op.Domain
	hash     common.Hash
	approved *Approved // nil: behind the gate of blind signing
}

// IsZero reports whether the value was not made by this package.
func (v VerifiedApprove) IsZero() bool { return v.domain == (op.Domain{}) }

// Digest is the EIP-712 digest of the approval.
func (v VerifiedApprove) Digest() common.Hash { return v.domain.ApproveDigest(v.hash) }

// VerifiedDelegation is an EIP-7702 authorization on one chain: to a pinned delegate (TH-D2, D3), or to none, which
// ends a delegation (TH-D7) and is made by Undelegation alone.
type VerifiedDelegation struct {
	verified
	authorization op.Authorization
	ends          bool
}

// Check refuses a content that must not be signed: one that ends a delegation has the zero address, any other has not.
func (v VerifiedDelegation) Check() error {
	if v.ends {
		return v.authorization.CheckEnd()
	}
	return v.authorization.Check()
}

// IsZero reports whether the value was not made by this package.
func (v VerifiedDelegation) IsZero() bool { return v.authorization.ChainID == nil }

// Authorization is the content that is signed.
func (v VerifiedDelegation) Authorization() op.Authorization {
	a := v.authorization
	if a.ChainID != nil {
		a.ChainID = new(big.Int).Set(a.ChainID)
	}
	return a
}

// VerifiedMessage is a Solana message of which every instruction was checked (TH-S1 … S13).
type VerifiedMessage struct {
	network string
	signer  [32]byte
	message []byte
}

// IsZero reports whether the value was not made by this package.
func (v VerifiedMessage) IsZero() bool { return len(v.message) == 0 }

// Network is the id of the network that the message belongs to.
func (v VerifiedMessage) Network() string { return v.network }

// Signer is the ed25519 public key whose key must sign.
func (v VerifiedMessage) Signer() [32]byte { return v.signer }

// Message returns a copy of the bytes that are signed.
func (v VerifiedMessage) Message() []byte { return bytes.Clone(v.message) }

// PreparedOp is an answer of prepare-call-quote that passed.
type PreparedOp struct {
	signing  Signing
	end      int64 // of the sponsor's window, Unix seconds
	view     PreparedView
	doc      *api.Document
	callType string
	intent   [32]byte
	v1       bool
	funding  string
	slippage int
	sources  []AmountView
	stood    []string // what could run beside it when it was judged
	called   []common.Address
	skipped  []allowance // declared, and there already as the service says
}

// Signing is what gets signed.
func (p *PreparedOp) Signing() Signing { return p.signing }

// View is what review 1 shows.
func (p *PreparedOp) View() PreparedView { return p.view }

// Confirmation is what a confirmation of review 1 must carry: the fingerprint and, where a gate stands open, a newline
// and the sentence that was typed.
func (p *PreparedOp) Confirmation() string { return confirmation(p.view.Fingerprint, p.view.Phrase) }

func confirmation(fingerprint, phrase string) string {
	if phrase == "" {
		return fingerprint
	}
	return fingerprint + "\n" + phrase
}

// Document is the answer as received.
func (p *PreparedOp) Document() *api.Document { return p.doc }
