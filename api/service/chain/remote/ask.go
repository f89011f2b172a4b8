package remote

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"

	"coffer/api/op"
	"coffer/api/rpcpool"
	"coffer/api/service/chain"
)

// ask is one call to a node. A hint may fail: its error is only kept.
type ask struct {
	method string
	params []any
	into   any
	hint   bool
	err    error
}

// modes are what nodes turned out not to have.
type modes struct {
	byNumber atomic.Bool // EIP-1898: blocks by hash
	noLists  atomic.Bool // eth_createAccessList
}

// send asks in one round trip.
func (c *Chain) send(ctx context.Context, asks []ask) error {
	if c.life.Err() != nil {
		return ErrClosed
	}
	calls := make([]rpcpool.Call, len(asks))
	for i, a := range asks {
		calls[i] = rpcpool.Call{Method: a.method, Params: a.params, Result: a.into}
	}
	if err := c.o.Node.Batch(ctx, calls); err != nil {
		if ctx.Err() != nil {
			err = errors.Join(err, context.Cause(ctx))
		}
		return err
	}
	var err error
	for i := range asks {
		a := &asks[i]
		if a.err = calls[i].Err; err == nil && !a.hint {
			err = a.err
		}
	}
	return err
}

// one is a single call.
func (c *Chain) one(ctx context.Context, into any, method string, params ...any) error {
	return c.send(ctx, []ask{{method: method, params: params, into: into}})
}

// pinned asks about the state after a block, and about no other: each call gets the block as its last parameter. A node
// that knows blocks by number only is asked with the calls, and again after them, which block has the number.
func (c *Chain) pinned(ctx context.Context, h *head, asks []ask) error {
	if len(asks) == 0 {
		return nil
	}
	at := func(block any, more ...ask) error {
		sent := append(slices.Clone(asks), more...)
		for i, a := range asks {
			sent[i].params = append(slices.Clone(a.params), block)
		}
		err := c.send(ctx, sent)
		for i := range asks {
			asks[i].err = sent[i].err
		}
		return err
	}
	byNumber := c.modes.byNumber.Load()
	var err error
	if !byNumber {
		err = at(map[string]any{"blockHash": h.Hash, "requireCanonical": true})
		byNumber = invalid(err)
	}
	if byNumber {
		var same, still *block
		number := hexutil.Uint64(h.Number)
		err = at(number, ask{method: "eth_getBlockByNumber", params: []any{number, false}, into: &same})
		if err == nil {
			c.modes.byNumber.Store(true)
			err = c.one(ctx, &still, "eth_getBlockByNumber", number, false)
		}
		if err == nil && (!same.is(h) || !still.is(h)) {
			err = errReplaced
		}
	}
	if isGone(err) {
		c.gone(h)
		return fmt.Errorf("block %d (%s): %w: %w", h.Number, h.Hash, ErrGone, err)
	}
	return err
}

var errReplaced = errors.New("another block has its number")

// refusal is what a node answered, nil when it did not answer.
func refusal(err error) *rpcpool.Error {
	var e *rpcpool.Error
	if errors.As(err, &e) {
		return e
	}
	return nil
}

// answered reports whether an error is an answer to the call, and not the want of one.
func answered(err error) bool { return refusal(err) != nil }

// invalid reports whether a node does not understand the parameters.
func invalid(err error) bool {
	e := refusal(err)
	return e != nil && (e.Code == -32602 || e.Code == -32600) && !isGone(err)
}

// goneWords are how clients say that they do not have a block or its state.
var goneWords = regexp.MustCompile(`(?i)header (for hash )?not found|hash not found|not (currently )?canonical|` +
	`missing trie node|historical state|state( is|) (not |un)available|no state (found|available)|unknown block|` +
	`block not found|resource not found|out ?of ?range|pruned|world state unavailable`)

func isGone(err error) bool {
	if errors.Is(err, errReplaced) || errors.Is(err, rpcpool.ErrNotFound) {
		return true
	}
	e := refusal(err)
	return e != nil && !e.Reverted() && goneWords.MatchString(e.Message)
}

// args is a message as the parameter of a call.
func args(m chain.Message) map[string]any {
	out := map[string]any{"from": m.From, "to": m.To, "data": data(m.Data)}
	if m.Value != nil && m.Value.Sign() != 0 {
		out["value"] = (*hexutil.Big)(m.Value)
	}
	if m.Gas != 0 {
		out["gas"] = hexutil.Uint64(m.Gas)
	}
	if len(m.Authorizations) > 0 {
		list := make([]authorization, len(m.Authorizations))
		for i, a := range m.Authorizations {
			list[i] = authorization{(*hexutil.Big)(a.ChainID), a.Address, hexutil.Uint64(a.Nonce),
				hexutil.Uint64(a.YParity), (*hexutil.Big)(new(big.Int).SetBytes(a.R[:])),
				(*hexutil.Big)(new(big.Int).SetBytes(a.S[:]))}
		}
		out["authorizationList"] = list
	}
	return out
}

// authorization is one of EIP-7702.
type authorization struct {
	ChainID *hexutil.Big   `json:"chainId"`
	Address common.Address `json:"address"`
	Nonce   hexutil.Uint64 `json:"nonce"`
	YParity hexutil.Uint64 `json:"yParity"`
	R       *hexutil.Big   `json:"r"`
	S       *hexutil.Big   `json:"s"`
}

func (a authorization) signed() (out op.SignedAuthorization, err error) {
	if a.ChainID == nil || a.R == nil || a.S == nil || a.R.ToInt().BitLen() > 256 || a.S.ToInt().BitLen() > 256 ||
		a.YParity > 255 {
		return out, errors.New("the node's answer has an authorization without its parts")
	}
	out.ChainID, out.Address, out.Nonce = a.ChainID.ToInt(), a.Address, uint64(a.Nonce)
	a.R.ToInt().FillBytes(out.R[:])
	a.S.ToInt().FillBytes(out.S[:])
	out.YParity = uint8(a.YParity)
	return out, nil
}

type data = hexutil.Bytes

// quantity is a number as nodes write it, with leading zeros or without, up to 256 bits.
type quantity struct{ v big.Int }

// UnmarshalText implements encoding.TextUnmarshaler.
func (q *quantity) UnmarshalText(raw []byte) error {
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
func (q *quantity) ToInt() *big.Int { return &q.v }
