package quotestore_test

import (
	"context"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"math/big"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/service/quotestore"
	"coffer/api/service/store"
	"coffer/api/service/store/pg"
	"coffer/api/service/store/storetest"
)

// Figures of the store that BenchmarkHistory reads: batch records in one commit, 25 seconds between two of them.
const (
	benchBatch = 10_000
	benchTick  = 25 * time.Second
)

var longest = flag.Int("history", 100_000, "records of the longer history that BenchmarkHistory reads")

// BenchmarkHistory reads one page of 20 records out of a history of a thousand records and out of a longer one
// (-history RECORDS), in turn, so that whatever else the machine does befalls both: in files or, with -postgres, in
// databases that the files are imported into; the newest page and one from the middle, in both orders, and the newest
// while another writes. The figures are of both, and "ratio" is what the longer one takes of the other's time, in the
// middle. A million records take a quarter of an hour to make.
func BenchmarkHistory(b *testing.B) {
	both := [2]*long{newLong(b, 1_000), newLong(b, *longest)}
	for _, order := range []string{quotestore.SortCreated, quotestore.SortUpdated} {
		first := quotestore.HistoryQuery{User: alice, Limit: quotestore.DefaultPage, SortBy: order}
		middle := [2]quotestore.HistoryQuery{first, first}
		b.Run(order+"/first", func(b *testing.B) { compare(b, both, [2]quotestore.HistoryQuery{first, first}) })
		for i, records := range []int{1_000, *longest} {
			middle[i].Continuation = both[i].cursor(b, order, records/2)
		}
		b.Run(order+"/middle", func(b *testing.B) { compare(b, both, middle) })
		if order == quotestore.SortUpdated {
			continue
		}
		b.Run(order+"/first/writes", func(b *testing.B) {
			for _, l := range both {
				defer l.writes(b)()
			}
			compare(b, both, [2]quotestore.HistoryQuery{first, first})
		})
	}
}

// compare reads one page of each of two histories again and again.
func compare(b *testing.B, both [2]*long, ask [2]quotestore.HistoryQuery) {
	b.Helper()
	var took [2][]time.Duration
	for b.Loop() {
		for i, l := range both {
			began := time.Now()
			page, err := l.History(context.Background(), ask[i])
			took[i] = append(took[i], time.Since(began))
			must(b, err)
			if len(page.Transactions) != quotestore.DefaultPage {
				b.Fatalf("%d records", len(page.Transactions))
			}
		}
	}
	at := func(i, percent int) float64 { return float64(took[i][len(took[i])*percent/100].Microseconds()) }
	for i, name := range []string{"short", "long"} {
		slices.Sort(took[i])
		b.ReportMetric(at(i, 50), name+"-p50-µs")
		b.ReportMetric(at(i, 99), name+"-p99-µs")
	}
	b.ReportMetric(at(1, 50)/at(0, 50), "ratio")
}

// long is a book with a long history of alice and carol.
type long struct {
	*quotestore.Book
	clock *clock
	dice  *rand.ChaCha8
}

func newLong(b *testing.B, records int) *long {
	b.Helper()
	path := filepath.Join(b.TempDir(), "coffer.db")
	file, err := store.OpenBolt(path, store.BoltOptions{})
	must(b, err)
	s := &batched{Store: file}
	b.Cleanup(func() { must(b, s.Close()) })
	l := &long{clock: &clock{time.Unix(1_760_000_000, 0)}, dice: rand.NewChaCha8([32]byte{7})}
	l.Book, err = quotestore.Open(s, quotestore.Options{Clock: l.clock.Now, Random: l.dice})
	must(b, err)
	for done := 0; done < records; done += benchBatch {
		must(b, s.together(func() error {
			for range min(benchBatch, records-done) {
				l.clock.now = l.clock.now.Add(benchTick)
				if err := l.write(); err != nil {
					return err
				}
			}
			return nil
		}))
	}
	if storetest.PostgreSQL() {
		must(b, file.Close())
		s.Store = imported(b, path)
	}
	return l
}

// imported is a store in PostgreSQL with the records of a file.
func imported(b *testing.B, path string) store.Store {
	b.Helper()
	address := storetest.Schema(b)
	a, err := pg.ParseAddress(address)
	must(b, err)
	must(b, pg.Import(b.Context(), a, pg.Options{}, func(each func(bucket string, key, value []byte) error) error {
		return store.EachOfFile(path, each)
	}))
	storetest.Exec(b, address, "vacuum analyze coffer_record")
	return storetest.Open(b, address)
}

// writes keeps writing until the benchmark ends.
func (l *long) writes(b *testing.B) (end func()) {
	b.Helper()
	ctx, stop := context.WithCancel(b.Context())
	var one sync.WaitGroup
	one.Go(func() {
		for ctx.Err() == nil {
			if err := l.write(); err != nil {
				b.Error(err)
				return
			}
		}
	})
	return func() { stop(); one.Wait() }
}

// write makes one completed record through the book's own steps, under a random id as real ones have.
func (l *long) write() error {
	var id [32]byte
	if _, err := l.dice.Read(id[:]); err != nil {
		return err
	}
	nonce := new(big.Int).SetBytes(id[:8]).String()
	now := uint64(l.clock.now.Unix())
	q := &quotestore.Quote{
		ID: "0x" + hex.EncodeToString(id[:]), ChainID: 8453, Owner: common.HexToAddress(alice), Expires: now + 30,
		ValidUntil: now + 600, Type: api.RecordSwap,
		Accounts: []api.Account{{Type: api.AccountKernelV31, AccountAddress: alice},
			{Type: api.AccountSolana, AccountAddress: carol}},
		Legs: []quotestore.Leg{{ChainID: 10, Pays: quotestore.Amount{Asset: "eip155:10/slip44:60",
			Value: big.NewInt(10)},
			Op: api.UserOp{Sender: "0xaa", Nonce: nonce}, Signature: "0x01"}},
		Fills: []quotestore.Fill{{Delivers: quotestore.Amount{Asset: usdc, Value: big.NewInt(10)}}},
	}
	document := fmt.Sprintf(
		`{"id":%q,"originToken":{"aggregatedAssetId":"ob:eth","amount":"1","assetType":[],"fiatValue":[]},`+
			`"destinationToken":{"aggregatedAssetId":"ob:usdc","amount":"30","assetType":%q,"fiatValue":"1.00"}}`, q.ID,
		usdc)
	if err := errors.Join(l.Offer(ctx(), q, []byte(document), quotestore.Context{}), l.accept(q)); err != nil {
		return err
	}
	for _, status := range []string{api.StatusInProgress, api.StatusExecuted, api.StatusCompleted} {
		before := q
		q = q.Clone()
		if q.Status = status; status == api.StatusInProgress {
			q.Legs[0].State = quotestore.LegDeposited
			q.Origin = append(q.Origin, quotestore.Ref{ChainID: 10, Hash: common.Hash(id)})
		}
		if err := l.Advance(ctx(), before, q); err != nil {
			return err
		}
	}
	return nil
}

func (l *long) accept(q *quotestore.Quote) error {
	seen, err := l.Latest(ctx(), alice, "")
	return errors.Join(err, l.Accept(ctx(), q, quotestore.Context{}, seen))
}

// batched is a store whose updates are one commit for a while: what a book writes in it is durable at its end.
type batched struct {
	store.Store
	tx store.Tx
}

func (s *batched) together(fn func() error) error {
	return s.Store.Update(func(tx store.Tx) error {
		s.tx = tx
		defer func() { s.tx = nil }()
		return fn()
	})
}

func (s *batched) Update(fn func(store.Tx) error) error {
	if s.tx != nil {
		return fn(s.tx)
	}
	return s.Store.Update(fn)
}

func (s *batched) View(fn func(store.Tx) error) error {
	if s.tx != nil {
		return fn(s.tx)
	}
	return s.Store.View(fn)
}

// cursor walks to the place after the given number of records.
func (l *long) cursor(b *testing.B, order string, after int) string {
	b.Helper()
	q := quotestore.HistoryQuery{User: alice, Limit: quotestore.MaxPage, SortBy: order}
	for seen := 0; seen < after; seen += quotestore.MaxPage {
		page, err := l.History(context.Background(), q)
		must(b, err)
		if q.Continuation = page.Continuation; q.Continuation == "" {
			b.Fatalf("the history ends after %d records", seen)
		}
	}
	return q.Continuation
}
