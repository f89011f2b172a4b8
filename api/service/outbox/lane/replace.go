package lane

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"time"

	"coffer/api/service/chain"
	"coffer/api/service/store"
)

// stuckBlocks is how many blocks without an attempt make it stuck: in a chain that makes none, a higher fee is money
// for nothing.
const stuckBlocks = 3

// replace gives what is stuck a higher price, or ends it. Behind the first step only those wait for a price that offer
// less than the base fee; the others wait for the first.
func (l *Lane) replace(ctx context.Context, k *key, steps []*step) error {
	var now suggestion
	for i, s := range steps {
		a := s.last()
		late := l.now() > s.Deadline
		if s.Mined != nil || s.Nonce < k.nonce || l.now() < a.At+uint64(l.Patience/time.Second) && (!late || a.Cancel) {
			continue
		}
		if now.base == nil {
			var err error
			if now, err = l.fees(ctx); err != nil {
				return err
			}
		}
		cheap := a.tx.GasFeeCap().Cmp(now.base) < 0
		young := now.head >= a.Head && now.head-a.Head < stuckBlocks // below, a node was wrong about one of them
		if i > 0 && !cheap && !late || young && (!late || a.Cancel) {
			continue
		}
		if err := l.again(ctx, k, s, now, late); err != nil {
			return fmt.Errorf("replace the transaction of step %q: %w", s.ID, err)
		}
	}
	return nil
}

// again commits another attempt.
func (l *Lane) again(ctx context.Context, k *key, s *step, now suggestion, cancel bool) error {
	last := s.last()
	cancel = cancel || last.Cancel
	limit := l.stepCap()
	if cancel {
		limit = l.FeeCap
	}
	p, ok := now.next(last.tx, limit)
	signer := k.by()
	if !ok || signer == nil {
		if !k.capped[last.Hash] {
			k.capped[last.Hash] = true
			l.Log.Warn("a stuck transaction cannot be replaced: the cap on fees is reached, or its key is not here",
				"chain", l.ChainID, "step", s.ID, "tx", last.Hash, "offers", last.tx.GasFeeCap(), "base", now.base,
				"cap", l.FeeCap)
		}
		return nil
	}
	tx, err := repriced(last.tx, p)
	if err == nil && cancel && !last.Cancel {
		none := chain.Tx{From: signer, To: s.From, Value: new(big.Int)}
		var gas uint64
		if gas, err = l.cancelGas(ctx, none); err == nil {
			tx, err = unsigned(l.ChainID, s.Nonce, gas, none, p)
		}
	}
	if err == nil {
		t := chain.Tx{From: signer, To: *tx.To(), Value: tx.Value(), Data: tx.Data(),
			Authorizations: authorized(tx.SetCodeAuthorizations())}
		if err = l.Check(ctx, exact(t, tx.Gas())); errors.Is(err, chain.ErrReverted) {
			return nil // nothing is signed for what would fail; its deadline ends it
		}
	}
	if err != nil {
		return err
	}
	a, err := l.sign(ctx, signer, tx, now.head)
	if err != nil {
		return err
	}
	a.Cancel = cancel
	changed, err := l.change(s, func(_ store.Tx, s *step, _ *laneRecord) error {
		s.Attempts = append(s.Attempts, a)
		return nil
	})
	if changed {
		l.Log.Info("a stuck transaction is replaced", "chain", l.ChainID, "step", s.ID, "tx", last.Hash, "by", a.Hash,
			"cancels", cancel, "offers", tx.GasFeeCap())
	}
	return err
}
