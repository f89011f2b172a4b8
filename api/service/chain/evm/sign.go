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
	"coffer/api/service/chain/evm/exec"
)

var errNoKey = errors.New("no key to sign with")

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

// fromAuthorizations undoes exec.Authorizations.
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
	value, err := exec.Uint256(t.Value)
	if err != nil {
		return nil, fmt.Errorf("value: %w", err)
	}
	auths, err := exec.Authorizations(t.Authorizations)
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
