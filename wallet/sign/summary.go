package sign

import (
	"crypto/sha256"
	"encoding/hex"

	"coffer/api"
	"coffer/api/op"
	"coffer/api/op/solmsg"
	"coffer/wallet/verify"
)

// Summary is what a verified value contains, for a command that shows it. Of the four kinds one is set.
type Summary struct {
	UserOp     *UserOpSummary     `json:"userOp,omitzero"`
	Approve    *ApproveSummary    `json:"approve,omitzero"`
	Delegation *DelegationSummary `json:"delegation,omitzero"`
	Solana     *SolanaSummary     `json:"solana,omitzero"`
}

// UserOpSummary is a user operation: its hash, its fields in the form of the interface, and the calls in its call data.
// Numbers are decimal.
type UserOpSummary struct {
	Hash   string        `json:"userOpHash"`
	Sender string        `json:"sender"`
	Nonce  string        `json:"nonce"`
	Calls  []CallSummary `json:"calls"`
	Fields api.UserOp    `json:"fields"`
}

// CallSummary is one call: to in checksum form, value in wei, data in 0x hex.
type CallSummary struct {
	To    string `json:"to"`
	Value string `json:"value"`
	Data  string `json:"data"`
}

// ApproveSummary is the EIP-712 document Approve(bytes32 callDataAndNonceHash) of a role-based account.
type ApproveSummary struct {
	Name                 string `json:"name"`
	Version              string `json:"version"`
	ChainID              uint64 `json:"chainId"`
	VerifyingContract    string `json:"verifyingContract"`
	CallDataAndNonceHash string `json:"callDataAndNonceHash"`
}

// DelegationSummary is an EIP-7702 authorization; ChainID is decimal.
type DelegationSummary struct {
	ChainID  string `json:"chainId"`
	Contract string `json:"contract"`
	Nonce    uint64 `json:"nonce"`
}

// SolanaSummary is a Solana message: keys in base58 and its instructions in the form of the interface.
type SolanaSummary struct {
	FeePayer     string                  `json:"feePayer"`
	BlockHash    string                  `json:"recentBlockHash"`
	Instructions []api.SolanaInstruction `json:"instructions"`
}

func userOpSummary(v verify.VerifiedUserOp) Summary {
	u := v.UserOp()
	s := &UserOpSummary{Hash: v.OpHash().Hex(), Sender: u.Sender.Hex(), Nonce: "0", Fields: u.Wire(),
		Calls: []CallSummary{}}
	if u.Nonce != nil {
		s.Nonce = u.Nonce.String()
	}
	calls, err := op.DecodeExecute(u.CallData)
	if err != nil {
		return Summary{UserOp: s} // the verifier decoded it before; without its calls the fields still say everything
	}
	for _, c := range calls {
		s.Calls = append(s.Calls, CallSummary{To: c.To.Hex(), Value: c.Value.String(),
			Data: "0x" + hex.EncodeToString(c.Data)})
	}
	return Summary{UserOp: s}
}

func approveSummary(v verify.VerifiedApprove) Summary {
	d := v.Domain()
	return Summary{Approve: &ApproveSummary{
		Name: d.Name, Version: d.Version, ChainID: d.ChainID, VerifyingContract: d.VerifyingContract.Hex(),
		CallDataAndNonceHash: v.Hash().Hex(),
	}}
}

func delegationSummary(a op.Authorization) Summary {
	return Summary{Delegation: &DelegationSummary{ChainID: a.ChainID.String(), Contract: a.Address.Hex(),
		Nonce: a.Nonce}}
}

func messageSummary(raw []byte) Summary {
	m, err := solmsg.Parse(raw)
	if err != nil {
		return Summary{} // the verifier parsed it before; without a summary the message itself says everything
	}
	return Summary{Solana: &SolanaSummary{FeePayer: m.FeePayer().String(), BlockHash: m.Blockhash.String(),
		Instructions: m.Wire()}}
}

// messageDigest names a Solana message; the message itself is what gets signed.
func messageDigest(message []byte) string {
	sum := sha256.Sum256(message)
	return "0x" + hex.EncodeToString(sum[:])
}
