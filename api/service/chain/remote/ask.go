package remote

import (
	"context"
	"errors"
	"fmt"
	"math/big"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"

	"coffer/api/op"
	"coffer/api/rpcpool/reads"
	"coffer/api/service/chain"
)

// send asks in one round trip.
func (c *Chain) send(ctx context.Context, asks []reads.Ask) error {
	if c.life.Err() != nil {
		return ErrClosed
	}
	return c.nodes.Send(ctx, asks)
}

// one is a single call.
func (c *Chain) one(ctx context.Context, into any, method string, params ...any) error {
	return c.send(ctx, []reads.Ask{{Method: method, Params: params, Into: into}})
}

// pinned asks about the state after a block, and about no other.
func (c *Chain) pinned(ctx context.Context, h *head, asks []reads.Ask) error {
	if c.life.Err() != nil {
		return ErrClosed
	}
	return c.goneBy(h, c.nodes.Pinned(ctx, h.block(), asks))
}

// goneBy says of an error whether the block is gone, and forgets it then.
func (c *Chain) goneBy(h *head, err error) error {
	if !reads.IsGone(err) {
		return err
	}
	c.gone(h)
	return fmt.Errorf("block %d (%s): %w: %w", h.Number, h.Hash, chain.ErrGone, err)
}

// block names the block of a head.
func (h *head) block() reads.Block { return reads.Block{Number: h.Number, Hash: h.Hash} }

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
