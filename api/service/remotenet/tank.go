package remotenet

import (
	"cmp"
	"context"
	"fmt"
	"math/big"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"

	"coffer/api/gastank"
	"coffer/api/rpcpool"
	"coffer/api/service/chain"
)

// tankGas is what handleOps of an operation takes on average: 180 000 for a call of an account that is there, 370 000
// with its creation.
const tankGas = 250_000

// Tank is what the gas tank has on one chain. GasPrice is what the chain asks for now, DataFee what it takes beside gas
// for publishing an operation.
type Tank struct {
	ChainID       uint64
	Chain, Symbol string
	Address       common.Address
	Has, GasPrice *big.Int // wei
	DataFee       *big.Int // wei
	dataGas       uint64
}

// Operations is for about how many operations the tank is good.
func (t Tank) Operations() uint64 {
	each := new(big.Int).Mul(t.GasPrice, new(big.Int).SetUint64(tankGas+t.dataGas))
	each.Add(each, t.DataFee)
	if each.Sign() == 0 {
		return 0
	}
	n := each.Quo(t.Has, each)
	if !n.IsUint64() {
		return 0
	}
	return n.Uint64()
}

// String says it in words.
func (t Tank) String() string {
	if n := t.Operations(); n != 1 {
		return fmt.Sprintf("about %d operations on %s", n, t.Chain)
	}
	return "about 1 operation on " + t.Chain
}

// usual is a stand-in for a transaction with one operation.
func (n *Network) usual() chain.Message {
	return chain.Message{To: n.Pins.EntryPoint, Data: chain.UsualData(), Gas: tankGas}
}

// Tanks asks every chain what the gas tank has there, in the order of the file. One that does not answer is left out,
// and the error says why.
func (n *Network) Tanks(ctx context.Context) ([]Tank, error) {
	found := make([]*Tank, len(n.nodes))
	problems := make([]error, len(n.nodes))
	n.each(func(i int, node *node) {
		if found[i], problems[i] = n.tank(ctx, node); problems[i] != nil {
			problems[i] = fmt.Errorf("%s: %w", node.name, problems[i])
		}
	})
	return collect(found, problems)
}

// tank asks one chain.
func (n *Network) tank(ctx context.Context, node *node) (*Tank, error) {
	var has, price hexutil.Big
	at := n.Operator.Address()
	calls := []rpcpool.Call{{Method: "eth_getBalance", Params: []any{at, "latest"}, Result: &has},
		{Method: "eth_gasPrice", Result: &price}}
	err := node.pool.Batch(ctx, calls)
	for _, c := range calls {
		if err == nil {
			err = c.Err
		}
	}
	if err != nil {
		return nil, err
	}
	fee, gas, err := node.DataFee(ctx, n.usual())
	if err != nil {
		return nil, err
	}
	return &Tank{node.ID(), node.name, node.coin, at, has.ToInt(), price.ToInt(), fee, gas}, nil
}

// Report is what is known of the gas tank on all chains, in the order of the file.
func (n *Network) Report(ctx context.Context) gastank.Report {
	ctx, cancel := context.WithTimeout(ctx, lookWithin)
	defer cancel()
	at := n.Operator.Address()
	r := gastank.Report{Address: at.Hex(), Chains: make([]gastank.Chain, len(n.nodes))}
	n.each(func(i int, node *node) {
		c := gastank.Chain{ID: node.ID(), Name: node.name, Symbol: node.coin, UnderWay: []string{}}
		t, err := n.tank(ctx, node)
		if err == nil {
			c.Has, c.Operations = new(t.Has.String()), new(t.Operations())
		}
		s, errLane := n.lanes[node.ID()].Status(ctx, at)
		c.Stopped, c.Held = s.Stopped, s.Held
		for _, o := range s.Open {
			c.UnderWay = append(c.UnderWay, o.ID)
		}
		if err := cmp.Or(err, errLane); err != nil {
			c.Problem = err.Error()
		}
		r.Chains[i] = c
	})
	return r
}
