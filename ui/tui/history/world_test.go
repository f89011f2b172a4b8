package history

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"coffer/api"
	"coffer/ui/tui/internal/tuitest"
	"coffer/ui/tui/screen"
)

// world is a service whose continuations stay valid while records are added and change, until they expire: each marks
// the place after one record.
type world struct {
	truth  []api.HistoryRecord // newest first
	made   int
	size   int // of its pages
	tokens map[string]string
	n      int
	calls  int
}

func newWorld(n, size int) *world {
	w := &world{size: size, tokens: map[string]string{}}
	w.insert(n)
	return w
}

func (w *world) insert(n int) {
	for range n {
		r := tuitest.Record(0)
		w.made++
		r.QuoteID = fmt.Sprintf("0x%064x", w.made*7919)
		r.Timestamp = tuitest.Now().Add(-1e15).AddDate(0, 0, w.made).Format("2006-01-02T15:04:05Z")
		if r.Status = api.StatusCompleted; w.made%5 == 0 {
			r.Status = api.StatusInProgress
		}
		w.truth = slices.Insert(w.truth, 0, r)
	}
}

func (w *world) expire() { clear(w.tokens) }

func (w *world) index(id string) int {
	return slices.IndexFunc(w.truth, func(r api.HistoryRecord) bool { return r.QuoteID == id })
}

func (w *world) History(_ context.Context, limit int, continuation string) (api.HistoryPage, error) {
	w.calls++
	from := 0
	if continuation != "" {
		id, ok := w.tokens[continuation]
		if !ok {
			return api.HistoryPage{}, api.NewError(api.ErrValidation, "the continuation has expired")
		}
		from = w.index(id) + 1
	}
	to := min(from+min(limit, w.size), len(w.truth))
	page := api.HistoryPage{Transactions: slices.Clone(w.truth[from:to])}
	if to < len(w.truth) {
		w.n++
		page.Continuation = "t" + strconv.Itoa(w.n)
		w.tokens[page.Continuation] = w.truth[to-1].QuoteID
	}
	return page, nil
}

// gapless reports where the list departs from the service's: between two gaps every line is the next record of the
// service, in memory or not.
func gapless(m *Model, w *world) string {
	pos := -1 // of the previous record
	for _, s := range m.book.sections {
		if s.gap {
			pos = -1
		}
		for _, c := range s.chunks {
			if !c.held() {
				if pos >= 0 {
					pos += c.n
				}
				continue
			}
			if len(c.rows) != c.n {
				return fmt.Sprintf("a page says it has %d records and has %d", c.n, len(c.rows))
			}
			for _, r := range c.rows {
				at := w.index(r.id)
				if at < 0 || pos >= 0 && at != pos+1 {
					return fmt.Sprintf("record %d of the service follows record %d", at, pos)
				}
				if m.book.byID[r.id] != c || c.sec != s {
					return "a record is not where the book says"
				}
				pos = at
			}
		}
	}
	return ""
}

// counted compares the book's count with its content.
func counted(m *Model) string {
	held, seen := 0, map[string]bool{}
	m.book.each(func(r *record) bool { held++; seen[r.id] = true; return true })
	switch {
	case held != m.book.held:
		return fmt.Sprintf("%d records are in memory, the book says %d", held, m.book.held)
	case len(seen) != held:
		return "a record is there twice"
	case m.book.lines() < m.book.count():
		return "lines are missing"
	}
	return ""
}

func TestTheListIsTheServicesWhateverComesChangesOrExpires(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := newWorld(rapid.IntRange(0, 300).Draw(rt, "records"), rapid.IntRange(1, 60).Draw(rt, "page size"))
		ctx := tuitest.Context(t)
		m := still(ctx, w)
		m.most = rapid.SampledFrom([]int{60, 150, MaxRecords}).Draw(rt, "memory")
		defer m.Close()
		m.Update(screen.ResizedMsg{W: 80, H: 19})
		if n := rapid.IntRange(0, len(w.truth)).Draw(rt, "kept"); n > 0 && rapid.Bool().Draw(rt, "keeps") {
			skip := rapid.IntRange(0, len(w.truth)-n).Draw(rt, "newer")
			m.since = ctx.Clock()
			settle(m, m.Update(loadedMsg{rows: readerOf(ctx).page(w.truth[skip : skip+n]), at: ctx.Clock()}))
		} else {
			settle(m, m.Init())
		}
		for range rapid.IntRange(1, 25).Draw(rt, "steps") {
			step := rapid.SampledFrom([]string{"insert", "expire", "update", "size", "ctrl+r", "m", "G", "g", "pgdown",
				"pgup", "pgdown", "enter", "esc", "up"}).Draw(rt, "step")
			switch step {
			case "insert":
				w.insert(rapid.IntRange(1, 150).Draw(rt, "new"))
			case "expire":
				w.expire()
			case "update":
				for i := range w.truth {
					if w.truth[i].Status == api.StatusInProgress && i%3 == 0 {
						w.truth[i].Status = api.StatusCompleted
					}
				}
			case "size":
				w.size = rapid.IntRange(1, 60).Draw(rt, "page size")
			default:
				pressed(m, step)
			}
			if why := gapless(m, w); why != "" {
				rt.Fatalf("after %s: %s", step, why)
			}
			if why := counted(m); why != "" {
				rt.Fatalf("after %s: %s", step, why)
			}
		}
		readAll(rt, m, w)
	})
}

// readAll reads everything again and compares it, record by record, loading released rows.
func readAll(rt *rapid.T, m *Model, w *world) {
	pressed(m, "esc", "R")
	for n := 0; !m.ended(); n++ {
		if n > 2000 {
			rt.Fatalf("the end is never reached: %d of %d records, %d sections, stopped %q", m.book.count(),
				len(w.truth), len(m.book.sections), m.whyNoMore())
		}
		pressed(m, "G", "m")
	}
	if m.book.count() != len(w.truth) {
		rt.Fatalf("%d records, the service has %d", m.book.count(), len(w.truth))
	}
	pressed(m, "g")
	for i := range w.truth {
		if m.table.Selected() != i {
			rt.Fatalf("line %d is selected, want %d", m.table.Selected(), i)
		}
		if m.chosen == nil || m.chosen.id != w.truth[i].QuoteID || m.chosen.status.Value() != w.truth[i].Status {
			rt.Fatalf("line %d is not record %d of the service", i, i)
		}
		pressed(m, "down")
	}
}
