package ethrpc

import (
	"context"
	"math/big"
	"slices"

	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/common/math"
	"github.com/ethereum/go-ethereum/consensus/misc/eip1559"
	"github.com/ethereum/go-ethereum/params"

	"coffer/api/service/chain/evm"
	"coffer/api/service/jsonrpc"
)

const (
	mostHistory     = 1024 // blocks of one eth_feeHistory
	mostPercentiles = 100
)

func (a *api) fees() jsonrpc.Methods {
	return jsonrpc.Methods{
		"eth_gasPrice": value(func() *hexutil.Big {
			return (*hexutil.Big)(new(big.Int).Add(a.Head().BaseFee, tip()))
		}),
		"eth_maxPriorityFeePerGas": value(func() *hexutil.Big { return (*hexutil.Big)(tip()) }),
		"eth_blobBaseFee":          value(blobBaseFee),
		"eth_feeHistory":           three(a.feeHistory),
	}
}

// blobBaseFee is the lowest there is: no block has blobs.
func blobBaseFee() *hexutil.Big { return (*hexutil.Big)(big.NewInt(params.BlobTxMinBlobGasprice)) }

// FeeHistory is the answer of eth_feeHistory: base fees have one item more, that of the next block.
type FeeHistory struct {
	OldestBlock      hexutil.Uint64   `json:"oldestBlock"`
	Reward           [][]*hexutil.Big `json:"reward,omitempty"`
	BaseFee          []*hexutil.Big   `json:"baseFeePerGas,omitempty"`
	GasUsedRatio     []float64        `json:"gasUsedRatio"`
	BlobBaseFee      []*hexutil.Big   `json:"baseFeePerBlobGas,omitempty"`
	BlobGasUsedRatio []float64        `json:"blobGasUsedRatio,omitempty"`
}

func (a *api) feeHistory(ctx context.Context, blocks math.HexOrDecimal64, newest blockNumber,
	percentiles *[]float64) (*FeeHistory, error) {
	var want []float64
	if percentiles != nil {
		want = *percentiles
	}
	if err := checkPercentiles(want); err != nil {
		return nil, err
	}
	head := a.Height()
	last := newest.at(head)
	if last > head {
		return nil, refuse("request beyond head block: requested %d, head %d", last, head)
	}
	n := min(uint64(blocks), mostHistory, last+1)
	if n == 0 {
		return &FeeHistory{}, nil
	}
	out := &FeeHistory{OldestBlock: hexutil.Uint64(last + 1 - n)}
	for i := last + 1 - n; i <= last; i++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		b, err := a.Block(i)
		if err != nil {
			return nil, err
		}
		if b == nil {
			return nil, errNoHeader
		}
		out.add(b, want)
		if i == last {
			out.BaseFee = append(out.BaseFee, (*hexutil.Big)(eip1559.CalcBaseFee(a.Config(), b.Header)))
			out.BlobBaseFee = append(out.BlobBaseFee, blobBaseFee())
		}
	}
	return out, nil
}

func checkPercentiles(p []float64) error {
	if len(p) > mostPercentiles {
		return refuse("invalid reward percentile: over the query limit %d", mostPercentiles)
	}
	for i, x := range p {
		if x < 0 || x > 100 {
			return refuse("invalid reward percentile: %f", x)
		}
		if i > 0 && x <= p[i-1] {
			return refuse("invalid reward percentile: #%d:%f >= #%d:%f", i-1, p[i-1], i, x)
		}
	}
	return nil
}

func (f *FeeHistory) add(b *evm.Block, percentiles []float64) {
	f.BaseFee = append(f.BaseFee, (*hexutil.Big)(b.Header.BaseFee))
	f.GasUsedRatio = append(f.GasUsedRatio, float64(b.Header.GasUsed)/float64(b.Header.GasLimit))
	f.BlobBaseFee = append(f.BlobBaseFee, blobBaseFee())
	f.BlobGasUsedRatio = append(f.BlobGasUsedRatio, 0)
	if len(percentiles) > 0 {
		f.Reward = append(f.Reward, rewards(b, percentiles))
	}
}

// rewards are the tips of the transactions of a block, weighed by the gas that they used.
func rewards(b *evm.Block, percentiles []float64) []*hexutil.Big {
	type paid struct {
		gas uint64
		tip *big.Int
	}
	all := make([]paid, len(b.Txs))
	for i, rc := range b.Receipts {
		all[i] = paid{rc.GasUsed, new(big.Int).Sub(rc.EffectiveGasPrice, b.Header.BaseFee)}
	}
	slices.SortStableFunc(all, func(x, y paid) int { return x.tip.Cmp(y.tip) })
	out := make([]*hexutil.Big, len(percentiles))
	var sum uint64
	at := -1
	for i, p := range percentiles {
		if len(all) == 0 {
			out[i] = new(hexutil.Big)
			continue
		}
		for threshold := uint64(float64(b.Header.GasUsed) * p / 100); at < 0 || sum < threshold && at < len(all)-1; {
			at++
			sum += all[at].gas
		}
		out[i] = (*hexutil.Big)(all[at].tip)
	}
	return out
}
