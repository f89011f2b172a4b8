package ethrpc

import (
	"errors"
	"fmt"
	"maps"
	"math/big"
	"slices"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/state"
	"github.com/ethereum/go-ethereum/core/tracing"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/core/vm"
	"github.com/ethereum/go-ethereum/params"
)

// AccountOverride is what one account has during a call. State replaces its storage, StateDiff some of its slots.
type AccountOverride struct {
	Nonce            *hexutil.Uint64             `json:"nonce"`
	Code             *hexutil.Bytes              `json:"code"`
	Balance          *hexutil.Big                `json:"balance"`
	State            map[common.Hash]common.Hash `json:"state"`
	StateDiff        map[common.Hash]common.Hash `json:"stateDiff"`
	MovePrecompileTo *common.Address             `json:"movePrecompileToAddress"`
}

// StateOverride is the state that a call sees in place of the chain's.
type StateOverride map[common.Address]AccountOverride

// Apply changes a state that is thrown away, and the precompiles, as if a transaction before the call had done it.
func (o StateOverride) Apply(st *state.StateDB, precompiles vm.PrecompiledContracts) error {
	moved := map[common.Address]bool{}
	for _, addr := range slices.SortedFunc(maps.Keys(o), common.Address.Cmp) {
		a := o[addr]
		if moved[addr] {
			return fmt.Errorf("account %s has already been overridden by a precompile", addr.Hex())
		}
		if a.State != nil && a.StateDiff != nil {
			return fmt.Errorf("account %s has both 'state' and 'stateDiff'", addr.Hex())
		}
		p, is := precompiles[addr]
		if to := a.MovePrecompileTo; to != nil {
			if !is {
				return fmt.Errorf("account %s is not a precompile", addr.Hex())
			}
			if _, also := o[*to]; also {
				return fmt.Errorf("account %s is already overridden", to.Hex())
			}
			precompiles[*to], moved[*to] = p, true
		}
		delete(precompiles, addr)
		a.apply(st, addr)
	}
	st.Finalise(params.Rules{})
	return nil
}

func (a *AccountOverride) apply(st *state.StateDB, addr common.Address) {
	if a.Nonce != nil {
		st.SetNonce(addr, uint64(*a.Nonce), tracing.NonceChangeUnspecified)
	}
	if a.Code != nil {
		st.SetCode(addr, *a.Code, tracing.CodeChangeUnspecified)
	}
	if a.Balance != nil {
		st.SetBalance(addr, amount(a.Balance), tracing.BalanceChangeUnspecified)
	}
	if a.State != nil {
		st.SetStorage(addr, a.State)
	}
	for k, v := range a.StateDiff {
		st.SetState(addr, k, v)
	}
}

// BlockOverrides is the block that a call sees in place of the chain's.
type BlockOverrides struct {
	Number        *hexutil.Big       `json:"number"`
	Difficulty    *hexutil.Big       `json:"difficulty"` // read and without effect, as since the merge
	Time          *hexutil.Uint64    `json:"time"`
	GasLimit      *hexutil.Uint64    `json:"gasLimit"`
	FeeRecipient  *common.Address    `json:"feeRecipient"`
	PrevRandao    *common.Hash       `json:"prevRandao"`
	BaseFeePerGas *hexutil.Big       `json:"baseFeePerGas"`
	BlobBaseFee   *hexutil.Big       `json:"blobBaseFee"`
	BeaconRoot    *common.Hash       `json:"beaconRoot"`
	Withdrawals   *types.Withdrawals `json:"withdrawals"`
}

// Apply changes the context of a call.
func (o *BlockOverrides) Apply(bc *vm.BlockContext) error {
	if o == nil {
		return nil
	}
	if o.BeaconRoot != nil {
		return errors.New(`block override "beaconRoot" is not supported for this RPC method`)
	}
	if o.Withdrawals != nil {
		return errors.New(`block override "withdrawals" is not supported for this RPC method`)
	}
	if o.Number != nil {
		bc.BlockNumber = o.Number.ToInt()
	}
	if o.Time != nil {
		bc.Time = uint64(*o.Time)
	}
	if o.GasLimit != nil {
		bc.GasLimit = uint64(*o.GasLimit)
	}
	if o.FeeRecipient != nil {
		bc.Coinbase = *o.FeeRecipient
	}
	if o.PrevRandao != nil {
		bc.Random = o.PrevRandao
	}
	if o.BaseFeePerGas != nil {
		bc.BaseFee = o.BaseFeePerGas.ToInt()
	}
	if o.BlobBaseFee != nil {
		bc.BlobBaseFee = o.BlobBaseFee.ToInt()
	}
	return nil
}

// contextHeader is the header that leads to the context: what estimates gas begins with a header.
func contextHeader(parent *types.Header, bc vm.BlockContext) *types.Header {
	h := types.CopyHeader(parent)
	h.Number, h.Time, h.GasLimit = new(big.Int).Set(bc.BlockNumber), bc.Time, bc.GasLimit
	h.Coinbase, h.BaseFee = bc.Coinbase, new(big.Int).Set(bc.BaseFee)
	if bc.Random != nil {
		h.MixDigest = *bc.Random
	}
	return h
}
