package lane

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"

	"coffer/api/rpcpool"
	"coffer/api/service/chain"
	"coffer/api/service/signers"
	"coffer/api/service/store"
)

// stuckBlocks is how many blocks without an attempt make it stuck: in a chain that makes none, a higher fee is money
// for nothing.
const stuckBlocks = 3

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
