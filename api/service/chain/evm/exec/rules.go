package exec

import (
	"math/big"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/core/vm"
	"github.com/ethereum/go-ethereum/params"
)

// Hardfork is the set of rules that a chain follows.
type Hardfork uint8

// The rules since the merge, each with those before it.
const (
	Paris Hardfork = iota
	Shanghai
	Cancun
	Prague
	Osaka
)

// Config returns the rules of a hard fork, active from genesis.
func Config(id uint64, fork Hardfork) *params.ChainConfig {
	zero := func() *big.Int { return new(big.Int) }
	since := func(f Hardfork) *uint64 {
		if fork < f {
			return nil
		}
		return new(uint64)
	}
	return &params.ChainConfig{
		ChainID:        new(big.Int).SetUint64(id),
		HomesteadBlock: zero(), EIP150Block: zero(), EIP155Block: zero(), EIP158Block: zero(),
		ByzantiumBlock: zero(), ConstantinopleBlock: zero(), PetersburgBlock: zero(), IstanbulBlock: zero(),
		MuirGlacierBlock: zero(), BerlinBlock: zero(), LondonBlock: zero(), ArrowGlacierBlock: zero(),
		GrayGlacierBlock: zero(), MergeNetsplitBlock: zero(), TerminalTotalDifficulty: zero(),
		ShanghaiTime: since(Shanghai), CancunTime: since(Cancun), PragueTime: since(Prague), OsakaTime: since(Osaka),
		BlobScheduleConfig: &params.BlobScheduleConfig{
			Cancun: params.DefaultCancunBlobConfig,
			Prague: params.DefaultPragueBlobConfig,
		},
	}
}

// BlockContext is what code sees of a block; hashOf gives the hashes of those before it.
func BlockContext(h *types.Header, hashOf func(uint64) common.Hash) vm.BlockContext {
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
