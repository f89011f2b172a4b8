package history

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/charmbracelet/x/exp/golden"

	"coffer/api"
	"coffer/ui/tui/internal/tuitest"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/screen"
)

// shelf keeps documents in memory.
type shelf map[string][]byte

func (s shelf) Load(name string) ([]byte, error) { return s[name], nil }

func (s shelf) Save(name string, data []byte) error { s[name] = slices.Clone(data); return nil }

func keeping(t testing.TB, s screen.Keep) screen.Context {
	ctx := tuitest.Context(t)
	ctx.Keep = s
	return ctx
}

// before is a screen that shows the cache and has no answer yet.
func before(t testing.TB, ctx screen.Context, src Source, w, h int) (*Model, tea.Cmd) {
	m := still(ctx, src)
	m.Update(screen.ResizedMsg{W: w, H: h})
	cmd := m.Update(m.Init()())
	t.Cleanup(m.Close)
	return m, cmd
}

func TestTheNewestRecordsSurviveClosingAndAreMarkedAsKept(t *testing.T) {
	keep, s := shelf{}, records(200)
	ctx := keeping(t, keep)
	ctx.Clock = func() time.Time { return tuitest.Now().Add(-3 * time.Hour) }
	m := openedWith(t, ctx, s, 80, 19)
	was := ids(m)
	later, cmd := before(t, keeping(t, keep), s, 80, 19)
	if got := ids(later); len(got) != PageSize || !slices.Equal(got, was) {
		t.Fatalf("%d records are shown at once, want %d", len(got), len(was))
	}
	golden.RequireEqual(t, tuitest.Text(t, later, 80, 19))
	s.add(3)
	pressed(later, "down", "down")
	id := later.chosen.id
	settle(later, cmd)
	if later.chosen.id != id || later.book.count() < len(was)+3 {
		t.Errorf("%s is selected of %d records, want %s", later.chosen.id, later.book.count(), id)
	}
	wantAll(t, later, s, later.book.count())
	if text := tuitest.Text(t, later, 80, 19); strings.Contains(text, "kept") || strings.Contains(text, "· ") ||
		!strings.Contains(text, "✓ completed") {
		t.Errorf("what was read again is still marked as kept:\n%s", text)
	}
}

func TestRecordsMissingBetweenTheFreshAndTheKeptOnesAreSaid(t *testing.T) {
	keep, s := shelf{}, records(100)
	openedWith(t, keeping(t, keep), s, 80, 19)
	s.add((bridgePages + 2) * PageSize)
	m := openedWith(t, keeping(t, keep), s, 80, 19)
	if n := len(m.book.sections); n != 2 || s.calls != 1+bridgePages {
		t.Fatalf("%d sections after %d requests", n, s.calls)
	}
	for m.chosen != nil {
		m.Update(kit.Press("down"))
	}
	golden.RequireEqual(t, tuitest.Text(t, m, 80, 19))
	pressed(m, "enter")
	if slices.ContainsFunc(m.book.sections, func(s *section) bool { return s.gap }) {
		t.Error("the gap is not closed")
	}
	wantAll(t, m, s, m.book.count())
}

func TestKeptRecordsAreOfOneNetworkAndOneAccount(t *testing.T) {
	keep := shelf{}
	openedWith(t, keeping(t, keep), records(20), 80, 19)
	for name, change := range map[string]func(*screen.Context){
		"network": func(c *screen.Context) { c.Network.ID = "0x99" },
		"account": func(c *screen.Context) { c.Accounts = []api.Account{{AccountAddress: tuitest.Signer}} },
		"nobody":  func(c *screen.Context) { c.Accounts = nil },
	} {
		ctx := keeping(t, keep)
		change(&ctx)
		m, _ := before(t, ctx, records(0), 80, 19)
		if n := m.book.count(); n != 0 {
			t.Errorf("another %s sees %d records", name, n)
		}
	}
}

func TestADamagedDocumentIsSaidAndMadeAnew(t *testing.T) {
	keep := shelf{keptName: []byte(`{"version":1,"extra":1}`), viewsName: []byte(`[]`)}
	m := still(keeping(t, keep), records(3))
	m.Update(screen.ResizedMsg{W: 80, H: 19})
	var told []string
	for _, msg := range settle(m, m.Init()) {
		if toast, ok := msg.(screen.ToastMsg); ok {
			told = append(told, toast.Text)
		}
	}
	defer m.Close()
	if len(told) != 2 || m.book.count() != 3 || !strings.Contains(string(keep[keptName]), tuitest.QuoteID(0)) {
		t.Errorf("told %q, %d records", told, m.book.count())
	}
}

// broken refuses everything.
type broken struct{}

func (broken) Load(string) ([]byte, error) { return nil, errors.New("the disk is gone") }
func (broken) Save(string, []byte) error   { return errors.New("the disk is gone") }

func TestADiskThatFailsIsSaidOnceAndTheListWorks(t *testing.T) {
	s := records(300)
	m := openedWith(t, keeping(t, broken{}), s, 80, 19)
	now := tuitest.Now()
	m.ctx.Clock = func() time.Time { now = now.Add(time.Minute); return now }
	told := 0
	for _, msg := range pressed(m, "G", "G", "G") {
		if _, ok := msg.(screen.ToastMsg); ok {
			told++
		}
	}
	if told != 0 || !m.saveTold || m.book.count() != 200 {
		t.Errorf("told %d times more, %d records", told, m.book.count())
	}
}

func TestAtMostMaxKeptRecordsAreKept(t *testing.T) {
	rows := readerOf(tuitest.Context(t)).page(records(MaxKept + 10).records)
	b, err := encodeCache(owner{"n", "u"}, tuitest.Now(), rows)
	if err != nil {
		t.Fatal(err)
	}
	got, at, err := decodeCache(b, owner{"n", "U"}, reader{})
	if err != nil || len(got) != MaxKept || !at.Equal(tuitest.Now()) || !reflect.DeepEqual(got, rows[:MaxKept]) {
		t.Errorf("%d records of %v: %v", len(got), at, err)
	}
	t.Logf("%d bytes", len(b))
}

func TestWhatIsKeptIsReadStrictly(t *testing.T) {
	good := `{"version":1,"network":"n","user":"u","at":1,"records":[{"id":"a"},{"id":"b"}]}`
	if rows, _, err := decodeCache([]byte(good), owner{"n", "u"}, reader{}); err != nil || len(rows) != 2 ||
		rows[0].when != noTime {
		t.Fatal(err)
	}
	for _, bad := range []string{
		``, `null1`, `[]`, good + `x`, strings.Replace(good, `"b"`, `"a"`, 1), strings.Replace(good, `"b"`, `""`, 1),
		strings.Replace(good, `"version":1`, `"version":2`, 1), strings.Replace(good, `"at":1`, `"at":-1`, 1),
		strings.Replace(good, `"at"`, `"AT"`, 1),
		strings.Replace(good, `"at":1`, `"at":1,"at":1`, 1),
		strings.Replace(good, `{"id":"a"}`, `{"id":"a","t":9e18}`, 1),
		strings.Replace(good, `{"id":"a"}`, `{"id":"a","l":[`+
			strings.TrimSuffix(strings.Repeat(`{"c":"","h":""},`, maxLegs+1), ",")+`]}`, 1),
		good + strings.Repeat(" ", maxKeptSize),
	} {
		if _, _, err := decodeCache([]byte(bad), owner{"n", "u"}, reader{}); !errors.Is(err, errKept) {
			t.Errorf("%.60q: %v", bad, err)
		}
	}
	for _, bad := range []string{``, `{"version":2,"views":[]}`, `{"version":1,"views":[{"name":" ","filter":""}]}`,
		`{"version":1,"views":[{"name":"a"},{"name":"a"}]}`,
		`{"version":1,"views":[],"x":1}`, `{"version":1,"views":[` +
			strings.TrimSuffix(strings.Repeat(`{"name":"a"},`, maxViews+1), ",") + `]}`,
		strings.Repeat(" ", maxViewsDoc+1)} {
		if _, err := decodeViews([]byte(bad)); !errors.Is(err, errViews) {
			t.Errorf("%.60q: %v", bad, err)
		}
	}
}

func FuzzKept(f *testing.F) {
	rd := reader{pages: true}
	b, err := encodeCache(owner{"n", "u"}, tuitest.Now(), rd.page(records(3).records))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add([]byte(
		`{"version":1,"network":"n","user":"u","at":1,"records":[{"id":"a\u001b[2J","pf":"x y","l":[{"c":"eip155:1",` +
			`"h":"0x1","e":"https://e/0x1"}]}]}`))
	f.Add([]byte(`{"version":1,"views":[{"name":"a","filter":"status:failed"}]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		if views, err := decodeViews(b); err == nil {
			again, err := encodeViews(views)
			if err != nil {
				t.Fatal(err)
			}
			if back, err := decodeViews(again); err != nil || fmt.Sprint(back) != fmt.Sprint(views) {
				t.Fatalf("%v became %v: %v", views, back, err)
			}
		}
		rows, at, err := decodeCache(b, owner{"n", "u"}, rd)
		if err != nil {
			return
		}
		for _, r := range rows {
			if strings.ContainsAny(r.id+r.got+r.status.Value()+r.paidFrom.Value(), "\x1b\n\u202e") {
				t.Fatalf("%+v", r)
			}
		}
		again, err := encodeCache(owner{"n", "u"}, at, rows)
		if err != nil {
			t.Fatal(err)
		}
		if back, _, err := decodeCache(again, owner{"n", "u"}, rd); err == nil && len(back) != len(rows) &&
			len(again) < maxKeptSize/2 {
			t.Fatalf("%d records became %d", len(rows), len(back))
		}
	})
}
