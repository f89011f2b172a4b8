package bundler

import (
	"bytes"
	"context"
	"math"
	"math/big"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"

	"coffer/api/op"
	"coffer/api/service/chain"
	"coffer/api/service/jsonrpc"
)

// What a bundle of one operation costs beside what the EntryPoint measures itself: the transaction, the loop of the
// EntryPoint, and the data of the operation at the price of call data and at that of memory, as every bundler reckons.
const (
	gasOfBundle    = 21_000
	gasOfOperation = 18_300
	gasOfWord      = 4
	gasOfZero      = 4
	gasOfByte      = 16
	gasOfFloorByte = 40 // EIP-7623

	ecdsaSignature = 65 // bytes
)

// Room that a simulation gets, and that estimates leave. The gas limit of a transaction is 16 777 216 (EIP-7825).
const (
	mostVerification = 5_000_000
	mostCall         = 10_000_000
)

// gasEstimate is the answer of eth_estimateUserOperationGas.
type gasEstimate struct {
	PreVerification       *hexutil.Big `json:"preVerificationGas"`
	Verification          *hexutil.Big `json:"verificationGasLimit"`
	Call                  *hexutil.Big `json:"callGasLimit"`
	PaymasterVerification *hexutil.Big `json:"paymasterVerificationGasLimit,omitempty"`
	PaymasterPostOp       *hexutil.Big `json:"paymasterPostOpGasLimit,omitempty"`
}

// preVerificationGas is what an operation pays for what the EntryPoint cannot measure. Its gas, fees and signature may
// still change, so each of their bytes counts as the dearest.
func preVerificationGas(o op.UserOp) *big.Int {
	limit := new(big.Int).SetUint64(math.MaxUint32)
	fee := new(big.Int).SetUint64(math.MaxUint64)
	o.CallGasLimit, o.VerificationGasLimit, o.PreVerificationGas = limit, limit, limit
	o.MaxFeePerGas, o.MaxPriorityFeePerGas = fee, fee
	o.Signature = bytes.Repeat([]byte{0xff}, max(len(o.Signature), ecdsaSignature))
	packed, err := op.EncodeOps(o)
	if err != nil {
		return new(big.Int)
	}
	gas := uint64(gasOfBundle + gasOfOperation + gasOfWord*(len(packed)+31)/32)
	for _, b := range packed {
		if b == 0 {
			gas += gasOfZero
		} else {
			gas += gasOfByte
		}
	}
	return new(big.Int).SetUint64(gas)
}

// estimate runs the operation step by step from the EntryPoint's address: creation, validation, the paymaster's, its
// calls. The signature may be a stub; what validation decides does not matter, only what it costs.
func (b bundler) estimate(ctx context.Context, p jsonrpc.Params) (any, error) {
	in, err := b.subject(p, 3)
	if err != nil {
		return nil, err
	}
	var overrides map[common.Address]override
	if err := p.Optional(2, &overrides); err != nil {
		return nil, err
	}
	o, err := in.padded()
	if err != nil {
		return nil, err
	}
	auths, err := in.authorizations(b.Chain.ID())
	if err != nil {
		return nil, err
	}
	st, err := b.state(ctx)
	if err != nil {
		return nil, err
	}
	defer st.Close()
	st.Apply(overlay(overrides))
	out, err := b.measure(st, o, auths)
	if fault := st.Err(); fault != nil {
		return nil, fault
	}
	return out, err
}

// override is what the caller wants an account to have during the estimate.
type override struct {
	Balance   *hexutil.Big                `json:"balance"`
	Nonce     *hexutil.Uint64             `json:"nonce"`
	Code      *hexutil.Bytes              `json:"code"`
	StateDiff map[common.Hash]common.Hash `json:"stateDiff"`
}

func overlay(in map[common.Address]override) chain.Overlay {
	out := chain.Overlay{}
	for at, o := range in {
		one := chain.Override{Nonce: (*uint64)(o.Nonce), Storage: o.StateDiff}
		if o.Balance != nil {
			one.Balance = o.Balance.ToInt()
		}
		if o.Code != nil {
			one.Code = append([]byte{}, *o.Code...)
		}
		out[at] = one
	}
	return out
}

func (b bundler) measure(st chain.State, o op.UserOp, auths []op.SignedAuthorization) (_ *gasEstimate, err error) {
	defer chain.Faulty(st, &err)
	// Limits count in the hash that a validation sees, not in what it costs.
	o.CallGasLimit, o.VerificationGasLimit = big.NewInt(mostCall), big.NewInt(mostVerification)
	if o.Paymaster != nil {
		o.PaymasterVerificationGasLimit = big.NewInt(mostVerification)
		o.PaymasterPostOpGasLimit = big.NewInt(mostVerification)
	}
	run := func(to common.Address, data []byte, most uint64, auths []op.SignedAuthorization) chain.Result {
		return st.Call(chain.Message{From: b.EntryPoint, To: to, Data: data, Gas: most + dataGas(data),
			Authorizations: auths})
	}
	var create uint64
	switch deployed := len(st.Code(o.Sender)) > 0; {
	case o.Factory != nil && deployed:
		return nil, jsonrpc.Errorf(codeRejected, "AA10 sender already constructed")
	case o.Factory != nil:
		r := run(*o.Factory, o.FactoryData, mostVerification, nil)
		if r.Err != nil || len(st.Code(o.Sender)) == 0 {
			return nil, jsonrpc.Errorf(codeRejected, "AA13 initCode failed or OOG: %s", b.Codec.Failed(r).Text)
		}
		create = r.GasUsed
	case !deployed && auths == nil:
		return nil, errNotDeployed
	}
	hash, err := o.Hash(b.EntryPoint, new(big.Int).SetUint64(b.Chain.ID()))
	if err != nil {
		return nil, invalidOp(err)
	}
	packed, err := o.Pack()
	if err != nil {
		return nil, invalidOp(err)
	}
	data, err := b.Codec.ValidateUserOp(packed, hash)
	if err != nil {
		return nil, err
	}
	r := run(o.Sender, data, mostVerification, auths)
	if r.Err != nil {
		return nil, jsonrpc.Errorf(codeRejected, "AA23 reverted: %s", b.Codec.Failed(r).Text)
	}
	out := &gasEstimate{
		PreVerification: (*hexutil.Big)(preVerificationGas(o)),
		Verification:    room(create+r.GasUsed, mostVerification),
	}
	if o.Paymaster != nil {
		if data, err = b.Codec.ValidatePaymasterUserOp(packed, hash); err != nil {
			return nil, err
		}
		r := run(*o.Paymaster, data, mostVerification, nil)
		if r.Err != nil {
			return nil, jsonrpc.Errorf(codePaymaster, "AA33 reverted: %s", b.Codec.Failed(r).Text)
		}
		out.PaymasterVerification = room(r.GasUsed, mostVerification)
		out.PaymasterPostOp = room(50_000, mostVerification)
	}
	call := o.CallData
	if wantsOperation(call) {
		if call, err = b.Codec.ExecuteUserOp(packed, hash); err != nil {
			return nil, err
		}
	}
	r = run(o.Sender, call, mostCall, nil)
	if r.Err != nil {
		return nil, &jsonrpc.Error{Code: codeReverted, Data: hexutil.Encode(r.Return),
			Message: "execution reverted: " + b.Codec.Failed(r).Text}
	}
	out.Call = room(r.GasUsed, mostCall)
	return out, nil
}

// dataGas covers what a transaction pays for its data, which the limits of an operation do not include.
func dataGas(data []byte) uint64 { return gasOfBundle + gasOfFloorByte*uint64(len(data)) }

// room leaves a third, because a call may need more at its deepest point than it uses in the end.
func room(gas, most uint64) *hexutil.Big {
	return (*hexutil.Big)(new(big.Int).SetUint64(min(gas*13/10+30_000, most)))
}

// wantsOperation reports call data that asks the EntryPoint for the account's executeUserOp.
func wantsOperation(call []byte) bool {
	return len(call) >= 4 && [4]byte(call[:4]) == [4]byte{0x8d, 0xd7, 0x71, 0x2f}
}
