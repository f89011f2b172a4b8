package quotestore_test

import (
	"errors"
	"io"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/service/quotestore"
	"coffer/api/service/store"
	"coffer/api/service/store/storetest"
)

// replicas are the books of n processes of one service, with their stores.
func replicas(tb testing.TB, n int) (books []*shelf, stores []*storetest.Replica) {
	tb.Helper()
	c, db := &clock{time.Unix(1_760_000_000, 0)}, storetest.NewDatabase()
	for i := range n {
		r := db.Open()
		b, err := quotestore.Open(r, quotestore.Options{Clock: c.Now, Random: rand.NewChaCha8([32]byte{byte(i)})})
		must(tb, err)
		books, stores = append(books, &shelf{b, c, &counting{Store: r}, i * 1000}), append(stores, r)
	}
	return books, stores
}

// looked is the store of a process that has something happen after each View.
type looked struct {
	*storetest.Replica
	happens func()
}

func (l *looked) View(fn func(store.Tx) error) error {
	if l.happens != nil {
		defer l.happens()
	}
	return l.Replica.View(fn)
}

// next is a step of a quote as it stands.
func (s *shelf) next(tb testing.TB, id string) (now, next *quotestore.Quote) {
	tb.Helper()
	now, err := s.Quote(ctx(), id)
	must(tb, err)
	next = now.Clone()
	next.Status = api.StatusInProgress
	return now, next
}

// settles demands that of some books one alone can take a step of a quote, in a commit of its own and in another's.
func settles(tb testing.TB, id string, who *shelf, all ...*shelf) {
	tb.Helper()
	for _, s := range append(slices.Clone(all), who) {
		for _, way := range []func(now, next *quotestore.Quote) error{
			func(now, next *quotestore.Quote) error { return s.Advance(ctx(), now, next) },
			func(now, next *quotestore.Quote) error { return s.store.Update(s.Change(now, next)) },
		} {
			err := way(s.next(tb, id))
			if s == who && err != nil || s != who && !errors.Is(err, quotestore.ErrElsewhere) {
				tb.Errorf("%v", err)
			}
		}
		if mine, err := s.Drives(ctx(), id); mine != (s == who) || err != nil {
			tb.Errorf("it is said to be its own: %t, %v", mine, err)
		}
	}
}

// A step takes none but the process that accepted the quote, and, when that is gone, the one that took it over.
func TestAQuoteIsSettledByOneProcess(t *testing.T) {
	all, stores := replicas(t, 4)
	q := all[0].offer(t)
	must(t, all[1].take(q))
	settles(t, q.ID, all[1], all[0], all[2])
	for _, s := range all {
		if ids, err := s.TakeOver(ctx()); err != nil || s != all[1] && len(ids) > 0 {
			t.Errorf("%v was taken from a process that is there, %v", ids, err)
		}
	}
	stores[1].End()
	var taken []string
	late := &looked{Replica: stores[3]}
	b, err := quotestore.Open(late, quotestore.Options{Clock: all[0].clock.Now})
	must(t, err)
	late.happens = func() { // between its look and its commit another one is faster
		taken, err = all[2].TakeOver(ctx())
		must(t, err)
	}
	if ids, err := b.TakeOver(ctx()); err != nil || len(ids) > 0 || !slices.Equal(taken, []string{q.ID}) {
		t.Fatalf("%v and %v, %v", taken, ids, err)
	}
	settles(t, q.ID, all[2], all[0], all[1], all[3])
	if ids, err := all[2].TakeOver(ctx()); err != nil || !slices.Equal(ids, []string{q.ID}) {
		t.Errorf("after a commit without an answer it is told of %v, %v", ids, err)
	}
}

// A process leaves a quote of its own where another one is there; it takes it back when none did for a minute.
func TestAQuoteThatIsLeftIsAnotherProcesses(t *testing.T) {
	all, stores := replicas(t, 2)
	q := all[0].accept(t)
	leaves := func(s *shelf, want bool) {
		t.Helper()
		if left, err := s.Leave(ctx(), q.ID); left != want || err != nil {
			t.Fatalf("left: %t, %v", left, err)
		}
	}
	takes := func(s *shelf, want ...string) {
		t.Helper()
		if ids, err := s.TakeOver(ctx()); err != nil || !slices.Equal(ids, want) {
			t.Fatalf("%v is taken, %v", ids, err)
		}
	}
	leaves(all[1], false)
	settles(t, q.ID, all[0], all[1])
	told := 0
	all[1].WatchProcesses(func() { told++ })
	leaves(all[0], true)
	leaves(all[0], false)
	if told != 1 {
		t.Errorf("the other is told %d times", told)
	}
	takes(all[0])
	takes(all[1], q.ID)
	settles(t, q.ID, all[1], all[0])

	leaves(all[1], true)
	takes(all[1])
	all[0].clock.now = all[0].clock.now.Add(time.Minute)
	takes(all[1], q.ID)
	settles(t, q.ID, all[1], all[0])
	stores[0].End()
	leaves(all[1], false)
}

// The process that lost a quote cannot even end it, nor can a step that it began before.
func TestAStepOfWhoIsGoneIsLate(t *testing.T) {
	all, stores := replicas(t, 2)
	q := all[0].accept(t)
	now, next := all[0].next(t, q.ID)
	next.Status = api.StatusFailed
	stores[0].End()
	if _, err := all[1].TakeOver(ctx()); err != nil {
		t.Fatal(err)
	}
	if err := all[0].Advance(ctx(), now, next); !errors.Is(err, quotestore.ErrOvertaken) {
		t.Errorf("%v", err)
	}
	settles(t, q.ID, all[1], all[0])
}

// What a record leaves to its next step is committed with it, or nothing is.
func TestAStepCommitsWhatWasLeftForIt(t *testing.T) {
	all, _ := replicas(t, 1)
	q := all[0].accept(t)
	now, next := all[0].next(t, q.ID)
	next.Status = api.StatusInProgress
	fails := errors.New("not now")
	beside := func(tx store.Tx) error { return errors.Join(tx.Bucket("beside").Put([]byte("a"), []byte{1}), fails) }
	next.With(beside)
	next.Defer("deposit")
	later := next.Clone()
	later.Sent = "target"
	if err := all[0].Advance(ctx(), next, later); !errors.Is(err, fails) || next.Deferred() == "" {
		t.Fatalf("%v, %q", err, next.Deferred())
	}
	if stored, _ := all[0].next(t, q.ID); stored.Updated != now.Updated || stored.Sent != "" {
		t.Errorf("something of it was committed: %+v", stored)
	}
	fails = nil
	later = next.Clone()
	later.Sent = "target"
	must(t, all[0].Advance(ctx(), next, later))
	stored, _ := all[0].next(t, q.ID)
	if later.Deferred() != "" || stored.Sent != "target" || stored.Status != api.StatusInProgress {
		t.Errorf("%+v", stored)
	}
	must(t, all[0].store.View(func(tx store.Tx) error {
		if tx.Bucket("beside").Get([]byte("a")) == nil {
			t.Error("what goes with it is missing")
		}
		return nil
	}))
	fails = errors.New("once is enough")
	done := later.Clone()
	done.Sent = ""
	must(t, all[0].Advance(ctx(), later, done))
}

// What processes were settling is settled by the only one that there is later.
func TestTheOnlyProcessSettlesWhateverIsOpen(t *testing.T) {
	all, stores := replicas(t, 2)
	one, other := all[0].accept(t), all[1].accept(t)
	b, err := quotestore.Open(stores[0].Store, quotestore.Options{Clock: all[0].clock.Now})
	must(t, err)
	alone := &shelf{b, all[0].clock, &counting{Store: stores[0].Store}, 0}
	ids, err := alone.TakeOver(ctx())
	if err != nil || !slices.Equal(ids, []string{one.ID, other.ID}) {
		t.Errorf("%v, %v", ids, err)
	}
	settles(t, one.ID, alone)
	settles(t, other.ID, alone)
}

// When several processes take the place of one, they take over the quotes that it, or an earlier version, had accepted.
func TestWhatTheOnlyProcessLeftIsTakenOver(t *testing.T) {
	all, stores := replicas(t, 2)
	b, err := quotestore.Open(stores[0].Store, quotestore.Options{Clock: all[0].clock.Now})
	must(t, err)
	alone := &shelf{b, all[0].clock, &counting{Store: stores[0].Store}, 0}
	q := alone.accept(t)
	ids, err := all[1].TakeOver(ctx())
	if err != nil || !slices.Equal(ids, []string{q.ID}) {
		t.Fatalf("%v, %v", ids, err)
	}
	settles(t, q.ID, all[1], all[0])
}

// found is the record of a deposit that was found on a chain.
func found(s *shelf, id string, chain uint64) *quotestore.Quote {
	return &quotestore.Quote{ID: id, Owner: common.HexToAddress(alice), ChainID: 8453, ValidUntil: 1_760_000_600,
		AcceptedAt: s.clock.now, FailReason: "ORDER_EXPIRED", Type: api.RecordSwap,
		Accounts: []api.Account{{AccountAddress: alice}},
		Legs: []quotestore.Leg{{ChainID: chain, Pays: quotestore.Amount{Asset: "eip155:10/slip44:60",
			Value: big.NewInt(10)}, State: quotestore.LegDeposited}}}
}

// A deposit that one process finds is that of the process that settles its quote; a new record is the finder's.
func TestADepositThatIsFoundStaysWithTheProcessOfItsQuote(t *testing.T) {
	all, _ := replicas(t, 2)
	q := all[0].accept(t)
	all[0].behind(t, "a backup")
	if adopted, err := all[1].Adopt(ctx(), found(all[1], q.ID, 42161)); err != nil || !adopted {
		t.Fatalf("%t, %v", adopted, err)
	}
	_, next := all[0].next(t, q.ID)
	next.Epoch = 1
	must(t, all[0].step(next))
	settles(t, q.ID, all[0], all[1])
	lost := "0x" + common.BigToHash(big.NewInt(77)).Hex()[2:]
	if adopted, err := all[1].Adopt(ctx(), found(all[1], lost, 10)); err != nil || !adopted {
		t.Fatalf("%t, %v", adopted, err)
	}
	_, next = all[1].next(t, lost)
	next.Epoch = 1
	must(t, all[1].step(next))
	settles(t, lost, all[1], all[0])
}

// Room that was looked for is compared with what any process has accepted, or found, since.
func TestRoomIsGoneWhenAnotherProcessAccepts(t *testing.T) {
	all, _ := replicas(t, 2)
	all[0].behind(t, "a backup")
	accepts := func(s *shelf, q *quotestore.Quote) func(quotestore.Seen) error {
		return func(seen quotestore.Seen) error {
			c, _, err := s.Context(ctx(), q.OpHash)
			must(t, err)
			q, err := s.Quote(ctx(), q.ID)
			must(t, err)
			return s.Accept(ctx(), q, c, seen)
		}
	}
	look := func(s *shelf, q *quotestore.Quote) quotestore.Seen {
		seen, err := s.Latest(ctx(), q.Owner.Hex(), q.SolanaOwner)
		must(t, err)
		seen, done, err := s.Room(ctx(), seen)
		must(t, err)
		done()
		return seen
	}
	stranger := func(s *shelf) *quotestore.Quote { // of an account whose steps alice's checks do not look at
		s.n++
		q := &quotestore.Quote{ID: "0x" + common.BigToHash(big.NewInt(int64(s.n))).Hex()[2:],
			Owner: common.HexToAddress("0xb0b"), Expires: uint64(s.clock.now.Unix()) + 30,
			ValidUntil: uint64(s.clock.now.Unix()) + 600, Type: api.RecordSwap,
			Accounts: []api.Account{{AccountAddress: "0x0000000000000000000000000000000000000b0b"}}}
		must(t, s.Offer(ctx(), q, []byte(`{}`), quotestore.Context{}))
		return q
	}
	for name, meanwhile := range map[string]func(){
		"accepted": func() { must(t, all[1].take(stranger(all[1]))) },
		"found": func() {
			d := found(all[1], "0x"+common.BigToHash(big.NewInt(99)).Hex()[2:], 10)
			d.Owner, d.Accounts = common.HexToAddress("0xb0b"), nil
			d.Accounts = []api.Account{{AccountAddress: "0x0000000000000000000000000000000000000b0b"}}
			if adopted, err := all[1].Adopt(ctx(), d); err != nil || !adopted {
				t.Errorf("%t, %v", adopted, err)
			}
		},
	} {
		q := all[0].offer(t)
		accept := accepts(all[0], q)
		seen := look(all[0], q)
		meanwhile()
		if err := accept(seen); !errors.Is(err, quotestore.ErrTakenRoom) {
			t.Errorf("%s: %v", name, err)
		}
		if now, err := all[0].Quote(ctx(), q.ID); err != nil || now.Status != "" {
			t.Errorf("%s: %+v, %v", name, now, err)
		}
		must(t, accept(look(all[0], q)))
	}
}

// An offer that was read before an epoch began ended with it all the same.
func TestAnOfferThatEndedSinceItWasReadIsNotAccepted(t *testing.T) {
	all, _ := replicas(t, 2)
	q := all[0].offer(t)
	read, prepared, err := all[0].Prepared(ctx(), q.ID)
	must(t, err)
	seen, err := all[0].Latest(ctx(), q.Owner.Hex(), q.SolanaOwner)
	must(t, err)
	all[1].behind(t, "a backup")
	if err := all[0].Accept(ctx(), read, prepared, seen); !errors.Is(err, quotestore.ErrExpired) {
		t.Errorf("%v", err)
	}
}

// A step that was decided on before another process began an epoch is not taken: the record is read from the chains
// first. What came of something that was sent is written down.
func TestAStepThatAnEpochOvertookIsNotTaken(t *testing.T) {
	sent, overtaken := func(q *quotestore.Quote) { q.Sent = "target" }, quotestore.ErrOvertaken
	leg := func(is bool) func(*quotestore.Quote) { return func(q *quotestore.Quote) { q.Legs[0].Sent = is } }
	for name, c := range map[string]struct {
		before, step func(*quotestore.Quote)
		want         error
	}{
		"a step is sent":                {nil, sent, overtaken},
		"a release is sent":             {nil, leg(true), overtaken},
		"the quote turns back":          {nil, func(q *quotestore.Quote) { q.FailReason = "X" }, overtaken},
		"the record was read again":     {nil, func(q *quotestore.Quote) { q.Epoch = 1 }, nil},
		"a step that was sent is over":  {sent, func(q *quotestore.Quote) { q.Sent = "" }, nil},
		"a release that was sent is so": {leg(true), leg(false), nil},
	} {
		t.Run(name, func(t *testing.T) {
			all, _ := replicas(t, 2)
			q := all[0].accept(t)
			if c.before != nil {
				now, next := all[0].next(t, q.ID)
				c.before(next)
				must(t, all[0].Advance(ctx(), now, next))
			}
			now, next := all[0].next(t, q.ID)
			c.step(next)
			all[1].behind(t, "a backup")
			if err := all[0].Advance(ctx(), now, next); !errors.Is(err, c.want) {
				t.Errorf("%v", err)
			}
			if _, after := all[0].next(t, q.ID); (c.want == nil) != (after.Updated != now.Updated) {
				t.Error("what is said of the step is not what became of it")
			}
		})
	}
}

// second opens the book of another process while the first one draws its key.
type second struct {
	io.Reader
	opens func()
}

func (s *second) Read(p []byte) (int, error) {
	s.opens()
	return s.Reader.Read(p)
}

// Processes that begin a book together give out continuations that each of them takes.
func TestProcessesThatBeginTogetherHaveOneKeyOfCursors(t *testing.T) {
	c, db := &clock{time.Unix(1_760_000_000, 0)}, storetest.NewDatabase()
	begin := func(r io.Reader) *shelf {
		s := db.Open()
		b, err := quotestore.Open(s, quotestore.Options{Clock: c.Now, Random: r})
		must(t, err)
		return &shelf{b, c, &counting{Store: s}, 1000 * int(s.Process())}
	}
	var one, two *shelf
	one = begin(&second{rand.NewChaCha8([32]byte{1}), func() { two = begin(rand.NewChaCha8([32]byte{2})) }})
	for range 3 {
		one.accept(t)
		two.accept(t)
	}
	var got []string
	q, at := quotestore.HistoryQuery{Limit: 1}, []*shelf{one, two}
	for {
		p := at[len(got)%2].page(t, q)
		got = append(got, ids(p)...)
		if q.Continuation = p.Continuation; q.Continuation == "" {
			break
		}
	}
	if len(got) != 6 {
		t.Errorf("%v", got)
	}
}
