package ethrpc

import (
	"bytes"
	"errors"
	"fmt"
	"math/big"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/holiman/uint256"
)

// CallArgs are a call, or a transaction that is still to be made, in the form that tools send.
type CallArgs struct {
	From                 *common.Address `json:"from"`
	To                   *common.Address `json:"to"`
	Gas                  *hexutil.Uint64 `json:"gas"`
	GasPrice             *hexutil.Big    `json:"gasPrice"`
	MaxFeePerGas         *hexutil.Big    `json:"maxFeePerGas"`
	MaxPriorityFeePerGas *hexutil.Big    `json:"maxPriorityFeePerGas"`
	Value                *hexutil.Big    `json:"value"`
	Nonce                *hexutil.Uint64 `json:"nonce"`
	// Input is the newer name of Data. Both may be there.
	Data  *hexutil.Bytes `json:"data"`
	Input *hexutil.Bytes `json:"input"`

	AccessList        *types.AccessList            `json:"accessList"`
	ChainID           *hexutil.Big                 `json:"chainId"`
	AuthorizationList []types.SetCodeAuthorization `json:"authorizationList"`

	// Blob transactions are refused; their fields are read so that they can be.
	BlobFeeCap *hexutil.Big  `json:"maxFeePerBlobGas"`
	BlobHashes []common.Hash `json:"blobVersionedHashes"`
	Blobs      []any         `json:"blobs"`
}

// Sender is the account that calls, the zero address when none is named.
func (a *CallArgs) Sender() common.Address {
	if a.From == nil {
		return common.Address{}
	}
	return *a.From
}

// Payload is the data of the call.
func (a *CallArgs) Payload() []byte {
	if a.Input != nil {
		return *a.Input
	}
	if a.Data != nil {
		return *a.Data
	}
	return nil
}

func (a *CallArgs) check(chainID *big.Int) error {
	switch {
	case a.BlobFeeCap != nil || a.BlobHashes != nil || a.Blobs != nil:
		return errBlobs
	case a.GasPrice != nil && (a.MaxFeePerGas != nil || a.MaxPriorityFeePerGas != nil):
		return errors.New("both gasPrice and (maxFeePerGas or maxPriorityFeePerGas) specified")
	case a.ChainID != nil && a.ChainID.ToInt().Cmp(chainID) != 0:
		return fmt.Errorf("chainId does not match node's (have=%v, want=%v)", a.ChainID.ToInt(), chainID)
	}
	return nil
}

// Message is the message that the EVM runs, at most gasCap gas, which is also what it gets when it names none. Without
// a price it costs nothing. The sender may have code, and any nonce unless the caller checks it.
func (a *CallArgs) Message(chainID, baseFee *big.Int, gasCap uint64) (*core.Message, error) {
	if err := a.check(chainID); err != nil {
		return nil, err
	}
	if a.To == nil && a.AuthorizationList != nil {
		return nil, core.ErrSetCodeTxCreate
	}
	msg := &core.Message{
		From: a.Sender(), To: a.To, Value: amount(a.Value), GasLimit: gasCap, Data: a.Payload(),
		GasFeeCap: amount(a.MaxFeePerGas), GasTipCap: amount(a.MaxPriorityFeePerGas), GasPrice: new(uint256.Int),
		SetCodeAuthorizations: a.AuthorizationList,
	}
	if a.Gas != nil {
		msg.GasLimit = min(uint64(*a.Gas), gasCap)
	}
	if a.Nonce != nil {
		msg.Nonce = uint64(*a.Nonce)
	}
	if a.AccessList != nil {
		msg.AccessList = *a.AccessList
	}
	if a.GasPrice != nil {
		price := amount(a.GasPrice)
		msg.GasPrice, msg.GasFeeCap, msg.GasTipCap = price, price, price
	} else if !msg.GasFeeCap.IsZero() || !msg.GasTipCap.IsZero() {
		price, overflow := new(uint256.Int).AddOverflow(msg.GasTipCap, uint256.MustFromBig(baseFee))
		if overflow || price.Gt(msg.GasFeeCap) {
			price = msg.GasFeeCap
		}
		msg.GasPrice = price
	}
	return msg.SkipNonceCheck().SkipEOACheck().SkipGasLimitCapCheck(), nil
}

// amount is zero when nothing is given. What has been parsed has 256 bits at most.
func amount(b *hexutil.Big) *uint256.Int {
	if b == nil {
		return new(uint256.Int)
	}
	return uint256.MustFromBig(b.ToInt())
}

// checkTransaction refuses what can be a call but no transaction.
func (a *CallArgs) checkTransaction(chainID *big.Int) error {
	if err := a.check(chainID); err != nil {
		return err
	}
	switch {
	case a.GasPrice != nil && a.AuthorizationList != nil:
		return errors.New("both gasPrice and authorizationList specified")
	case a.GasPrice != nil && a.GasPrice.ToInt().Sign() == 0:
		return errors.New("gasPrice must be non-zero after london fork")
	case a.Data != nil && a.Input != nil && !bytes.Equal(*a.Data, *a.Input):
		return errors.New(`both "data" and "input" are set and not equal. ` +
			`Please use "input" to pass transaction call data`)
	case a.To == nil && len(a.Payload()) == 0:
		return errors.New("contract creation without any data provided")
	case a.To == nil && a.AuthorizationList != nil:
		return errors.New(`authorizationList provided for contract creation, but "to" field is missing`)
	}
	return nil
}

// setFees fills in the fees that are missing: twice the base fee, so that a transaction outlives some blocks.
func (a *CallArgs) setFees(baseFee, tip *big.Int) error {
	if a.GasPrice != nil {
		return nil
	}
	if a.MaxPriorityFeePerGas == nil {
		a.MaxPriorityFeePerGas = (*hexutil.Big)(tip)
	}
	if a.MaxFeePerGas == nil {
		most := new(big.Int).Lsh(baseFee, 1)
		a.MaxFeePerGas = (*hexutil.Big)(most.Add(most, a.MaxPriorityFeePerGas.ToInt()))
	}
	most, tip := a.MaxFeePerGas.ToInt(), a.MaxPriorityFeePerGas.ToInt()
	switch {
	case most.Sign() == 0:
		return errors.New("maxFeePerGas must be non-zero")
	case most.BitLen() > 256:
		return core.ErrFeeCapVeryHigh
	case most.Cmp(tip) < 0:
		return fmt.Errorf("maxFeePerGas (%v) < maxPriorityFeePerGas (%v)", most, tip)
	}
	return nil
}

// transaction makes the unsigned transaction. Nonce, gas and fees must be set.
func (a *CallArgs) transaction(chainID *big.Int) *types.Transaction {
	var list types.AccessList
	if a.AccessList != nil {
		list = *a.AccessList
	}
	nonce, gas, value := uint64(*a.Nonce), uint64(*a.Gas), amount(a.Value)
	switch {
	case a.AuthorizationList != nil:
		return types.NewTx(&types.SetCodeTx{
			ChainID: uint256.MustFromBig(chainID), Nonce: nonce, Gas: gas, To: *a.To, Value: value, Data: a.Payload(),
			GasFeeCap: amount(a.MaxFeePerGas), GasTipCap: amount(a.MaxPriorityFeePerGas),
			AccessList: list, AuthList: a.AuthorizationList,
		})
	case a.GasPrice == nil:
		return types.NewTx(&types.DynamicFeeTx{
			ChainID: chainID, Nonce: nonce, Gas: gas, To: a.To, Value: value.ToBig(), Data: a.Payload(),
			GasFeeCap: a.MaxFeePerGas.ToInt(), GasTipCap: a.MaxPriorityFeePerGas.ToInt(), AccessList: list,
		})
	case a.AccessList != nil:
		return types.NewTx(&types.AccessListTx{
			ChainID: chainID, Nonce: nonce, Gas: gas, To: a.To, Value: value.ToBig(), Data: a.Payload(),
			GasPrice: a.GasPrice.ToInt(), AccessList: list,
		})
	default:
		return types.NewTx(&types.LegacyTx{
			Nonce: nonce, Gas: gas, To: a.To, Value: value.ToBig(), Data: a.Payload(), GasPrice: a.GasPrice.ToInt(),
		})
	}
}
