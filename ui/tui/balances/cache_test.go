package balances

import (
	"bytes"
	"errors"
	"math/big"
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
type shelf struct {
	docs  map[string][]byte
	saves map[string]int
	err   error
}

func newShelf() *shelf { return &shelf{docs: map[string][]byte{}, saves: map[string]int{}} }

func (s *shelf) Load(name string) ([]byte, error) { return bytes.Clone(s.docs[name]), s.err }

func (s *shelf) Save(name string, data []byte) error {
	if s.err != nil {
		return s.err
	}
	s.docs[name] = bytes.Clone(data)
	s.saves[name]++
	return nil
}

// clock is a time that tests move.
type clock struct{ now time.Time }

func (c *clock) read() time.Time { return c.now }

// bench is a screen with a shelf and a clock.
type bench struct {
	t     testing.TB
	ctx   screen.Context
	shelf *shelf
	clock *clock
	src   *source
	m     *Model
}

func newBench(t testing.TB) *bench {
	b := &bench{t: t, shelf: newShelf(), clock: &clock{now: tuitest.Now()}, src: &source{b: withSolana(t)},
		ctx: twoAccounts(t)}
	b.ctx.Keep, b.ctx.Clock = b.shelf, b.clock.read
	b.start()
	return b
}

// start makes the screen anew, as the next start of the program does.
func (b *bench) start() {
	b.m = New(b.ctx, b.src, Random(strings.NewReader("a factor of the tests")))
	b.t.Cleanup(b.m.Close)
}

// follow runs a command and passes its messages to the screen, except the timer, which comes last after an answer.
func (b *bench) follow(cmd tea.Cmd) (all []tea.Msg) {
	b.t.Helper()
	if cmd == nil {
		return nil
	}
	switch msg := cmd().(type) {
	case tea.BatchMsg:
		for _, c := range msg {
			all = append(all, b.follow(c)...)
		}
	case loadedMsg:
		all = append(all, msg)
		next := b.m.Update(msg)().(tea.BatchMsg)
		for _, c := range next[:len(next)-1] {
			all = append(all, b.follow(c)...)
		}
	default:
		all = append(append(all, msg), b.follow(b.m.Update(msg))...)
	}
	return all
}

// read reads again after a time.
func (b *bench) read(after time.Duration) []tea.Msg {
	b.t.Helper()
	b.clock.now = b.clock.now.Add(after)
	return b.follow(b.m.Update(kit.Press("ctrl+r")))
}

func (b *bench) text(w, h int) string {
	b.t.Helper()
	return drawn(b.t, b.m, w, h, b.clock.now)
}

// begin does what the shell does at the start.
func (b *bench) begin() {
	b.t.Helper()
	b.kept()
	b.follow(b.m.Init())
}

// kept loads the cache of the last start, and nothing else.
func (b *bench) kept() []tea.Msg {
	b.t.Helper()
	return b.follow(b.m.LoadCache())
}

func TestLastKnownBalancesAreThereAtOnceAndMarked(t *testing.T) {
	b := newBench(t)
	b.begin()
	b.clock.now = b.clock.now.Add(3 * time.Hour)
	b.start()
	msgs := b.kept()
	total := msgs[len(msgs)-1].(screen.TotalChangedMsg)
	if !total.Stale || !total.At.Equal(tuitest.Now()) || total.Micro == nil {
		t.Errorf("the first line is told %+v", total)
	}
	for _, size := range []struct {
		name string
		w, h int
	}{{"80x24", 80, 19}, {"120x40", 120, 35}} {
		t.Run(size.name, func(t *testing.T) { golden.RequireEqual(t, b.text(size.w, size.h)) })
	}
	if text := b.text(80, 19); !strings.Contains(text, "! last known, 2 h ago") || !strings.Contains(text, "2,275.25") {
		t.Errorf("not marked, or nothing is shown:\n%s", text)
	}
	b.read(0)
	if text := b.text(80, 19); strings.Contains(text, "last known") || b.m.announce()().(screen.TotalChangedMsg).Stale {
		t.Errorf("still marked after a reading:\n%s", text)
	}
}

func TestLastKnownStaysWithItsAgeWhileTheServiceIsAway(t *testing.T) {
	b := newBench(t)
	b.begin()
	b.start()
	b.src.err = errors.New("connection refused")
	b.kept()
	b.read(26 * time.Hour)
	if text := b.text(80, 19); !strings.Contains(text, "last known, 1 d ago") ||
		!strings.Contains(text, "read 1 d ago: connection refused") || !strings.Contains(text, "USDC") {
		t.Errorf("got\n%s", text)
	}
}

func TestAFreshAnswerIsNotReplacedByTheLastKnown(t *testing.T) {
	b := newBench(t)
	b.begin()
	b.start()
	slow := b.m.LoadCache()
	b.src.b = api.AggregatedBalance{}
	b.follow(b.m.load())
	b.follow(slow)
	if b.m.last || len(b.m.rows) != 0 {
		t.Error("the last known balances replaced an answer of now")
	}
}

func TestBalancesOfAnotherNetworkOrAccountAreIgnored(t *testing.T) {
	for name, change := range map[string]func(*screen.Context){
		"network":         func(c *screen.Context) { c.Network.ID = "0x" + strings.Repeat("ab", 32) },
		"account":         func(c *screen.Context) { c.Accounts[0].AccountAddress = tuitest.Signer },
		"fewer accounts":  func(c *screen.Context) { c.Accounts = c.Accounts[:1] },
		"Solana in lower": func(c *screen.Context) { c.Accounts[1].AccountAddress = strings.ToLower(solana) },
	} {
		b := newBench(t)
		b.begin()
		b.read(10 * time.Minute)
		if len(b.m.points) != 2 {
			t.Fatalf("%d snapshots", len(b.m.points))
		}
		b.ctx.Accounts = append([]api.Account{}, b.ctx.Accounts...)
		change(&b.ctx)
		b.start()
		b.kept()
		if b.m.real != nil || len(b.m.points) != 0 {
			t.Errorf("another %s: what is somebody else's is shown", name)
		}
		b.src.b.Accounts = nil
		b.read(time.Hour) // its own snapshots do not displace the others
		other := b.m.identity
		b.m.identity = identityOf(newBench(t).ctx)
		if name != "fewer accounts" && len(b.m.points) != 1 {
			t.Errorf("another %s: %d snapshots of its own", name, len(b.m.points))
		}
		all, err := parseSeries(b.shelf.docs[seriesName], maxSeries)
		if mine, its := all.of(b.m.identity)[""], all.of(other)[""]; err != nil || len(mine) != 2 || len(its) != 1 {
			t.Errorf("another %s: %v, %d and %d points", name, err, len(mine), len(its))
		}
	}
	b := newBench(t)
	b.begin()
	b.ctx.Accounts[0].AccountAddress = strings.ToLower(tuitest.Account) // the same one
	b.start()
	if b.kept(); b.m.real == nil {
		t.Error("the case of an EVM address makes another account of it")
	}
}

func TestWritesAreNotMoreOftenThanOnceAMinuteAndOneAtATime(t *testing.T) {
	b := newBench(t)
	b.begin()
	for range 12 {
		b.read(5 * time.Second)
	}
	if got := b.shelf.saves[lastName]; got != 2 {
		t.Errorf("%d writes in a minute and the first", got)
	}
	b.m.saving = true
	b.read(time.Hour)
	if got := b.shelf.saves[lastName]; got != 2 {
		t.Error("a write began while another was under way")
	}
}

func TestDocumentsOfANewerProgramAreNeitherReadNorReplaced(t *testing.T) {
	b := newBench(t)
	newer := []byte(`{"version":2,"news":true}`)
	b.shelf.docs[lastName], b.shelf.docs[seriesName] = newer, newer
	b.begin()
	if !bytes.Equal(b.shelf.docs[lastName], newer) || !bytes.Equal(b.shelf.docs[seriesName], newer) {
		t.Error("a document of a newer version was overwritten")
	}
}

func TestThatNothingCanBeKeptIsSaidOnce(t *testing.T) {
	b := newBench(t)
	b.shelf.err = errors.New("no space left\x1b[2J")
	toasts := 0
	for range 3 {
		for _, msg := range b.read(2 * time.Minute) {
			if msg, ok := msg.(screen.ToastMsg); ok && strings.Contains(msg.Text, "cannot be kept") &&
				!strings.Contains(msg.Text, "\x1b") {
				toasts++
			}
		}
	}
	if toasts != 1 || b.m.real == nil {
		t.Errorf("said %d times", toasts)
	}
}

func TestWithoutAStoreNothingIsKept(t *testing.T) {
	b := newBench(t)
	b.ctx.Keep = nil
	b.start()
	b.begin()
	b.ctx.Keep, b.ctx.Network.ID = b.shelf, ""
	b.start()
	b.begin()
	if b.m.real == nil || len(b.shelf.docs) != 0 {
		t.Errorf("%d documents of a network without an id", len(b.shelf.docs))
	}
}

func TestLastKnownIsReadBackAsItWas(t *testing.T) {
	of := identityOf(twoAccounts(t))
	at := tuitest.Now()
	raw, err := encodeLast(withSolana(t), of, at)
	if err != nil {
		t.Fatal(err)
	}
	b, back, ok, err := parseLast(raw, of, at)
	if err != nil || !ok || !back.Equal(at) {
		t.Fatalf("%v %v %v", ok, back, err)
	}
	again, err := encodeLast(b, of, back)
	if err != nil || !bytes.Equal(raw, again) {
		t.Errorf("%v: it changed on the way\n%s\n%s", err, raw, again)
	}
}

func TestLastKnownIsReadStrictly(t *testing.T) {
	of := identityOf(twoAccounts(t))
	now := tuitest.Now()
	raw, err := encodeLast(api.AggregatedBalance{}, of, now)
	if err != nil {
		t.Fatal(err)
	}
	good := string(raw)
	for name, bad := range map[string]string{
		"unknown member": strings.Replace(good, `{"version":1`, `{"version":1,"more":1`, 1),
		"version":        strings.Replace(good, `"version":1`, `"version":0`, 1),
		"time":           strings.Replace(good, now.Format(time.RFC3339), "yesterday", 1),
		"future":         strings.Replace(good, now.Format(time.RFC3339), now.Add(time.Hour).Format(time.RFC3339), 1),
		"twice":          strings.Replace(good, `"version":1`, `"version":1,"version":1`, 1),
		"trailing":       good + "{}",
		"half":           good[:len(good)/2],
		"text for fiat":  strings.Replace(good, `"fiatValue":null`, `"fiatValue":"1"`, 1),
		"too large":      good + strings.Repeat(" ", lastLimits().Bytes),
	} {
		if bad == good {
			t.Fatalf("%s: nothing changed", name)
		}
		if _, _, ok, err := parseLast([]byte(bad), of, now); ok || err == nil {
			t.Errorf("%s was accepted", name)
		}
	}
}

func FuzzLastKnown(f *testing.F) {
	ctx := twoAccounts(f)
	of, now := identityOf(ctx), tuitest.Now()
	raw, err := encodeLast(withSolana(f), of, now)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(raw)
	f.Add([]byte(`{"version":1,"network":"","accounts":[],"at":"2026-01-01T00:00:00Z","answer":{}}`))
	r := New(ctx, nil).reader
	f.Fuzz(func(t *testing.T, raw []byte) {
		b, at, ok, err := parseLast(raw, of, now)
		if !ok {
			return
		}
		if err != nil || at.After(now.Add(time.Minute)) {
			t.Fatalf("%v: %v", at, err)
		}
		h, err := r.Read(b)
		if err != nil {
			return
		}
		total := new(big.Int)
		for _, a := range h.Assets {
			if a.Micro != nil {
				total.Add(total, a.Micro)
			}
		}
		if h.Total != nil && h.Total.Cmp(total) != 0 {
			t.Fatalf("the total is %s, its parts are %s", h.Total, total)
		}
	})
}
