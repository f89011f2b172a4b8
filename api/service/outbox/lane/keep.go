package lane

import (
	"context"
	"errors"
	"maps"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"

	"coffer/api/rpcpool"
	"coffer/api/service/signers"
	"coffer/api/service/store"
)

// keep looks and sends until Close.
func (l *Lane) keep() {
	defer close(l.ended)
	tick := time.NewTimer(0)
	defer tick.Stop()
	for {
		select {
		case <-l.ctx.Done():
			return
		case <-l.wake:
			l.report("send", l.push(l.ctx))
		case <-tick.C:
			err := l.look(l.ctx)
			l.report("look", err)
			l.yields(err)
			l.report("send", l.push(l.ctx))
			tick.Reset(l.Poll)
		}
	}
}

func (l *Lane) report(what string, err error) {
	if err != nil && l.ctx.Err() == nil && !l.failing[what] {
		l.Log.Warn("lanes: will be tried again", "chain", l.ChainID, "what", what, "error", err)
	}
	l.failing[what] = err != nil
}

// yields leaves the lanes to another process when this one has looked in vain for long: it may be the only one that
// does not reach its nodes.
func (l *Lane) yields(err error) {
	switch now := l.Clock(); {
	case err == nil || !l.leads():
		l.vain = time.Time{}
	case l.vain.IsZero():
		l.vain = now
	case now.Sub(l.vain) >= l.Vain:
		l.vain = time.Time{}
		store.Yield(l.Store, l.task)
		l.Log.Warn("lanes: left to another process", "chain", l.ChainID, "error", err)
	}
}

// forget is what is left to a process that does not keep the lanes.
func (l *Lane) forget() {
	told := true
	l.mu.Lock()
	for _, k := range l.keys {
		k.mu.Lock()
		k.held = 0
		told = told && len(k.handed) == 0
		clear(k.handed)
		maps.DeleteFunc(k.waits, func(_ uint64, until time.Time) bool { return !l.Clock().Before(until) })
		k.mu.Unlock()
		k.looked, k.seen = false, time.Time{}
		clear(k.sent)
		clear(k.doubts)
		clear(k.capped)
	}
	l.mu.Unlock()
	if !told {
		l.tell()
	}
}

// push sends what is open from the chain's nonce on, each step's last bytes, unless a node answered a moment ago. What
// it answers to a send proves nothing, so only receipts are believed.
func (l *Lane) push(ctx context.Context) error {
	if !l.leads() {
		l.forget()
		return nil
	}
	all, err := l.lanes()
	for at, r := range all {
		k := l.key(at)
		if r.Stopped != "" || r.Held != "" || r.First == r.Next || k.isHeld() {
			continue
		}
		if !k.looked {
			if errLook := l.see(ctx, at, k, r); errLook != nil {
				err = errors.Join(err, errLook)
				continue
			}
			if k.isHeld() {
				continue
			}
		}
		steps, errRead := l.openSteps(at)
		err = errors.Join(err, errRead)
		for _, s := range steps {
			a := s.last()
			last, was := k.sent[a.Hash]
			if s.Nonce < k.nonce || was && l.Clock().Sub(last) < l.Resend {
				continue
			}
			k.sent[a.Hash] = l.Clock()
			if _, errSend := l.Pool.Broadcast(ctx, a.Raw); errSend != nil {
				l.Log.Info("a transaction was not taken; it is looked for and sent again", "chain", l.ChainID,
					"step", s.ID, "tx", a.Hash, "error", errSend)
				if _, answered := errors.AsType[*rpcpool.Error](errSend); !answered {
					delete(k.sent, a.Hash) // no node may have it, so the next look sends it again
					break                  // what follows would wait as long
				}
			}
		}
	}
	return err
}

func (k *key) isHeld() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.held > 0
}

func (k *key) by() signers.EVM {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.signer
}

func (l *Lane) nonce(ctx context.Context, at common.Address, block string) (uint64, error) {
	var n hexutil.Uint64
	err := l.Pool.Call(ctx, &n, "eth_getTransactionCount", at, block)
	return uint64(n), err
}

// agreedNonce is a key's in the newest block that a quorum has.
func (l *Lane) agreedNonce(ctx context.Context, at common.Address) (*header, uint64, error) {
	var b *header
	if err := l.Pool.AgreedBlock(ctx, &b, "latest"); err != nil {
		return nil, 0, err
	}
	if b == nil {
		return nil, 0, errors.New("the chain has no block")
	}
	n, err := l.nonceIn(ctx, at, b)
	return b, n, err
}

// nonceIn is a key's in a block that a quorum has.
func (l *Lane) nonceIn(ctx context.Context, at common.Address, b *header) (uint64, error) {
	var n hexutil.Uint64
	err := l.Pool.Agreed(ctx, &n, "eth_getTransactionCount", at, b.Number)
	return uint64(n), err
}

// see reads the chain's nonce and holds the lane when it is beyond the lane's own, which others may have drawn since.
func (l *Lane) see(ctx context.Context, at common.Address, k *key, r *laneRecord) (err error) {
	if k.nonce, err = l.nonce(ctx, at, "latest"); err != nil {
		return err
	}
	k.looked = true
	if k.nonce > r.Next {
		all, err := l.lanes()
		if err != nil || all[at] == nil {
			return err
		}
		r.Next = all[at].Next
	}
	if k.nonce > r.Next {
		l.hold(at, k, beyond(k.nonce, r.Next))
	}
	return nil
}

// hold keeps a lane from sending until a look explains what was seen. The first time may be a node that is behind. The
// keeper finds it out, not a process that another one keeps the lane for.
func (l *Lane) hold(at common.Address, k *key, why string) {
	keeps := l.leads()
	k.mu.Lock()
	defer k.mu.Unlock()
	k.why, k.clear = why, false
	if !keeps {
		return
	}
	if k.held++; k.held == 2 {
		l.Log.Warn("a lane waits for an explanation", "code", CodeHeld, "chain", l.ChainID, "key", at, "why", why)
	}
}

// look judges what became of everything that is open, and replaces what is stuck.
func (l *Lane) look(ctx context.Context) error {
	if !l.leads() {
		return nil
	}
	all, err := l.lanes()
	if err != nil {
		return err
	}
	final := sure{l: l}
	for at, r := range all {
		if !l.leads() {
			break
		}
		if r.First == r.Next {
			l.taken(l.key(at), nil)
			if !l.looksIdly(l.key(at), r) {
				continue
			}
		}
		err = errors.Join(err, l.lookAt(ctx, at, r, &final))
	}
	return err
}

// looksIdly reports whether a lane with nothing under way is looked at: one that is held is, others are now and then,
// as what the chain took back, or has of others, stops them as well.
func (l *Lane) looksIdly(k *key, r *laneRecord) bool {
	if r.Stopped != "" || r.Held != "" || k.isHeld() {
		return r.Stopped == ""
	}
	now := l.Clock()
	if now.Sub(k.seen) < l.Idle {
		return false
	}
	k.seen = now
	return true
}

// halt stops a lane, unless a step of it was sent or ended since its record was read.
func (l *Lane) halt(at common.Address, r *laneRecord, why string) error {
	stopped := false
	err := l.Store.Update(func(tx store.Tx) error {
		b := l.in(tx)
		now, err := b.lane(at)
		stopped = err == nil && now != nil && now.Stopped == "" && now.First == r.First && now.Next == r.Next
		if !stopped {
			return err
		}
		now.Stopped, now.Held = why, ""
		return b.putLane(at, now)
	})
	if err == nil && stopped {
		l.alert(at, why)
	}
	return err
}

func (l *Lane) lookAt(ctx context.Context, at common.Address, r *laneRecord, final *sure) error {
	k := l.key(at)
	k.mu.Lock()
	before := k.held
	k.mu.Unlock()
	if err := l.see(ctx, at, k, r); err != nil {
		return err
	}
	if err := l.takenBack(ctx, at, r, k.nonce); err != nil {
		return err
	}
	steps, err := l.openSteps(at)
	if err != nil {
		return err
	}
	l.taken(k, steps)
	for _, s := range steps {
		if (s.Nonce < k.nonce || s.Mined != nil) && !k.isHanded(s, l.Clock()) {
			err = errors.Join(err, l.judge(ctx, k, s, final))
		}
	}
	k.mu.Lock()
	explained := k.held == before
	if explained && err == nil {
		k.held = 0
	}
	held, alerted, why := k.held > 0, k.held > 1, k.why
	k.mu.Unlock()
	if !explained {
		if alerted && r.Held == "" {
			err = errors.Join(err, l.note(at, r, why))
		}
		return errors.Join(err, l.confirm(ctx, k, at, r, final))
	}
	if err == nil && (r.Held != "" || r.Catching) {
		err = l.note(at, r, "")
	}
	if r.Stopped != "" || held {
		return err
	}
	steps, errRead := l.openSteps(at)
	return errors.Join(err, errRead, l.replace(ctx, k, steps))
}

// note keeps for the other processes, and the next keeper, why a lane is held; "" says that all is explained.
func (l *Lane) note(at common.Address, r *laneRecord, why string) error {
	return l.Store.Update(func(tx store.Tx) error {
		b := l.in(tx)
		now, err := b.lane(at)
		if err != nil || now == nil || now.Stopped != "" || now.Caught != r.Caught {
			return err
		}
		now.Held, now.Catching = why, now.Catching && why != ""
		return b.putLane(at, now)
	})
}
