package quotestore_test

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"pgregory.net/rapid"

	"coffer/api"
	"coffer/api/service/quotestore"
	"coffer/api/service/store"
	"coffer/api/service/store/storetest"
)

type clock struct{ now time.Time }

func (c *clock) Now() time.Time { return c.now }

// shelf is a book on a store that counts the entries that scans look at.
type shelf struct {
	*quotestore.Book
	clock *clock
	store *counting
	n     int
}

func open(tb testing.TB) *shelf {
	tb.Helper()
	c := &clock{time.Unix(1_760_000_000, 0)}
	s := &counting{Store: storetest.New(tb)}
	b, err := quotestore.Open(s, quotestore.Options{Clock: c.Now, Random: rand.NewChaCha8([32]byte{1})})
	must(tb, err)
	return &shelf{b, c, s, 0}
}

func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

// counting counts visited entries of index scans.
type counting struct {
	store.Store
	visited atomic.Int64
}

func (c *counting) View(fn func(store.Tx) error) error {
	return c.Store.View(func(tx store.Tx) error { return fn(countingTx{tx, c}) })
}

type countingTx struct {
	store.Tx
	c *counting
}

func (t countingTx) Bucket(name string) store.Bucket { return countingBucket{t.Tx.Bucket(name), t.c} }

type countingBucket struct {
	store.Bucket
	c *counting
}

func (b countingBucket) Descend(from []byte, fn func(k, v []byte) bool) {
	b.Bucket.Descend(from, func(k, v []byte) bool { b.c.visited.Add(1); return fn(k, v) })
}

func (b countingBucket) Reporting(report func(error)) store.Bucket {
	return countingBucket{b.Bucket.Reporting(report), b.c}
}

const (
	alice = "0xAbCdEf0000000000000000000000000000000001"
	carol = "EB8Hi4LoqUVCGUPJ2y9MsHbEsJQJvmpQRUWrLpjEZxC6"
	usdc  = "eip155:8453/erc20:0x833589fcd6edb6e08f4c7c32d4f71b54bda02913"
)

// offer issues a quote of alice and carol with one leg of 10 and a requirement of 30 of which 20 are there.
func (s *shelf) offer(tb testing.TB) *quotestore.Quote {
	tb.Helper()
	return s.offerAs(tb, fmt.Sprintf("0x%064x", s.n+1))
}

func (s *shelf) offerAs(tb testing.TB, id string) *quotestore.Quote {
	tb.Helper()
	s.n++
	at := uint64(s.clock.now.Unix())
	hash := common.BigToHash(big.NewInt(int64(s.n)))
	owner := common.HexToAddress(alice)
	nonce := fmt.Sprint(s.n)
	q := &quotestore.Quote{
		ID: id, OpHash: hash, ChainID: 8453, Owner: owner, Expires: at + 30, ValidUntil: at + 600, Type: api.RecordCall,
		Accounts: []api.Account{{Type: api.AccountKernelV31, AccountAddress: alice},
			{Type: api.AccountSolana, AccountAddress: carol}},
		Legs: []quotestore.Leg{{ChainID: 10, Pays: quotestore.Amount{Asset: "eip155:10/slip44:60",
			Value: big.NewInt(10)},
			Op: api.UserOp{Sender: "0xaa", Nonce: nonce}, Signature: "0x01"}},
		Fills:    []quotestore.Fill{{Delivers: quotestore.Amount{Asset: usdc, Value: big.NewInt(10)}}},
		Required: []quotestore.Amount{{Asset: usdc, Value: big.NewInt(30)}},
	}
	doc := fmt.Sprintf(
		`{"id":%q,"originToken":{"aggregatedAssetId":"ob:usdc","amount":"1","assetType":[],"fiatValue":[]},`+
			`"destinationToken":{"aggregatedAssetId":"ob:usdc","amount":"30","assetType":%q,"fiatValue":"1.00"}}`, q.ID,
		usdc)
	c := quotestore.Context{OpHash: hash, ChainID: 8453, Owner: owner, ValidUntil: q.ValidUntil,
		Op: api.UserOp{Sender: "0xaa", Nonce: nonce}, Signature: "0x02"}
	must(tb, s.Keep(ctx(), c))
	must(tb, s.Offer(ctx(), q, []byte(doc), c))
	return q
}

func ctx() context.Context { return context.Background() }

// take accepts a quote as settlement does that saw everything a moment ago.
func (s *shelf) take(q *quotestore.Quote) error {
	c, _, err := s.Context(ctx(), q.OpHash)
	if err != nil {
		return err
	}
	seen, err := s.Latest(ctx(), q.Owner.Hex(), q.SolanaOwner)
	return errors.Join(err, s.Accept(ctx(), q, c, seen))
}

// step writes the next record over whatever the record is now.
func (s *shelf) step(next *quotestore.Quote) error {
	now, err := s.Quote(ctx(), next.ID)
	if err != nil {
		return err
	}
	return s.Advance(ctx(), now, next)
}

func (s *shelf) pledged(tb testing.TB, owner string, assets ...string) string {
	tb.Helper()
	all, err := s.Pledged(ctx(), owner)
	must(tb, err)
	var sums []string
	for _, a := range assets {
		sums = append(sums, all.Of(a).String())
	}
	return strings.Join(sums, " ")
}

func (s *shelf) listed(tb testing.TB) []string {
	tb.Helper()
	open, err := s.Open(ctx())
	must(tb, err)
	return open
}

func (s *shelf) accept(tb testing.TB) *quotestore.Quote {
	tb.Helper()
	q := s.offer(tb)
	must(tb, s.take(q))
	return q
}

func (s *shelf) save(tb testing.TB, q *quotestore.Quote, status string) {
	tb.Helper()
	q.Status = status
	must(tb, s.step(q))
}

func (s *shelf) page(tb testing.TB, q quotestore.HistoryQuery) api.HistoryPage {
	tb.Helper()
	if q.User == "" {
		q.User = alice
	}
	page, err := s.History(context.Background(), q)
	p := page.HistoryPage
	must(tb, err)
	return p
}

func ids(p api.HistoryPage) []string {
	var out []string
	for _, r := range p.Transactions {
		out = append(out, strings.TrimLeft(r.QuoteID[2:], "0"))
	}
	return out
}

func refusedCursor(tb testing.TB, err error) {
	tb.Helper()
	var e *api.Error
	if !errors.As(err, &e) || e.StatusCode != 400 || e.Details[0].Path != "continuation" {
		tb.Fatalf("expected a refused continuation, got %v", err)
	}
}

func TestHistoryIsNewestFirstUnderEveryAccount(t *testing.T) {
	s := open(t)
	for range 3 {
		s.accept(t)
	}
	for _, user := range []string{alice, strings.ToLower(alice), "0x" + strings.ToUpper(alice[2:]), carol} {
		p := s.page(t, quotestore.HistoryQuery{User: user})
		if got := ids(p); !slices.Equal(got, []string{"3", "2", "1"}) || p.Continuation != "" ||
			p.Transactions[0].User != alice {
			t.Errorf("%s: %v %q", user, got, p.Continuation)
		}
	}
	if p := s.page(t, quotestore.HistoryQuery{User: strings.ToLower(carol)}); len(p.Transactions) != 0 {
		t.Error("a Solana address was matched without its case")
	}
}

func TestAnOfferIsNoRecord(t *testing.T) {
	s := open(t)
	q := s.offer(t)
	if p := s.page(t, quotestore.HistoryQuery{}); len(p.Transactions) != 0 {
		t.Error("an offer is in the history")
	}
	if _, known, err := s.Status(context.Background(), q.ID); known || err != nil {
		t.Errorf("an offer has a status (%v)", err)
	}
	if _, known, err := s.Status(context.Background(), "0x"+strings.Repeat("f", 64)); known || err != nil {
		t.Errorf("an unknown id has a status (%v)", err)
	}
}

func TestStatusOfAPendingQuoteListsItsOperationsEvenWhenThereAreNone(t *testing.T) {
	s := open(t)
	q := s.accept(t)
	status, known, err := s.Status(context.Background(), "0x"+strings.ToUpper(q.ID[2:]))
	must(t, err)
	doc, err := api.Encode(status)
	must(t, err)
	raw, ok := doc.At("/originChainOperations")
	if !known || !ok || string(raw) != "[]" || status.Status != api.StatusPending || status.FailReason != "" {
		t.Errorf("%s", doc.Raw())
	}
}

func TestPagesByCreationAreStableWhileRecordsArrive(t *testing.T) {
	s := open(t)
	for range 7 {
		s.accept(t)
	}
	var got []string
	q := quotestore.HistoryQuery{Limit: 3}
	for {
		p := s.page(t, q)
		got = append(got, ids(p)...)
		if p.Continuation == "" {
			break
		}
		s.accept(t) // arrives in between
		q.Continuation = p.Continuation
	}
	if !slices.Equal(got, []string{"7", "6", "5", "4", "3", "2", "1"}) {
		t.Errorf("pages %v", got)
	}
}

// TestPagesByUpdateShowTheirMomentExactly: whatever is accepted or updated between pages, the pages together show every
// record of the first page's moment once, in the order of that moment.
func TestPagesByUpdateShowTheirMomentExactly(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := open(t)
		var quotes []*quotestore.Quote
		var order []string // by last update, oldest first
		act := func() {
			s.clock.now = s.clock.now.Add(time.Duration(rapid.IntRange(-2, 3).Draw(rt, "tick")) * time.Second)
			if len(quotes) == 0 || rapid.IntRange(0, 2).Draw(rt, "act") == 0 {
				quotes = append(quotes, s.accept(t))
			} else {
				s.save(t, quotes[rapid.IntRange(0, len(quotes)-1).Draw(rt, "which")], api.StatusInProgress)
			}
			must(t, s.Sweep(ctx()))
		}
		for range rapid.IntRange(1, 25).Draw(rt, "before") {
			act()
		}
		for _, r := range s.page(t, quotestore.HistoryQuery{Limit: 100, SortBy: quotestore.SortUpdated}).Transactions {
			order = append(order, r.QuoteID)
		}
		if len(order) != len(quotes) {
			rt.Fatalf("%d records, %d quotes", len(order), len(quotes))
		}
		var got []string
		q := quotestore.HistoryQuery{Limit: rapid.IntRange(1, 5).Draw(rt, "limit"), SortBy: quotestore.SortUpdated}
		for {
			p := s.page(t, q)
			for _, r := range p.Transactions {
				got = append(got, r.QuoteID)
			}
			if p.Continuation == "" {
				break
			}
			q.Continuation = p.Continuation
			for range rapid.IntRange(0, 4).Draw(rt, "between") {
				act()
			}
		}
		if !slices.Equal(got, order) {
			rt.Fatalf("pages %v, expected %v", got, order)
		}
	})
}

func TestAlteredForeignOrExpiredContinuationIsRefused(t *testing.T) {
	s := open(t)
	for range 5 {
		s.accept(t)
	}
	ask := func(q quotestore.HistoryQuery) error { _, err := s.History(context.Background(), q); return err }
	c := s.page(t, quotestore.HistoryQuery{Limit: 2}).Continuation
	for i := range len(c) {
		other := byte('A')
		if c[i] == 'A' {
			other = 'B'
		}
		refusedCursor(t, ask(quotestore.HistoryQuery{User: alice, Continuation: c[:i] + string(other) + c[i+1:]}))
	}
	refusedCursor(t, ask(quotestore.HistoryQuery{User: alice, Continuation: c + "A"}))
	refusedCursor(t, ask(quotestore.HistoryQuery{User: alice, Continuation: "%%"}))
	refusedCursor(t, ask(quotestore.HistoryQuery{User: carol, Continuation: c}))
	refusedCursor(t, ask(quotestore.HistoryQuery{User: alice, Continuation: c, SortBy: quotestore.SortUpdated}))
	s.clock.now = s.clock.now.Add(quotestore.DefaultCursorLifetime)
	must(t, ask(quotestore.HistoryQuery{User: alice, Continuation: c}))
	s.clock.now = s.clock.now.Add(time.Second)
	refusedCursor(t, ask(quotestore.HistoryQuery{User: alice, Continuation: c}))
}

func TestContinuationSurvivesARestart(t *testing.T) {
	s := open(t)
	for range 5 {
		s.accept(t)
	}
	c := s.page(t, quotestore.HistoryQuery{Limit: 2}).Continuation
	again, err := quotestore.Open(s.store, quotestore.Options{Clock: s.clock.Now, Random: rand.NewChaCha8([32]byte{9})})
	must(t, err)
	page, err := again.History(context.Background(), quotestore.HistoryQuery{User: alice, Limit: 2, Continuation: c})
	p := page.HistoryPage
	must(t, err)
	if got := ids(p); !slices.Equal(got, []string{"3", "2"}) {
		t.Errorf("page %v", got)
	}
}

func TestPageCostDoesNotGrowWithTheHistory(t *testing.T) {
	for _, sort := range []string{quotestore.SortCreated, quotestore.SortUpdated} {
		var costs []int64
		for _, length := range []int{50, 2000} {
			s := open(t)
			for i := range length {
				q := s.accept(t)
				for range 4 {
					s.save(t, q, api.StatusInProgress)
				}
				s.save(t, q, api.StatusCompleted)
				if i == length/2 {
					s.clock.now = s.clock.now.Add(time.Second)
				}
			}
			first := s.page(t, quotestore.HistoryQuery{Limit: 20, SortBy: sort})
			s.store.visited.Store(0)
			s.page(t, quotestore.HistoryQuery{Limit: 20, SortBy: sort, Continuation: first.Continuation})
			costs = append(costs, s.store.visited.Load())
		}
		if costs[0] != costs[1] || costs[0] > 21*6 {
			t.Errorf("%s: a page looks at %v entries", sort, costs)
		}
	}
}

func TestSweepForgetsReplacedIndexEntriesWithTheirCursors(t *testing.T) {
	s := open(t)
	q := s.accept(t)
	for range 100 {
		s.save(t, q, api.StatusInProgress)
	}
	count := func() int {
		n := 0
		must(t, s.store.View(func(tx store.Tx) error {
			tx.Bucket("book-updated").Ascend(nil, func(_, _ []byte) bool { n++; return true })
			return nil
		}))
		return n
	}
	if n := count(); n != 202 { // two accounts
		t.Fatalf("%d entries", n)
	}
	s.clock.now = s.clock.now.Add(quotestore.DefaultCursorLifetime + time.Second)
	must(t, s.Sweep(ctx()))
	if n := count(); n != 202 {
		t.Errorf("%d entries after a sweep in the last second of a cursor", n)
	}
	s.clock.now = s.clock.now.Add(time.Second)
	must(t, s.Sweep(ctx()))
	if n := count(); n != 2 {
		t.Errorf("%d entries after the sweep", n)
	}
	if got := ids(s.page(t, quotestore.HistoryQuery{SortBy: quotestore.SortUpdated})); !slices.Equal(got,
		[]string{"1"}) {
		t.Errorf("page %v", got)
	}
}

// A cursor lives to the end of its last second, whatever fraction of a second it was made at.
func TestAPageByUpdateIsWholeInTheLastSecondOfItsCursor(t *testing.T) {
	s := open(t)
	s.clock.now = s.clock.now.Truncate(time.Second).Add(100 * time.Millisecond)
	begun := s.clock.now
	s.accept(t)
	second := s.accept(t)
	s.accept(t)
	first := s.page(t, quotestore.HistoryQuery{SortBy: quotestore.SortUpdated, Limit: 1})
	rest := quotestore.HistoryQuery{SortBy: quotestore.SortUpdated, Limit: 10, Continuation: first.Continuation}
	want := ids(s.page(t, rest))
	if len(want) != 2 {
		t.Fatalf("%v", want)
	}
	s.clock.now = begun.Add(50 * time.Millisecond)
	s.save(t, second, api.StatusInProgress)
	s.clock.now = begun.Add(quotestore.DefaultCursorLifetime + 500*time.Millisecond)
	must(t, s.Sweep(ctx()))
	if got := ids(s.page(t, rest)); !slices.Equal(got, want) {
		t.Errorf("%v, before %v", got, want)
	}
}

func TestPledgesLastWhileTheQuoteCanTakeThem(t *testing.T) {
	s := open(t)
	q := s.offer(t)
	want := func(expected string) {
		t.Helper()
		if got := s.pledged(t, q.Owner.Hex(), "eip155:10/slip44:60", usdc); got != expected {
			t.Errorf("pledged %s, expected %s", got, expected)
		}
	}
	want("0 0")
	must(t, s.take(q))
	want("10 20")
	q = q.Clone()
	q.Legs[0].State = quotestore.LegDeposited
	s.save(t, q, api.StatusInProgress)
	want("0 20")
	q = q.Clone()
	s.save(t, q, api.StatusExecuted)
	want("0 0")
}

func TestSecondAcceptOfAnOperationOrNonceIsRefused(t *testing.T) {
	s := open(t)
	q := s.accept(t)
	try := func(q *quotestore.Quote, want error) {
		t.Helper()
		if err := s.take(q); !errors.Is(err, want) {
			t.Errorf("%v, expected %v", err, want)
		}
	}
	try(q, quotestore.ErrAlreadyAccepted)
	other := s.offer(t)
	sameOp := other.Clone()
	sameOp.OpHash = q.OpHash
	try(sameOp, quotestore.ErrContextGone)
	sameNonce := other.Clone()
	sameNonce.Legs[0].Op.Nonce = q.Legs[0].Op.Nonce
	try(sameNonce, quotestore.ErrClaimed)
	q = q.Clone()
	s.save(t, q, api.StatusFailed)
	try(sameNonce, nil)
}

func TestSignedOperationsAreGoneWithTheEnd(t *testing.T) {
	for _, status := range []string{api.StatusCompleted, api.StatusRefunded, api.StatusFailed} {
		s := open(t)
		q := s.accept(t)
		s.save(t, q, status)
		if _, found, err := s.Context(ctx(), q.OpHash); found || err != nil {
			t.Errorf("%s: the prepared operation is still there (%v)", status, err)
		}
		kept, err := s.Quote(ctx(), q.ID)
		if err != nil || kept.Legs[0].Signature != "" {
			t.Errorf("%s: the funding signature is still there (%v)", status, err)
		}
		if err := s.step(q); err == nil {
			t.Errorf("%s took another step", status)
		}
	}
}

func TestSweepErasesSignedOperationsWhenTheirWindowEnds(t *testing.T) {
	s := open(t)
	offered, running := s.offer(t), s.accept(t)
	s.clock.now = s.clock.now.Add(601 * time.Second)
	must(t, s.Sweep(ctx()))
	if _, found, _ := s.Context(ctx(), offered.OpHash); found {
		t.Error("an ended context is still there")
	}
	if _, err := s.Quote(ctx(), offered.ID); !errors.Is(err, quotestore.ErrUnknownQuote) {
		t.Errorf("an ended offer is still there (%v)", err)
	}
	if _, found, _ := s.Context(ctx(), running.OpHash); !found {
		t.Error("the context of an executing quote was swept away")
	}
	if _, err := s.Quote(ctx(), running.ID); err != nil {
		t.Error(err)
	}
}

// What a cursor needs is kept for the lifetime that the book is opened with, whatever it was when the cursor was made.
func TestContinuationEndsWithTheShorterOfTwoLifetimes(t *testing.T) {
	s := open(t)
	first := s.accept(t)
	s.accept(t)
	s.accept(t)
	for _, c := range []struct {
		made, now, age time.Duration
		good           bool
	}{
		{time.Hour, time.Minute, 2 * time.Minute, false}, {time.Minute, time.Hour, 2 * time.Minute, false},
		{time.Hour, time.Minute, time.Minute, true},
	} {
		with := func(life time.Duration) *quotestore.Book {
			b, err := quotestore.Open(s.store, quotestore.Options{Clock: s.clock.Now,
				Random:         rand.NewChaCha8([32]byte{1}),
				CursorLifetime: life})
			must(t, err)
			return b
		}
		q := quotestore.HistoryQuery{User: alice, Limit: 2, SortBy: quotestore.SortUpdated}
		page, err := with(c.made).History(context.Background(), q)
		must(t, err)
		s.save(t, first, api.StatusInProgress)
		s.clock.now = s.clock.now.Add(c.age)
		b := with(c.now)
		must(t, b.Sweep(ctx()))
		q.Continuation = page.Continuation
		page, err = b.History(context.Background(), q)
		if !c.good {
			refusedCursor(t, err)
		} else if must(t, err); len(page.Transactions) != 1 {
			t.Errorf("%d records follow", len(page.Transactions))
		}
	}
}

func FuzzContinuation(f *testing.F) {
	s := open(f)
	for range 3 {
		s.accept(f)
	}
	good := s.page(f, quotestore.HistoryQuery{Limit: 1}).Continuation
	f.Add(good)
	f.Add(good[:60] + "\n" + good[60:]) // base64 passes over line ends
	f.Add("")
	f.Add("AQ")
	f.Fuzz(func(t *testing.T, c string) {
		p, err := s.History(context.Background(), quotestore.HistoryQuery{User: alice, Limit: 1, Continuation: c})
		if c == "" || c == good {
			must(t, err)
			return
		}
		if err == nil {
			t.Errorf("a made-up continuation gave %v", ids(p.HistoryPage))
		}
	})
}

func BenchmarkHistoryPage(b *testing.B) {
	s := open(b)
	for range 2000 {
		q := s.accept(b)
		s.save(b, q, api.StatusCompleted)
	}
	for b.Loop() {
		s.page(b, quotestore.HistoryQuery{Limit: 20})
	}
}

func TestOneEntryTooManyDoesNotStopTheSweep(t *testing.T) {
	s := open(t)
	q := s.offer(t)
	must(t, s.store.Update(func(tx store.Tx) error { return tx.Bucket("book-quote").Delete([]byte(q.ID)) }))
	kept := s.offer(t)
	s.clock.now = s.clock.now.Add(time.Hour)
	must(t, s.Sweep(ctx()))
	if _, err := s.Quote(ctx(), kept.ID); !errors.Is(err, quotestore.ErrUnknownQuote) {
		t.Errorf("the offer behind the entry is still there: %v", err)
	}
}

func TestClaimsEndWithTheQuoteEvenIfItsOperationIsGone(t *testing.T) {
	s := open(t)
	q := s.accept(t)
	must(t, s.store.Update(func(tx store.Tx) error { return tx.Bucket("book-context").Delete(q.OpHash[:]) }))
	s.save(t, q, api.StatusFailed)
	s.n-- // the same nonce again
	next := s.offerAs(t, fmt.Sprintf("0x%064x", 99))
	must(t, s.take(next))
}

func TestAQuoteIsCompletedBeforeItsDepositsAreSettledAndTakesNoOtherStatus(t *testing.T) {
	s := open(t)
	q := s.accept(t).Clone()
	q.Legs[0].State = quotestore.LegDeposited
	s.save(t, q, api.StatusCompleted)
	if q.Done() || len(s.listed(t)) != 1 {
		t.Fatal("a quote with a deposit in escrow is done")
	}
	for _, status := range []string{api.StatusExecuted, api.StatusRefunded, api.StatusFailed} {
		back := q.Clone()
		back.Status = status
		if err := s.step(back); err == nil {
			t.Errorf("COMPLETED became %s", status)
		}
	}
	q = q.Clone()
	q.Legs[0].State = quotestore.LegReleased
	s.save(t, q, api.StatusCompleted)
	if !q.Done() || len(s.listed(t)) != 0 {
		t.Error("a settled quote is not done")
	}
	if err := s.step(q.Clone()); err == nil {
		t.Error("a quote that is done took a further step")
	}
}
