package lane

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"

	"coffer/api/networks"
	"coffer/api/rpcpool"
	"coffer/api/service/chain"
)

// mostGas is the protocol's limit of one transaction.
const mostGas = 1 << 24

// suggestion is what the chain asks for now.
type suggestion struct {
	base, tip *big.Int
	head      uint64 // the newest block
}

// price is what a transaction offers per gas: at most in all, and of it to the block's maker.
type price struct{ tip, most *big.Int }

// fees reads the next block's base fee and a usual tip: half of the transactions of late paid less. Several endpoints
// must agree on both; where they only do on the base fee, the tip of one is no more than that. What the node
// suggests counts up to twice that, as some clients suggest the same on every chain, however cheap; it counts alone
// when none paid any.
func (l *Lane) fees(ctx context.Context) (suggestion, error) {
	var h struct {
		Oldest hexutil.Uint64   `json:"oldestBlock"`
		Base   []*hexutil.Big   `json:"baseFeePerGas"`
		Reward [][]*hexutil.Big `json:"reward"`
	}
	var sure *big.Int // what a tip may be without a quorum; nil for any
	err := l.history(ctx, &h, "0xa", []float64{50})
	if _, apart := errors.AsType[*rpcpool.NoQuorumError](err); apart && l.Quorum > 1 {
		// clients count tips in different ways; a base fee they all have
		if err = l.history(ctx, &h, "0x1", []float64{}); err == nil && len(h.Base) > 0 && h.Base[len(h.Base)-1] != nil {
			sure = h.Base[len(h.Base)-1].ToInt()
		}
	}
	if err != nil {
		return suggestion{}, fmt.Errorf("fees: %w", err)
	}
	if len(h.Base) < 2 || h.Base[len(h.Base)-1] == nil {
		return suggestion{}, errors.New("fees: the chain has no base fee (EIP-1559)")
	}
	var tips []*big.Int
	for _, r := range h.Reward {
		if len(r) == 1 && r[0] != nil && r[0].ToInt().Sign() > 0 {
			tips = append(tips, r[0].ToInt())
		}
	}
	slices.SortFunc(tips, (*big.Int).Cmp)
	s := suggestion{base: h.Base[len(h.Base)-1].ToInt(), tip: big.NewInt(1),
		head: uint64(h.Oldest) + uint64(len(h.Base)) - 2}
	var more hexutil.Big
	if err := l.Pool.Call(ctx, &more, "eth_maxPriorityFeePerGas"); err == nil {
		s.tip = larger(s.tip, more.ToInt())
	}
	if len(tips) > 0 {
		usual := tips[len(tips)/2]
		s.tip = larger(usual, smaller(s.tip, new(big.Int).Lsh(usual, 1)))
	}
	if sure != nil {
		s.tip = smaller(s.tip, larger(sure, big.NewInt(1)))
	}
	return s, nil
}

// history is eth_feeHistory of the newest block, or of the newest that a quorum has and agrees on.
func (l *Lane) history(ctx context.Context, result any, blocks string, percentiles []float64) error {
	if l.Quorum < 2 {
		return l.Pool.Call(ctx, result, "eth_feeHistory", blocks, "latest", percentiles)
	}
	var b *header
	if err := l.Pool.AgreedBlock(ctx, &b, "latest"); err != nil {
		return err
	}
	if b == nil {
		return errors.New("the chain has no block")
	}
	return l.Pool.Agreed(ctx, result, "eth_feeHistory", blocks, b.Number, percentiles)
}

// stepCap is what a step may offer.
func (l *Lane) stepCap() *big.Int { return networks.FirstOffer(l.FeeCap) }

// first is the price of a first attempt: six full blocks later it is still enough.
func (s suggestion) first(limit *big.Int) (price, error) {
	if least := new(big.Int).Add(s.base, big.NewInt(1)); least.Cmp(limit) > 0 {
		return price{}, fmt.Errorf("%w: the base fee is %d wei, a step may offer %d", ErrFees, s.base, limit)
	}
	most := new(big.Int).Lsh(s.base, 1)
	most = smaller(most.Add(most, s.tip), limit)
	return price{tip: smaller(s.tip, new(big.Int).Sub(most, s.base)), most: most}, nil
}

// next is the price of bytes that take the place of others: nodes want a tenth more of both; false when the limit does
// not allow it.
func (s suggestion) next(than *types.Transaction, limit *big.Int) (price, bool) {
	tip, most := raised(than.GasTipCap()), raised(than.GasFeeCap())
	if most.Cmp(limit) > 0 {
		return price{}, false
	}
	want := new(big.Int).Lsh(s.base, 1)
	want.Add(want, larger(s.tip, tip))
	most = larger(most, smaller(want, limit))
	return price{tip: smaller(larger(tip, s.tip), most), most: most}, true
}

// raised is an eighth more, rounded up.
func raised(v *big.Int) *big.Int {
	out := new(big.Int).Mul(v, big.NewInt(9))
	return out.Add(out, big.NewInt(7)).Rsh(out, 3)
}

func larger(a, b *big.Int) *big.Int {
	if a.Cmp(b) > 0 {
		return a
	}
	return b
}

func smaller(a, b *big.Int) *big.Int {
	if a.Cmp(b) < 0 {
		return a
	}
	return b
}

// estimate asks a node for the gas of the exact call and adds half, because what it reads changes until it is mined.
// The caller's limit bounds it, beside what publishing the data takes.
func (l *Lane) estimate(ctx context.Context, t chain.Tx, published uint64) (uint64, error) {
	limit := t.Gas + published
	if t.Gas == 0 {
		limit = mostGas + published
	}
	call := map[string]any{"from": t.From.Address(), "to": t.To, "value": (*hexutil.Big)(value(t.Value)),
		"data": hexutil.Bytes(t.Data)}
	auths, err := authorizations(t.Authorizations)
	if err != nil {
		return 0, err
	}
	if auths != nil {
		call["authorizationList"] = auths
	}
	var gas hexutil.Uint64
	if err := l.Pool.Call(ctx, &gas, "eth_estimateGas", call); err != nil {
		if e, answered := errors.AsType[*rpcpool.Error](err); answered && e.Reverted() {
			err = fmt.Errorf("%w: %w", chain.ErrNotAccepted, &chain.RevertedError{Data: e.Data, Node: err})
		}
		return 0, fmt.Errorf("gas: %w", err)
	}
	if uint64(gas) > limit {
		return 0, &chain.TxError{Err: fmt.Errorf("it takes %d gas, its limit is %d", gas, limit)}
	}
	return min(uint64(gas)+uint64(gas)/2, limit), nil
}

// cancelGas is estimate for a transfer of nothing.
func (l *Lane) cancelGas(ctx context.Context, t chain.Tx) (uint64, error) {
	beside, err := l.dataFee(ctx, t)
	if err != nil {
		return 0, err
	}
	return l.estimate(ctx, t, beside.gas)
}

// published is what a transaction costs beside its execution: wei of its key, and gas.
type published struct {
	wei *big.Int
	gas uint64
}

// dataFee asks for it and adds half, as it changes until the transaction is mined.
func (l *Lane) dataFee(ctx context.Context, t chain.Tx) (published, error) {
	if l.DataFee == nil {
		return published{wei: new(big.Int)}, nil
	}
	wei, gas, err := l.DataFee(ctx, message(t))
	if err != nil {
		return published{}, err
	}
	return published{wei: new(big.Int).Add(wei, new(big.Int).Rsh(wei, 1)), gas: gas + gas/2}, nil
}

// Cost is what a step of one transaction takes beside its value, in wei: at most now as it would be sent now, and at
// most limit when it has to be sent again for more.
func (l *Lane) Cost(ctx context.Context, t chain.Tx) (now, limit *big.Int, err error) {
	beside, err := l.dataFee(ctx, t)
	if err != nil {
		return nil, nil, err
	}
	gas, err := l.estimate(ctx, t, beside.gas)
	if err != nil {
		return nil, nil, err
	}
	s, err := l.fees(ctx)
	if err != nil {
		return nil, nil, err
	}
	p, err := s.first(l.stepCap())
	if err != nil {
		return nil, nil, err
	}
	of := func(price *big.Int) *big.Int {
		cost := new(big.Int).Mul(price, new(big.Int).SetUint64(gas))
		return cost.Add(cost, beside.wei)
	}
	return of(p.most), of(l.FeeCap), nil
}

// affordable says whether the key can pay for a transaction behind those that are under way, each of which costs so
// much beside its gas.
func (l *Lane) affordable(ctx context.Context, from common.Address, tx *types.Transaction, before []*step,
	beside *big.Int) error {
	var have hexutil.Big
	if err := l.Pool.Call(ctx, &have, "eth_getBalance", from, "latest"); err != nil {
		return fmt.Errorf("balance: %w", err)
	}
	need := tx.Cost()
	for _, s := range before {
		need.Add(need, s.last().tx.Cost())
	}
	need.Add(need, new(big.Int).Mul(beside, big.NewInt(int64(len(before)+1))))
	if have.ToInt().Cmp(need) < 0 {
		return &chain.TxError{Err: fmt.Errorf("%s has %d wei, what is under way and this may take %d", from,
			have.ToInt(), need)}
	}
	return nil
}
