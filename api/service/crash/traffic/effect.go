package traffic

import (
	"errors"
	"fmt"
	"math/big"
	"strings"

	"coffer/api"
	"coffer/api/amount"
	"coffer/api/caip"
	"coffer/api/op"
)

// Effect is what a quote does when it completes, computed from what the client was told and nothing else. A quote that
// is refunded or fails moves nothing.
type Effect struct {
	Moves []Move
	Uses  []Use     // operations of the person's EVM account that run
	Gets  *Delivery // of a swap: what is delivered is only known within bounds
}

// CrossChain reports whether operations run on several EVM chains.
func (e Effect) CrossChain() bool {
	for _, u := range e.Uses {
		if u.Chain != e.Uses[0].Chain {
			return true
		}
	}
	return false
}

// Move changes a balance. Account is one of the Names of a user.
type Move struct {
	Account string
	Asset   caip.Asset
	Amount  *big.Int
}

// Use is one operation: its sequence in a lane of a chain is used up.
type Use struct {
	Chain uint64
	Lane  uint16
}

// Delivery is a delivery between bounds.
type Delivery struct {
	Account    string
	Asset      caip.Asset
	Least, Top *big.Int
}

// Key is the form of an account's address in a Move.
func Key(a caip.Account) string {
	if at, evm := a.EVM(); evm {
		return strings.ToLower(at.Hex())
	}
	return a.Address
}

// effectOfCall: funding operations take what they say, of which the fees stay away and the rest is delivered to the
// account; the call then pays the recipient (protocol §3.5).
func (p *Person) effectOfCall(w Wish, prepared api.ChainOperation, q api.Quote) (Effect, error) {
	use, err := lane(prepared)
	if err != nil {
		return Effect{}, err
	}
	e := Effect{Uses: []Use{use}}
	net, err := e.pay(p, q)
	if err != nil {
		return Effect{}, err
	}
	me := p.Name(w.Asset.Chain)
	e.Moves = append(e.Moves, Move{me, w.Asset, net}, Move{me, w.Asset, new(big.Int).Neg(w.Amount)},
		Move{strings.ToLower(w.To.Hex()), w.Asset, w.Amount})
	if q.DestinationToken.Amount != w.Amount.String() {
		return Effect{}, fmt.Errorf("the destination is %s, the call needs %s", q.DestinationToken.Amount, w.Amount)
	}
	return e, nil
}

// effectOfSwap: funding operations take what they say, and something between minimum and quoted amount is delivered.
func (p *Person) effectOfSwap(q api.Quote) (Effect, error) {
	var e Effect
	if _, err := e.pay(p, q); err != nil {
		return Effect{}, err
	}
	to, err := caip.ParseAccount(q.DestinationToken.RecipientAccount)
	if err != nil {
		return Effect{}, err
	}
	asset, err := caip.ParseAsset(q.DestinationToken.AssetType)
	if err != nil {
		return Effect{}, err
	}
	top, err := amount.ParseBase(q.DestinationToken.Amount)
	least, errLeast := amount.ParseBase(q.DestinationToken.MinimumAmount)
	if err := errors.Join(err, errLeast); err != nil {
		return Effect{}, fmt.Errorf("a delivery: %w", err)
	}
	e.Gets = &Delivery{Key(to), asset, least, top}
	return e, nil
}

// pay enters the funding operations and returns what they leave after fees.
func (e *Effect) pay(p *Person, q api.Quote) (*big.Int, error) {
	net := new(big.Int)
	for _, o := range q.OriginChainsOperations {
		asset, err := caip.ParseAsset(o.AssetType)
		if err != nil {
			return nil, err
		}
		if !o.IsSolana() {
			use, err := lane(o)
			if err != nil {
				return nil, err
			}
			if use.Lane == op.LanePrepared {
				continue // the call pays for itself: this is the prepared operation again
			}
			e.Uses = append(e.Uses, use)
		}
		v, err := amount.ParseBase(o.Amount)
		if err != nil {
			return nil, fmt.Errorf("a funding operation: %w", err)
		}
		e.Moves = append(e.Moves, Move{p.Name(asset.Chain), asset, new(big.Int).Neg(v)})
		net.Add(net, v)
	}
	if q.Fees == nil {
		return net, nil
	}
	for asset, text := range q.Fees.Assets {
		fee, err := amount.ParseBase(text)
		if err != nil {
			return nil, fmt.Errorf("a fee in %s: %w", asset, err)
		}
		net.Sub(net, fee)
	}
	return net, nil
}
