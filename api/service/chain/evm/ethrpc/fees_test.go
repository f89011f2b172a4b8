package ethrpc

import (
	"math/big"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
)

func TestFeesAreTheBaseFeeAndATip(t *testing.T) {
	l := newLab(t)
	l.note(number(1))
	l.is(`"0x3b9aca00"`, "eth_maxPriorityFeePerGas")
	l.is(`"`+hexutil.EncodeBig(new(big.Int).Add(l.node.Head().BaseFee, big.NewInt(gwei)))+`"`, "eth_gasPrice")
	l.is(`"0x1"`, "eth_blobBaseFee")
}

func TestFeeHistoryHasOneBaseFeeMoreThanBlocks(t *testing.T) {
	l := newLab(t)
	l.everyType() // six blocks
	h := into[FeeHistory](t, l.call("eth_feeHistory", "0x4", "latest", []float64{20, 50}))
	if h.OldestBlock != 3 || len(h.BaseFee) != 5 || len(h.GasUsedRatio) != 4 || len(h.Reward) != 4 ||
		len(h.BlobBaseFee) != 5 || len(h.BlobGasUsedRatio) != 4 {
		t.Fatalf("%+v", h)
	}
	for i := range 4 {
		b := into[types.Header](t, l.call("eth_getHeaderByNumber", quantity(uint64(3+i))))
		if h.BaseFee[i].ToInt().Cmp(b.BaseFee) != 0 || h.GasUsedRatio[i] != float64(b.GasUsed)/float64(b.GasLimit) {
			t.Errorf("block %d: %s %f", 3+i, h.BaseFee[i], h.GasUsedRatio[i])
		}
	}
	next := into[types.Header](t, l.call("eth_getBlockByNumber", "pending", false))
	if h.BaseFee[4].ToInt().Cmp(next.BaseFee) != 0 {
		t.Errorf("the next base fee is %s, not %s", next.BaseFee, h.BaseFee[4])
	}
	// Block 4 has the type 4 transaction with a tip of 1, block 3 one with a tip of 1 gwei.
	if h.Reward[0][0].ToInt().Int64() != gwei || h.Reward[1][1].ToInt().Int64() != 1 {
		t.Errorf("%v", h.Reward)
	}
}

func TestFeeHistoryIsCutToWhatExists(t *testing.T) {
	l := newLab(t)
	l.note(number(1))
	for _, n := range []any{"0x400", 1024, "1024"} {
		h := into[FeeHistory](t, l.call("eth_feeHistory", n, "latest", []float64{50}))
		if h.OldestBlock != 0 || len(h.GasUsedRatio) != 2 || h.Reward[0][0].ToInt().Sign() != 0 {
			t.Errorf("%v: %+v", n, h)
		}
	}
	l.is(`{"oldestBlock":"0x0","gasUsedRatio":null}`, "eth_feeHistory", "0x0", "latest", nil)
	if h := into[FeeHistory](t, l.call("eth_feeHistory", "0x1", "0x1")); h.Reward != nil || h.OldestBlock != 1 {
		t.Errorf("%+v", h)
	}
	l.fails(-32000, "request beyond head block: requested 2, head 1", "eth_feeHistory", "0x1", "0x2", nil)
	for _, p := range [][]float64{{101}, {-1}, {50, 50}, make([]float64, 101)} {
		if _, err := l.try(t.Context(), "eth_feeHistory", "0x1", "latest", p); err == nil || err.Code != -32000 {
			t.Errorf("%v: %v", p, err)
		}
	}
}

// TestRewardsAreWeighedByGas: of two transactions in one block the cheap one used nearly all gas, so the median is its.
func TestRewardsAreWeighedByGas(t *testing.T) {
	l := newLab(t)
	second := dynamic(1, &echoes.at, 0, make([]byte, 4000))
	second.GasTipCap = big.NewInt(5)
	to := common.Address{9}
	first := dynamic(0, &to, 0, nil)
	l.is(`"`+sign(t, key(0), second).Hash().Hex()+`"`, "eth_sendRawTransaction", rawOf(t, sign(t, key(0), second)))
	l.send(key(0), first) // closes the gap: both are in one block
	h := into[FeeHistory](t, l.call("eth_feeHistory", "0x1", "latest", []float64{0, 50, 100}))
	var got []int64
	for _, r := range h.Reward[0] {
		got = append(got, r.ToInt().Int64())
	}
	if h.OldestBlock != 1 || got[0] != 5 || got[1] != 5 || got[2] != gwei {
		t.Errorf("%d %v", h.OldestBlock, got)
	}
}
