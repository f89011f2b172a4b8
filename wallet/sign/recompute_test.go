package sign

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"strings"

	"github.com/ethereum/go-ethereum/accounts"
	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/signer/core/apitypes"
	"github.com/holiman/uint256"
)

// asked is a request as the author of a signer would read it from docs/signer.md. Nothing below uses a type or a
// function of this program: the hashes are made with go-ethereum's ABI encoder, its typed data and its set-code
// transactions.
type asked struct {
	Version int             `json:"version"`
	Kind    string          `json:"kind"`
	Network string          `json:"network"`
	Address string          `json:"address"`
	Chain   string          `json:"chain"`
	Digest  string          `json:"digest"`
	Message string          `json:"message"`
	Summary json.RawMessage `json:"summary"`
	Content struct {
		AccountKind   string              `json:"accountKind"`
		Scheme        string              `json:"scheme"`
		ChainID       *hexutil.Big        `json:"chainId"`
		EntryPoint    *common.Address     `json:"entryPoint"`
		UserOp        *foreignUserOp      `json:"userOp"`
		UserOpHash    common.Hash         `json:"userOpHash"`
		TypedData     *apitypes.TypedData `json:"typedData"`
		Approved      *foreignApproved    `json:"approved"`
		Authorization *foreignSetCode     `json:"authorization"`
		Message       hexutil.Bytes       `json:"message"`
	} `json:"content"`
}

type foreignUserOp struct {
	Sender                        common.Address  `json:"sender"`
	Nonce                         *hexutil.Big    `json:"nonce"`
	Factory                       *common.Address `json:"factory"`
	FactoryData                   hexutil.Bytes   `json:"factoryData"`
	CallData                      hexutil.Bytes   `json:"callData"`
	CallGasLimit                  *hexutil.Big    `json:"callGasLimit"`
	VerificationGasLimit          *hexutil.Big    `json:"verificationGasLimit"`
	PreVerificationGas            *hexutil.Big    `json:"preVerificationGas"`
	MaxFeePerGas                  *hexutil.Big    `json:"maxFeePerGas"`
	MaxPriorityFeePerGas          *hexutil.Big    `json:"maxPriorityFeePerGas"`
	Paymaster                     *common.Address `json:"paymaster"`
	PaymasterVerificationGasLimit *hexutil.Big    `json:"paymasterVerificationGasLimit"`
	PaymasterPostOpGasLimit       *hexutil.Big    `json:"paymasterPostOpGasLimit"`
	PaymasterData                 hexutil.Bytes   `json:"paymasterData"`
}

type foreignApproved struct {
	Sender   common.Address `json:"sender"`
	CallData hexutil.Bytes  `json:"callData"`
	Nonce    *hexutil.Big   `json:"nonce"`
}

type foreignSetCode struct {
	ChainID *hexutil.Big   `json:"chainId"`
	Address common.Address `json:"address"`
	Nonce   *hexutil.Big   `json:"nonce"`
}

// recompute reads a request, computes what would be signed from its content, and refuses a request whose digest is
// another one. It returns the 32 bytes to sign with a secp256k1 key, or the message to sign with an ed25519 key.
func recompute(line []byte) (toSign []byte, kind string, err error) {
	var r asked
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	if err := d.Decode(&r); err != nil {
		return nil, "", err
	}
	if r.Version != 2 {
		return nil, "", fmt.Errorf("version %d", r.Version)
	}
	chain := ""
	switch c := r.Content; r.Kind + " of " + c.AccountKind + " by " + c.Scheme {
	case "userOp of kernel-v3.1-ecdsa by eip191-user-op-hash", "userOp of kernel-v3.3-ecdsa by eip191-user-op-hash":
		chain = "eip155:" + (*big.Int)(c.ChainID).String()
		toSign, err = userOpDigest(c.UserOp, c.EntryPoint, c.ChainID, c.UserOpHash)
	case "approve of role-based by eip712":
		chain = "eip155:" + (*big.Int)(c.TypedData.Domain.ChainId).String()
		toSign, err = approvalDigest(c.TypedData, c.Approved)
	case "delegation of kernel-v3.3-ecdsa by eip7702":
		chain = "eip155:" + (*big.Int)(c.Authorization.ChainID).String()
		tuple := types.SetCodeAuthorization{Address: c.Authorization.Address,
			Nonce: (*big.Int)(c.Authorization.Nonce).Uint64()}
		tuple.ChainID = *uint256.MustFromBig((*big.Int)(c.Authorization.ChainID))
		toSign = tuple.SigHash().Bytes()
	case "solana of solana by ed25519":
		named := sha256.Sum256(c.Message)
		if r.Digest != hexutil.Encode(named[:]) || r.Message != base64.StdEncoding.EncodeToString(c.Message) {
			return nil, "", errors.New("the message is not the one that the digest names")
		}
		return c.Message, r.Kind, nil
	default:
		return nil, "", fmt.Errorf("a %s of %q by %q is not known", r.Kind, c.AccountKind, c.Scheme)
	}
	if err == nil && r.Digest != hexutil.Encode(toSign) {
		err = fmt.Errorf("the content makes the digest %#x, not %s", toSign, r.Digest)
	}
	if err == nil && r.Chain != chain {
		err = fmt.Errorf("the content is for %s, not %s", chain, r.Chain)
	}
	return toSign, r.Kind, err
}

// userOpDigest hashes a user operation as EntryPoint v0.7 does: abi.encode of nine members, of which the dynamic ones
// are hashed.
func userOpDigest(u *foreignUserOp, entryPoint *common.Address, chainID *hexutil.Big, said common.Hash) ([]byte,
	error) {
	var initCode, paymasterAndData []byte
	if u.Factory != nil {
		initCode = append(u.Factory.Bytes(), u.FactoryData...)
	}
	if u.Paymaster != nil {
		paymasterAndData = append(u.Paymaster.Bytes(), uint128(u.PaymasterVerificationGasLimit)...)
		paymasterAndData = append(append(paymasterAndData, uint128(u.PaymasterPostOpGasLimit)...), u.PaymasterData...)
	}
	if (u.Factory == nil && u.FactoryData != nil) || (u.Paymaster == nil && u.PaymasterData != nil) {
		return nil, errors.New("data for nothing")
	}
	gas := [32]byte(append(uint128(u.VerificationGasLimit), uint128(u.CallGasLimit)...))
	fees := [32]byte(append(uint128(u.MaxPriorityFeePerGas), uint128(u.MaxFeePerGas)...))
	inner, err := encode("address uint256 bytes32 bytes32 bytes32 uint256 bytes32 bytes32", u.Sender,
		(*big.Int)(u.Nonce), crypto.Keccak256Hash(initCode),
		crypto.Keccak256Hash(u.CallData), gas, (*big.Int)(u.PreVerificationGas), fees,
		crypto.Keccak256Hash(paymasterAndData))
	if err != nil {
		return nil, err
	}
	outer, err := encode("bytes32 address uint256", crypto.Keccak256Hash(inner), *entryPoint, (*big.Int)(chainID))
	if err != nil {
		return nil, err
	}
	hash := crypto.Keccak256Hash(outer)
	if hash != said {
		return nil, fmt.Errorf("the operation's hash is %s, not %s", hash, said)
	}
	return accounts.TextHash(hash[:]), nil
}

// approvalDigest hashes the typed data. Where it says what is approved, its one member has to be the hash of that.
func approvalDigest(td *apitypes.TypedData, what *foreignApproved) ([]byte, error) {
	if what != nil {
		covered, err := encode("address bytes uint256", what.Sender, []byte(what.CallData), (*big.Int)(what.Nonce))
		if err != nil {
			return nil, err
		}
		if said, want := td.Message["callDataAndNonceHash"], crypto.Keccak256Hash(covered).Hex(); said != want {
			return nil, fmt.Errorf("the approval is of %v, not of %s", said, want)
		}
	}
	digest, _, err := apitypes.TypedDataAndHash(*td)
	return digest, err
}

// encode is abi.encode with go-ethereum's encoder.
func encode(of string, values ...any) ([]byte, error) {
	var args abi.Arguments
	for name := range strings.FieldsSeq(of) {
		t, err := abi.NewType(name, "", nil)
		if err != nil {
			return nil, err
		}
		args = append(args, abi.Argument{Type: t})
	}
	return args.Pack(values...)
}

func uint128(v *hexutil.Big) []byte { return (*big.Int)(v).FillBytes(make([]byte, 16)) }
