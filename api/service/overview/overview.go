// Package overview is what the operator of a network on nodes has to know: what the service has and owes on each chain,
// how its nodes and lanes are, and what lies in escrow. `coffer network status`, metrics and alerts all read it.
//
// Units: amounts are in base units, worth is in US dollars. What is not known is nil, "" or missing, and never zero.
package overview

import (
	"cmp"
	"context"
	"math"
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/amount"
	"coffer/api/network"
	"coffer/api/rpcpool"
	"coffer/api/service/deployment"
	"coffer/api/service/quote"
	"coffer/api/service/quotestore"
	"coffer/api/service/remotenet"
	"coffer/api/text"
)

// Units is an amount in base units, in decimal digits; "" is one that is not known.
type Units string

func units(v *big.Int) Units {
	if v == nil {
		return ""
	}
	return Units(v.String())
}

// number is nil when the amount is not known.
func (u Units) number() *big.Int {
	v, err := amount.ParseBase(string(u))
	if err != nil {
		return nil
	}
	return v
}

// Whole is about how many whole units of an asset it is, for metrics; NaN when the amount is not known.
func (u Units) Whole(decimals int) float64 {
	v := u.number()
	if v == nil {
		return math.NaN()
	}
	f, _ := new(big.Float).SetInt(v).Float64()
	return f / math.Pow10(decimals)
}

// Overview is one look at the service and its chains. Exposure is what lies in escrow or is about to, Cap what the
// operator lets lie there; both are missing on own nodes, where nothing does.
type Overview struct {
	Kind     network.Kind `json:"kind"`
	At       time.Time    `json:"at"`
	Open     int          `json:"openQuotes"`
	Exposure api.Number   `json:"exposureUSD,omitzero"`
	Cap      api.Number   `json:"exposureCapUSD,omitzero"`
	Chains   []Chain      `json:"chains"`
	Escrowed []Deposit    `json:"escrowed"`
}

// Chain is one chain. Gas is what the sending key has of its coin, good for about Operations. Stock is what the filler
// has. Problem says why something is not known.
type Chain struct {
	ID         uint64     `json:"chainId"`
	Name       string     `json:"name"`
	Problem    string     `json:"problem,omitzero"`
	Quorum     int        `json:"quorum"`
	Endpoints  []Endpoint `json:"endpoints"`
	Key        string     `json:"key"`
	Coin       string     `json:"coin,omitzero"`
	Gas        Units      `json:"gasWei,omitzero"`
	Operations *uint64    `json:"operations,omitzero"`
	Lane       Lane       `json:"lane"`
	Paused     bool       `json:"paused,omitzero"`
	Stock      []Stock    `json:"stock,omitempty"`
}

// Endpoint is one node: its host, and "up", "behind", "resting" or "untried" (rpcpool.EndpointState).
type Endpoint struct {
	Host      string `json:"host"`
	State     string `json:"state"`
	Fault     string `json:"lastFault,omitzero"`
	Head      uint64 `json:"head,omitzero"`
	Disagreed uint64 `json:"disagreed,omitzero"` // answers that a quorum outvoted
}

// Lane is how the key's transactions are: so many wait for their end. A lane that stopped sends nothing until its
// operator decides, one that is held looks for an explanation.
type Lane struct {
	Waiting int    `json:"waiting"`
	Known   bool   `json:"known"`
	Stopped string `json:"stopped,omitzero"`
	Held    string `json:"held,omitzero"`
}

// Stock is one asset of the filler. Promised will still be delivered; Free may leave now by the filler's cap.
type Stock struct {
	Asset    string `json:"asset"`
	Symbol   string `json:"symbol"`
	Decimals int    `json:"decimals"`
	Has      Units  `json:"has,omitzero"`
	Promised Units  `json:"promised,omitzero"`
	Free     Units  `json:"mayLeave,omitzero"`
}

// Deposit is one that is neither released nor given back. From Deadline on anybody may send it back.
type Deposit struct {
	Quote    string    `json:"quoteId"`
	ChainID  uint64    `json:"chainId"`
	Asset    string    `json:"asset"`
	Symbol   string    `json:"symbol"`
	Decimals int       `json:"decimals"`
	Amount   Units     `json:"amount,omitzero"`
	Status   string    `json:"status"`
	Deadline time.Time `json:"refundDeadline"`
}

// Sources are where an overview comes from.
type Sources struct {
	Network *remotenet.Network
	Book    *quotestore.Book
	Prices  quote.Prices
	Clock   func() time.Time
}

// Look asks every chain and reads the book. What a chain does not tell is missing, and its Problem says why.
func (s Sources) Look(ctx context.Context) (Overview, error) {
	out := Overview{Kind: s.Network.Kind, At: s.Clock().UTC(), Chains: []Chain{}, Escrowed: []Deposit{}}
	ids, err := s.Book.Open(ctx)
	if err != nil {
		return out, err
	}
	var open []*quotestore.Quote
	for _, id := range ids {
		q, err := s.Book.Quote(ctx, id)
		if err != nil {
			return out, err
		}
		open = append(open, q)
		out.Escrowed = append(out.Escrowed, deposits(s.Network.Network, q)...)
	}
	slices.SortStableFunc(out.Escrowed, func(a, b Deposit) int { return a.Deadline.Compare(b.Deadline) })
	out.Open = len(open)
	if limits := s.Network.Limits; limits != nil {
		sum, _ := quote.Exposure(s.Network.Network, s.Prices, open, out.At)
		out.Exposure, out.Cap = api.Micro(sum), api.Micro(limits.Exposure)
	}
	for _, at := range s.Network.Standings(ctx) {
		out.Chains = append(out.Chains, chainOf(at, s.Network.Operator.Address(), open))
	}
	return out, nil
}

// deposits are those of a quote that lie in escrow.
func deposits(n *deployment.Network, q *quotestore.Quote) (out []Deposit) {
	for _, l := range q.Legs {
		if l.State != quotestore.LegDeposited || l.ChainID == 0 {
			continue
		}
		e, _ := n.Catalog.Entity(l.Pays.CAIP())
		out = append(out, Deposit{Quote: q.ID, ChainID: l.ChainID, Asset: l.Pays.Asset, Symbol: e.Symbol,
			Decimals: e.Decimals, Amount: units(l.Pays.Value), Status: q.Status,
			Deadline: time.Unix(int64(n.RefundDeadline(q.Terms())), 0).UTC()})
	}
	return out
}

const mostWords = 300 // of a problem, which may be a node's

func chainOf(s remotenet.Standing, key common.Address, open []*quotestore.Quote) Chain {
	c := Chain{ID: s.ChainID, Name: s.Chain, Quorum: max(s.Quorum, 1), Key: key.Hex(), Endpoints: []Endpoint{}}
	if s.Problem != nil {
		c.Problem = text.Clean(strings.ReplaceAll(s.Problem.Error(), s.Chain+": ", ""), mostWords)
	}
	for _, e := range s.Endpoints {
		c.Endpoints = append(c.Endpoints, Endpoint{Host: e.Host, State: string(e.State), Head: e.Head,
			Fault: text.Clean(e.Fault, mostWords), Disagreed: e.Disagreed})
	}
	if t := s.Tank; t != nil {
		n := t.Operations()
		c.Coin, c.Gas, c.Operations = t.Symbol, units(t.Has), &n
	}
	c.Lane = Lane{Waiting: len(s.Lane.Open), Known: s.Lane.Problem == nil, Stopped: s.Lane.Stopped, Held: s.Lane.Held}
	if s.Filler == nil {
		return c
	}
	c.Paused = s.Filler.Paused
	for _, e := range s.Filler.Stock {
		promised := quote.Promised(open, e.Asset.String())
		if !e.Asset.IsNative() && promised.Sign() == 0 && zero(e.Has) && zero(e.Free) {
			continue // a token of the catalogue that this operator does not deal in
		}
		c.Stock = append(c.Stock, Stock{Asset: e.Asset.String(), Symbol: e.Symbol, Decimals: e.Decimals,
			Has: units(e.Has), Promised: units(promised), Free: units(e.Free)})
	}
	slices.SortStableFunc(c.Stock, func(a, b Stock) int { return cmp.Compare(a.Symbol, b.Symbol) })
	return c
}

func zero(v *big.Int) bool { return v != nil && v.Sign() == 0 }

// Usable is how many nodes of a chain can be asked.
func (c Chain) Usable() (n int) {
	for _, e := range c.Endpoints {
		if e.State != string(rpcpool.Resting) {
			n++
		}
	}
	return n
}
