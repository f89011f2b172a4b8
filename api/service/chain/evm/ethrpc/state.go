package ethrpc

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"

	"coffer/api/service/chain/evm"
	"coffer/api/service/jsonrpc"
)

func (a *api) stateMethods() jsonrpc.Methods {
	return jsonrpc.Methods{
		"eth_getBalance":          two(a.balance),
		"eth_getCode":             two(a.code),
		"eth_getTransactionCount": two(a.nonce),
		"eth_getStorageAt":        three(a.storage),
		"eth_getAccountInfo":      two(a.account),
		"eth_getProof":            three(a.proof),
		"eth_call":                four(a.call),
		"eth_estimateGas":         four(a.estimateGas),
	}
}

// in reads the state after a block.
func in[R any](a *api, at *BlockRef, read func(*evm.View) (R, error)) (r R, err error) {
	v, err := at.View(a.Node)
	if err != nil {
		return r, err
	}
	defer v.Close()
	if r, err = read(v); err != nil {
		return r, err
	}
	return r, v.Err()
}

func (a *api) balance(_ context.Context, of common.Address, at *BlockRef) (*hexutil.Big, error) {
	account, err := a.read(of, at)
	if err != nil {
		return nil, err
	}
	return (*hexutil.Big)(account.Balance.ToBig()), nil
}

// read reads an account, one of nothing when there is none.
func (a *api) read(of common.Address, at *BlockRef) (account types.StateAccount, err error) {
	number, err := at.known(a.Node)
	if err == nil {
		account, err = a.Account(number, of)
	}
	return account, err
}

func (a *api) code(_ context.Context, of common.Address, at *BlockRef) (hexutil.Bytes, error) {
	return in(a, at, func(v *evm.View) (hexutil.Bytes, error) { return v.State.GetCode(of), nil })
}

func (a *api) nonce(_ context.Context, of common.Address, at *BlockRef) (hexutil.Uint64, error) {
	if at != nil && at.Pending {
		n, err := a.PendingNonce(of)
		return hexutil.Uint64(n), err
	}
	account, err := a.read(of, at)
	return hexutil.Uint64(account.Nonce), err
}

func (a *api) storage(_ context.Context, of common.Address, key slotKey, at *BlockRef) (common.Hash, error) {
	return in(a, at, func(v *evm.View) (common.Hash, error) { return v.State.GetState(of, key.hash), nil })
}

// Account is the answer of eth_getAccountInfo, which saves the tools of Foundry two calls.
type Account struct {
	Balance *hexutil.Big   `json:"balance"`
	Nonce   hexutil.Uint64 `json:"nonce"`
	Code    hexutil.Bytes  `json:"code"`
}

func (a *api) account(_ context.Context, of common.Address, at *BlockRef) (*Account, error) {
	return in(a, at, func(v *evm.View) (*Account, error) {
		return &Account{
			(*hexutil.Big)(v.State.GetBalance(of).ToBig()), hexutil.Uint64(v.State.GetNonce(of)), v.State.GetCode(of),
		}, nil
	})
}

// slotKey is the number of a storage slot: up to 32 bytes, the prefix optional.
type slotKey struct {
	hash common.Hash
	full bool // came as 32 bytes
}

func (k *slotKey) UnmarshalJSON(data []byte) error {
	var s string
	if err := json.Unmarshal(data, &s); err != nil {
		return err
	}
	digits := s
	if strings.HasPrefix(s, "0x") || strings.HasPrefix(s, "0X") {
		digits = s[2:]
	}
	if len(digits)%2 == 1 {
		digits = "0" + digits
	}
	if len(digits) > 2*common.HashLength {
		return fmt.Errorf("storage key too long (want at most 32 bytes): %q", s)
	}
	b, err := hex.DecodeString(digits)
	if err != nil {
		return fmt.Errorf("invalid hex in storage key: %q", s)
	}
	k.hash, k.full = common.BytesToHash(b), len(b) == common.HashLength
	return nil
}

// String is the key as eth_getProof repeats it.
func (k slotKey) String() string {
	if k.full {
		return k.hash.Hex()
	}
	return hexutil.EncodeBig(k.hash.Big())
}
