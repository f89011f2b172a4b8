package sign

import (
	"math/big"

	"github.com/ethereum/go-ethereum/common/hexutil"

	"coffer/api"
	"coffer/api/op"
	"coffer/wallet/verify"
)

// Content is what a digest was made of, taken from the verified value that is signed and from nothing else. Scheme says
// how the digest follows:
//
//	eip191-user-op-hash  the personal message (EIP-191) of the 32 bytes UserOpHash, which is the hash of UserOp at
//	                     EntryPoint (v0.7) on ChainID
//	eip712               the EIP-712 digest of TypedData
//	eip7702              keccak256(0x05 ‖ rlp([chainId, address, nonce])) of Authorization
//	ed25519              Message itself is signed; the digest names it (SHA-256)
//
// Numbers are 0x quantities, byte strings 0x and pairs of hex digits, addresses in checksum form; the typed data has
// the JSON form of EIP-712.
type Content struct {
	AccountKind   string         `json:"accountKind"` // an account type of the interface, such as "kernel-v3.1-ecdsa"
	Scheme        string         `json:"scheme"`
	ChainID       string         `json:"chainId,omitzero"`
	EntryPoint    string         `json:"entryPoint,omitzero"`
	UserOp        *UserOp        `json:"userOp,omitzero"`
	UserOpHash    string         `json:"userOpHash,omitzero"`
	TypedData     *api.TypedData `json:"typedData,omitzero"`
	Approved      *Approved      `json:"approved,omitzero"` // not there where the validator's formula is unknown
	Authorization *Authorization `json:"authorization,omitzero"`
	Message       string         `json:"message,omitzero"`
}

// The ways in which a digest follows from a Content.
const (
	SchemeUserOp        = "eip191-user-op-hash"
	SchemeTypedData     = "eip712"
	SchemeAuthorization = "eip7702"
	SchemeMessage       = "ed25519"
)

// UserOp is an unsigned ERC-4337 v0.7 user operation with the members and the spelling of ERC-7769. Those of factory
// and paymaster are there all or not at all.
type UserOp struct {
	Sender                        string `json:"sender"`
	Nonce                         string `json:"nonce"`
	Factory                       string `json:"factory,omitzero"`
	FactoryData                   string `json:"factoryData,omitzero"`
	CallData                      string `json:"callData"`
	CallGasLimit                  string `json:"callGasLimit"`
	VerificationGasLimit          string `json:"verificationGasLimit"`
	PreVerificationGas            string `json:"preVerificationGas"`
	MaxFeePerGas                  string `json:"maxFeePerGas"`
	MaxPriorityFeePerGas          string `json:"maxPriorityFeePerGas"`
	Paymaster                     string `json:"paymaster,omitzero"`
	PaymasterVerificationGasLimit string `json:"paymasterVerificationGasLimit,omitzero"`
	PaymasterPostOpGasLimit       string `json:"paymasterPostOpGasLimit,omitzero"`
	PaymasterData                 string `json:"paymasterData,omitzero"`
}

// Approved is what the typed data's callDataAndNonceHash covers: keccak256(abi.encode(sender, callData, nonce)).
type Approved struct {
	Sender   string `json:"sender"`
	CallData string `json:"callData"`
	Nonce    string `json:"nonce"`
}

// Authorization is an EIP-7702 tuple.
type Authorization struct {
	ChainID string `json:"chainId"`
	Address string `json:"address"`
	Nonce   string `json:"nonce"`
}

func userOpContent(v verify.VerifiedUserOp) Content {
	u := v.UserOp()
	out := &UserOp{
		Sender: u.Sender.Hex(), Nonce: quantity(u.Nonce), CallData: hexutil.Encode(u.CallData),
		CallGasLimit:         quantity(u.CallGasLimit),
		VerificationGasLimit: quantity(u.VerificationGasLimit), PreVerificationGas: quantity(u.PreVerificationGas),
		MaxFeePerGas: quantity(u.MaxFeePerGas), MaxPriorityFeePerGas: quantity(u.MaxPriorityFeePerGas),
	}
	if u.Factory != nil {
		out.Factory, out.FactoryData = u.Factory.Hex(), hexutil.Encode(u.FactoryData)
	}
	if u.Paymaster != nil {
		out.Paymaster, out.PaymasterData = u.Paymaster.Hex(), hexutil.Encode(u.PaymasterData)
		out.PaymasterVerificationGasLimit = quantity(u.PaymasterVerificationGasLimit)
		out.PaymasterPostOpGasLimit = quantity(u.PaymasterPostOpGasLimit)
	}
	return Content{
		AccountKind: v.Kind(), Scheme: SchemeUserOp, ChainID: hexutil.EncodeUint64(v.ChainID()),
		EntryPoint: v.EntryPoint().Hex(),
		UserOp:     out, UserOpHash: v.OpHash().Hex(),
	}
}

func approveContent(v verify.VerifiedApprove) Content {
	td := v.Domain().ApproveDocument(v.Hash())
	c := Content{AccountKind: v.Kind(), Scheme: SchemeTypedData, TypedData: &td}
	if a, known := v.Approved(); known {
		c.Approved = &Approved{Sender: a.Sender.Hex(), CallData: hexutil.Encode(a.CallData), Nonce: quantity(a.Nonce)}
	}
	return c
}

func delegationContent(kind string, a op.Authorization) Content {
	return Content{AccountKind: kind, Scheme: SchemeAuthorization, Authorization: &Authorization{
		ChainID: quantity(a.ChainID), Address: a.Address.Hex(), Nonce: hexutil.EncodeUint64(a.Nonce),
	}}
}

// quantity writes a number of a verified value, which has them all; "" is no quantity to any reader.
func quantity(v *big.Int) string {
	if v == nil {
		return ""
	}
	return hexutil.EncodeBig(v)
}
