package admin

import (
	"context"
	"errors"
	"fmt"
	"math/big"

	"coffer/api"
	"coffer/api/op"
)

// Gas of an operation. Nobody pays fees for it, so generous limits cost the user nothing; unused gas is not charged to
// anybody either.
const (
	verificationGas = 300_000
	gasPerCall      = 250_000
	gasPerByte      = 64
	maxCallGas      = 8_000_000
)

// MaxCalls bounds the calls of one operation.
const MaxCalls = 30

// Operate signs an operation of the admin alone: an ERC-7579 batch of the given calls, without fees, paymaster or
// factory. The chain takes it from the end of an announced exit's delay. Nonce is the full nonce of the account's
// operations on that chain; it must name the role-based validator, mode 00 and type 00 (TH-U2).
func (s *Signer) Operate(ctx context.Context, chainID uint64, nonce *big.Int, calls []op.Call) (Signed, error) {
	chain, err := s.chain(chainID)
	if err != nil {
		return Signed{}, err
	}
	o, err := s.operation(nonce, calls)
	if err != nil {
		return Signed{}, err
	}
	hash, err := o.Hash(s.network.Pins.EntryPoint, new(big.Int).SetUint64(chainID))
	if err != nil {
		return Signed{}, err
	}
	if o.Signature, err = s.recoverable(ctx, op.EIP191(hash)); err != nil {
		return Signed{}, err
	}
	data, err := op.HandleOpsCall(s.account.Admin, o)
	if err != nil {
		return Signed{}, err
	}
	wire := o.Wire()
	return Signed{
		Chain: chainID, To: s.network.Pins.EntryPoint, Data: data,
		Request: api.RelayRequest{Account: s.account.Wire, Chain: chain, Action: api.AdminOperate, UserOp: &wire},
	}, nil
}

func (s *Signer) operation(nonce *big.Int, calls []op.Call) (op.UserOp, error) {
	n, err := op.ParseNonce(nonce)
	if err != nil {
		return op.UserOp{}, ErrNonce
	}
	if n.Mode != 0 || n.Type != 0 || n.Validator != s.network.Pins.RoleBasedValidator || n.Key != op.LanePrepared ||
		n.Sequence > MaxNonce {
		return op.UserOp{}, ErrNonce
	}
	if len(calls) == 0 || len(calls) > MaxCalls {
		return op.UserOp{}, fmt.Errorf("an operation has 1 to %d calls, got %d", MaxCalls, len(calls))
	}
	var bytes int
	for _, c := range calls {
		if c.To == s.account.Address || c.To == s.network.Pins.EntryPoint || c.To == s.network.Pins.RoleBasedValidator {
			return op.UserOp{},
				errors.New("a call to the account itself, its validator or the entry point has no place in an exit")
		}
		bytes += len(c.Data)
	}
	data, err := op.EncodeExecute(calls)
	if err != nil {
		return op.UserOp{}, err
	}
	gas := min(100_000+gasPerCall*len(calls)+gasPerByte*bytes, maxCallGas)
	return op.UserOp{
		Sender: s.account.Address, Nonce: nonce, CallData: data,
		CallGasLimit: big.NewInt(int64(gas)), VerificationGasLimit: big.NewInt(verificationGas),
		PreVerificationGas: new(big.Int),
		MaxFeePerGas:       new(big.Int), MaxPriorityFeePerGas: new(big.Int),
	}, nil
}
