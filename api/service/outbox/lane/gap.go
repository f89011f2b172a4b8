package lane

import (
	"context"
	"errors"
	"fmt"
	"math/big"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api/service/chain"
	"coffer/api/service/store"
)

// mostFilled bounds how many nonces one decision fills.
const mostFilled = 64

// takenBack stops a lane when the chain has replaced blocks that were final: a final block, not before that of the last
// step that is over, lacks transactions that were final, and no node holds bytes for their nonces. What the lane sends
// next would wait for those nonces for ever. latest is the chain's nonce.
func (l *Lane) takenBack(ctx context.Context, at common.Address, r *laneRecord, latest uint64) error {
	if r.Stopped != "" || latest >= r.First {
		return nil
	}
	var last *step
	err := l.Store.View(func(tx store.Tx) (err error) {
		b := l.in(tx)
		last, err = b.step(b.stepKey(at, r.First-1))
		return err
	})
	if err != nil || last == nil || last.Final == nil || last.Final.Block == 0 {
		return err
	}
	final, err := l.finalBlock(ctx)
	if err != nil || final == nil || uint64(final.Number) < last.Final.Block {
		return err
	}
	pending, err := l.nonce(ctx, at, "pending")
	if err != nil || pending >= r.First {
		return err
	}
	if latest, err = l.nonceIn(ctx, at, final); err != nil || latest >= r.First {
		return err
	}
	return l.halt(at, r, fmt.Sprintf("the chain took back what was final: of %d transactions of the key it has %d",
		r.First, latest))
}

// fill has the key send nothing to itself with the nonces that the chain took back, so that what comes after them can
// be mined. Bytes of old that come back take their place, or lose it; both are one transaction a nonce.
func (l *Lane) fill(ctx context.Context, k *key, at common.Address, r *laneRecord, latest uint64) error {
	pending, err := l.nonce(ctx, at, "pending")
	if err != nil {
		return err
	}
	from := max(latest, pending)
	if from >= r.First {
		return nil
	}
	signer := k.by()
	if signer == nil {
		return errors.New("the key is not here, so that the nonces which the chain took back cannot be used up")
	}
	now, err := l.fees(ctx)
	if err != nil {
		return err
	}
	p, err := now.first(l.stepCap())
	if err != nil {
		return err
	}
	none := chain.Tx{From: signer, To: at, Value: new(big.Int)}
	gas, err := l.cancelGas(ctx, none)
	if err != nil {
		return err
	}
	for n := from; n < min(r.First, from+mostFilled); n++ {
		tx, err := unsigned(l.ChainID, n, gas, none, p)
		if err != nil {
			return err
		}
		a, err := l.sign(ctx, signer, tx, now.head)
		if err != nil {
			return err
		}
		if _, err := l.Pool.Broadcast(ctx, a.Raw); err != nil {
			return fmt.Errorf("use up nonce %d: %w", n, err)
		}
		l.Log.Warn("a nonce that the chain took back is used up by a transfer of nothing", "chain", l.ChainID,
			"key", at, "nonce", n, "tx", a.Hash)
	}
	if left := r.First - from; left > mostFilled {
		return fmt.Errorf("%d nonces that the chain took back are used up, %d are left: decide again", mostFilled,
			left-mostFilled)
	}
	return nil
}
