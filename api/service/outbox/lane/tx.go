package lane

import (
	"context"
	"errors"
	"fmt"
	"math/big"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/holiman/uint256"

	"coffer/api/op"
	"coffer/api/service/chain"
	"coffer/api/service/signers"
)

var errAmount = errors.New("an amount must be between 0 and 2^256-1")

func value(v *big.Int) *big.Int {
	if v == nil {
		return new(big.Int)
	}
	return v
}

// message is the call that a transaction makes.
func message(t chain.Tx) chain.Message {
	return chain.Message{From: t.From.Address(), To: t.To, Value: t.Value, Data: t.Data, Gas: t.Gas,
		Authorizations: t.Authorizations}
}

// exact is message with the gas limit that will be signed.
func exact(t chain.Tx, gas uint64) chain.Message {
	m := message(t)
	m.Gas = gas
	return m
}

func authorizations(in []op.SignedAuthorization) ([]types.SetCodeAuthorization, error) {
	var out []types.SetCodeAuthorization
	for _, a := range in {
		id, overflow := uint256.FromBig(value(a.ChainID))
		if overflow || value(a.ChainID).Sign() < 0 {
			return nil, errAmount
		}
		s := types.SetCodeAuthorization{ChainID: *id, Address: a.Address, Nonce: a.Nonce, V: a.YParity}
		s.R.SetBytes32(a.R[:])
		s.S.SetBytes32(a.S[:])
		out = append(out, s)
	}
	return out, nil
}

func authorized(in []types.SetCodeAuthorization) (out []op.SignedAuthorization) {
	for _, a := range in {
		out = append(out, op.SignedAuthorization{
			Authorization: op.Authorization{ChainID: a.ChainID.ToBig(), Address: a.Address, Nonce: a.Nonce},
			R:             a.R.Bytes32(), S: a.S.Bytes32(), YParity: a.V,
		})
	}
	return out
}

// unsigned is a transaction as it will be signed.
func unsigned(chainID, nonce, gas uint64, t chain.Tx, p price) (*types.Transaction, error) {
	auths, err := authorizations(t.Authorizations)
	if err != nil {
		return nil, err
	}
	if v := value(t.Value); v.Sign() < 0 || v.BitLen() > 256 {
		return nil, errAmount
	}
	if auths == nil {
		return types.NewTx(&types.DynamicFeeTx{ChainID: new(big.Int).SetUint64(chainID), Nonce: nonce, Gas: gas,
			To: &t.To, Value: value(t.Value), Data: t.Data, GasTipCap: p.tip, GasFeeCap: p.most}), nil
	}
	return types.NewTx(&types.SetCodeTx{ChainID: uint256.NewInt(chainID), Nonce: nonce, Gas: gas, To: t.To,
		Value: uint256.MustFromBig(value(t.Value)), Data: t.Data, GasTipCap: uint256.MustFromBig(p.tip),
		GasFeeCap: uint256.MustFromBig(p.most), AuthList: auths}), nil
}

// repriced is the same transaction at another price.
func repriced(tx *types.Transaction, p price) (*types.Transaction, error) {
	t := chain.Tx{To: *tx.To(), Value: tx.Value(), Data: tx.Data(),
		Authorizations: authorized(tx.SetCodeAuthorizations())}
	return unsigned(tx.ChainId().Uint64(), tx.Nonce(), tx.Gas(), t, p)
}

// sign has a transaction signed, and takes nothing else for it.
func (l *Lane) sign(ctx context.Context, by signers.EVM, tx *types.Transaction, head uint64) (attempt,
	error) {
	signed, err := by.SignTx(ctx, tx, tx.ChainId())
	if err != nil {
		return attempt{}, fmt.Errorf("sign: %w", err)
	}
	s := types.LatestSignerForChainID(tx.ChainId())
	if from, err := types.Sender(s, signed); err != nil || from != by.Address() || s.Hash(signed) != s.Hash(tx) {
		return attempt{}, errors.New("sign: the signer returned something else than it was given")
	}
	raw, err := signed.MarshalBinary()
	if err != nil {
		return attempt{}, err
	}
	return attempt{Hash: signed.Hash(), Raw: raw, At: l.now(), Head: head, tx: signed}, nil
}

// header is a block in the form of the nodes.
type header struct {
	Number hexutil.Uint64 `json:"number"`
	Hash   common.Hash    `json:"hash"`
	Time   hexutil.Uint64 `json:"timestamp"`
}

// receipt is one in the form of the nodes.
type receipt struct {
	Tx     common.Hash    `json:"transactionHash"`
	Block  hexutil.Uint64 `json:"blockNumber"`
	Hash   common.Hash    `json:"blockHash"`
	Index  hexutil.Uint64 `json:"transactionIndex"`
	Status hexutil.Uint64 `json:"status"`
	Gas    hexutil.Uint64 `json:"gasUsed"`
	Logs   []struct {
		Address common.Address `json:"address"`
		Topics  []common.Hash  `json:"topics"`
		Data    hexutil.Bytes  `json:"data"`
	} `json:"logs"`
}

// outcome is the receipt of a step that ended with an attempt in a block, or with none. What was not what the step
// wanted is no success, whatever the chain says of it; its authorizations are out, in force or not.
func (s *step) outcome(a *attempt, r *receipt, at *header) *chain.Receipt {
	tx := s.Attempts[0].tx
	out := &chain.Receipt{From: s.From, To: *tx.To(), Value: new(big.Int),
		Authorizations: authorized(tx.SetCodeAuthorizations())}
	if a == nil {
		return out
	}
	out.TxHash, out.GasUsed, out.Index = a.Hash, uint64(r.Gas), int(r.Index)
	out.Block, out.BlockHash, out.Time = uint64(r.Block), r.Hash, uint64(at.Time)
	if a.Cancel {
		out.To = s.From
		return out
	}
	out.Value, out.Success = tx.Value(), r.Status == 1
	for _, l := range r.Logs {
		out.Logs = append(out.Logs, chain.Log{Address: l.Address, Topics: l.Topics, Data: l.Data})
	}
	return out
}
