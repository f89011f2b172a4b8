package history

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/exp/golden"
	"pgregory.net/rapid"

	"coffer/api"
	"coffer/api/amount"
	"coffer/api/network"
	"coffer/ui/tui/internal/tuitest"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/screen"
	"coffer/wallet/verify"
)

// service pages through records[new:]; a continuation is the index of the next record and its epoch.
type service struct {
	records []api.HistoryRecord
	epoch   int
	calls   int
	err     error
}

func (s *service) History(_ context.Context, limit int, continuation string) (api.HistoryPage, error) {
	s.calls++
	if s.err != nil {
		return api.HistoryPage{}, s.err
	}
	from := 0
	if continuation != "" {
		epoch, at, _ := strings.Cut(continuation, ":")
		if epoch != strconv.Itoa(s.epoch) {
			return api.HistoryPage{}, api.NewError(api.ErrValidation, "continuation has expired")
		}
		from, _ = strconv.Atoi(at)
	}
	to := min(from+limit, len(s.records))
	page := api.HistoryPage{Transactions: s.records[from:to]}
	if to < len(s.records) {
		page.Continuation = fmt.Sprintf("%d:%d", s.epoch, to)
	}
	return page, nil
}

func (s *service) add(n int) {
	var fresh []api.HistoryRecord
	for i := range n {
		fresh = append(fresh, tuitest.Record(-len(s.records)-n+i))
	}
	s.records = append(fresh, s.records...)
}

func records(n int) *service {
	s := &service{}
	for i := range n {
		s.records = append(s.records, tuitest.Record(i))
	}
	return s
}

// settle runs commands until nothing more happens, and returns the messages for the shell.
func settle(m *Model, cmd tea.Cmd) (out []tea.Msg) {
	queue := []tea.Cmd{cmd}
	for len(queue) > 0 {
		c := queue[0]
		queue = queue[1:]
		if c == nil {
			continue
		}
		switch msg := c().(type) {
		case tea.BatchMsg:
			queue = append(queue, msg...)
		case pageMsg, loadedMsg, savedMsg, exportedMsg, stillMsg:
			queue = append(queue, m.Update(msg))
		default:
			out = append(out, msg)
		}
	}
	return out
}

// pressed presses keys in order and lets everything settle after each.
func pressed(m *Model, keys ...string) (out []tea.Msg) {
	for _, k := range keys {
		out = append(out, settle(m, m.Update(kit.Press(k)))...)
	}
	return out
}

// typed presses the characters of a text.
func typed(m *Model, text string) {
	for _, r := range text {
		key := string(r)
		if r == ' ' {
			key = "space"
		}
		settle(m, m.Update(kit.Press(key)))
	}
}

// still is a screen whose timers never end, but the one that shows details.
func still(ctx screen.Context, src Source) *Model {
	m := New(ctx, src)
	m.later = func(_ time.Duration, msg tea.Msg) tea.Cmd {
		if _, ok := msg.(stillMsg); ok {
			return func() tea.Msg { return msg }
		}
		return nil
	}
	return m
}

func opened(t testing.TB, src Source, w, h int) *Model {
	return openedWith(t, tuitest.Context(t), src, w, h)
}

func openedWith(t testing.TB, ctx screen.Context, src Source, w, h int) *Model {
	m := still(ctx, src)
	m.Update(screen.ResizedMsg{W: w, H: h})
	settle(m, m.Init())
	t.Cleanup(m.Close)
	return m
}

func ids(m *Model) []string {
	var out []string
	m.book.each(func(r *record) bool { out = append(out, r.id); return true })
	return out
}

func wantAll(t *testing.T, m *Model, s *service, n int) {
	t.Helper()
	got := ids(m)
	if len(got) != n {
		t.Fatalf("%d records are held, want %d", len(got), n)
	}
	for i, id := range got {
		if id != s.records[i].QuoteID {
			t.Fatalf("record %d is %s, want %s", i, id, s.records[i].QuoteID)
		}
	}
}

func TestGoldenScreens(t *testing.T) {
	for _, size := range []struct {
		name string
		w, h int
	}{{"80x24", 80, 19}, {"120x40", 120, 35}} {
		for _, c := range []struct {
			name string
			n    int
			keys []string
		}{
			{"more below", 240, []string{"down", "down"}},
			{"end", 7, []string{"G"}},
			{"details", 60, []string{"down", "down", "enter"}},
			{"unknown status", 60, []string{"down", "down", "down", "down", "down", "down", "enter"}},
			{"filtered", 60, []string{"/", "r", "e", "f", "u", "n", "enter"}},
			{"filter without match", 60, []string{"/", "z", "z"}},
			{"nothing yet", 0, nil},
		} {
			t.Run(c.name+" "+size.name, func(t *testing.T) {
				m := opened(t, records(c.n), size.w, size.h)
				for _, k := range c.keys {
					settle(m, m.Update(kit.Press(k)))
				}
				golden.RequireEqual(t, tuitest.Text(t, m, size.w, size.h))
			})
		}
	}
}

func TestGoldenLoadingAndBroken(t *testing.T) {
	t.Run("first reading", func(t *testing.T) {
		m := still(tuitest.Context(t), records(3))
		m.Update(screen.ResizedMsg{W: 80, H: 19})
		m.Init()
		defer m.Close()
		golden.RequireEqual(t, tuitest.Text(t, m, 80, 19))
	})
	t.Run("first reading failed", func(t *testing.T) {
		m := opened(t, &service{err: errors.New("dial tcp 10.0.0.7:443: connection refused")}, 80, 19)
		golden.RequireEqual(t, tuitest.Text(t, m, 80, 19))
	})
	t.Run("later reading failed", func(t *testing.T) {
		s := records(60)
		m := opened(t, s, 80, 19)
		s.err = api.NewError(api.ErrInternal, "out of order")
		settle(m, m.Update(kit.Press("G")))
		golden.RequireEqual(t, tuitest.Text(t, m, 80, 19))
	})
}

func TestPagesAreAskedForOnlyWhenTheEndIsSeen(t *testing.T) {
	const n = 10_000
	s := records(n)
	m := opened(t, s, 80, 19)
	for {
		_, seen := m.table.Window()
		if allowed := seen/PageSize + 1; s.calls > allowed {
			t.Fatalf("%d requests after seeing %d records, at most %d are allowed", s.calls, seen, allowed)
		}
		if seen == n {
			break
		}
		settle(m, m.Update(kit.Press("pgdown")))
	}
	wantAll(t, m, s, n)
	if text := tuitest.Text(t, m, 80, 19); !strings.Contains(text, "end of history: 10,000 records") {
		t.Error(text)
	}
}

func TestFilterDoesNotReadTheWholeHistory(t *testing.T) {
	s := records(1000)
	m := opened(t, s, 80, 19)
	for _, k := range []string{"/", "z", "z", "z", "enter", "G", "pgdown"} {
		settle(m, m.Update(kit.Press(k)))
	}
	if s.calls != 1 {
		t.Fatalf("%d requests", s.calls)
	}
	settle(m, m.Update(kit.Press("m")))
	if s.calls != 1+bridgePages {
		t.Errorf("m did not read on as far as it does by itself: %d requests", s.calls)
	}
}

func TestRefreshKeepsTheSelectedRecordAndItsLine(t *testing.T) {
	s := records(300)
	m := opened(t, s, 80, 19)
	for range 5 {
		settle(m, m.Update(kit.Press("pgdown")))
	}
	was, from := m.chosen, 0
	from, _ = m.table.Window()
	line := m.table.Selected() - from
	held := m.book.count()
	s.add(3)
	s.records[3].Status = api.StatusFailed
	s.epoch++
	settle(m, m.Update(screen.BalancesChangedMsg{}))
	from, _ = m.table.Window()
	if m.chosen.id != was.id || m.table.Selected()-from != line {
		t.Errorf("the selection moved")
	}
	wantAll(t, m, s, held+3)
	if m.row(3).status.Value() != api.StatusFailed {
		t.Error("a known record was not brought up to date")
	}
}

func TestRefreshBridgesMoreNewRecordsThanAPage(t *testing.T) {
	s := records(120)
	m := opened(t, s, 80, 19)
	s.add(130)
	s.epoch++
	settle(m, m.Update(screen.BalancesChangedMsg{}))
	wantAll(t, m, s, 200) // the fourth page has the last record that was unfinished before
}

func TestExpiredPlaceIsReadAgainWithoutDoublesOrGaps(t *testing.T) {
	s := records(400)
	m := opened(t, s, 80, 19)
	settle(m, m.Update(kit.Press("G")))
	settle(m, m.Update(kit.Press("G")))
	held := m.book.count()
	s.add(7)
	s.epoch++
	was := m.chosen
	settle(m, m.Update(kit.Press("G")))
	if m.err != nil {
		t.Fatal(m.err)
	}
	if m.book.count() < held+7 {
		t.Fatalf("%d records are held, want at least %d", m.book.count(), held+7)
	}
	wantAll(t, m, s, m.book.count())
	if m.book.byID[was.id] == nil {
		t.Error("the selected record is lost")
	}
	for !m.ended() {
		settle(m, m.Update(kit.Press("G")))
	}
	wantAll(t, m, s, 407)
}

// forgetful returns continuations and accepts none of them.
type forgetful struct{ calls int }

func (f *forgetful) History(_ context.Context, limit int, continuation string) (api.HistoryPage, error) {
	f.calls++
	if continuation != "" {
		return api.HistoryPage{}, api.NewError(api.ErrValidation, "unknown continuation")
	}
	page := api.HistoryPage{Continuation: "c" + strconv.Itoa(f.calls)}
	for i := range 10 {
		page.Transactions = append(page.Transactions, tuitest.Record(i))
	}
	return page, nil
}

func TestAServiceThatForgetsEveryPlaceIsNotAskedForEver(t *testing.T) {
	f := &forgetful{}
	m := opened(t, f, 80, 19)
	if f.calls > 2*(maxLosses+1) || m.err == nil || m.book.count() != 10 {
		t.Errorf("%d requests, %d records: %v", f.calls, m.book.count(), m.err)
	}
}

// looping returns the same continuation forever.
type looping struct{ calls int }

func (l *looping) History(context.Context, int, string) (api.HistoryPage, error) {
	l.calls++
	return api.HistoryPage{Transactions: []api.HistoryRecord{tuitest.Record(l.calls)}, Continuation: "again"}, nil
}

func TestRepeatedContinuationEndsTheList(t *testing.T) {
	l := &looping{}
	m := opened(t, l, 80, 19)
	for range 5 {
		settle(m, m.Update(kit.Press("G")))
	}
	if l.calls > 2 || !strings.Contains(tuitest.Text(t, m, 80, 19), "the service repeats itself") {
		t.Errorf("%d requests", l.calls)
	}
}

func TestOversizedContinuationEndsTheList(t *testing.T) {
	m := opened(t, sourceFunc(func(string) api.HistoryPage {
		return api.HistoryPage{Transactions: []api.HistoryRecord{tuitest.Record(1)},
			Continuation: strings.Repeat("a", verify.MaxContinuation+1)}
	}), 80, 19)
	if m.canReadOn() || !strings.Contains(tuitest.Text(t, m, 80, 19), "too long") {
		t.Error("the continuation would be used")
	}
}

type sourceFunc func(continuation string) api.HistoryPage

func (f sourceFunc) History(_ context.Context, _ int, c string) (api.HistoryPage, error) {
	return f(c), nil
}

func TestOnlyCompletedLooksLikeSuccess(t *testing.T) {
	for _, status := range []string{api.StatusPending, api.StatusInProgress, api.StatusExecuted, api.StatusRefunded,
		api.StatusFailed, "", "COMPLETED ", "completed", "DONE"} {
		r := tuitest.Record(0)
		r.Status = status
		m := opened(t, sourceFunc(func(string) api.HistoryPage {
			return api.HistoryPage{Transactions: []api.HistoryRecord{r}}
		}), 80, 19)
		if text := tuitest.Text(t, m, 80, 19); strings.Contains(text, "✓") {
			t.Errorf("%q looks like success:\n%s", status, text)
		}
	}
}

// onLab is the sample context on a lab, whose transactions have pages on the service's host.
func onLab(t testing.TB) screen.Context {
	ctx := tuitest.Context(t)
	ctx.Network.Kind = network.Lab
	return ctx
}

func TestPagesAreShownWhereABrowserCanOpenThemAndForeignOnesAreMarked(t *testing.T) {
	s := records(1)
	s.records[0].DestinationChainOperations[0].ExplorerURL = "https://evil.example/embedded.invalid"
	for _, c := range []struct {
		ctx          screen.Context
		pages, marks int
	}{{tuitest.Context(t), 0, 0}, {onLab(t), 2, 1}} {
		m := still(c.ctx, s)
		m.Update(screen.ResizedMsg{W: 80, H: 60})
		settle(m, m.Init())
		tuitest.Keys(m, "enter")
		text := tuitest.Text(t, m, 80, 60)
		if strings.Count(text, "https://") != c.pages || strings.Count(text, "do not trust it") != c.marks {
			t.Errorf("%s: want %d pages, %d marked:\n%s", c.ctx.Network.Kind, c.pages, c.marks, text)
		}
		m.Close()
	}
}

// In any mix of pages, refreshes and lost places, the list is a start of the service's list without gaps or doubles.
func TestListIsAlwaysABeginningOfTheServices(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := records(rapid.IntRange(0, 260).Draw(rt, "records"))
		m := still(tuitest.Context(t), s)
		m.Update(screen.ResizedMsg{W: 80, H: 19})
		settle(m, m.Init())
		defer m.Close()
		for range rapid.IntRange(1, 12).Draw(rt, "steps") {
			switch rapid.IntRange(0, 3).Draw(rt, "step") {
			case 0:
				s.add(rapid.IntRange(1, 120).Draw(rt, "new"))
				s.epoch++
				settle(m, m.Update(kit.Press("ctrl+r")))
			case 1:
				s.epoch++
			default:
				settle(m, m.Update(kit.Press("G")))
			}
			for i, id := range ids(m) {
				if id != s.records[i].QuoteID {
					rt.Fatalf("record %d of %d is wrong", i, m.book.count())
				}
			}
		}
	})
}

func BenchmarkUpdateView1000Rows(b *testing.B) {
	s := records(1000)
	m := opened(b, s, 120, 35)
	for !m.ended() {
		settle(m, m.Update(kit.Press("G")))
	}
	m.table.Select(0)
	f := screen.Frame{W: 120, H: 35, Theme: tuitest.Theme(), Now: tuitest.Now()}
	key := kit.Press("down")
	for b.Loop() {
		m.Update(key)
		if m.View(f) == "" {
			b.Fatal("nothing drawn")
		}
	}
}

func hexDigits(t *rapid.T, label string, from, to int) string {
	return "0x" + rapid.StringMatching(fmt.Sprintf("[0-9a-f]{%d,%d}", from, to)).Draw(t, label)
}

// detailText scrolls through the details and returns all text that was on the screen, without spaces and line breaks.
func detailText(m *Model, w, h int) string {
	var lines []string
	for {
		m.View(screen.Frame{W: w, H: h, Theme: tuitest.Theme(), Now: tuitest.Now()})
		paneW := m.paneW()
		shown := strings.Split(ansi.Strip(m.pane.View(paneW)), "\n")
		lines = append(lines[:min(len(lines), m.pane.Top())], shown...)
		if m.pane.Below() == 0 {
			return strings.Join(strings.Fields(strings.Join(lines, " ")), "")
		}
		tuitest.Keys(m, "J")
	}
}

func TestNoIdAddressAmountOrLinkOfTheDetailsIsCutAtAnySizeFrom80x24(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := records(1)
		r := &s.records[0]
		units := rapid.StringMatching("[1-9][0-9]{70,76}").Draw(rt, "amount")
		r.QuoteID, r.OriginToken.Amount, r.DestinationToken.Amount = hexDigits(rt, "quote", 1, 400), units, units
		r.RecipientAccountID = "eip155:8453/" + hexDigits(rt, "recipient", 20, 200)
		want := []string{r.QuoteID, r.RecipientAccountID[len("eip155:8453/"):]}
		for i, list := range [][]api.OperationRef{r.OriginChainOperations, r.DestinationChainOperations} {
			o := &list[0]
			o.Hash = hexDigits(rt, fmt.Sprint("hash", i), 64, 300)
			o.ExplorerURL = "https://" + rapid.StringMatching("[a-z./?=-]{1,900}").Draw(rt, fmt.Sprint("url", i)) +
				o.Hash
			want = append(want, o.Hash, o.ExplorerURL)
		}
		n := len(units) - 6
		want = append(want, amount.Group(amount.Trim(units[:n]+"."+units[n:])))
		w, h := rapid.IntRange(80, 160).Draw(rt, "w"), rapid.IntRange(19, 50).Draw(rt, "h")
		m := still(onLab(t), s)
		defer m.Close()
		m.Update(screen.ResizedMsg{W: w, H: h})
		settle(m, m.Init())
		tuitest.Keys(m, "enter")
		text := detailText(m, w, h)
		for _, x := range want {
			if !strings.Contains(strings.ToLower(text), strings.ToLower(x)) {
				rt.Fatalf("%d×%d: %q is not shown in full:\n%s", w, h, x, text)
			}
		}
	})
}

func TestHiddenAmountsAreInNoLineOfTheHistory(t *testing.T) {
	for _, w := range []int{80, 120} {
		m := opened(t, records(8), w, 19)
		tuitest.Keys(m, "enter", "down", "down")
		m.Update(screen.AmountsMsg{Hidden: true})
		text := tuitest.Text(t, m, w, 19)
		if strings.Contains(text, "$") || strings.Contains(text, ".5") ||
			!strings.Contains(text, "••••• USDC → ••••• USDC") {
			t.Errorf("amounts are shown:\n%s", text)
		}
		m.Update(screen.AmountsMsg{})
		if text := tuitest.Text(t, m, w, 19); !strings.Contains(text, "227.5 USDC") ||
			!strings.Contains(text, "$227.50") {
			t.Errorf("amounts are not shown again:\n%s", text)
		}
	}
}
