package evm

import (
	"math/big"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/consensus/misc/eip1559"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/params"
)

const (
	// GasLimit is the gas limit of every block.
	GasLimit = 60_000_000
	// MaxTxGas is the gas limit of one transaction (EIP-7825).
	MaxTxGas = params.MaxTxGas
	// GenesisBaseFee is the base fee of block 0 in wei.
	GenesisBaseFee = 1_000_000_000
)

// DeterministicDeployer is the CREATE2 factory that every chain has from
// genesis (EIP-7997).
func DeterministicDeployer() common.Address { return params.DeterministicFactoryAddress }

// DeterministicDeployerCode is its code.
func DeterministicDeployerCode() []byte { return params.DeterministicFactoryCode }

// newHeader returns the header that both genesis and its successors start
// from: everything that consensus would have filled in has its empty value.
func newHeader(number *big.Int, time uint64, baseFee *big.Int) *types.Header {
	return &types.Header{
		UncleHash: types.EmptyUncleHash, Number: number, GasLimit: GasLimit, Time: time,
		Difficulty: new(big.Int), BaseFee: baseFee,
		ExcessBlobGas: new(uint64), BlobGasUsed: new(uint64), ParentBeaconRoot: new(common.Hash),
		WithdrawalsHash: &types.EmptyWithdrawalsHash, RequestsHash: &types.EmptyRequestsHash,
	}
}

// childHeader returns the header of the block after parent, not before its
// time. The hash of the parent is passed in because computing it costs time.
func childHeader(cfg *params.ChainConfig, parent *types.Header, parentHash common.Hash, time uint64) *types.Header {
	number := new(big.Int).Add(parent.Number, common.Big1)
	h := newHeader(number, max(time, parent.Time), eip1559.CalcBaseFee(cfg, parent))
	h.ParentHash = parentHash
	return h
}
