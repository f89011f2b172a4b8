package remotenet

import (
	"context"
	"errors"
	"math/big"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/crypto"

	"coffer/api/caip"
	"coffer/api/catalog"
	"coffer/api/rpcpool"
)

// Standing is what the service has on one chain, and how its nodes and its lane are. Tank and Filler are nil where they
// are not known, and Problem says why; own nodes have no filler.
type Standing struct {
	ChainID   uint64
	Chain     string
	Quorum    int
	Endpoints []rpcpool.EndpointHealth
	Lane      LaneState
	Tank      *Tank
	Filler    *Filler
	Problem   error
}

// Filler is what the filler has on one chain.
type Filler struct {
	Paused bool
	Stock  []Stock
}

// Stock is one asset of the filler. Has and Free, which may leave it now, are in base units, and nil where the token or
// the filler does not tell.
type Stock struct {
	catalog.Entity
	Has, Free *big.Int
}

// standingWithin is how long one chain may take to answer.
const standingWithin = 8 * time.Second

// Standings asks every chain, in the order of the file.
func (n *Network) Standings(ctx context.Context) []Standing {
	out := make([]Standing, len(n.nodes))
	n.each(func(i int, node *node) {
		ctx, cancel := context.WithTimeout(ctx, standingWithin)
		defer cancel()
		s := Standing{ChainID: node.ID(), Chain: node.name, Quorum: node.quorum}
		var errTank, errFiller error
		s.Tank, errTank = n.tank(ctx, node)
		if n.Limits != nil {
			s.Filler, errFiller = n.stock(ctx, node)
		}
		status, errLane := n.lanes[node.ID()].Status(ctx, n.Operator.Address())
		s.Lane = LaneState{Status: status, ChainID: node.ID(), Chain: node.name, Problem: errLane}
		s.Problem = errors.Join(errTank, errFiller, errLane)
		s.Endpoints = node.pool.Health() // after the questions, whose outcome it shows
		out[i] = s
	})
	return out
}

// stock asks what the filler has on a chain, in one round trip.
func (n *Network) stock(ctx context.Context, node *node) (*Filler, error) {
	var paused hexutil.Bytes
	calls := []rpcpool.Call{about(&paused, n.Pins.Solver, "paused()")}
	var stock []Stock
	var has, free []*hexutil.Bytes
	var coins hexutil.Big
	for _, a := range n.Catalog.Aggregates() {
		for _, e := range a.Entities {
			if e.Asset.Chain != caip.EVM(node.ID()) {
				continue
			}
			token, isToken := e.Asset.Token()
			stock = append(stock, Stock{Entity: e})
			has, free = append(has, new(hexutil.Bytes)), append(free, new(hexutil.Bytes))
			calls = append(calls, about(free[len(free)-1], n.Pins.Solver, "available(address)", token))
			if isToken {
				calls = append(calls, about(has[len(has)-1], token, "balanceOf(address)", n.Pins.Solver))
			} else {
				calls = append(calls, rpcpool.Call{Method: "eth_getBalance", Params: []any{n.Pins.Solver, "latest"},
					Result: &coins})
			}
		}
	}
	if err := node.pool.Batch(ctx, calls); err != nil {
		return nil, err
	}
	if err := calls[0].Err; err != nil {
		return nil, err
	}
	for i := range stock {
		stock[i].Free = word(*free[i])
		if stock[i].Has = word(*has[i]); stock[i].Asset.IsNative() && calls[2+2*i].Err == nil {
			stock[i].Has = coins.ToInt()
		}
	}
	return &Filler{Paused: word(paused) != nil && word(paused).Sign() > 0, Stock: stock}, nil
}

// about is a call of a contract's function about an address.
func about(into *hexutil.Bytes, at common.Address, signature string, of ...common.Address) rpcpool.Call {
	data := crypto.Keccak256([]byte(signature))[:4]
	for _, a := range of {
		data = append(data, common.LeftPadBytes(a[:], common.HashLength)...)
	}
	return rpcpool.Call{Method: "eth_call", Result: into,
		Params: []any{map[string]any{"to": at, "data": hexutil.Bytes(data)}, "latest"}}
}

// word is a number that a contract answered, nil when it did not.
func word(b []byte) *big.Int {
	if len(b) != common.HashLength {
		return nil
	}
	return new(big.Int).SetBytes(b)
}
