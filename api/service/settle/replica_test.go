package settle_test

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/service/deployment"
	"coffer/api/service/outbox"
	"coffer/api/service/quote"
	"coffer/api/service/quotestore"
	"coffer/api/service/settle"
	. "coffer/api/service/settle/settletest"
	"coffer/api/service/store"
	"coffer/api/service/store/storetest"
)

// replica is one of several processes of a service: its own book, quoter and settler on records and chains that all of
// them have.
type replica struct {
	*World
	at   *process
	sent atomic.Int32 // what it brought onto the chains
}

// chains are a database and the world of an installation in it, whose own settler has nothing to do.
func chains(t *testing.T) (*storetest.Database, *World) {
	t.Helper()
	db := storetest.NewDatabase()
	return db, New(t, Options{Store: db.Open().Store})
}

// newReplica makes a process beside those that have a database already.
func newReplica(w *World, db *storetest.Database, limits *deployment.Limits, change func(*settle.Deps)) *replica {
	w.TB.Helper()
	own := *w
	r := &replica{World: &own, at: join(db)}
	in, random := w.Installation, rand.NewChaCha8([32]byte{byte(r.at.Process() - 2), 1, 2, 3})
	_, _ = random.Read(make([]byte, 32)) // the world's book took as much: the first process gives the ids that it would
	network := *in.Network
	network.Limits = limits
	network.Outbox = outbox.Ports{
		EVM:    func(id uint64) outbox.EVM { return fence(r, in.Outbox.EVM(id)) },
		Solana: fence(r, in.Outbox.Solana),
	}
	var err error
	r.Book, err = quotestore.Open(r.at, quotestore.Options{Clock: w.Clock.Now, Random: random})
	Must(w.TB, err)
	r.Quoter = quote.New(quote.Deps{
		Network: &network, Operator: in.Operator, CoSigner: in.CoSigner, TamperProof: in.TamperProof,
		Book: r.Book, Prices: w.Prices, Clock: w.Clock.Now, Random: Locked(random),
	})
	d := settle.Deps{
		Network: &network, Signers: in.Set, Book: r.Book, Prices: w.Prices, Clock: w.Clock.Now,
		ExplorerBase: "https://embedded.invalid/api",
	}
	if change != nil {
		change(&d)
	}
	r.Settler = settle.New(d)
	w.TB.Cleanup(func() { Must(w.TB, r.Settler.Close()) })
	Must(w.TB, r.Settler.Resume(context.Background()))
	return r
}

// fence lets nothing of a process that is gone into a block, as the database of several processes does.
func fence[T, R any](r *replica, to outbox.Port[T, R]) outbox.Port[T, R] { return fenced[T, R]{to, r} }

type fenced[T, R any] struct {
	outbox.Port[T, R]
	r *replica
}

func (f fenced[T, R]) Send(ctx context.Context, s outbox.Step[T, R]) (bool, error) {
	final := s.Final
	s.Final = func(rs []R) outbox.Change {
		change := final(rs)
		return func(tx store.Tx) error {
			if err := f.r.at.there(); err != nil {
				return err
			}
			return change(tx)
		}
	}
	done, err := f.Port.Send(ctx, s)
	if err == nil {
		f.r.sent.Add(1)
	}
	return done, err
}

// eventually waits for a condition.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("did not happen: " + what)
		}
	}
}

// steps are those that processes have made.
type steps struct {
	mu    sync.Mutex
	names []string
}

func (s *steps) add(name string) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.names = append(s.names, name)
	return len(s.names)
}

func (s *steps) all() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.names)
}

// frozen is a process that stops after a commit until it is let go on.
type frozen struct {
	reached, thawed chan struct{}
}

func (f frozen) stop() {
	close(f.reached)
	<-f.thawed
}

// TestASagaWhoseProcessIsGoneGoesOnInAnotherOnce: a process stops after any of its commits. As long as it is there, the
// others leave its quote alone; once it is gone, one of them brings the quote to the same end, and what the first one
// does when it comes to again is neither committed nor sent.
func TestASagaWhoseProcessIsGoneGoesOnInAnotherOnce(t *testing.T) {
	t.Parallel()
	for number, y := range stories() {
		var want []string
		clean := y.tell(t, store.NewMemory(), func(_ int, step string) { want = append(want, step) })
		for n := 1; n < len(want); n++ { // after the last one nothing is left
			if (n+number)%stride(3) != 0 {
				continue
			}
			t.Run(fmt.Sprintf("%s/%d %s", y.name, n, want[n-1]), func(t *testing.T) {
				t.Parallel()
				y.leave(t, n, want, clean)
			})
		}
	}
}

// leave has a process accept the quote of a story and go after its n-th commit.
func (y story) leave(t *testing.T, n int, want []string, clean *World) {
	ctx, db := context.Background(), storetest.NewDatabase()
	w := y.open(t, db.Open().Store, nil)
	stock(w, w.User)
	made, cut := &steps{}, frozen{make(chan struct{}), make(chan struct{})}
	deps := func(each func(string)) func(*settle.Deps) {
		return func(d *settle.Deps) { d.Faults, d.AfterStep = faultsFrom(t, y.faults...), each }
	}
	gone := newReplica(w, db, nil, deps(func(step string) {
		if made.add(step) == n {
			cut.stop()
		}
	}))
	others := []*replica{newReplica(w, db, nil, deps(func(step string) { made.add(step) })),
		newReplica(w, db, nil, deps(func(step string) { made.add(step) }))}
	signed := w.SignQuote(y.ask(gone.World))
	executed := make(chan error, 1)
	go func() { executed <- gone.Execute(signed) }()
	<-cut.reached
	id := w.Decode(signed).ID
	before := record(others[0].World, id)
	for _, r := range others {
		Must(t, r.Settler.Resume(ctx))
		Must(t, r.Settler.Idle(ctx))
	}
	if now := record(others[0].World, id); now.Updated != before.Updated {
		t.Errorf("another process went on while the first one was there: %v", made.all())
	}

	sent := gone.sent.Load()
	gone.at.End()
	eventually(t, "the quote ends", func() bool { return record(others[0].World, id).Done() })
	for _, r := range others {
		Must(t, r.Settler.Idle(ctx))
	}
	got := made.all()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("the steps were %v, expected %v", got, want)
	}
	after := record(others[0].World, id)
	close(cut.thawed)
	if err := <-executed; err != nil {
		t.Errorf("it had accepted: %v", err)
	}
	_ = gone.Settler.Idle(ctx) // it cannot get on, and may say so
	if now := record(others[0].World, id); now.Updated != after.Updated || gone.sent.Load() != sent ||
		len(made.all()) != len(want) {
		t.Errorf("the process that was gone has written or sent: %v", made.all())
	}
	y.sameEnd(t, others[1].World, clean)
}

// TestWhatWasTakenOverInACommitWithoutAnAnswerIsSettled: the database went away with the commit. Once it is back, the
// quote is that of the process that took it over, and so it has to go on with it.
func TestWhatWasTakenOverInACommitWithoutAnAnswerIsSettled(t *testing.T) {
	db, w := chains(t)
	cut := frozen{make(chan struct{}), make(chan struct{})}
	gone := newReplica(w, db, nil, func(d *settle.Deps) {
		d.AfterStep = func(step string) {
			if step != "accepted" {
				cut.stop()
			}
		}
	})
	defer close(cut.thawed)
	stays := newReplica(w, db, nil, nil)
	signed := w.SignQuote(gone.Quote(crossChain(w), ""))
	Must(t, gone.Execute(signed))
	<-cut.reached
	stays.at.cut.Store(true)
	gone.at.End()
	eventually(t, "the database goes away", stays.at.away.Load)
	stays.at.away.Store(false)
	eventually(t, "the quote ends", func() bool {
		_ = db.Open().Close() // the others are told, as now and then without a cause
		return record(w, w.Decode(signed).ID).Done()
	})
	Must(t, stays.Settler.Idle(context.Background()))
}

// TestAQuoteThatAProcessCannotSettleIsLeftToAnother: it accepted the quote, and alone does not reach its nodes since.
func TestAQuoteThatAProcessCannotSettleIsLeftToAnother(t *testing.T) {
	db, w := chains(t)
	tried := make(chan struct{}, 1)
	fails := func(d *settle.Deps) {
		d.Pause = func(int) time.Duration { return time.Millisecond }
		d.Network.Outbox.EVM = func(uint64) outbox.EVM {
			select {
			case tried <- struct{}{}:
			default:
			}
			return silent{}
		}
	}
	cut, other := newReplica(w, db, nil, fails), newReplica(w, db, nil, nil)
	signed := w.SignQuote(cut.Quote(crossChain(w), ""))
	id := w.Decode(signed).ID
	Must(t, cut.Execute(signed))
	for range 3 {
		<-tried
	}
	if mine, err := cut.Book.Drives(t.Context(), id); err != nil || !mine {
		t.Errorf("it left it too soon: %v", err)
	}
	w.Clock.Advance(3 * time.Minute)
	eventually(t, "the quote ends", func() bool { return record(other.World, id).Done() })
	if got := record(other.World, id); got.Status != api.StatusCompleted {
		t.Errorf("it is %+v", got)
	}
	Must(t, other.Settler.Idle(context.Background()))
	Must(t, cut.Settler.Idle(context.Background()))
	onlyRecord(t, other.World, api.StatusCompleted)
}

// silent is a chain whose nodes are not reached.
type silent struct{ outbox.EVM }

func (silent) Send(context.Context, outbox.EVMStep) (bool, error) {
	return false, errors.New("the nodes are silent")
}

// TestAProcessThatIsGoneAcceptsNothing: its caller gets no yes, and the quote stays an offer that another one takes.
func TestAProcessThatIsGoneAcceptsNothing(t *testing.T) {
	db, w := chains(t)
	gone, stays := newReplica(w, db, nil, nil), newReplica(w, db, nil, nil)
	signed := w.SignQuote(gone.Quote(crossChain(w), ""))
	gone.at.End()
	if err := gone.Execute(signed); err == nil {
		t.Error("it accepted")
	}
	untouched(t, stays.World, w.Decode(signed).ID)
	if _, err := gone.Prepare(pay(w, Base, usdcPlain)); err == nil {
		t.Error("it prepared")
	}
	if s := stays.Settle(signed); s.Status != api.StatusCompleted || gone.sent.Load() != 0 {
		t.Errorf("%+v, the process that is gone sent %d", s, gone.sent.Load())
	}
}

// TestAQuoteIsPreparedQuotedAndExecutedByAnyProcess: a balancer may give every request to another one.
func TestAQuoteIsPreparedQuotedAndExecutedByAnyProcess(t *testing.T) {
	db, w := chains(t)
	var all []*replica
	for range 3 {
		all = append(all, newReplica(w, db, nil, nil))
	}
	prepared, err := all[0].Prepare(crossChain(w))
	Must(t, err)
	quoted, err := all[1].CallQuote(prepared, "")
	Must(t, err)
	signed := w.SignQuote(quoted)
	if s := all[2].Settle(signed); s.Status != api.StatusCompleted {
		t.Fatalf("%+v", s)
	}
	for _, r := range all {
		Refused(t, r.Execute(signed), api.ErrAlreadyExecuted)
		onlyRecord(t, r.World, api.StatusCompleted)
	}
}

// TestOfExecutesAtSeveralProcessesOneWins: each is asked many times at once. One accepts and settles, each step once.
func TestOfExecutesAtSeveralProcessesOneWins(t *testing.T) {
	db, w := chains(t)
	made := &steps{}
	var all []*replica
	for range 3 {
		all = append(all, newReplica(w, db, nil, func(d *settle.Deps) {
			d.AfterStep = func(step string) { made.add(step) }
		}))
	}
	signed := w.SignQuote(all[0].Quote(crossChain(w), ""))
	sums := w.Sums(payee())
	const each = 12
	results := make([]error, each*len(all))
	var group sync.WaitGroup
	for i := range results {
		group.Go(func() { results[i] = all[i%len(all)].Execute(signed) })
	}
	group.Wait()
	won := 0
	for _, err := range results {
		if err == nil {
			won++
			continue
		}
		Refused(t, err, api.ErrAlreadyExecuted)
	}
	for _, r := range all {
		Must(t, r.Settler.Idle(context.Background()))
	}
	names := made.all()
	slices.Sort(names)
	if s := all[0].Status(w.Decode(signed).ID); won != 1 || s.Status != api.StatusCompleted ||
		len(slices.Compact(slices.Clone(names))) != len(names) {
		t.Errorf("%d won: %+v, with the steps %v", won, s, names)
	}
	w.SameSums(sums, w.Sums(payee()))
}

// TestAProcessLeavesAQuoteToTheOneThatAcceptedIt: its own acceptance failed, and whether it was committed all the same
// is not known. The record says that the quote was accepted, by another process.
func TestAProcessLeavesAQuoteToTheOneThatAcceptedIt(t *testing.T) {
	ctx := context.Background()
	db, w := chains(t)
	goes := make(chan struct{})
	first := newReplica(w, db, nil, func(d *settle.Deps) {
		d.Faults = &settle.Faults{Wait: func(ctx context.Context, _ settle.Moment, _ string) error {
			select {
			case <-goes:
			case <-ctx.Done():
			}
			return ctx.Err()
		}}
	})
	late := newReplica(w, db, nil, func(d *settle.Deps) {
		d.Faults = &settle.Faults{Wait: func(_ context.Context, at settle.Moment, _ string) error {
			t.Errorf("another process is at its %s", at)
			return nil
		}}
	})
	signed := w.SignQuote(first.Quote(crossChain(w), ""))
	late.at.before = func() error {
		late.at.before = nil
		return errors.Join(store.ErrNotWritten, first.Execute(signed))
	}
	if err := late.Execute(signed); !errors.Is(err, store.ErrNotWritten) {
		t.Errorf("%v", err)
	}
	Must(t, late.Settler.Resume(ctx))
	Must(t, late.Settler.Idle(ctx))
	close(goes)
	Must(t, first.Settler.Idle(ctx))
	if s := late.Status(w.Decode(signed).ID); s.Status != api.StatusCompleted || late.sent.Load() > 0 {
		t.Errorf("%+v, the other one sent %d", s, late.sent.Load())
	}
}

// meanwhile is a price source that has something happen when a price is asked for.
type meanwhile struct {
	quote.Prices
	happens func()
}

func (m meanwhile) Price(id caip.AggregateID, at time.Time) (*big.Int, bool) {
	m.happens()
	return m.Prices.Price(id, at)
}

// TestTheCapOfExposureHoldsOverProcessesThatAcceptAtOnce: one has found that there is room, and before it accepts
// another one is asked to, for another account. It waits, or where the first has lost its lock, is faster.
func TestTheCapOfExposureHoldsOverProcessesThatAcceptAtOnce(t *testing.T) {
	for name, loses := range map[string]bool{"in turn": false, "the lock is lost": true} {
		t.Run(name, func(t *testing.T) { capHolds(t, loses) })
	}
}

func capHolds(t *testing.T, loses bool) {
	ctx := context.Background()
	db, w := chains(t)
	for _, id := range w.Installation.ChainIDs {
		w.FundBig(w.Installation.Operator.Address(), caip.Native(id), wei(10))
	}
	const most, each = 150 * usdcPlain, 100 * usdcPlain
	limits := &deployment.Limits{SponsorPerDay: bigOf(1e9), Exposure: bigOf(most)}
	holds := make(chan struct{})
	wait := func(d *settle.Deps) {
		d.Faults = &settle.Faults{Wait: func(ctx context.Context, _ settle.Moment, _ string) error {
			select {
			case <-holds: // what is accepted stays in escrow, or on its way there, until the other one has decided
			case <-ctx.Done():
			}
			return ctx.Err()
		}}
	}
	other := newReplica(w, db, limits, wait)
	other.at.unlocked = loses
	var armed atomic.Bool
	var signed [2]*api.Document
	var outcome [2]error
	took := make(chan struct{})
	var first *replica
	first = newReplica(w, db, limits, func(d *settle.Deps) {
		wait(d)
		d.Prices = meanwhile{d.Prices, func() {
			if first.at.writing.Load() || !armed.CompareAndSwap(true, false) {
				return
			}
			go func() {
				defer close(took)
				outcome[1] = other.Execute(signed[1])
			}()
			select {
			case <-took:
			case <-other.at.awaited: // it has to wait for the first
			}
		}}
	})
	all := [2]*replica{first, other}
	for i, r := range all {
		r.User = w.AddUser(api.AccountKernelV31, uint64(7+i))
		w.Fund(r.User.Address, w.Asset("usdc", Arbitrum), 120*usdcPlain)
		signed[i] = r.SignQuote(r.Quote(pay(r.World, Base, each), ""))
	}
	armed.Store(true)
	outcome[0] = first.Execute(signed[0])
	if armed.Load() {
		t.Fatal("no price was asked for")
	}
	<-took
	refused := slices.IndexFunc(outcome[:], func(err error) bool { return err != nil })
	if open, err := quote.OpenQuotes(ctx, first.Book); err != nil || len(open) != 1 || refused < 0 ||
		outcome[1-refused] != nil {
		t.Fatalf("%d quotes were accepted, %v: %v", len(open), err, outcome)
	}
	Refused(t, outcome[refused], api.ErrNoRoute)
	close(holds)
	for _, r := range all {
		Must(t, r.Settler.Idle(ctx))
	}
	if s := all[refused].Settle(signed[refused]); s.Status != api.StatusCompleted { // there is room again
		t.Errorf("%+v", s)
	}
}

// TestASagaOfSeveralProcessesGoesOnWhereThereIsOne: the records come to a store of one process, as with an export.
func TestASagaOfSeveralProcessesGoesOnWhereThereIsOne(t *testing.T) {
	ctx := context.Background()
	db, w := chains(t)
	cut := frozen{make(chan struct{}), make(chan struct{})}
	defer close(cut.thawed)
	gone := newReplica(w, db, nil, func(d *settle.Deps) {
		d.AfterStep = func(step string) {
			if step != "accepted" {
				cut.stop()
			}
		}
	})
	signed := w.SignQuote(gone.Quote(crossChain(w), ""))
	Must(t, gone.Execute(signed))
	<-cut.reached
	gone.at.End()
	Must(t, w.Settler.Resume(ctx))
	Must(t, w.Settler.Idle(ctx))
	if s := w.Status(w.Decode(signed).ID); s.Status != api.StatusCompleted {
		t.Errorf("%+v", s)
	}
}
