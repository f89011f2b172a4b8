// Package lane is the port of an EVM chain that is reached by JSON-RPC (protocol §5.5). A lane is a key on one
// chain: whatever the key sends there goes through it, in the order of its nonces.
//
//   - Send draws a nonce under the lock of the lane, signs, and commits the bytes with the record of its caller. Only
//     then do they go out. A crash before the commit has done nothing; after it the same bytes go out again.
//   - The keeper sends everything from the chain's nonce on, and again after a while, a restart or a reorganisation.
//   - The observer looks for the receipts of every attempt. One that is deep enough ends the step.
//   - What is stuck is replaced by the same with higher fees, up to the cap; past its deadline by a transfer of nothing
//     to oneself. Each attempt is committed before it goes out and is looked for until the step is final.
//   - When the chain knows of a nonce that the lane did not use, or used for other bytes, the lane stops. Where the
//     records can be read from the chains again, it first goes on once, from the chain's nonce (Options.Behind).
//
// Several processes that share a store send on the same lanes. One of them is the keeper and the observer of a chain's
// (store.Leads); the others read what it found. Its moment of handing over is no danger: bytes go out after their
// commit, and each commit compares the record with the one that it was made from.
//
// A step has one transaction here: two cannot be mined together, or not at all, on a chain of others.
package lane

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/big"
	"sync"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api/networks"
	"coffer/api/rpcpool"
	"coffer/api/service/chain"
	"coffer/api/service/outbox"
	"coffer/api/service/signers"
	"coffer/api/service/store"
)

// CodeStopped, CodeHeld and CodeBehind are the codes of the alerts in the log: a lane has stopped until an operator
// decides, and a lane waits because the chain says something that it cannot explain yet.
const (
	CodeStopped = "LANE_STOPPED"
	CodeHeld    = "LANE_HELD"
	CodeBehind  = "STORE_BEHIND" // the lane goes on from the chain's nonce, and the records are read again
)

var (
	// ErrStopped is wrapped by what Send returns when the lane has stopped, or waits for an explanation.
	ErrStopped = errors.New("this key sends nothing on this chain")
	// ErrFees is wrapped by what Send returns when the chain asks for more than the cap.
	ErrFees = errors.New("fees are above the cap")
	// ErrOpen is wrapped by what Send returns for the id of a step that is not over.
	ErrOpen = outbox.ErrOpen
)

// Pool asks the endpoints of one chain. *rpcpool.Pool is one.
type Pool interface {
	Call(ctx context.Context, result any, method string, params ...any) error
	Agreed(ctx context.Context, result any, method string, params ...any) error
	AgreedBlock(ctx context.Context, result any, tag string) error
	Broadcast(ctx context.Context, raw []byte) (common.Hash, error)
}

// Options say what a Lane works with.
type Options struct {
	Store   store.Store
	Pool    Pool
	ChainID uint64
	Final   networks.Finality
	FeeCap  *big.Int // wei per gas, at most
	Quorum  int      // how many endpoints Agreed asks; from 2 on the base fee is what they agree on
	// State opens a view in which a step is tried before it is sent; Prime, if it is not nil, is told of it first.
	// Check is the last question before a signature: an eth_call of the exact transaction on a node.
	State func(ctx context.Context, at uint64) (chain.State, error)
	Prime func(in chain.State, next ...chain.Message)
	Check func(context.Context, chain.Message) error
	// DataFee is what a transaction costs beside its execution (chain.Charger); nil on chains where that is nothing.
	DataFee func(context.Context, chain.Message) (wei *big.Int, gas uint64, err error)
	// Signers are the keys that may have steps from an earlier run. Without its signer such a step is sent again, but
	// not replaced.
	Signers []signers.EVM
	// Behind is told, in the commit by which a lane goes on from the chain's nonce, that the store is behind the chain:
	// everything in it has to be read from the chains again. A lane does so once in the life of each process that
	// shares the store; when its key is used elsewhere once more, it stops. nil stops it the first time.
	Behind func(tx store.Tx, why string) error
	Clock  func() time.Time
	Log    *slog.Logger

	Poll     time.Duration // between two looks at the chain while steps are open; 0 means 2 s
	Idle     time.Duration // between two looks while none is; 0 means 1 min
	Resend   time.Duration // before the same bytes go out again; 0 means 20 s
	Patience time.Duration // before what was not mined is replaced; 0 means 45 s
	Lifetime time.Duration // of a step without a deadline; 0 means 1 h
	Vain     time.Duration // of looks that fail, before the lanes are left to another process; 0 means 1 min
	Doubt    time.Duration // before a used nonce without a receipt counts as lost; 0 means 1 min
}

// Lane serves all keys of one chain. It is an outbox.EVM.
type Lane struct {
	Options
	ctx   context.Context
	stop  context.CancelFunc
	ended chan struct{} // closed when the keeper has left
	wake  chan struct{}

	mu      sync.Mutex
	keys    map[common.Address]*key
	changed chan struct{} // closed and replaced when a step is mined or ends

	task string // of the keeper (store.Leads)
	// Of the keeper alone:
	failing map[string]bool // what it could not do last
	vain    time.Time       // since when its looks fail; zero while they do not
}

// key is what the process knows of a lane; what must survive it is in the store.
type key struct {
	draw   sync.Mutex // held while a nonce is drawn
	caught uint64     // laneRecord.Caught when the process began

	mu     sync.Mutex
	signer signers.EVM
	// Looks in a row that found what cannot be explained; 0 where another process keeps the lane.
	held   int
	why    string               // it is held
	clear  bool                 // the chain's nonce was one that the lane can explain
	waits  map[uint64]time.Time // until when the outcome of a nonce is left to who asks for it in this process
	handed map[uint64]handed    // outcomes that they commit

	// Of the keeper alone. Another process that becomes it begins as after a restart.
	looked bool                      // the chain's nonce was seen in this process
	seen   time.Time                 // when it was seen last while nothing was under way
	nonce  uint64                    // the chain's
	sent   map[common.Hash]time.Time // when bytes went out last
	doubts map[uint64]doubt          // nonces that are used, not by what the lane sent
	capped map[common.Hash]bool      // attempts that cost too much to replace, as the log says
}

// doubt is since when a nonce is known to be used, and a block in which it was.
type doubt struct {
	since time.Time
	block header
}

var (
	_ outbox.EVM                    = (*Lane)(nil)
	_ outbox.Watched                = (*Lane)(nil)
	_ outbox.Handing[chain.Receipt] = (*Lane)(nil)
	_ Pool                          = (*rpcpool.Pool)(nil)
)

// New opens the lanes of a chain and goes on with what is under way. Close ends it.
func New(o Options) (*Lane, error) {
	l, err := open(o)
	if err != nil {
		return nil, err
	}
	go l.keep()
	return l, nil
}

// open is New without the keeper.
func open(o Options) (*Lane, error) {
	if o.Store == nil || o.Pool == nil || o.State == nil || o.Check == nil || o.FeeCap == nil || o.FeeCap.Sign() <= 0 {
		return nil, errors.New("a lane needs a store, endpoints, a view of the chain, a last check and a cap on fees")
	}
	o.Poll, o.Resend = cmp.Or(o.Poll, 2*time.Second), cmp.Or(o.Resend, 20*time.Second)
	o.Patience, o.Lifetime = cmp.Or(o.Patience, 45*time.Second), cmp.Or(o.Lifetime, time.Hour)
	o.Doubt, o.Idle = cmp.Or(o.Doubt, time.Minute), cmp.Or(o.Idle, time.Minute)
	o.Vain = cmp.Or(o.Vain, time.Minute)
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
	l := &Lane{Options: o, ended: make(chan struct{}), wake: make(chan struct{}, 1), changed: make(chan struct{}),
		keys: map[common.Address]*key{}, failing: map[string]bool{}, task: fmt.Sprintf("lane/%d", o.ChainID)}
	l.ctx, l.stop = context.WithCancel(context.Background())
	context.AfterFunc(l.ctx, store.Watch(o.Store, []string{bucketLanes, bucketSteps}, func() {
		l.tell()
		l.hurry()
	}))
	for _, s := range o.Signers {
		l.key(s.Address()).signer = s
	}
	all, err := l.lanes()
	for at, r := range all {
		l.key(at).caught = r.Caught
		if r.Stopped != "" {
			l.alert(at, r.Stopped)
		}
		steps, errRead := l.openSteps(at) // what cannot be read stops the start, not the keeper
		err = errors.Join(err, errRead)
		for _, s := range steps {
			err = errors.Join(err, s.verify(o.ChainID))
		}
	}
	if err != nil {
		l.stop()
		return nil, fmt.Errorf("lanes of chain %d: %w", o.ChainID, err)
	}
	return l, nil
}

// Close ends the keeper and all waits for results. What is under way stays so, in the store and on the chain.
func (l *Lane) Close() {
	l.stop()
	<-l.ended
}

func (l *Lane) key(at common.Address) *key {
	l.mu.Lock()
	defer l.mu.Unlock()
	k := l.keys[at]
	if k == nil {
		k = &key{sent: map[common.Hash]time.Time{}, doubts: map[uint64]doubt{}, capped: map[common.Hash]bool{},
			waits: map[uint64]time.Time{}, handed: map[uint64]handed{}}
		l.keys[at] = k
	}
	return k
}

// leads reports whether this process keeps the lanes of the chain.
func (l *Lane) leads() bool { return store.Leads(l.Store, l.task) }

func (l *Lane) now() uint64 { return uint64(l.Clock().Unix()) }

func (l *Lane) alert(at common.Address, why string) {
	l.Log.Error("a lane has stopped: it sends nothing until an operator decides", "code", CodeStopped,
		"chain", l.ChainID, "key", at, "why", why)
}

// Send implements outbox.Port. It returns when the step is committed; the keeper sends it.
func (l *Lane) Send(ctx context.Context, s outbox.EVMStep) (final bool, err error) {
	if len(s.Txs) != 1 || s.Txs[0].From == nil {
		return false, fmt.Errorf("a step on chain %d has one transaction and its signer, this one has %d", l.ChainID,
			len(s.Txs))
	}
	t := s.Txs[0]
	deadline := cmp.Or(s.Deadline, l.now()+uint64(l.Lifetime/time.Second))
	if err := l.try(ctx, s); err != nil {
		return false, err
	}
	k, from := l.key(t.From.Address()), t.From.Address()
	k.mu.Lock()
	k.signer = t.From
	k.mu.Unlock()
	for {
		changed := l.changes()
		var busy bool
		err := again(func() (err error) {
			busy, err = l.draw(ctx, k, s, deadline)
			return err
		})
		if err != nil {
			return false, err
		}
		if !busy {
			break
		}
		if s.Waits != nil {
			if err := s.Waits(); err != nil {
				return false, err
			}
		}
		if err := l.wait(ctx, changed); err != nil {
			return false, fmt.Errorf("%s has %d steps under way on chain %d: %w", from, mostOpen, l.ChainID, err)
		}
	}
	l.hurry()
	return false, nil
}

// hurry has the keeper send at once.
func (l *Lane) hurry() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// errMoved says that another process changed a lane since its record was read.
var errMoved = fmt.Errorf("%w: other processes change its record all the time", ErrStopped)

// mostMoves is how often in a row a record may be another one than was read: the lock that keeps it in place was lost.
const mostMoves = 8

// again does something until the record that it reads stays as it is meanwhile.
func again(do func() error) (err error) {
	for range mostMoves {
		if err = do(); !errors.Is(err, errMoved) {
			return err
		}
	}
	return err
}

// unmoved is errMoved when a lane has drawn nonces since its record was read. Bytes go out after their commit, so what
// the chain was asked before is all in a record that did not move.
func (l *Lane) unmoved(from common.Address, at *laneRecord) error {
	return l.Store.View(func(tx store.Tx) error {
		now, err := l.in(tx).lane(from)
		if err == nil && now.moved(at) {
			err = errMoved
		}
		return err
	})
}

// mostOpen is how many steps of a key may be under way: nodes keep few of an account.
const mostOpen = 16

// try asks the step's Check what would happen now.
func (l *Lane) try(ctx context.Context, s outbox.EVMStep) error {
	st, err := l.State(ctx, s.Time)
	if err != nil {
		return err
	}
	defer st.Close()
	t := s.Txs[0]
	if l.Prime != nil {
		l.Prime(st, message(t))
	}
	would := st.Call(message(t))
	if err := st.Err(); err != nil {
		return err
	}
	if errors.Is(would.Err, chain.ErrUnchecked) {
		return would.Err // it may succeed or not
	}
	head := st.Header()
	r := chain.Receipt{From: t.From.Address(), To: t.To, Value: value(t.Value), Authorizations: t.Authorizations,
		Success: would.Err == nil, GasUsed: would.GasUsed, Logs: would.Logs, Block: head.Number + 1,
		Time: max(s.Time, head.Time)}
	if would.Err != nil {
		r.Revert = would.Return
	}
	if err := s.Check([]chain.Receipt{r}); err != nil {
		return fmt.Errorf("%w: %w", chain.ErrNotAccepted, err)
	}
	return nil
}

// draw gives the step a nonce, signs and commits it; busy means that the lane is full, and errMoved that it has to be
// drawn again.
func (l *Lane) draw(ctx context.Context, k *key, s outbox.EVMStep, deadline uint64) (busy bool, err error) {
	t := s.Txs[0]
	from := t.From.Address()
	if l.now() > deadline {
		return false, fmt.Errorf("the deadline of step %q is over", s.ID)
	}
	extra, err := l.dataFee(ctx, t)
	if err != nil {
		return false, err
	}
	gas, err := l.estimate(ctx, t, extra.gas)
	if err != nil {
		return false, err
	}
	now, err := l.fees(ctx)
	if err != nil {
		return false, err
	}
	p, err := now.first(l.stepCap())
	if err != nil {
		return false, err
	}
	unlock, err := l.lock(ctx, k, from)
	if err != nil {
		return false, err
	}
	defer unlock()
	var at *laneRecord
	var steps []*step
	err = l.Store.View(func(tx store.Tx) (err error) {
		b := l.in(tx)
		if at, err = b.lane(from); err != nil {
			return err
		}
		steps, err = b.open(from, at)
		return err
	})
	if err != nil {
		return false, err
	}
	if len(steps) >= mostOpen {
		return true, nil
	}
	if at, err = l.mayDraw(ctx, k, from, at); err != nil {
		return false, err
	}
	tx, err := unsigned(l.ChainID, at.Next, gas, t, p)
	if err != nil {
		return false, err
	}
	if err := l.affordable(ctx, from, tx, steps, extra.wei); err != nil {
		return false, err
	}
	if err := l.Check(ctx, exact(t, gas)); err != nil {
		if errors.Is(err, chain.ErrReverted) {
			err = fmt.Errorf("%w: %w", chain.ErrNotAccepted, err)
		}
		return false, err
	}
	if s.Gate != nil {
		if err := s.Gate(); err != nil {
			return false, fmt.Errorf("%w: %w", chain.ErrNotAccepted, err)
		}
	}
	a, err := l.sign(ctx, t.From, tx, now.head)
	if err != nil {
		return false, err
	}
	if s.Outcome {
		k.asks(at.Next, l.Clock().Add(handedFor))
	}
	err = l.Store.Update(func(tx store.Tx) error {
		if s.Sent != nil { // first, as it may end a step of this lane
			if err := s.Sent(tx); err != nil {
				return err
			}
		}
		b := l.in(tx)
		r, err := b.lane(from)
		switch {
		case err != nil:
			return err
		case r == nil:
			r = at
		case r.Stopped != "":
			return fmt.Errorf("%w until an operator decides: %s", ErrStopped, r.Stopped)
		case r.Held != "":
			return held(r.Held)
		case r.Next != at.Next:
			return errMoved
		}
		earlier, err := b.byID(s.ID)
		if err == nil && earlier != nil && earlier.Final == nil {
			err = fmt.Errorf("%w: %s", ErrOpen, s.ID)
		}
		if err != nil {
			return err
		}
		next := step{ID: s.ID, From: from, Nonce: at.Next, Deadline: deadline, Attempts: []attempt{a}}
		r.Next = at.Next + 1
		return errors.Join(b.putStep(&next), b.name(&next), b.putLane(from, r))
	})
	if err != nil {
		k.asks(at.Next, time.Time{}) // somebody else may draw it
	}
	return false, err
}

// lock keeps all others, in this process and elsewhere, from drawing a nonce of a key.
func (l *Lane) lock(ctx context.Context, k *key, from common.Address) (unlock func(), err error) {
	k.draw.Lock()
	everywhere, err := store.Lock(ctx, l.Store, fmt.Sprintf("lane/%d/%s", l.ChainID, from))
	if err != nil {
		k.draw.Unlock()
		return nil, fmt.Errorf("the lock of the lane of %s on chain %d: %w", from, l.ChainID, err)
	}
	return func() { everywhere(); k.draw.Unlock() }, nil
}

// mayDraw looks whether the chain's nonce is one that the lane can explain, and gives a key its lane.
func (l *Lane) mayDraw(ctx context.Context, k *key, from common.Address, at *laneRecord) (*laneRecord, error) {
	if at != nil && at.Stopped != "" {
		return nil, fmt.Errorf("%w until an operator decides: %s", ErrStopped, at.Stopped)
	}
	pending, err := l.nonce(ctx, from, "pending") // what waits to be mined counts
	if err != nil {
		return nil, err
	}
	if at == nil {
		return l.begin(ctx, k, from, pending)
	}
	if at.Held != "" {
		return nil, held(at.Held)
	}
	if pending < at.First {
		b, latest, err := l.agreedNonce(ctx, from)
		if err != nil {
			return nil, err
		}
		if latest < at.First { // a transaction with the next nonce would wait for ever
			if l.leads() {
				if err := l.takenBack(ctx, from, at, latest); err != nil {
					return nil, err
				}
			}
			return nil, fmt.Errorf("%w: in block %d it has sent %d transactions, and %d are final: the nodes are "+
				"behind, or it is another chain", ErrStopped, uint64(b.Number), latest, at.First)
		}
	}
	if pending > at.Next {
		if err := l.unmoved(from, at); err != nil {
			return nil, err
		}
		l.hold(from, k, beyond(pending, at.Next)) // the keeper looks into it
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if pending > at.Next || k.held > 1 {
		return nil, held(k.why)
	}
	return at, nil
}

func held(why string) error {
	return fmt.Errorf("%w until it is explained (%s): %s", ErrStopped, CodeHeld, why)
}

func beyond(chain, lane uint64) string {
	return fmt.Sprintf("the chain has seen %d transactions of the key, the lane sent %d", chain, lane)
}

// Result implements outbox.Port.
func (l *Lane) Result(ctx context.Context, id string) ([]chain.Receipt, error) {
	s, err := l.until(ctx, id, func(s *step) bool { return s.Final != nil })
	if err != nil {
		return nil, err
	}
	return []chain.Receipt{*s.Final}, nil
}

// Mined implements outbox.Watched.
func (l *Lane) Mined(ctx context.Context, id string) (common.Hash, error) {
	s, err := l.until(ctx, id, func(s *step) bool { return s.Final != nil || s.Mined != nil })
	switch {
	case s == nil:
		return common.Hash{}, err
	case err != nil:
		return s.last().Hash, err
	case s.Final == nil:
		return s.Mined.Tx, nil
	case !s.Final.Success:
		err = fmt.Errorf("%w: it came to nothing", chain.ErrNotAccepted)
	}
	return s.Final.TxHash, err
}

// until waits for what a step has to become. When the context ends before, the error comes with the step as it is.
func (l *Lane) until(ctx context.Context, id string, done func(*step) bool) (*step, error) {
	for {
		changed := l.changes()
		var s *step
		if err := l.Store.View(func(tx store.Tx) (err error) {
			s, err = l.in(tx).byID(id)
			return err
		}); err != nil {
			return nil, err
		}
		if s == nil {
			return nil, fmt.Errorf("no step %q was sent on chain %d", id, l.ChainID)
		}
		if done(s) {
			return s, nil
		}
		if err := l.wait(ctx, changed); err != nil {
			return s, err
		}
	}
}

// changes is closed when a step is mined or ends.
func (l *Lane) changes() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.changed
}

func (l *Lane) tell() {
	l.mu.Lock()
	defer l.mu.Unlock()
	close(l.changed)
	l.changed = make(chan struct{})
}

func (l *Lane) wait(ctx context.Context, changed <-chan struct{}) error {
	select {
	case <-changed:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-l.ctx.Done():
		return fmt.Errorf("the lanes of chain %d: %w", l.ChainID, store.ErrClosed)
	}
}

// Resume is the decision of an operator who knows why a lane stopped: it goes on from the chain's nonce, or, where the
// chain took back what was final, after those nonces are used up. What is open and was not used stays under way.
func (l *Lane) Resume(ctx context.Context, from common.Address) error {
	k := l.key(from)
	unlock, err := l.lock(ctx, k, from)
	if err != nil {
		return err
	}
	defer unlock()
	_, latest, err := l.agreedNonce(ctx, from)
	if err != nil {
		return err
	}
	all, err := l.lanes()
	if err != nil {
		return err
	}
	if r := all[from]; r != nil && r.Stopped != "" && latest < r.First {
		if err := l.fill(ctx, k, from, r, latest); err != nil {
			return err
		}
	}
	err = l.Store.Update(func(tx store.Tx) error {
		b := l.in(tx)
		at, err := b.lane(from)
		if err != nil {
			return err
		}
		if at == nil || at.Stopped == "" {
			return fmt.Errorf("the lane of %s on chain %d has not stopped", from, l.ChainID)
		}
		at.Next, at.Stopped, at.Held = max(at.Next, latest), "", ""
		return b.putLane(from, at)
	})
	if err == nil {
		k.mu.Lock()
		k.held = 0
		k.mu.Unlock()
		l.Log.Warn("a lane goes on by an operator's decision", "chain", l.ChainID, "key", from, "nonce", latest)
	}
	return err
}
