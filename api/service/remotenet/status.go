package remotenet

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/crypto"

	"coffer/api/caip"
	"coffer/api/networks"
	"coffer/api/rpcpool"
	"coffer/api/service/chain"
	"coffer/api/service/deployment"
	"coffer/api/service/netstatus"
	"coffer/api/service/outbox/lane"
)

// lookWithin bounds how long a chain may take to say how it is.
const lookWithin = 10 * time.Second

// OpenToRead opens the network of an operator's file without its keys, and sends nothing: for Look. Key is what its
// service sends as, zero where that is not known.
func OpenToRead(ctx context.Context, o Options, key common.Address) (_ *Network, err error) {
	file, err := networks.Load(o.File)
	if err != nil {
		return nil, err
	}
	if file.Operator == nil {
		return nil, ErrNoOperator
	}
	n := &Network{log: o.Log}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("network of %s: %w", o.File, err), n.Close())
		}
	}()
	d, _, err := describe(file)
	if err != nil {
		return nil, err
	}
	cat, err := file.Catalog()
	if err != nil {
		return nil, err
	}
	d.Pins.Operator = key
	n.Network = &deployment.Network{Descriptor: d, Catalog: cat, Chains: map[uint64]chain.Chain{}, Dear: n.dear}
	for _, c := range file.Chains {
		node, err := newNode(ctx, file, c, o)
		if err != nil {
			return nil, err
		}
		n.nodes = append(n.nodes, node)
		n.Chains[c.ID], n.ChainIDs = node, append(n.ChainIDs, c.ID)
	}
	slices.Sort(n.ChainIDs)
	n.limit(file)
	n.openPrices(file, o)
	n.Prices.Ready(ctx)
	return n, nil
}

// limit notes what the operator of a file limits.
func (n *Network) limit(file *networks.File) {
	n.FinalWorst = map[uint64]time.Duration{}
	for _, c := range file.Chains {
		n.FinalWorst[c.ID] = c.FinalWorst
	}
	n.Limits = &deployment.Limits{SponsorPerDay: file.Operator.SponsorPerDay, Exposure: file.Operator.ExposureCap}
	if !file.Operator.Anyone {
		n.Limits.Accounts = append([]common.Address{}, file.Operator.Accounts...)
	}
}

// dear is an error while a lane would send nothing on a chain because of its base fee.
func (n *Network) dear(chainID uint64) error {
	for _, node := range n.nodes {
		if node.ID() != chainID {
			continue
		}
		base, _ := node.NextBaseFee()
		err := node.dear(base)
		if err != nil && !n.OnOwnNodes() { // the cap is the operator's own
			err = fmt.Errorf("gas on %s costs more now than the operator pays for it; ask again later", node.name)
		}
		return err
	}
	return nil
}

// Look asks every chain how it is, in the order of the file. Recorded is what is known of lanes where none are open in
// this process; nil: nothing.
func (n *Network) Look(ctx context.Context, recorded map[uint64]lane.Status) []netstatus.Chain {
	out := make([]netstatus.Chain, len(n.nodes))
	n.each(func(i int, node *node) {
		ctx, cancel := context.WithTimeout(ctx, lookWithin)
		defer cancel()
		out[i] = n.lookAt(ctx, node, recorded)
	})
	return out
}

func (n *Network) lookAt(ctx context.Context, node *node, recorded map[uint64]lane.Status) netstatus.Chain {
	c := netstatus.Chain{ID: node.ID(), Name: node.name, Quorum: netstatus.Quorum{Need: max(node.quorum, 1)},
		Inventory: n.holdings(node.ID())}
	var head *header
	switch err := node.pool.AgreedBlock(ctx, &head, "latest"); {
	case err != nil:
		c.Quorum.Why = err.Error()
	case head == nil:
		c.Quorum.Why = "there is no block"
	default:
		c.Quorum.Agrees, c.Block = true, new(uint64(head.Number))
	}
	problem := errors.Join(n.ask(ctx, node, &c), n.lane(ctx, node, &c, recorded))
	if problem != nil {
		c.Problem = problem.Error()
	}
	for _, h := range node.pool.Health() {
		e := netstatus.Endpoint{Host: h.Host, State: string(h.State), Disagreed: h.Disagreed}
		if h.State == rpcpool.Resting || h.State == rpcpool.Untried {
			e.Fault = h.Fault
		}
		c.Endpoints = append(c.Endpoints, e)
	}
	return c
}

// holdings are the assets of a chain, before it was asked.
func (n *Network) holdings(chainID uint64) (out []netstatus.Holding) {
	for _, e := range n.Catalog.On(caip.EVM(chainID)) {
		out = append(out, netstatus.Holding{Asset: e.Asset.String(), Aggregate: string(e.Aggregate), Symbol: e.Symbol,
			Decimals: e.Decimals})
	}
	return out
}

// word is a 32 byte answer.
type word struct{ hexutil.Bytes }

func (w word) at(i int) *big.Int {
	if len(w.Bytes) < 32*(i+1) {
		return nil
	}
	return new(big.Int).SetBytes(w.Bytes[32*i : 32*i+32])
}

func (w word) truth() *bool {
	v := w.at(0)
	if v == nil {
		return nil
	}
	return new(v.Sign() > 0)
}

// ask asks for everything that has a figure, at once.
func (n *Network) ask(ctx context.Context, node *node, c *netstatus.Chain) error {
	var calls []rpcpool.Call
	read := func(to common.Address, into *word, signature string, words ...[]byte) {
		data := crypto.Keccak256([]byte(signature))[:4]
		for _, w := range words {
			data = append(data, common.LeftPadBytes(w, 32)...)
		}
		calls = append(calls, rpcpool.Call{Method: "eth_call", Result: &into.Bytes,
			Params: []any{map[string]any{"to": to, "data": hexutil.Bytes(data)}, "latest"}})
	}
	filler, key := n.Pins.Solver, n.Pins.Operator
	var paused, hot word
	var coin, gas, price hexutil.Big
	calls = append(calls, rpcpool.Call{Method: "eth_getBalance", Params: []any{filler, "latest"}, Result: &coin},
		rpcpool.Call{Method: "eth_getBalance", Params: []any{key, "latest"}, Result: &gas},
		rpcpool.Call{Method: "eth_gasPrice", Result: &price})
	read(filler, &paused, "paused()")
	read(filler, &hot, "hot(address)", key[:])
	balances, left, caps := make([]word, len(c.Inventory)), make([]word, len(c.Inventory)),
		make([]word, len(c.Inventory))
	for i, h := range c.Inventory {
		asset, err := caip.ParseAsset(h.Asset)
		if err != nil {
			return err
		}
		token, is := asset.Token()
		if is {
			read(token, &balances[i], "balanceOf(address)", filler[:])
		}
		read(filler, &left[i], "available(address)", token[:])
		read(filler, &caps[i], "caps(address)", token[:])
	}
	if err := node.pool.Batch(ctx, calls); err != nil {
		return err
	}
	var problem error
	for _, call := range calls {
		if call.Err != nil {
			problem = fmt.Errorf("%s: %w", call.Method, call.Err)
		}
	}
	c.Paused = paused.truth()
	for i := range c.Inventory {
		h := &c.Inventory[i]
		h.Left, h.Capacity, h.Refill = left[i].at(0), caps[i].at(0), caps[i].at(1)
		if h.Has = balances[i].at(0); caip.Native(c.ID).String() == h.Asset && calls[0].Err == nil {
			h.Has = coin.ToInt()
		}
	}
	if key == (common.Address{}) {
		return problem
	}
	c.Hot = hot.truth()
	if calls[1].Err != nil || calls[2].Err != nil {
		return problem
	}
	fee, data, err := node.DataFee(ctx, n.usual())
	if err != nil {
		return errors.Join(problem, err)
	}
	t := Tank{Has: gas.ToInt(), GasPrice: price.ToInt(), DataFee: fee, dataGas: data}
	c.Gas = &netstatus.Gas{Coin: node.coin, Has: t.Has, Operations: t.Operations()}
	return problem
}

// lane fills in what is known of the service's lane.
func (n *Network) lane(ctx context.Context, node *node, c *netstatus.Chain, recorded map[uint64]lane.Status) error {
	s, known := recorded[c.ID]
	var err error
	if l := n.lanes[c.ID]; l != nil {
		s, err = l.Status(ctx, n.Pins.Operator)
		known = true
	}
	if !known {
		return nil
	}
	c.Lane = &netstatus.Lane{Stopped: s.Stopped, Held: s.Held, Alerted: s.Alerted, Sent: s.Next, Open: []string{}}
	for _, o := range s.Open {
		c.Lane.Open = append(c.Lane.Open, o.ID)
	}
	switch {
	case err != nil:
		return err
	case n.lanes[c.ID] != nil && s.Block > 0:
		c.Lane.Used = &s.Used
	case n.lanes[c.ID] != nil: // it never sent anything
		c.Lane.Used = new(uint64)
	default:
		var used hexutil.Uint64
		if err := node.pool.Agreed(ctx, &used, "eth_getTransactionCount", n.Pins.Operator, "latest"); err != nil {
			return err
		}
		c.Lane.Used = new(uint64(used))
	}
	return nil
}
