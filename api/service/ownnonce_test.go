package service_test

import (
	"errors"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/holiman/uint256"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/service"
	"coffer/api/service/crash/traffic"
)

// eoa is a person whose EOA the service delegates to, and who also sends from it with another tool.
type eoa struct {
	*beside
	p     *traffic.Person
	coin  caip.Asset
	chain uint64
	asset caip.Asset
	wants *big.Int
}

// newEOA has coins on the chain where its call runs, and must be paid for there by other chains.
func (b *beside) newEOA() *eoa {
	b.t.Helper()
	p, have := b.person(api.AccountKernelV33)
	e := &eoa{beside: b, p: p}
	total, most := new(big.Int), new(big.Int)
	for _, h := range have {
		if id, evm := h.Asset.Chain.EVMID(); evm && h.Asset.IsNative() && h.Amount.Cmp(most) > 0 {
			e.coin, e.chain, most = h.Asset, id, h.Amount
		}
	}
	held := new(big.Int)
	for _, h := range have {
		if h.Asset.IsNative() {
			continue
		}
		if total.Add(total, h.Amount); h.Asset.Chain == e.coin.Chain {
			e.asset, held = h.Asset, h.Amount
		}
	}
	e.wants = new(big.Int).Sub(total, held)
	e.wants.Add(held, e.wants.Quo(e.wants, big.NewInt(4)))
	return e
}

// sends uses up nonces of the EOA with a transaction of its own; authorizations go into it, signed for the nonce that
// follows.
func (e *eoa) sends(delegates ...common.Address) error {
	ctx, at := e.t.Context(), e.nodes[e.chain]
	var nonce hexutil.Uint64
	var price hexutil.Big
	if err := errors.Join(at.Call(ctx, &nonce, "eth_getTransactionCount", e.p.Address, "latest"),
		at.Call(ctx, &price, "eth_gasPrice")); err != nil {
		return err
	}
	most := new(big.Int).Lsh(price.ToInt(), 1)
	var data types.TxData = &types.DynamicFeeTx{Nonce: uint64(nonce), GasTipCap: big.NewInt(1), GasFeeCap: most,
		Gas: 50_000, To: &common.Address{0x77}}
	for _, d := range delegates {
		auth, err := types.SignSetCode(e.p.Key, types.SetCodeAuthorization{ChainID: *uint256.NewInt(e.chain),
			Address: d, Nonce: uint64(nonce) + 1})
		if err != nil {
			return err
		}
		data = &types.SetCodeTx{Nonce: uint64(nonce), GasTipCap: uint256.NewInt(1),
			GasFeeCap: uint256.MustFromBig(most), Gas: 100_000, To: common.Address{0x77},
			AuthList: []types.SetCodeAuthorization{auth}}
	}
	tx, err := types.SignNewTx(e.p.Key, types.LatestSignerForChainID(new(big.Int).SetUint64(e.chain)), data)
	if err != nil {
		return err
	}
	raw, err := tx.MarshalBinary()
	if err != nil {
		return err
	}
	var hash common.Hash
	var r struct {
		GasUsed           hexutil.Uint64
		EffectiveGasPrice hexutil.Big
	}
	if err := at.Call(ctx, &hash, "eth_sendRawTransaction", hexutil.Bytes(raw)); err != nil {
		return err
	}
	if err := at.Call(ctx, &r, "eth_getTransactionReceipt", hash); err != nil {
		return err
	}
	fee := new(big.Int).Mul(r.EffectiveGasPrice.ToInt(), new(big.Int).SetUint64(uint64(r.GasUsed)))
	e.move(traffic.Move{Account: e.p.Name(e.coin.Chain), Asset: e.coin, Amount: fee.Neg(fee)})
	return nil
}

// calls pays by a call, and does something between its steps. It returns the status, or the name of the refusal.
func (e *eoa) calls(beforeQuote, beforeExecute, after func()) string {
	e.t.Helper()
	ctx := e.t.Context()
	w := traffic.Wish{Asset: e.asset, Amount: e.wants, To: common.Address{0x77, 1}}
	prepared, err := e.p.Prepare(ctx, e.client, w)
	if err != nil {
		e.t.Fatal(err)
	}
	beforeQuote()
	offer, err := e.p.CallQuote(ctx, e.client, w, prepared)
	if err == nil {
		beforeExecute()
		err = e.client.Execute(ctx, offer)
	}
	var refused *api.Error
	if errors.As(err, &refused) {
		if refused.Message == "" {
			e.t.Errorf("%s has no words", refused.Name)
		}
		return refused.Name
	}
	if err != nil {
		e.t.Fatal(err)
	}
	after()
	for {
		s, err := e.client.Status(ctx, offer.ID)
		if err != nil {
			e.t.Fatal(err)
		}
		if api.Terminal(s.Status) {
			if s.Status == api.StatusCompleted {
				e.move(offer.Effect.Moves...)
			} else if s.FailReason == "" {
				e.t.Errorf("quote %s is %s without a reason", offer.ID, s.Status)
			}
			return s.Status
		}
		time.Sleep(time.Millisecond)
	}
}

// The owner of an EIP-7702 account uses up its nonce with another tool between the steps of a payment. An authorization
// that no longer fits is refused before anything is taken; once the quote was accepted it is carried out or given back.
// Nothing is paid twice, and the next payment completes.
func TestANonceOfTheAccountUsedMeanwhileEndsInARefusal(t *testing.T) {
	s, n := withNodes(t, service.NodesOptions{Listen: "127.0.0.1:0"})
	b := newBeside(t, s, n)
	nothing := func() {}
	var e *eoa
	must := func(delegates ...common.Address) func() {
		return func() {
			t.Helper()
			err := e.sends(delegates...)
			if err != nil && !strings.Contains(err.Error(), "nonce too low") { // the service's block came first
				t.Error(err)
			}
		}
	}
	for name, c := range map[string]struct {
		delegated                  bool
		beforeQuote, beforeExecute func()
		want                       string
	}{
		"not delegated yet, before the quote":  {false, must(), nothing, api.ErrPrepareAgain},
		"not delegated yet, before execute":    {false, nothing, must(), api.ErrPrepareAgain},
		"delegated, before the quote":          {true, must(), nothing, api.StatusCompleted},
		"delegated, before execute":            {true, nothing, must(), api.StatusCompleted},
		"to nobody any more, before the quote": {true, must(common.Address{}), nothing, api.ErrPrepareAgain},
		"to nobody any more, before execute":   {true, nothing, must(common.Address{}), api.ErrPrepareAgain},
		"to somebody else now, before execute": {true, nothing, must(common.Address{0x99}), api.ErrDelegation},
		"delegated by itself, before quote":    {false, must(s.Network().Pins.KernelV33), nothing, api.ErrPrepareAgain},
	} {
		e = b.newEOA()
		if c.delegated {
			e.wants = big.NewInt(1_000_000)
			if got := e.calls(nothing, nothing, nothing); got != api.StatusCompleted {
				t.Fatalf("%s: the first is %s", name, got)
			}
		}
		if got := e.calls(c.beforeQuote, c.beforeExecute, nothing); got != c.want {
			t.Errorf("%s: %s, expected %s", name, got, c.want)
		} else if got == api.ErrDelegation {
			must(common.Address{})()
		}
		e.wants = big.NewInt(1_000_000)
		if got := e.calls(nothing, nothing, nothing); got != api.StatusCompleted {
			t.Errorf("%s: after it %s", name, got)
		}
	}
	ends := map[string]int{}
	for i := range 6 {
		e = b.newEOA()
		ends[e.calls(nothing, nothing, []func(){must(), must(common.Address{})}[i%2])]++
		e.wants = big.NewInt(1_000_000)
		if got := e.calls(nothing, nothing, nothing); got != api.StatusCompleted {
			t.Errorf("after one that was accepted: %s", got)
		}
	}
	t.Log(ends)
	b.check()
}
