package evm

import (
	"math/big"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/consensus/misc/eip1559"
	"github.com/ethereum/go-ethereum/core"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/core/vm"
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

// chainConfig returns the rules of Osaka, active from genesis.
func chainConfig(id uint64) *params.ChainConfig {
	zero := func() *big.Int { return new(big.Int) }
	now := func() *uint64 { return new(uint64) }
	return &params.ChainConfig{
		ChainID:        new(big.Int).SetUint64(id),
		HomesteadBlock: zero(), EIP150Block: zero(), EIP155Block: zero(), EIP158Block: zero(),
		ByzantiumBlock: zero(), ConstantinopleBlock: zero(), PetersburgBlock: zero(), IstanbulBlock: zero(),
		MuirGlacierBlock: zero(), BerlinBlock: zero(), LondonBlock: zero(), ArrowGlacierBlock: zero(),
		GrayGlacierBlock: zero(), MergeNetsplitBlock: zero(), TerminalTotalDifficulty: zero(),
		ShanghaiTime: now(), CancunTime: now(), PragueTime: now(), OsakaTime: now(),
		BlobScheduleConfig: &params.BlobScheduleConfig{
			Cancun: params.DefaultCancunBlobConfig,
			Prague: params.DefaultPragueBlobConfig,
		},
	}
}

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

func blockContext(h *types.Header, hashOf func(uint64) common.Hash) vm.BlockContext {
	random := h.MixDigest
	return vm.BlockContext{
		CanTransfer: core.CanTransfer, Transfer: core.Transfer,
		GetHash: func(n uint64) common.Hash {
			if n >= h.Number.Uint64() {
				return common.Hash{}
			}
			return hashOf(n)
		},
		Coinbase: h.Coinbase, BlockNumber: new(big.Int).Set(h.Number), Time: h.Time,
		Difficulty: new(big.Int), BaseFee: new(big.Int).Set(h.BaseFee),
		BlobBaseFee: big.NewInt(params.BlobTxMinBlobGasprice), GasLimit: h.GasLimit, Random: &random,
		CostPerStateByte: params.CostPerStateByte,
	}
}
