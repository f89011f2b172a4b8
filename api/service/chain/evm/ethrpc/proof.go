package ethrpc

import (
	"context"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"

	"coffer/api/service/chain/evm"
)

const mostProofKeys = 1024

// Proof is the answer of eth_getProof. An account that does not exist has the hashes of an empty one.
type Proof struct {
	Address      common.Address  `json:"address"`
	AccountProof []hexutil.Bytes `json:"accountProof"`
	Balance      *hexutil.Big    `json:"balance"`
	CodeHash     common.Hash     `json:"codeHash"`
	Nonce        hexutil.Uint64  `json:"nonce"`
	StorageHash  common.Hash     `json:"storageHash"`
	StorageProof []SlotProof     `json:"storageProof"`
}

// SlotProof proves the value of one slot. The key is repeated as it was asked for: 32 bytes, or a quantity.
type SlotProof struct {
	Key   string          `json:"key"`
	Value *hexutil.Big    `json:"value"`
	Proof []hexutil.Bytes `json:"proof"`
}

func (a *api) proof(_ context.Context, of common.Address, keys []slotKey, at *BlockRef) (*Proof, error) {
	if len(keys) > mostProofKeys {
		return nil, invalid("too many storage keys requested (max %d, got %d)", mostProofKeys, len(keys))
	}
	slots := make([]common.Hash, len(keys))
	for i, k := range keys {
		slots[i] = k.hash
	}
	p, err := in(a, at, func(v *evm.View) (*evm.Proof, error) { return v.Proof(of, slots) })
	if err != nil {
		return nil, err
	}
	out := &Proof{
		Address: of, AccountProof: hexes(p.Account), Balance: (*hexutil.Big)(p.Balance.ToBig()), CodeHash: p.CodeHash,
		Nonce: hexutil.Uint64(p.Nonce), StorageHash: p.StorageHash, StorageProof: make([]SlotProof, len(keys)),
	}
	if out.CodeHash == (common.Hash{}) {
		out.CodeHash, out.StorageHash = types.EmptyCodeHash, types.EmptyRootHash
	}
	for i, s := range p.Slots {
		out.StorageProof[i] = SlotProof{keys[i].String(), (*hexutil.Big)(s.Value.Big()), hexes(s.Proof)}
	}
	return out, nil
}

func hexes(list [][]byte) []hexutil.Bytes {
	out := make([]hexutil.Bytes, len(list))
	for i, b := range list {
		out[i] = b
	}
	return out
}
