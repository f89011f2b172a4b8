package lane

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"

	"coffer/api/service/chain"
	"coffer/api/service/signers"
	"coffer/api/service/store"
	"coffer/api/service/store/storetest"
)

// replica is the store of one of several processes. Its locks may be lost, and it may take for its own what another one
// leads, as both happens for a moment when a connection breaks.
type replica struct {
	*storetest.Replica
	kept     *brittle
	lockless bool
	leads    func() bool
	moment   func() // before and after each commit
}

func (r *replica) Update(fn func(store.Tx) error) error {
	if r.moment != nil {
		r.moment()
		defer r.moment()
	}
	return r.kept.Update(fn)
}

func (r *replica) Lock(ctx context.Context, name string) (func(), error) {
	if r.lockless {
		return func() {}, nil
	}
	return r.Replica.Lock(ctx, name)
}

func (r *replica) Leads(task string) bool {
	return r.leads != nil && r.leads() || r.Replica.Leads(task)
}

// route is the way of one process to the world.
type route struct {
	*world
	before func(method string)
	after  func(method string)

	mu    sync.Mutex
	asked map[string]int
	dead  bool // nothing is sent by it
	cut   bool // nothing is asked by it either
}

func (r *route) goes(method string) (back func()) {
	r.mu.Lock()
	r.asked[method]++
	r.mu.Unlock()
	if r.before != nil {
		r.before(method)
	}
	return func() {
		if r.after != nil {
			r.after(method)
		}
	}
}

func (r *route) count(method string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.asked[method]
}

const broadcast = "eth_sendRawTransaction"

func (r *route) Broadcast(ctx context.Context, raw []byte) (common.Hash, error) {
	defer r.goes(broadcast)()
	if r.dead {
		return common.Hash{}, errFault
	}
	return r.world.Broadcast(ctx, raw)
}

func (r *route) Call(ctx context.Context, result any, method string, params ...any) error {
	defer r.goes(method)()
	if r.cut {
		return errFault
	}
	return r.world.Call(ctx, result, method, params...)
}

func (r *route) Agreed(ctx context.Context, result any, method string, params ...any) error {
	defer r.goes(method)()
	if r.cut {
		return errFault
	}
	return r.world.Agreed(ctx, result, method, params...)
}

func (r *route) AgreedBlock(ctx context.Context, result any, tag string) error {
	defer r.goes("eth_getBlockByNumber")()
	if r.cut {
		return errFault
	}
	return r.world.AgreedBlock(ctx, result, tag)
}

// newLabs are processes that share a store; the first keeps the lanes.
func newLabs(t *testing.T, n int) (out []*lab) {
	t.Helper()
	db, w, c := storetest.NewDatabase(), newWorld(), &clock{now: time.Unix(1_790_000_000, 0)}
	for range n {
		out = append(out, together(t, db, w, c))
	}
	return out
}

func together(t *testing.T, db *storetest.Database, w *world, c *clock) *lab {
	t.Helper()
	b := &lab{t: t, w: w, db: db, clock: c, key: local(0)}
	b.start()
	b.turn()
	return b
}

// join is another process with its store; the one of before has ended.
func (b *lab) join() {
	opened := &replica{}
	if b.at != nil {
		b.at.End()
		opened.lockless, opened.leads = b.at.lockless, b.at.leads
	}
	opened.Replica = b.db.Open()
	opened.kept = &brittle{Store: opened.Replica}
	if b.kept != nil {
		opened.kept.fail = b.kept.fail
	}
	via := &route{world: b.w, asked: map[string]int{}}
	if b.via != nil {
		via.before = b.via.before
	}
	b.kept, b.at, b.via = opened.kept, opened, via
}

// quiet demands that a process took nothing for somebody else's.
func (b *lab) quiet(what string) {
	b.t.Helper()
	if k := b.l.key(b.key.Address()); k.isHeld() || b.lane().Held != "" || b.lane().Stopped != "" {
		b.t.Errorf("%s: it is held: %q, %+v", what, k.why, b.lane())
	}
}

// out brings what is under way to the nodes, as a keeper does, and has it mined.
func (b *lab) out() {
	b.t.Helper()
	steps, err := b.l.openSteps(b.key.Address())
	b.ok(err)
	for _, s := range steps {
		if s.Nonce >= b.w.nonces(s.From) {
			_, err := b.w.Broadcast(b.t.Context(), s.last().Raw)
			b.ok(err)
		}
	}
	b.w.mine(1)
}

// settled goes on until all is final.
func (b *lab) settled() {
	b.t.Helper()
	for range 30 {
		b.turn()
		b.w.mine(1)
		b.clock.wait(10 * time.Second)
	}
	if r := b.lane(); r.First != r.Next || r.Stopped != "" || r.Next != b.w.nonces(b.key.Address()) {
		b.t.Errorf("the lane is %+v, the chain's nonce %d\n%s", r, b.w.nonces(b.key.Address()), b.log.String())
	}
}

// busy is a chain that makes blocks, and processes with keepers, until stop.
func busy(bs []*lab) (stop func()) {
	for _, b := range bs {
		b.l.stop()
		o := b.options()
		o.Poll = time.Millisecond
		l, err := New(o)
		b.ok(err)
		b.l = l
	}
	ctx, cancel := context.WithCancel(context.Background())
	var mining sync.WaitGroup
	mining.Go(func() {
		for ctx.Err() == nil {
			bs[0].w.mine(1)
			time.Sleep(time.Millisecond)
		}
	})
	return func() {
		for _, b := range bs {
			b.l.Close()
		}
		cancel()
		mining.Wait()
	}
}

// Several processes send with one key at once. Each nonce is used once and without a gap, one process alone asks for
// receipts and sends, and each is told of the results.
func TestSeveralProcessesUseEachNonceOnce(t *testing.T) {
	for _, n := range []int{2, 3} {
		bs := newLabs(t, n)
		stop := busy(bs)
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
		defer cancel()
		var sending sync.WaitGroup
		total := 0
		for i := range bs {
			for g := range 2 {
				total += 12
				sending.Go(func() {
					for s := range 12 {
						id := fmt.Sprintf("%d/%d/%d", i, g, s)
						if _, err := bs[i].l.Send(ctx, bs[i].step(id)); err != nil {
							t.Errorf("%s: %v", id, err)
							return
						}
						if rs, err := bs[(i+s)%n].l.Result(ctx, id); err != nil || !rs[0].Success {
							t.Errorf("%s: %+v %v", id, rs, err)
						}
					}
				})
			}
		}
		sending.Wait()
		stop()
		b, keepers := bs[0], 0
		r, used := b.lane(), b.w.nonces(b.key.Address())
		if r.First != uint64(total) || r.Next != r.First || used != r.Next {
			t.Errorf("the lane is %+v, the chain's nonce %d", r, used)
		}
		for id, times := range b.w.effects() {
			if times != 1 {
				t.Errorf("%s happened %d times", id, times)
			}
		}
		for _, b := range bs {
			if b.via.count(broadcast) > 0 {
				keepers++
			} else if b.via.count("eth_getTransactionReceipt") > 0 {
				t.Error("one that does not keep the lanes asks for receipts")
			}
			if l := b.log.String(); strings.Contains(l, CodeHeld) || strings.Contains(l, CodeStopped) {
				t.Error(l)
			}
		}
		if keepers != 1 {
			t.Errorf("%d processes sent", keepers)
		}
	}
}

// The keeper ends in the middle, and what was its process goes on for a while: another one brings everything to its
// end, which callers see wherever they ask.
func TestWhenTheKeeperEndsAnotherOneGoesOn(t *testing.T) {
	bs := newLabs(t, 3)
	stop := busy(bs)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	var ids []string
	var sending sync.WaitGroup
	for i := range bs {
		for s := range 20 {
			ids = append(ids, fmt.Sprintf("%d/%d", i, s))
		}
		sending.Go(func() {
			for s := range 20 {
				if i == 1 && s == 6 {
					bs[0].at.End()
				}
				id, by := fmt.Sprintf("%d/%d", i, s), i
				for !bs[2].recorded(id) && ctx.Err() == nil {
					if _, err := bs[by].l.Send(ctx, bs[by].step(id)); err != nil && by != 0 {
						t.Errorf("%s: %v", id, err)
						return
					} else if err != nil {
						by = 2
					}
				}
				if rs, err := bs[2-i%2].l.Result(ctx, id); err != nil || !rs[0].Success {
					t.Errorf("%s: %+v %v", id, rs, err)
				}
			}
		})
	}
	sending.Wait()
	stop()
	effects := bs[2].w.effects()
	for _, id := range ids {
		if effects[id] != 1 {
			t.Errorf("%s happened %d times", id, effects[id])
		}
	}
	if r := bs[2].lane(); r.First != uint64(len(ids)) || r.Next != r.First {
		t.Errorf("%+v", r)
	}
	for _, b := range bs {
		if l := b.log.String(); strings.Contains(l, CodeHeld) || strings.Contains(l, CodeStopped) {
			t.Error(l)
		}
	}
	if bs[1].via.count(broadcast)+bs[2].via.count(broadcast) == 0 {
		t.Error("the keeper did not end in the middle")
	}
}

// A keeper that alone does not reach its nodes leaves the lanes to another process after a minute.
func TestAKeeperThatLooksInVainLeavesTheLanes(t *testing.T) {
	bs := newLabs(t, 2)
	a, b := bs[0], bs[1]
	b.send(b.step("x"))
	a.via.cut = true
	looks := func(fails bool) {
		t.Helper()
		err := a.l.look(t.Context())
		if (err != nil) != fails {
			t.Errorf("it looked: %v", err)
		}
		a.l.yields(err)
		a.clock.wait(a.l.Vain / 2)
	}
	looks(true)
	looks(true)
	a.via.cut = false
	looks(false) // it was a moment's fault
	a.via.cut = true
	looks(true)
	looks(true)
	if !a.l.leads() {
		t.Error("it leaves them too soon")
	}
	looks(true)
	if a.l.leads() || !b.l.leads() {
		t.Fatal("the lanes are not another one's")
	}
	b.settled()
	if n := b.w.effects()["x"]; n != 1 {
		t.Errorf("it happened %d times", n)
	}
}

// A keeper is ended at each moment of its life, before and after each commit and each send: what its records say was
// sent ends once, by another one.
func TestAKeeperThatEndsAtAnyMomentLeavesAllToTheNext(t *testing.T) {
	kills := 0
	for at, over := 1, false; !over; at++ {
		bs := newLabs(t, 2)
		a, b := bs[0], bs[1]
		now := 0
		moment := func() {
			if now++; now == at {
				a.at.End()
				a.via.dead = true
			}
		}
		a.at.moment = moment
		a.via.before = func(method string) {
			if method == broadcast {
				moment()
			}
		}
		a.via.after = a.via.before
		for n := range 3 {
			id := fmt.Sprint("a", n)
			_, _ = a.l.Send(t.Context(), a.step(id))
			b.send(b.step(fmt.Sprint("b", n)))
			_, _ = a.l.look(t.Context()), a.l.push(t.Context())
			a.w.base = big.NewInt(5 * gwei) // what waits is stuck
			a.w.mine(stuckBlocks)
			a.clock.wait(time.Minute)
			_, _ = a.l.look(t.Context()), a.l.push(t.Context())
			a.w.base = big.NewInt(gwei)
			a.w.mine(1 + depth)
		}
		over = now < at
		if !over {
			kills++
			b.turn() // now it is the keeper
		} else {
			a.at.End()
		}
		b.settled()
		effects := b.w.effects()
		for n := range 3 {
			for _, id := range []string{fmt.Sprint("a", n), fmt.Sprint("b", n)} {
				want := 0
				if b.recorded(id) {
					want = 1
					if r := b.result(id); r == nil || !r.Success {
						t.Errorf("ended at moment %d: %s is %+v", at, id, r)
					}
				}
				if effects[id] != want {
					t.Errorf("ended at moment %d: %s happened %d times", at, id, effects[id])
				}
			}
		}
	}
	if t.Logf("ended at %d moments", kills); kills < 20 {
		t.Error("that is too few")
	}
}

// signing does something before each signature.
type signing struct {
	signers.EVM
	before func()
}

func (s signing) SignTx(ctx context.Context, tx *types.Transaction, id *big.Int) (*types.Transaction, error) {
	s.before()
	return s.EVM.SignTx(ctx, tx, id)
}

// What is stuck is replaced by the keeper alone. Where two take themselves for it, both sign, and one commits: only its
// bytes go out.
func TestAStuckTransactionIsReplacedByOneProcessAlone(t *testing.T) {
	for _, overlap := range []bool{false, true} {
		bs := newLabs(t, 2)
		a, b := bs[0], bs[1]
		a.send(a.step("a"))
		a.turn()
		a.w.base = big.NewInt(5 * gwei)
		a.w.mine(stuckBlocks)
		a.clock.wait(time.Minute)
		if signed := 0; overlap {
			b.at.leads = func() bool { return true }
			a.l.key(a.key.Address()).signer = signing{a.key, func() {
				if signed++; signed == 1 {
					b.turn()
				}
			}}
		}
		a.turn()
		b.turn()
		s := b.stored("a")
		if len(s.Attempts) != 2 || len(a.w.seen) != 2 {
			t.Fatalf("%d attempts, %d sent", len(s.Attempts), len(a.w.seen))
		}
		for _, at := range s.Attempts {
			if !a.w.seen[at.Hash] {
				t.Error("something was sent that is not in the record")
			}
		}
		replaced := strings.Count(a.log.String(), "is replaced") + strings.Count(b.log.String(), "is replaced")
		if replaced != 1 || !overlap && b.via.count(broadcast) > 0 {
			t.Errorf("%d replaced it", replaced)
		}
		a.settled()
		if n := a.w.effects()["a"]; n != 1 {
			t.Errorf("it happened %d times", n)
		}
	}
}

// At each moment of what one process does, another one draws a nonce, and its transaction is mined and may be final.
// The first process knows whose it is: it draws again where it must, and nothing is held, stopped or behind.
func TestWhatAnotherProcessSendsMeanwhileIsNobodyElses(t *testing.T) {
	does := map[string]func(b *lab) error{
		"send":      func(b *lab) error { _, err := b.l.Send(b.t.Context(), b.step("a")); return err },
		"look":      func(b *lab) error { return b.l.look(b.t.Context()) },
		"push":      func(b *lab) error { return b.l.push(b.t.Context()) },
		"explained": func(b *lab) error { return b.l.Explained(b.t.Context(), b.key.Address()) },
		"status": func(b *lab) error {
			s, err := b.l.Status(b.t.Context(), b.key.Address())
			if s.Held != "" || s.Stopped != "" {
				err = fmt.Errorf("%+v", s)
			}
			return err
		},
	}
	for name, do := range does {
		for _, earlier := range []int{0, 1, 2} {
			for doer := range 2 {
				for at, over := 1, false; !over; at++ {
					over = meanwhile(t, name, do, earlier, doer, at)
				}
			}
		}
	}
}

// meanwhile does something in a process, and at a moment of it has another one send; it reports whether the moment did
// not come. Earlier steps are final, the last of them under way.
func meanwhile(t *testing.T, name string, do func(*lab) error, earlier, doer, at int) (over bool) {
	t.Helper()
	bs := newLabs(t, 2)
	told := 0
	for _, b := range bs {
		b.behind = func(store.Tx, string) error { told++; return nil }
		b.start()
		b.at.lockless = true
	}
	bs[0].turn()
	a, b := bs[doer], bs[1-doer]
	what := fmt.Sprintf("%s of %d after %d steps, moment %d", name, doer, earlier, at)
	for n := range earlier {
		a.send(a.step(fmt.Sprint("earlier", n)))
		if n == 0 {
			bs[0].final()
		}
	}
	now := 0
	a.via.before = func(string) {
		if now++; now != at {
			return
		}
		b.send(b.step("meanwhile"))
		b.out()
		if at%2 == 0 {
			b.w.mine(1 + depth)
			b.clock.wait(2 * time.Minute)
		}
	}
	if err := do(a); err != nil {
		t.Errorf("%s: %v", what, err)
	}
	a.via.before = nil
	for _, b := range bs {
		b.quiet(what)
		if err := b.l.Explained(t.Context(), b.key.Address()); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	if bs[0].settled(); name == "send" && !a.recorded("a") {
		t.Errorf("%s: nothing was sent", what)
	}
	for id, n := range a.w.effects() {
		if n != 1 {
			t.Errorf("%s: %s happened %d times", what, id, n)
		}
	}
	if told > 0 {
		t.Errorf("%s: an epoch began", what)
	}
	return now < at
}

// While a process draws a nonce no other one does. One whose lock is lost each time gives up in the end.
func TestANonceIsDrawnUnderALockOfAllProcesses(t *testing.T) {
	bs := newLabs(t, 2)
	a, b := bs[0], bs[1]
	over, cancel := context.WithCancel(t.Context())
	cancel()
	a.check = func(context.Context, chain.Message) error {
		if _, err := b.l.Send(over, b.step("b")); !errors.Is(err, context.Canceled) {
			t.Errorf("another one drew meanwhile: %v", err)
		}
		return nil
	}
	a.send(a.step("a"))
	a.check = nil
	b.send(b.step("b"))
	a.settled()

	a.at.lockless, b.at.lockless = true, true
	n := 0
	a.check = func(context.Context, chain.Message) error {
		n++
		b.send(b.step(fmt.Sprint("b", n)))
		return nil
	}
	if _, err := a.l.Send(t.Context(), a.step("never")); !errors.Is(err, ErrStopped) || n != mostMoves ||
		a.recorded("never") {
		t.Errorf("%v after %d times", err, n)
	}
	a.check = nil
	a.settled()
}

// What others have sent with the key is refused by a process that does not keep the lane, for as long as it is there,
// and nothing is written or signed for that.
func TestAProcessThatDoesNotKeepTheLaneRefusesAndWritesNothing(t *testing.T) {
	bs := newLabs(t, 2)
	a, b := bs[0], bs[1]
	a.send(a.step("a"))
	a.final()
	b.ok(b.l.Explained(t.Context(), b.key.Address()))
	b.foreignWaits()
	writes := 0
	b.at.moment = func() { writes++ }
	b.l.key(b.key.Address()).signer = signing{b.key, func() { t.Error("it signs") }}
	s := b.step("b")
	s.Txs[0].From = b.l.key(b.key.Address()).signer
	for range 3 {
		if _, err := b.l.Send(t.Context(), s); !errors.Is(err, ErrStopped) {
			t.Errorf("%v", err)
		}
		if err := b.l.Explained(t.Context(), b.key.Address()); !errors.Is(err, ErrStopped) {
			t.Errorf("explained: %v", err)
		}
		b.turn()
	}
	b.w.drop()
	b.ok(b.l.Explained(t.Context(), b.key.Address()))
	if b.turn(); writes != 0 {
		t.Errorf("it wrote %d times", writes)
	}

	// nor does it refuse for what it found while it took itself for the keeper
	b.at.moment = nil
	b.foreignWaits()
	b.at.leads = func() bool { return true }
	for range 2 {
		if _, err := b.l.Send(t.Context(), s); !errors.Is(err, ErrStopped) {
			t.Errorf("%v", err)
		}
	}
	b.w.drop()
	b.at.leads = nil
	b.turn()
	b.ok(b.l.Explained(t.Context(), b.key.Address()))
	b.send(b.step("b"))
	a.settled()
}

// What the keeper cannot explain keeps every process from sending, and the next keeper too, until it is explained.
func TestALaneThatIsHeldIsHeldForAllProcesses(t *testing.T) {
	bs := newLabs(t, 3)
	a, b, c := bs[0], bs[1], bs[2]
	a.send(a.step("a"))
	a.send(a.step("behind it"))
	a.foreign()
	a.turn()
	a.turn()
	sent := len(a.w.seen)
	refuses := func(b *lab) {
		t.Helper()
		at := b.key.Address()
		if _, err := b.l.Send(t.Context(), b.step("b")); !errors.Is(err, ErrStopped) {
			t.Errorf("%v", err)
		}
		if err := b.l.Explained(t.Context(), at); !errors.Is(err, ErrStopped) {
			t.Errorf("explained: %v", err)
		}
		s, err := b.l.Status(t.Context(), at)
		if err != nil || !s.Alerted || !strings.Contains(s.Held, "nonce 0 is used") {
			t.Errorf("%+v %v", s, err)
		}
	}
	refuses(b)
	a.at.End()
	b.ok(b.l.push(t.Context()))
	refuses(c)
	b.turn()
	refuses(c)
	if len(b.w.seen) != sent || b.via.count(broadcast) > 0 {
		t.Error("the next keeper sent something")
	}
	b.w.reorganise(1, func() bool { return false })
	b.turn()
	c.ok(c.l.Explained(t.Context(), c.key.Address()))
	c.send(c.step("b"))
	b.settled()
	if n := b.w.effects(); n["a"] != 1 || n["behind it"] != 1 || n["b"] != 1 {
		t.Errorf("%v", n)
	}
}

// A lane goes on from the chain's nonce once in the life of each process, whichever did: the next keeper ends what the
// one before began, without another epoch, and stops at the next surprise. A process that began later may go on again.
func TestALaneCatchesUpOnceWhicheverProcessKeepsIt(t *testing.T) {
	bs := newLabs(t, 2)
	a, b := bs[0], bs[1]
	told := 0
	for _, b := range bs {
		b.behind = func(store.Tx, string) error { told++; return nil }
		b.start()
		b.turn()
	}
	a.send(a.step("a"))
	a.final()
	surprise := func(b *lab) {
		b.clock.wait(2 * time.Minute)
		b.foreign()
		for range 2 {
			b.turn()
			b.w.mine(depth)
			b.clock.wait(2 * time.Minute)
		}
	}
	surprise(a)
	if r := a.lane(); told != 1 || r.Next != 2 || !r.Catching {
		t.Fatalf("told %d times, %+v", told, r)
	}
	a.at.End() // before it has explained anything
	surprise(b)
	if r := b.lane(); told != 1 || r.Next != 3 || r.Stopped != "" {
		t.Fatalf("told %d times, %+v", told, r)
	}
	b.turn()
	b.ok(b.l.Explained(t.Context(), b.key.Address()))
	b.send(b.step("b"))
	b.final()
	c := together(t, b.db, b.w, b.clock)
	c.behind = b.behind
	c.start()
	if surprise(b); told != 1 || b.lane().Stopped == "" {
		t.Fatalf("told %d times, %+v", told, b.lane())
	}
	b.at.End()
	c.ok(c.l.Resume(t.Context(), c.key.Address()))
	c.turn()
	c.send(c.step("c"))
	c.settled()
	if surprise(c); told != 2 || c.lane().Stopped != "" {
		t.Errorf("told %d times, %+v", told, c.lane())
	}
}

// Where two take themselves for the keeper, both of which go on from the chain's nonce, that of the one that found more
// stays.
func TestALaneThatCaughtUpDoesNotFallBack(t *testing.T) {
	bs := newLabs(t, 2)
	a, b := bs[0], bs[1]
	told := 0
	for _, b := range bs {
		b.behind = func(store.Tx, string) error { told++; return nil }
		b.start()
	}
	b.at.leads = func() bool { return true }
	a.turn()
	a.send(a.step("a"))
	a.final()
	finds := func(b *lab) {
		b.w.mine(depth)
		b.clock.wait(2 * time.Minute)
		b.turn()
	}
	a.clock.wait(2 * time.Minute)
	a.foreign()
	a.turn()
	b.turn()
	moments := 0
	a.at.moment = func() {
		if moments++; moments != 3 { // that it is held was committed
			return
		}
		finds(b)
		b.foreign()
		b.turn()
		finds(b)
	}
	finds(a)
	if r := b.lane(); moments < 3 || r.Next != 3 || told != 1 {
		t.Errorf("%d moments, told %d times, %+v", moments, told, r)
	}
}

// The lane of a key that has sent before is begun by one process, and what was drawn in it meanwhile stays.
func TestALaneIsBegunByOneProcess(t *testing.T) {
	bs := newLabs(t, 2)
	a, b := bs[0], bs[1]
	told := 0
	for _, b := range bs {
		b.behind = func(store.Tx, string) error { told++; return nil }
		b.start()
		b.at.lockless = true
		b.turn()
	}
	a.foreign()
	begun := false
	a.at.moment = func() {
		if begun {
			return
		}
		begun = true
		if _, err := b.l.Send(t.Context(), b.step("b")); !errors.Is(err, ErrStopped) {
			t.Errorf("before the records were read: %v", err)
		}
		b.send(b.step("b"))
	}
	a.send(a.step("a"))
	a.settled()
	if r := a.lane(); !begun || told != 1 || r.Next != 3 || r.Caught != 1 {
		t.Errorf("told %d times, %+v", told, r)
	}
}

// An operator decides in any process, and the keeper goes on.
func TestAnyProcessTakesTheDecisionOfAnOperator(t *testing.T) {
	bs := newLabs(t, 2)
	a, b := bs[0], bs[1]
	a.send(a.step("a"))
	a.final()
	a.foreign()
	for range 4 {
		a.clock.wait(2 * time.Minute)
		a.turn()
		a.w.mine(depth)
	}
	at := b.key.Address()
	if s, err := b.l.Status(t.Context(), at); err != nil || s.Stopped == "" {
		t.Fatalf("%+v %v", s, err)
	}
	b.ok(b.l.Resume(t.Context(), at))
	if err := a.l.Resume(t.Context(), at); err == nil {
		t.Error("a lane that goes on is made to go on")
	}
	b.send(b.step("b"))
	a.settled()
	if n := a.w.effects()["b"]; n != 1 || b.via.count(broadcast) > 0 {
		t.Errorf("it happened %d times", n)
	}
}

// Where two take themselves for the keeper, what one found out does not stop a lane that an operator let go on since.
func TestADecisionIsNotUndoneByWhatWasFoundBeforeIt(t *testing.T) {
	bs := newLabs(t, 2)
	a, b := bs[0], bs[1]
	b.at.leads = func() bool { return true }
	a.send(a.step("a"))
	a.final()
	a.clock.wait(2 * time.Minute)
	a.foreign()
	a.turn()
	b.turn()
	a.w.mine(depth)
	a.clock.wait(2 * time.Minute)
	decided := false
	a.at.moment = func() {
		if b.lane().Held == "" || decided {
			return
		}
		decided = true
		b.turn()
		b.ok(b.l.Resume(t.Context(), b.key.Address()))
	}
	a.turn()
	if !decided || b.lane().Stopped != "" || b.lane().Next != 2 {
		t.Fatalf("decided %t, %+v", decided, b.lane())
	}
	a.turn()
	a.send(a.step("b"))
	a.settled()
}

// A full lane has room again when the keeper of another process has ended a step.
func TestAProcessWaitsForRoomThatAnotherOneMakes(t *testing.T) {
	bs := newLabs(t, 2)
	a, b := bs[0], bs[1]
	for n := range mostOpen {
		b.send(b.step(fmt.Sprint(n)))
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := b.l.Send(over, b.step("more")); !errors.Is(err, context.Canceled) {
		t.Fatalf("more than fit: %v", err)
	}
	sent := make(chan error)
	go func() {
		_, err := b.l.Send(t.Context(), b.step("more"))
		sent <- err
	}()
	a.final()
	b.ok(<-sent)
	a.settled()
}
