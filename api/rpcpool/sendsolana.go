package rpcpool

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
)

// BroadcastSolana hands a signed transaction of Solana to every endpoint that does not rest, and returns at the first
// that takes it or has it. signature is its first one in base58, which names it. The nodes neither try it first nor
// send it again by themselves: who sends does both. Repeating it with the same bytes changes nothing.
//
// The error is an *Error when all that answered refuse. It says nothing about whether the transaction lands: another
// node may have passed it on before.
func (p *Pool) BroadcastSolana(ctx context.Context, raw []byte, signature string) error {
	const method = "sendTransaction"
	call := newRequest(p.id.Add(1), method, []any{base64.StdEncoding.EncodeToString(raw), struct {
		Encoding      string `json:"encoding"`
		SkipPreflight bool   `json:"skipPreflight"`
		MaxRetries    int    `json:"maxRetries"`
	}{"base64", true, 0}})
	_, err := p.hand(ctx, call, func(e *endpoint, r reply) error {
		if r.err != nil {
			if strings.Contains(strings.ToLower(r.err.Message), "already been processed") {
				return nil
			}
			return fmt.Errorf("%s at %s: %w", method, e.host, r.err)
		}
		var got string
		if err := store(r.result, &got); err != nil || got != signature {
			return errors.New("its answer has not the transaction's signature")
		}
		return nil
	})
	return err
}
