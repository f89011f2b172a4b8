package pg_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"

	"coffer/api/service/store"
	"coffer/api/service/store/pg"
	"coffer/api/service/store/storetest"
)

// together runs Updates so that all but the first wait while that runs; they go on in any order.
func together(t *testing.T, s *pg.Store, all ...func(store.Tx) error) []error {
	t.Helper()
	out := make([]error, len(all))
	begun, goOn := make(chan struct{}), make(chan struct{})
	var ended sync.WaitGroup
	run := func(i int, fn func(store.Tx) error) {
		ended.Go(func() {
			defer func() {
				if p := recover(); p != nil {
					out[i] = fmt.Errorf("panicked: %v", p)
				}
			}()
			out[i] = s.Update(fn)
		})
	}
	run(0, func(tx store.Tx) error {
		close(begun)
		<-goOn
		return all[0](tx)
	})
	<-begun
	for i, fn := range all[1:] {
		run(i+1, fn)
	}
	for s.Waiting() < len(all)-1 {
		if t.Context().Err() != nil {
			t.Fatal("they do not come")
		}
	}
	close(goOn)
	ended.Wait()
	return out
}

// count adds one to a number, so that what was lost or done twice shows.
func count(tx store.Tx) error {
	b := tx.Bucket("b")
	n := 0
	if v := b.Get([]byte("n")); v != nil {
		if _, err := fmt.Sscan(string(v), &n); err != nil {
			return err
		}
	}
	return b.Put([]byte("n"), fmt.Append(nil, n+1))
}

func TestUpdatesThatWaitShareACommitAndSeeEachOther(t *testing.T) {
	address := storetest.Schema(t)
	s := storetest.Open(t, address)
	var all []func(store.Tx) error
	for i := range 20 {
		all = append(all, func(tx store.Tx) error {
			return errors.Join(count(tx), tx.Bucket("b").Put(fmt.Append(nil, "by ", i), nil))
		})
	}
	for i, err := range together(t, s, all...) {
		if err != nil {
			t.Errorf("%d: %v", i, err)
		}
	}
	c, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close(context.Background()) }()
	var commits int
	err = c.QueryRow(t.Context(), `select count(distinct xmin::text) from coffer_record where key <> 'n'`).
		Scan(&commits)
	if err != nil || commits > 10 {
		t.Errorf("20 updates took %d commits, %v", commits, err)
	}
	if got := get(t, s, "n"); got != "20" {
		t.Errorf("20 updates counted to %s", got)
	}
}

func TestAnUpdateThatFailsTakesNothingOfTheOthersWithIt(t *testing.T) {
	s := storetest.Open(t, storetest.Schema(t))
	mine := errors.New("not today")
	fails := func(tx store.Tx) error {
		return errors.Join(count(tx), tx.Bucket("b").Put([]byte("left"), []byte("over")), mine)
	}
	panics := func(tx store.Tx) error {
		_ = count(tx)
		panic("in the middle")
	}
	got := together(t, s, count, fails, count, panics, count, fails)
	for i, want := range []string{"", mine.Error(), "", "panicked: in the middle", "", mine.Error()} {
		if got[i] == nil && want != "" || got[i] != nil && got[i].Error() != want {
			t.Errorf("%d: %v, want %q", i, got[i], want)
		}
	}
	if n, left := get(t, s, "n"), get(t, s, "left"); n != "3" || left != "" {
		t.Errorf("counted to %s, with %q of what failed", n, left)
	}
	if err := s.Update(count); err != nil || get(t, s, "n") != "4" {
		t.Error("the next one: ", err)
	}
}

// What an update has seen of others is true only if they were committed: it fails with them, whatever it returned.
func TestACommitThatIsLostFailsForAllThatShareIt(t *testing.T) {
	l, way := newLine(t, storetest.Schema(t))
	s := storetest.Open(t, way)
	cut := func(tx store.Tx) error {
		err := count(tx)
		l.down.Store(true)
		l.cut()
		return err
	}
	said := func(tx store.Tx) error {
		if v := tx.Bucket("b").Get([]byte("n")); v != nil {
			return fmt.Errorf("there is %s", v)
		}
		return nil
	}
	for i, err := range together(t, s, count, cut, cut, said) {
		if err == nil || !errors.Is(err, store.ErrAway) {
			t.Errorf("%d: %v", i, err)
		}
	}
}

func TestACloseWaitsForASharedCommit(t *testing.T) {
	address := storetest.Schema(t)
	s := storetest.Open(t, address)
	var closed sync.WaitGroup
	got := together(t, s, func(tx store.Tx) error {
		closed.Go(func() { _ = s.Close() })
		return count(tx)
	}, count, count)
	closed.Wait()
	counted := 0
	for _, err := range got {
		if err == nil {
			counted++
		} else if !errors.Is(err, store.ErrClosed) {
			t.Error(err)
		}
	}
	if n := get(t, storetest.Open(t, address), "n"); n != fmt.Sprint(counted) {
		t.Errorf("%d were confirmed, and %s are there", counted, n)
	}
}

// BenchmarkUpdates is what many sagas do at once: each commit reads and writes a few records of its own.
func BenchmarkUpdates(b *testing.B) {
	s := storetest.Open(b, storetest.Schema(b))
	b.SetParallelism(8) // for each processor
	var number atomic.Int64
	b.RunParallel(func(p *testing.PB) {
		mine := number.Add(1)
		for i := 0; p.Next(); i++ {
			err := s.Update(func(tx store.Tx) error {
				records := tx.Bucket("b")
				for k := range 4 {
					key := fmt.Append(nil, mine, "/", (i+k)%100)
					if err := records.Put(key, append(records.Get(key)[:0], make([]byte, 500)...)); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				b.Error(err)
			}
		}
	})
}
