// Package reads asks the nodes of one chain about its state after one block.
//
// Promise: what Pinned and Balances return is of the block that was named, by its hash, or the error says why it is
// unknown: IsGone reports that the nodes do not have the block any more. Nothing is sent to a chain.
package reads

import (
	"context"
	"errors"
	"math/big"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"

	"coffer/api/pattern"
	"coffer/api/rpcpool"
)

// Node answers JSON-RPC; *rpcpool.Pool is one.
type Node interface {
	Batch(ctx context.Context, calls []rpcpool.Call) error
}

// Ask is one call to a node. A Hint may fail: its error is only kept.
type Ask struct {
	Method string
	Params []any
	Into   any
	Hint   bool
	Err    error
}

// Block names a block.
type Block struct {
	Number uint64
	Hash   common.Hash
}

// Reader asks one chain. It is safe for concurrent use.
type Reader struct {
	Node     Node
	byNumber atomic.Bool // a node without EIP-1898, which knows blocks by number only
}

// Send asks in one round trip.
func (r *Reader) Send(ctx context.Context, asks []Ask) error {
	calls := make([]rpcpool.Call, len(asks))
	for i, a := range asks {
		calls[i] = rpcpool.Call{Method: a.Method, Params: a.Params, Result: a.Into}
	}
	if err := r.Node.Batch(ctx, calls); err != nil {
		if ctx.Err() != nil {
			err = errors.Join(err, context.Cause(ctx))
		}
		return err
	}
	var err error
	for i := range asks {
		a := &asks[i]
		if a.Err = calls[i].Err; err == nil && !a.Hint {
			err = a.Err
		}
	}
	return err
}

// Pinned asks about the state after a block, and about no other: each call gets the block as its last parameter. A node
// that knows blocks by number only is asked with the calls, and again after them, which block has the number.
func (r *Reader) Pinned(ctx context.Context, at Block, asks []Ask) error {
	if len(asks) == 0 {
		return nil
	}
	send := func(block any, more ...Ask) error {
		sent := append(slices.Clone(asks), more...)
		for i, a := range asks {
			sent[i].Params = append(slices.Clone(a.Params), block)
		}
		err := r.Send(ctx, sent)
		for i := range asks {
			asks[i].Err = sent[i].Err
		}
		return err
	}
	byNumber := r.byNumber.Load()
	var err error
	if !byNumber {
		err = send(map[string]any{"blockHash": at.Hash, "requireCanonical": true})
		byNumber = invalid(err)
	}
	if byNumber {
		var same, still *header
		number := hexutil.Uint64(at.Number)
		err = send(number, Ask{Method: "eth_getBlockByNumber", Params: []any{number, false}, Into: &same})
		if err == nil {
			r.byNumber.Store(true)
			err = r.Send(ctx, []Ask{{Method: "eth_getBlockByNumber", Params: []any{number, false}, Into: &still}})
		}
		if err == nil && (!same.is(at) || !still.is(at)) {
			err = ErrReplaced
		}
	}
	return err
}

// header is as much of a block as tells which one it is.
type header struct {
	Hash *common.Hash `json:"hash"`
}

func (h *header) is(b Block) bool { return h != nil && h.Hash != nil && *h.Hash == b.Hash }

// Balances reads what an account has of tokens after a block, the zero address being the chain's coin. An amount is nil
// when the token does not say it.
func (r *Reader) Balances(ctx context.Context, at Block, account common.Address, tokens []common.Address) ([]*big.Int,
	error) {
	balanceOf := append([]byte{0x70, 0xa0, 0x82, 0x31}, common.LeftPadBytes(account[:], common.HashLength)...)
	out := make([]*big.Int, len(tokens))
	// The coin is asked for in any case: a token may fail, this tells when it is the block that is at fault.
	var coin Quantity
	asks := []Ask{{Method: "eth_getBalance", Params: []any{account}, Into: &coin}}
	of := map[common.Address]int{{}: 0}
	for _, t := range tokens {
		if _, asked := of[t]; asked {
			continue
		}
		of[t] = len(asks)
		asks = append(asks, CallOf(t, balanceOf))
	}
	if err := r.Pinned(ctx, at, asks); err != nil {
		return nil, err
	}
	for i, t := range tokens {
		a := asks[of[t]]
		switch answer := a.Into.(type) {
		case *Quantity:
			out[i] = new(big.Int).Set(answer.ToInt())
		case *hexutil.Bytes:
			if a.Err != nil && (!Answered(a.Err) || IsGone(a.Err)) {
				return nil, a.Err
			}
			if a.Err == nil && len(*answer) == common.HashLength {
				out[i] = new(big.Int).SetBytes(*answer)
			}
		}
	}
	return out, nil
}

// CallOf runs a contract's code without a sender; Into is a *hexutil.Bytes, and what the contract refuses is only kept.
func CallOf(to common.Address, input []byte) Ask {
	return Ask{Method: "eth_call", Params: []any{map[string]any{"from": common.Address{}, "to": to,
		"data": hexutil.Bytes(input)}}, Into: new(hexutil.Bytes), Hint: true}
}

// ErrReplaced says that another block has the number of the one that was named.
var ErrReplaced = errors.New("another block has its number")

// Refusal is what a node answered, nil when it did not answer.
func Refusal(err error) *rpcpool.Error {
	var e *rpcpool.Error
	if errors.As(err, &e) {
		return e
	}
	return nil
}

// Answered reports whether an error is an answer to the call, and not the want of one.
func Answered(err error) bool { return Refusal(err) != nil }

// invalid reports whether a node does not understand the parameters.
func invalid(err error) bool {
	e := Refusal(err)
	return e != nil && (e.Code == -32602 || e.Code == -32600) && !IsGone(err)
}

// goneWords are how clients say that they do not have a block or its state.
var goneWords = pattern.New(`(?i)header (for hash )?not found|hash not found|not (currently )?canonical|` +
	`missing trie node|historical state|state( is|) (not |un)available|no state (found|available)|unknown block|` +
	`block not found|resource not found|out ?of ?range|pruned|world state unavailable`)

// IsGone reports whether the nodes do not have the block that was named, or its state.
func IsGone(err error) bool {
	if errors.Is(err, ErrReplaced) || errors.Is(err, rpcpool.ErrNotFound) {
		return true
	}
	e := Refusal(err)
	return e != nil && !e.Reverted() && goneWords.MatchString(e.Message)
}

// Quantity is a number as nodes write it, with leading zeros or without, up to 256 bits.
type Quantity struct{ v big.Int }

// UnmarshalText implements encoding.TextUnmarshaler.
func (q *Quantity) UnmarshalText(raw []byte) error {
	digits, ok := strings.CutPrefix(string(raw), "0x")
	if !ok || digits == "" {
		return hexutil.ErrSyntax
	}
	if digits = strings.TrimLeft(digits, "0"); digits == "" {
		digits = "0"
	}
	v, err := hexutil.DecodeBig("0x" + digits)
	if err == nil {
		q.v = *v
	}
	return err
}

// ToInt is the number.
func (q *Quantity) ToInt() *big.Int { return &q.v }
