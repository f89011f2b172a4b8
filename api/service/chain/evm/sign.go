package evm

import (
	"cmp"
	"errors"
	"fmt"
	"math/big"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/holiman/uint256"

	"coffer/api/op"
	"coffer/api/service/chain"
)

var (
	errNoKey  = errors.New("no key to sign with")
	errAmount = errors.New("an amount must be between 0 and 2^256-1")
)

// signedBy is a signer that knows who signed, so that the sender of a
// transaction that was signed a moment ago is not recovered again. Verify uses
// the plain signer and would find a wrong one.
type signedBy struct {
	types.Signer
	from common.Address
}

func (s signedBy) Sender(*types.Transaction) (common.Address, error) { return s.from, nil }

func (s signedBy) Equal(other types.Signer) bool {
	o, ok := other.(signedBy)
	return ok && o.from == s.from && s.Signer.Equal(o.Signer)
}

// toUint256 treats nil as zero.
func toUint256(v *big.Int) (*uint256.Int, error) {
	if v == nil {
		return new(uint256.Int), nil
	}
	u, overflow := uint256.FromBig(v)
	if v.Sign() < 0 || overflow {
		return nil, errAmount
	}
	return u, nil
}

func authorizations(in []op.SignedAuthorization) ([]types.SetCodeAuthorization, error) {
	if len(in) == 0 {
		return nil, nil // the protocol refuses an empty list, not an absent one
	}
	out := make([]types.SetCodeAuthorization, len(in))
	for i, a := range in {
		if a.ChainID == nil {
			return nil, fmt.Errorf("authorization %d: no chain id", i)
		}
		id, err := toUint256(a.ChainID)
		if err != nil {
			return nil, fmt.Errorf("authorization %d: chain id: %w", i, err)
		}
		out[i] = types.SetCodeAuthorization{ChainID: *id, Address: a.Address, Nonce: a.Nonce, V: a.YParity}
		out[i].R.SetBytes32(a.R[:])
		out[i].S.SetBytes32(a.S[:])
	}
	return out, nil
}

// fromAuthorizations undoes authorizations.
func fromAuthorizations(in []types.SetCodeAuthorization) []op.SignedAuthorization {
	var out []op.SignedAuthorization
	for _, a := range in {
		out = append(out, op.SignedAuthorization{
			Authorization: op.Authorization{ChainID: a.ChainID.ToBig(), Address: a.Address, Nonce: a.Nonce},
			R:             a.R.Bytes32(), S: a.S.Bytes32(), YParity: a.V,
		})
	}
	return out
}

// unsigned builds the transaction with the given nonce at the given base fee.
func (e *env) unsigned(t chain.Tx, nonce uint64, baseFee *big.Int) (*types.Transaction, error) {
	value, err := toUint256(t.Value)
	if err != nil {
		return nil, fmt.Errorf("value: %w", err)
	}
	auths, err := authorizations(t.Authorizations)
	if err != nil {
		return nil, err
	}
	var data types.TxData
	if auths == nil {
		data = &types.DynamicFeeTx{
			ChainID: e.cfg.ChainID, Nonce: nonce, GasTipCap: new(big.Int), GasFeeCap: baseFee,
			Gas: cmp.Or(t.Gas, MaxTxGas), To: &t.To, Value: value.ToBig(), Data: t.Data,
		}
	} else {
		data = &types.SetCodeTx{
			ChainID: uint256.MustFromBig(e.cfg.ChainID), Nonce: nonce, GasTipCap: new(uint256.Int),
			GasFeeCap: uint256.MustFromBig(baseFee), Gas: cmp.Or(t.Gas, MaxTxGas), To: t.To, Value: value,
			Data: t.Data, AuthList: auths,
		}
	}
	return types.NewTx(data), nil
}
