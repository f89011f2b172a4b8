// Package chainview is the wallet's own view of chains: it asks nodes that the user named, read-only, so that what the
// service says can be compared with what a chain says, and lets them simulate what is about to be signed.
//
// Promise: nodes come from the user's configuration alone, never from an answer; a node that serves another chain than
// the one it was named for is not believed. A View opens no connection before its first question, and every question
// ends within Bound: what was not answered by then has a Trouble in words. Where several nodes of a chain are named,
// two of them have to say the same. Nothing is ever sent to a chain.
//
// Secrets: of a node's address only scheme and host are ever in words.
package chainview

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"sync"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/crypto"

	"coffer/api/networks"
	"coffer/api/op"
	"coffer/api/rpcpool"
	"coffer/api/rpcpool/reads"
	"coffer/wallet/verify"
)

// Bound is how long a question may take, whatever the nodes do.
const Bound = 3 * time.Second

// Node names the nodes of one chain: an EVM chain by its number, or a Solana chain by the reference of its CAIP-2 id.
// Quorum is how many have to say the same; 0: two, where there are several hosts.
type Node struct {
	Chain     uint64
	Solana    string
	Endpoints []rpcpool.Endpoint
	Quorum    int
	Final     networks.Finality // what makes a block final; nothing: the tag "finalized"
	// Dear is an error where nothing can be sent at a base fee, because of the user's own cap; nil: there is none.
	Dear func(base *big.Int) error
	// Feeds are price feeds of the chain, and Sequencer that of its sequencer's uptime, zero for none. Like the nodes
	// they come from the user or from this program alone.
	Name      string
	Feeds     []networks.Feed
	Sequencer common.Address
}

// View asks the nodes of some chains. It is safe for concurrent use; close it at the end.
type View struct {
	chains map[uint64]*chain
	past   *past   // nil: no nodes of a Solana chain are named
	prices *prices // nil: no feeds are named
}

type chain struct {
	pool  *rpcpool.Pool
	at    *reads.Reader
	final networks.Finality
	dear  func(base *big.Int) error
}

// New makes a view. It sends nothing.
func New(nodes []Node) (*View, error) {
	v := &View{chains: map[uint64]*chain{}}
	for _, n := range nodes {
		o := rpcpool.Options{URLs: n.Endpoints, ChainID: n.Chain, Solana: n.Solana, Quorum: n.Quorum, Timeout: Bound}
		if n.Quorum == 0 {
			o.Quorum = min(2, len(n.Endpoints))
		}
		pool, err := rpcpool.New(o)
		if err != nil && n.Quorum == 0 { // addresses of one host have one word
			o.Quorum = 1
			pool, err = rpcpool.New(o)
		}
		if err != nil {
			v.Close()
			return nil, err
		}
		if n.Solana != "" {
			v.past = &past{pool: pool, kept: map[keptKey]Transaction{}}
			continue
		}
		c := &chain{pool: pool, at: &reads.Reader{Node: pool}, final: n.Final, dear: n.Dear}
		if o.Quorum > 1 {
			c.at.Node = agreeing{pool}
		}
		v.chains[n.Chain] = c
	}
	v.prices = newPrices(v, nodes)
	return v, nil
}

// Close ends what is under way.
func (v *View) Close() {
	if v.prices != nil {
		v.prices.feeds.Close()
	}
	for _, c := range v.chains {
		c.pool.Close()
	}
	if v.past != nil {
		v.past.pool.Close()
	}
}

// agreeing asks each call of a batch until a quorum of nodes gives the same answer.
type agreeing struct{ pool *rpcpool.Pool }

// Batch is part of reads.Node. Its error is that of a call without an answer.
func (a agreeing) Batch(ctx context.Context, calls []rpcpool.Call) error {
	var all sync.WaitGroup
	for i := range calls {
		all.Go(func() {
			c := &calls[i]
			c.Err = a.pool.Agreed(ctx, c.Result, c.Method, c.Params...)
		})
	}
	all.Wait()
	for _, c := range calls {
		if c.Err != nil && !reads.Answered(c.Err) && !errors.Is(c.Err, rpcpool.ErrNotFound) {
			return c.Err
		}
	}
	return nil
}

// Probe is the newest block of a chain as its nodes say it, or the reason why there is none: a node serves another
// chain, or nothing answers.
func (v *View) Probe(ctx context.Context, id uint64) (uint64, error) {
	ctx, cancel := context.WithTimeout(ctx, Bound)
	defer cancel()
	c := v.chains[id]
	if c == nil {
		return 0, fmt.Errorf("no node of chain %d is named", id)
	}
	b, err := c.newest(ctx)
	if err != nil {
		err = &TroubleError{trouble(ctx, err), err}
	}
	return uint64(b.Number), err
}

// TroubleError is why a node gave no answer, in a few words. It wraps the error of the endpoints.
type TroubleError struct {
	Words string
	err   error
}

func (e *TroubleError) Error() string { return e.Words }

// Unwrap is the error of the endpoints.
func (e *TroubleError) Unwrap() error { return e.err }

func (c *chain) newest(ctx context.Context) (b rpcpool.Block, err error) {
	err = c.pool.AgreedBlock(ctx, &b, "latest")
	return b, err
}

// Look asks what the nodes see, and waits until prices were read once. Questions about chains without a node have no
// sight.
func (v *View) Look(ctx context.Context, questions []verify.Question) []verify.Sight {
	defer v.priced(ctx)()
	return each(ctx, v, questions, func(q verify.Question) uint64 { return q.Chain }, (*chain).look,
		func(q verify.Question, why string) verify.Sight { return verify.Sight{Question: q, Trouble: why} })
}

// each puts every question to the nodes of its chain, all at once and within Bound. Those about chains without a node
// are left out; silent is the answer where the nodes gave none, with the reason in words.
func each[Q, A any](ctx context.Context, v *View, questions []Q, of func(Q) uint64,
	ask func(*chain, context.Context, Q) (A, error), silent func(q Q, why string) A) []A {
	ctx, cancel := context.WithTimeout(ctx, Bound)
	defer cancel()
	questions = slices.DeleteFunc(slices.Clone(questions), func(q Q) bool { return v.chains[of(q)] == nil })
	out := make([]A, len(questions))
	var all sync.WaitGroup
	for i, q := range questions {
		all.Go(func() {
			var err error
			if out[i], err = ask(v.chains[of(q)], ctx, q); err != nil {
				out[i] = silent(q, trouble(ctx, err))
			}
		})
	}
	all.Wait()
	return out
}

// look reads at one block. A block that left the chain meanwhile is looked at again, once.
func (c *chain) look(ctx context.Context, q verify.Question) (verify.Sight, error) {
	s := verify.Sight{Question: q}
	for again := false; ; again = true {
		b, err := c.newest(ctx)
		if err != nil {
			return s, err
		}
		s.Block, s.At = uint64(b.Number), time.Unix(int64(b.Time), 0)
		at := reads.Block{Number: s.Block, Hash: b.Hash}
		if err = c.balances(ctx, at, &s); err == nil {
			err = c.others(ctx, at, &s)
		}
		if err == nil || again || !reads.IsGone(err) {
			return s, err
		}
	}
}

func (c *chain) balances(ctx context.Context, at reads.Block, s *verify.Sight) (err error) {
	tokens := make([]common.Address, len(s.Assets))
	for i, a := range s.Assets {
		tokens[i], _ = a.Token() // the coin: zero
	}
	s.Has, err = c.at.Balances(ctx, at, s.Account, tokens)
	return err
}

// others reads nonces and code.
func (c *chain) others(ctx context.Context, at reads.Block, s *verify.Sight) error {
	var asks []reads.Ask
	for _, key := range s.Keys {
		asks = append(asks, reads.CallOf(s.EntryPoint, op.GetNonceCalldata(s.Account, key)))
	}
	code := make([]hexutil.Bytes, len(s.Code))
	for i, a := range s.Code {
		asks = append(asks, reads.Ask{Method: "eth_getCode", Params: []any{a}, Into: &code[i]})
	}
	if err := c.at.Pinned(ctx, at, asks); err != nil {
		return err
	}
	s.Next, s.Hashes = make([]*big.Int, len(s.Keys)), make([]common.Hash, len(code))
	for i := range s.Keys {
		if n := *asks[i].Into.(*hexutil.Bytes); asks[i].Err == nil && len(n) == common.HashLength {
			s.Next[i] = new(big.Int).SetBytes(n)
		}
	}
	for i := range code {
		if len(code[i]) > 0 {
			s.Hashes[i] = crypto.Keccak256Hash(code[i])
		}
	}
	return nil
}

// trouble says in a few words why there is no answer.
func trouble(ctx context.Context, err error) string { return troubleWithin(ctx, Bound, err) }

func troubleWithin(ctx context.Context, bound time.Duration, err error) string {
	var none *rpcpool.UnavailableError
	var split *rpcpool.NoQuorumError
	switch {
	case ctx.Err() != nil:
		return fmt.Sprintf("not answered within %d s", int(bound.Seconds()))
	case errors.As(err, &split):
		return "your nodes do not agree"
	case errors.As(err, &none) && len(none.Endpoints) > 0:
		return none.Endpoints[0].Host + ": " + none.Endpoints[0].Fault
	}
	return err.Error()
}
