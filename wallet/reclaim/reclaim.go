// Package reclaim refunds deposits through nodes that the user names, without a service: it reads what an escrow keeps,
// and sends the refund call from any key.
//
// Promise: it sends refund calls and nothing else, to the escrow that the journal names and with no value, so a key
// that pays for gas can lose gas alone. Nothing is signed before the node ran exactly this call. The money goes to the
// account that made the deposit, no matter who sends the call. A late call, or a second one, moves nothing. What
// the node says is believed: a node that lies can waste gas, and cannot take a deposit.
//
// Units: gas prices and costs are wei, times Unix seconds. Sources: assets/contracts/Escrow.sol; protocol §3.3.
package reclaim

import (
	"context"
	"crypto/ecdsa"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"

	"coffer/api/op/escrow"
	"coffer/api/rpcpool"
	"coffer/wallet/flow"
)

// Options of New. URLs are endpoints of any of the chains, in any order. Pause is between two questions for a receipt.
type Options struct {
	URLs   []string
	Chains []uint64
	Clock  func() time.Time
	Pause  time.Duration
}

// Nodes reaches chains. Close it at the end.
type Nodes struct {
	o   Options
	all map[uint64]*rpcpool.Pool
}

const usualPause = time.Second

// New finds out which endpoint serves which of the chains. An endpoint that serves none, or does not answer, is an
// error; a chain without an endpoint is not: Has says so.
func New(ctx context.Context, o Options) (*Nodes, error) {
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.Pause == 0 {
		o.Pause = usualPause
	}
	n := &Nodes{o: o, all: map[uint64]*rpcpool.Pool{}}
	serves := map[uint64][]rpcpool.Endpoint{}
	for _, url := range o.URLs {
		chain, err := o.chainOf(ctx, url)
		if err != nil {
			return nil, err
		}
		if at := (rpcpool.Endpoint{URL: url}); !slices.ContainsFunc(serves[chain], func(e rpcpool.Endpoint) bool {
			return e.URL == url
		}) {
			serves[chain] = append(serves[chain], at)
		}
	}
	for chain, urls := range serves {
		p, err := rpcpool.New(rpcpool.Options{URLs: urls, ChainID: chain, Clock: o.Clock})
		if err != nil {
			n.Close()
			return nil, err
		}
		n.all[chain] = p
	}
	return n, nil
}

// chainOf is which of the chains an endpoint serves.
func (o Options) chainOf(ctx context.Context, url string) (uint64, error) {
	var last error
	for _, chain := range o.Chains {
		p, err := rpcpool.New(rpcpool.Options{URLs: []rpcpool.Endpoint{{URL: url}}, ChainID: chain, Clock: o.Clock})
		if err != nil {
			return 0, err
		}
		_, err = p.Probe(ctx)
		p.Close()
		if err == nil {
			return chain, nil
		}
		last = err
	}
	if last == nil {
		last = errors.New("there is no payment on an EVM chain")
	}
	return 0, fmt.Errorf("an endpoint serves none of the chains of these payments: %w", last)
}

// Close ends it.
func (n *Nodes) Close() {
	for _, p := range n.all {
		p.Close()
	}
}

// Has reports whether there is an endpoint of a chain.
func (n *Nodes) Has(chain uint64) bool { return n.all[chain] != nil }

// Standing is what the chain says of a payment. Due means that its refund can be sent now. Of an earlier escrow, which
// does not say what became of a deposit, the state is not Known.
type Standing struct {
	escrow.Kept
	Known, Due bool
}

// Look reads what the escrow keeps of a payment, and whether a refund would run in the next block.
func (n *Nodes) Look(ctx context.Context, r flow.Refund) (s Standing, err error) {
	p := n.all[r.ChainID]
	var code, answer hexutil.Bytes
	if err := p.Call(ctx, &code, "eth_getCode", r.Escrow, "latest"); err != nil {
		return s, err
	}
	if len(code) == 0 {
		return s, fmt.Errorf("no contract is at %s: the endpoint is of another network", r.Escrow.Hex())
	}
	err = p.Call(ctx, &answer, "eth_call", message{To: r.Escrow,
		Data: escrow.DepositsCalldata(common.HexToHash(r.QuoteID), r.Depositor)}, "latest")
	var no *rpcpool.Error
	if err != nil && (!errors.As(err, &no) || !no.Reverted()) {
		return s, err
	}
	switch s.Kept, s.Known = escrow.DecodeKept(answer); {
	case !s.Known:
		s.Kept = escrow.Kept{}
	case s.State != escrow.Held:
		return s, nil
	}
	err = p.Call(ctx, nil, "eth_call", message{From: r.Depositor, To: r.Escrow, Data: r.Data}, "pending")
	switch {
	case err == nil:
		s.Due = true
	case errors.As(err, &no) && escrow.IsNotHeld(no.Data):
		s.State = escrow.None // released, refunded or never there: an earlier escrow does not say
	case errors.As(err, &no) && escrow.IsNotYet(no.Data):
		s.State = escrow.Held
	default:
		return s, err
	}
	return s, nil
}

// message is a call as nodes take it.
type message struct {
	From common.Address `json:"from"`
	To   common.Address `json:"to"`
	Data hexutil.Bytes  `json:"data"`
}

// Bill is a refund call that can be sent, and what it costs at most.
type Bill struct {
	Refund   flow.Refund
	Cost     *big.Int
	gas      uint64
	fee, tip *big.Int
}

// Prepare has the node run the call of a sender as it would be in the next block.
func (n *Nodes) Prepare(ctx context.Context, r flow.Refund, from common.Address) (*Bill, error) {
	p := n.all[r.ChainID]
	var gas hexutil.Uint64
	call := message{From: from, To: r.Escrow, Data: r.Data}
	if err := p.Call(ctx, nil, "eth_call", call, "pending"); err != nil {
		return nil, err
	}
	if err := p.Call(ctx, &gas, "eth_estimateGas", call, "pending"); err != nil {
		return nil, err
	}
	var head struct {
		BaseFee *hexutil.Big `json:"baseFeePerGas"`
	}
	var tip hexutil.Big
	if err := p.Call(ctx, &head, "eth_getBlockByNumber", "latest", false); err != nil {
		return nil, err
	}
	if head.BaseFee == nil {
		return nil, errors.New("its blocks have no base fee (EIP-1559)")
	}
	if err := p.Call(ctx, &tip, "eth_maxPriorityFeePerGas"); err != nil {
		return nil, err
	}
	b := &Bill{Refund: r, gas: uint64(gas) + uint64(gas)/5, tip: tip.ToInt()}
	b.fee = new(big.Int).Add(new(big.Int).Lsh(head.BaseFee.ToInt(), 1), b.tip)
	b.Cost = new(big.Int).Mul(b.fee, new(big.Int).SetUint64(b.gas))
	return b, nil
}

// Send signs and sends a call, and waits until it is in a block. The key's account needs the cost on the chain.
func (n *Nodes) Send(ctx context.Context, b *Bill, key *ecdsa.PrivateKey) (common.Hash, error) {
	p, from := n.all[b.Refund.ChainID], crypto.PubkeyToAddress(key.PublicKey)
	var has hexutil.Big
	var nonce hexutil.Uint64
	if err := p.Call(ctx, &has, "eth_getBalance", from, "latest"); err != nil {
		return common.Hash{}, err
	}
	if has.ToInt().Cmp(b.Cost) < 0 {
		return common.Hash{}, &PoorError{From: from, Has: has.ToInt(), Cost: b.Cost}
	}
	if err := p.Call(ctx, &nonce, "eth_getTransactionCount", from, "pending"); err != nil {
		return common.Hash{}, err
	}
	id := new(big.Int).SetUint64(b.Refund.ChainID)
	tx, err := types.SignNewTx(key, types.LatestSignerForChainID(id), &types.DynamicFeeTx{ChainID: id,
		Nonce: uint64(nonce), GasTipCap: b.tip, GasFeeCap: b.fee, Gas: b.gas, To: &b.Refund.Escrow,
		Data: b.Refund.Data})
	if err != nil {
		return common.Hash{}, err
	}
	raw, err := tx.MarshalBinary()
	if err != nil {
		return common.Hash{}, err
	}
	hash, err := p.Broadcast(ctx, raw)
	if err != nil {
		return hash, err
	}
	return hash, n.mined(ctx, p, hash)
}

// PoorError says that the account that pays for gas has too little.
type PoorError struct {
	From      common.Address
	Has, Cost *big.Int
}

// Error names the account.
func (e *PoorError) Error() string { return e.From.Hex() + " has too little for the gas" }

// ErrReverted means that the call is in a block and moved nothing: another one came first, most likely.
var ErrReverted = errors.New("the call is in a block and moved nothing")

func (n *Nodes) mined(ctx context.Context, p *rpcpool.Pool, hash common.Hash) error {
	for {
		var receipt struct {
			Status hexutil.Uint64 `json:"status"`
		}
		err := p.Call(ctx, &receipt, "eth_getTransactionReceipt", hash)
		switch {
		case err == nil && receipt.Status != 1:
			return ErrReverted
		case err == nil:
			return nil
		case !errors.Is(err, rpcpool.ErrNotFound):
			return err
		}
		select {
		case <-time.After(n.o.Pause):
		case <-ctx.Done():
			return fmt.Errorf("transaction %s is in no block yet: %w", hash, ctx.Err())
		}
	}
}
