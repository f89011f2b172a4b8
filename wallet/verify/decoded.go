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
		&u.Nonce, &u.CallGasLimit, &u.VerificationGasLimit, &u.PreVerificationGas, &u.MaxFeePerGas, &u.MaxPriorityFeePerGas, &u.PaymasterVerificationGasLimit,
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
	u.FactoryData, u.CallData, u.PaymasterData = bytes.Clone(u.FactoryData), bytes.Clone(u.CallData), bytes.Clone(u.PaymasterData)
	return u
}

// Domain is the EIP-712 domain of the approval.
func (v VerifiedApprove) Domain() op.Domain { return v.domain }

// Hash is the one member of the approval: the hash of call data and nonce.
func (v VerifiedApprove) Hash() common.Hash { return v.hash }
