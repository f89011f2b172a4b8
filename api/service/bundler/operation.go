package bundler

import (
	"math/big"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"

	"coffer/api/op"
	"coffer/api/service/jsonrpc"
)

// Operation is a user operation of EntryPoint v0.7 as account libraries send it. Members that are not used are absent.
// In an estimate those of gas may be, too.
type Operation struct {
	Sender                        common.Address  `json:"sender"`
	Nonce                         *hexutil.Big    `json:"nonce"`
	Factory                       *common.Address `json:"factory,omitempty"`
	FactoryData                   hexutil.Bytes   `json:"factoryData,omitempty"`
	CallData                      hexutil.Bytes   `json:"callData"`
	CallGasLimit                  *hexutil.Big    `json:"callGasLimit"`
	VerificationGasLimit          *hexutil.Big    `json:"verificationGasLimit"`
	PreVerificationGas            *hexutil.Big    `json:"preVerificationGas"`
	MaxFeePerGas                  *hexutil.Big    `json:"maxFeePerGas"`
	MaxPriorityFeePerGas          *hexutil.Big    `json:"maxPriorityFeePerGas"`
	Paymaster                     *common.Address `json:"paymaster,omitempty"`
	PaymasterVerificationGasLimit *hexutil.Big    `json:"paymasterVerificationGasLimit,omitempty"`
	PaymasterPostOpGasLimit       *hexutil.Big    `json:"paymasterPostOpGasLimit,omitempty"`
	PaymasterData                 hexutil.Bytes   `json:"paymasterData,omitempty"`
	Signature                     hexutil.Bytes   `json:"signature"`
	Auth                          *authorization  `json:"eip7702Auth,omitempty"`
}

// authorization lets an EOA run the code of a contract (EIP-7702).
type authorization struct {
	Address common.Address `json:"address"`
	ChainID hexutil.Big    `json:"chainId"`
	Nonce   hexutil.Uint64 `json:"nonce"`
	R       hexutil.Big    `json:"r"`
	S       hexutil.Big    `json:"s"`
	YParity hexutil.Uint64 `json:"yParity"`
}

// seven is what libraries put into factory for an account that delegates in place of being deployed.
var seven = common.Address{0x77, 0x02}

// userOp is the operation, complete. Errors name the member.
func (o Operation) userOp() (op.UserOp, error) {
	for _, m := range []struct {
		name string
		v    *hexutil.Big
	}{
		{"nonce", o.Nonce}, {"callGasLimit", o.CallGasLimit}, {"verificationGasLimit", o.VerificationGasLimit},
		{"preVerificationGas", o.PreVerificationGas}, {"maxFeePerGas", o.MaxFeePerGas},
		{"maxPriorityFeePerGas", o.MaxPriorityFeePerGas},
	} {
		if m.v == nil {
			return op.UserOp{}, jsonrpc.Errorf(jsonrpc.CodeInvalidParams, "invalid user operation: %s is missing",
				m.name)
		}
	}
	return o.padded()
}

// padded is the operation with zeros for what is missing.
func (o Operation) padded() (op.UserOp, error) {
	u := op.UserOp{
		Sender: o.Sender, Nonce: number(o.Nonce), CallData: o.CallData, CallGasLimit: number(o.CallGasLimit),
		VerificationGasLimit: number(o.VerificationGasLimit), PreVerificationGas: number(o.PreVerificationGas),
		MaxFeePerGas: number(o.MaxFeePerGas), MaxPriorityFeePerGas: number(o.MaxPriorityFeePerGas),
		Signature: o.Signature,
	}
	if o.Factory != nil && *o.Factory != seven {
		u.Factory, u.FactoryData = o.Factory, o.FactoryData
	}
	if o.Paymaster != nil {
		u.Paymaster, u.PaymasterData = o.Paymaster, o.PaymasterData
		u.PaymasterVerificationGasLimit = number(o.PaymasterVerificationGasLimit)
		u.PaymasterPostOpGasLimit = number(o.PaymasterPostOpGasLimit)
	}
	for name, part := range map[string]struct {
		b    []byte
		most int
	}{
		"callData": {u.CallData, op.MaxCallData}, "factoryData": {u.FactoryData, op.MaxFactoryData},
		"paymasterData": {u.PaymasterData, op.MaxPaymasterData}, "signature": {u.Signature, op.MaxSignature},
	} {
		if len(part.b) > part.most {
			return u, jsonrpc.Errorf(jsonrpc.CodeInvalidParams,
				"invalid user operation: %s has %d bytes, at most %d are taken", name, len(part.b), part.most)
		}
	}
	if _, err := u.Pack(); err != nil {
		return u, invalidOp(err)
	}
	return u, nil
}

func number(b *hexutil.Big) *big.Int {
	if b == nil {
		return new(big.Int)
	}
	return b.ToInt()
}

// authorizations are what the transaction of the operation carries.
func (o Operation) authorizations(chainID uint64) ([]op.SignedAuthorization, error) {
	if o.Auth == nil {
		return nil, nil
	}
	a := op.SignedAuthorization{
		Authorization: op.Authorization{ChainID: o.Auth.ChainID.ToInt(), Address: o.Auth.Address,
			Nonce: uint64(o.Auth.Nonce)},
		YParity: uint8(o.Auth.YParity & 1),
	}
	o.Auth.R.ToInt().FillBytes(a.R[:])
	o.Auth.S.ToInt().FillBytes(a.S[:])
	by, err := a.Authority()
	if err != nil || by != o.Sender || o.Auth.YParity > 1 {
		return nil, jsonrpc.Errorf(jsonrpc.CodeInvalidParams, "invalid eip7702Auth: it is not signed by the sender")
	}
	if id := a.ChainID; id.Sign() != 0 && (!id.IsUint64() || id.Uint64() != chainID) {
		return nil, jsonrpc.Errorf(jsonrpc.CodeInvalidParams, "invalid eip7702Auth: it is for chain %s", id)
	}
	return []op.SignedAuthorization{a}, nil
}

// Shown is an operation as it is written.
func Shown(u op.UserOp) Operation {
	big := func(v *big.Int) *hexutil.Big { return (*hexutil.Big)(v) }
	o := Operation{
		Sender: u.Sender, Nonce: big(u.Nonce), Factory: u.Factory, FactoryData: u.FactoryData, CallData: u.CallData,
		CallGasLimit: big(u.CallGasLimit), VerificationGasLimit: big(u.VerificationGasLimit),
		PreVerificationGas: big(u.PreVerificationGas), MaxFeePerGas: big(u.MaxFeePerGas),
		MaxPriorityFeePerGas: big(u.MaxPriorityFeePerGas), Signature: u.Signature,
	}
	if u.Paymaster != nil {
		o.Paymaster, o.PaymasterData = u.Paymaster, u.PaymasterData
		o.PaymasterVerificationGasLimit = big(u.PaymasterVerificationGasLimit)
		o.PaymasterPostOpGasLimit = big(u.PaymasterPostOpGasLimit)
	}
	return o
}
