package history

import (
	"context"
	"runtime"
	"strconv"
	"testing"
	"time"

	"coffer/api"
	"coffer/ui/tui/internal/tuitest"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/screen"
)

// endless is a service with a million records, made on demand.
type endless struct{ n, calls int }

func (e *endless) History(_ context.Context, limit int, continuation string) (api.HistoryPage, error) {
	e.calls++
	from, _ := strconv.Atoi(continuation)
	to := min(from+limit, e.n)
	page := api.HistoryPage{Transactions: make([]api.HistoryRecord, 0, limit)}
	for i := from; i < to; i++ {
		page.Transactions = append(page.Transactions, tuitest.Record(i))
	}
	if to < e.n {
		page.Continuation = strconv.Itoa(to)
	}
	return page, nil
}

func heap() int64 {
	var s runtime.MemStats
	for range 3 { // a second collection frees unused texts
		runtime.GC()
	}
	runtime.ReadMemStats(&s)
	return int64(s.HeapAlloc)
}

// scrollTo pages down until n records are loaded and returns how long the keys took until their frame was drawn.
func scrollTo(m *Model, n int, f screen.Frame) (keys int, took time.Duration) {
	for m.book.count() < n {
		begun := time.Now()
		cmd := m.Update(kit.Press("pgdown"))
		m.View(f)
		took += time.Since(begun)
		keys++
		settle(m, cmd)
		if m.stopped() {
			settle(m, m.Update(kit.Press("m")))
		}
	}
	return keys, took
}

func TestMemoryStaysFlatWhileScrolling(t *testing.T) {
	base := heap()
	m := opened(t, &endless{n: 1_000_000}, 120, 35)
	f := screen.Frame{W: 120, H: 35, Theme: tuitest.Theme(), Now: tuitest.Now()}
	scrollTo(m, 10_000, f)
	before := heap() - base
	scrollTo(m, 40_000, f)
	after := heap() - base
	t.Logf("%d bytes a record at hand; %d KiB at 10 000 records, %d KiB at 40 000", before/10_000, before>>10,
		after>>10)
	if before > 10_000*1000 {
		t.Errorf("%d bytes for 10 000 records", before)
	}
	if after > before+before/10 {
		t.Errorf("%d bytes at 10 000 records and %d at 40 000", before, after)
	}
	if m.book.held > MaxRecords || m.book.count() != 40_000 {
		t.Errorf("%d of %d records are in memory", m.book.held, m.book.count())
	}
	runtime.KeepAlive(m)
}

func TestRowsThatWereGivenBackAreReadAgainWhenOneComesBack(t *testing.T) {
	e := &endless{n: 1_000_000}
	m := opened(t, e, 120, 35)
	f := screen.Frame{W: 120, H: 35, Theme: tuitest.Theme(), Now: tuitest.Now()}
	scrollTo(m, 20_000, f)
	for m.table.Selected() > 8_000 {
		pressed(m, "pgup")
	}
	for k := range 30 {
		i := m.table.Selected()
		if m.chosen == nil || m.chosen.id != tuitest.QuoteID(i) {
			t.Fatalf("after %d keys line %d is %v", k, i, m.chosen)
		}
		pressed(m, "up")
	}
}

func BenchmarkScroll100000(b *testing.B) {
	f := screen.Frame{W: 120, H: 35, Theme: tuitest.Theme(), Now: tuitest.Now()}
	for b.Loop() {
		base := heap()
		m := opened(b, &endless{n: 1_000_000}, 120, 35)
		keys, took := scrollTo(m, 10_000, f)
		first := heap() - base
		k, t := scrollTo(m, 100_000, f)
		last := heap() - base
		b.ReportMetric(float64(first), "B-at-10000")
		b.ReportMetric(float64(last), "B-at-100000")
		b.ReportMetric(float64(took+t)/float64(keys+k), "ns/key-to-frame")
		runtime.KeepAlive(m)
	}
}
