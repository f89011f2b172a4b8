package verify

import (
	"bytes"
	"math/big"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api/op"
)

// UserOp returns a copy of what was checked, unsigned, for a signer that wants to decode and hash it itself.
func (v VerifiedUserOp) UserOp() op.UserOp {
	u := v.userOp
	for _, n := range []**big.Int{
		&u.Nonce, &u.CallGasLimit, &u.VerificationGasLimit, &u.PreVerificationGas, &u.MaxFeePerGas,
		&u.MaxPriorityFeePerGas, &u.PaymasterVerificationGasLimit,
		&u.PaymasterPostOpGasLimit,
	} {
		if *n != nil {
			*n = new(big.Int).Set(*n)
		}
	}
	for _, a := range []**common.Address{&u.Factory, &u.Paymaster} {
		if *a != nil {
			c := **a
			*a = &c
		}
	}
	u.FactoryData, u.CallData, u.PaymasterData = bytes.Clone(u.FactoryData), bytes.Clone(u.CallData),
		bytes.Clone(u.PaymasterData)
	return u
}

// EntryPoint is the pinned contract that the hash binds the operation to.
func (v VerifiedUserOp) EntryPoint() common.Address { return v.entryPoint }

// Approved is what the hash of an approval was computed from: keccak256(abi.encode(sender, callData, nonce)), protocol
// §2.11.
type Approved struct {
	Sender   common.Address
	CallData []byte
	Nonce    *big.Int
}

// Approved returns a copy of what the approval is about. It is false where the validator's formula is unknown: nobody
// here can say what the hash covers (TH-T7).
func (v VerifiedApprove) Approved() (Approved, bool) {
	if v.approved == nil {
		return Approved{}, false
	}
	return Approved{Sender: v.approved.Sender, CallData: bytes.Clone(v.approved.CallData),
		Nonce: new(big.Int).Set(v.approved.Nonce)}, true
}

// Domain is the EIP-712 domain of the approval.
func (v VerifiedApprove) Domain() op.Domain { return v.domain }

// Hash is the one member of the approval: the hash of call data and nonce.
func (v VerifiedApprove) Hash() common.Hash { return v.hash }
