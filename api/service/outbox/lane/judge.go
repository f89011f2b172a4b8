package lane

import (
	"context"
	"errors"
	"fmt"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"

	"coffer/api/service/chain"
	"coffer/api/service/store"
)

// sure finds the newest final block once a look, when it is asked for.
type sure struct {
	l     *Lane
	asked bool
	block *header
	err   error
}

func (f *sure) get(ctx context.Context) (*header, error) {
	if !f.asked {
		f.asked = true
		f.block, f.err = f.l.finalBlock(ctx)
	}
	return f.block, f.err
}

// finalBlock is nil while the chain has none.
func (l *Lane) finalBlock(ctx context.Context) (b *header, err error) {
	if !l.Final.Counted {
		err = l.Pool.AgreedBlock(ctx, &b, "finalized")
		return b, err
	}
	err = l.Pool.AgreedBlock(ctx, &b, "latest")
	if err != nil || b == nil || uint64(b.Number) < l.Final.Blocks {
		return nil, err
	}
	return &header{Number: b.Number - hexutil.Uint64(l.Final.Blocks)}, nil
}

// confirm stops a lane when the nonce that it cannot explain is final.
func (l *Lane) confirm(ctx context.Context, k *key, at common.Address, r *laneRecord, final *sure) error {
	if r.Stopped != "" || k.nonce <= r.Next {
		return nil
	}
	nonce, catches := r.Next, l.mayCatchUp(k, r)
	if catches {
		nonce = k.nonce - 1 // all that the chain has must stay
	}
	if used, err := l.used(ctx, k, at, nonce, final); err != nil || !used {
		return err
	}
	if catches {
		return l.catchUp(ctx, k, at, k.nonce)
	}
	return l.halt(at, r, beyond(k.nonce, r.Next))
}

// used reports whether a nonce is used for good. A block in which it is has to become final, and some time has to pass,
// in which nodes that are behind catch up; state of long ago, which few nodes keep, is not asked for.
func (l *Lane) used(ctx context.Context, k *key, at common.Address, nonce uint64, final *sure) (bool, error) {
	d, known := k.doubts[nonce]
	if !known {
		b, n, err := l.agreedNonce(ctx, at)
		if err != nil || n <= nonce {
			return false, err
		}
		k.doubts[nonce] = doubt{l.Clock(), *b}
		return false, nil
	}
	f, err := final.get(ctx)
	if err != nil || f == nil || f.Number < d.block.Number || l.Clock().Sub(d.since) < l.Doubt {
		return false, err
	}
	var b *header
	if err := l.Pool.Agreed(ctx, &b, "eth_getBlockByNumber", d.block.Number, false); err != nil || b == nil {
		return false, err
	}
	if b.Hash != d.block.Hash {
		delete(k.doubts, nonce) // a reorganisation: the question is a new one
		return false, nil
	}
	return true, nil
}

// judge finds out about a step whose nonce is used.
func (l *Lane) judge(ctx context.Context, k *key, s *step, newest *sure) error {
	a, r, err := l.find(ctx, s, l.Pool.Call)
	if err != nil {
		return err
	}
	if r == nil {
		return l.missing(ctx, k, s, newest)
	}
	delete(k.doubts, s.Nonce)
	f, err := newest.get(ctx)
	if err != nil || f == nil || r.Block > f.Number {
		return errors.Join(err, l.mark(s, &place{Tx: a.Hash, Block: uint64(r.Block), Hash: r.Hash}))
	}
	var agreed *receipt
	var block *header
	if err := l.Pool.Agreed(ctx, &agreed, "eth_getTransactionReceipt", a.Hash); err != nil {
		return err
	}
	if err := l.Pool.Agreed(ctx, &block, "eth_getBlockByNumber", r.Block, false); err != nil {
		return err
	}
	if agreed == nil || block == nil || agreed.Tx != a.Hash || agreed.Hash != block.Hash || agreed.Block != r.Block {
		return nil // the next look sees what this one does not
	}
	if a.Cancel {
		l.Log.Warn("a step is over without effect: its deadline passed before it was mined", "chain", l.ChainID,
			"step", s.ID, "key", s.From, "nonce", s.Nonce)
	}
	final := s.outcome(a, agreed, block)
	if k.hand(s, final, l.Clock()) {
		l.tell()
		return nil
	}
	return l.end(k, s, final, "")
}

// mark commits where a step was seen, nil: that it is in no block any more.
func (l *Lane) mark(s *step, seen *place) error {
	if seen != nil && s.Mined != nil && *seen == *s.Mined {
		return nil
	}
	_, err := l.change(s, func(_ store.Tx, s *step, _ *laneRecord) error {
		s.Mined = seen
		return nil
	})
	if err == nil {
		s.Mined = seen
		l.tell()
	}
	return err
}

// find looks for the receipt of any attempt, the last one first.
func (l *Lane) find(ctx context.Context, s *step, ask func(context.Context, any, string, ...any) error) (*attempt,
	*receipt, error) {
	for i := len(s.Attempts) - 1; i >= 0; i-- {
		a := &s.Attempts[i]
		var r *receipt
		if err := ask(ctx, &r, "eth_getTransactionReceipt", a.Hash); err != nil {
			return nil, nil, err
		}
		if r != nil && r.Tx == a.Hash {
			return a, r, nil
		}
	}
	return nil, nil, nil
}

// missing handles a step without a receipt: a reorganisation took it away, or its nonce was used by other bytes.
func (l *Lane) missing(ctx context.Context, k *key, s *step, final *sure) error {
	if s.Mined != nil {
		var b *header
		if err := l.Pool.Call(ctx, &b, "eth_getBlockByNumber", hexutil.Uint64(s.Mined.Block), false); err != nil {
			return err
		}
		if b != nil && b.Hash == s.Mined.Hash {
			return nil // the node that was asked for the receipt is behind
		}
		l.Log.Info("a reorganisation took a transaction back; it is sent again", "chain", l.ChainID, "step", s.ID,
			"tx", s.Mined.Tx, "block", s.Mined.Block)
		for _, a := range s.Attempts {
			delete(k.sent, a.Hash)
		}
		if err := l.mark(s, nil); err != nil {
			return err
		}
	}
	if s.Nonce >= k.nonce {
		return nil
	}
	l.hold(s.From, k, fmt.Sprintf("nonce %d is used, and no bytes of the lane have a receipt", s.Nonce))
	if used, err := l.used(ctx, k, s.From, s.Nonce, final); err != nil || !used {
		return err
	}
	if _, r, err := l.find(ctx, s, l.Pool.Agreed); err != nil || r != nil {
		return err
	}
	return l.end(k, s, s.outcome(nil, nil, nil),
		fmt.Sprintf("nonce %d was used for other bytes than those of step %q", s.Nonce, s.ID))
}

// end commits the receipt of a step that is final. With what is amiss its lane goes on from there, if it may, or stops.
func (l *Lane) end(k *key, s *step, r *chain.Receipt, amiss string) error {
	var stopped, began bool
	changed, err := l.change(s, func(tx store.Tx, s *step, lane *laneRecord) (err error) {
		s.close(r)
		if stopped, began = amiss != "" && !l.mayCatchUp(k, lane), false; stopped {
			lane.Stopped, lane.Held = amiss, ""
		} else if amiss != "" {
			began, err = l.catching(tx, k, lane, amiss)
		}
		return err
	})
	if err != nil {
		return err
	}
	switch {
	case changed && stopped:
		l.alert(s.From, amiss)
	case changed && began:
		l.alertBehind(s.From, amiss)
	}
	l.over(k, s)
	return nil
}
