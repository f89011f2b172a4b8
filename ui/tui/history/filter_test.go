package history

import (
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/exp/golden"
	"pgregory.net/rapid"

	"coffer/api"
	"coffer/ui/tui/internal/tuitest"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/screen"
)

func parse(t testing.TB, text string) query {
	return parser{tuitest.Context(t).Catalog, tuitest.Now()}.parse(text)
}

// three are a failed swap on Base, a call of last year and a transfer of DAI to Solana's side of the catalog's world.
func three() []api.HistoryRecord {
	out := []api.HistoryRecord{tuitest.Record(2), tuitest.Record(4), tuitest.Record(3)}
	out[0].Status, out[0].FailReason = api.StatusFailed, ""
	out[1].Timestamp = "2025-03-31T23:59:59Z"
	out[1].Status, out[1].Type = "SETTLING", api.RecordCall
	out[2].OriginToken.AggregatedAssetID = "ob:dai"
	out[2].OriginToken.AssetType = []string{"eip155:42161/erc20:0xda10009cbd5d07dd0cecc66161fc93d7c9000da1"}
	out[2].OriginChainOperations[0].Chain = "eip155:42161"
	return out
}

func TestEveryWordOfAFilterNarrows(t *testing.T) {
	rows := readerOf(tuitest.Context(t)).page(three())
	ln := newFormatter(tuitest.Context(t).Receipts())
	for text, want := range map[string]string{
		"":                      "012",
		"status:failed":         "0",
		"status:fail":           "0",
		"status:unknown":        "1",
		"status:unfinished":     "1",
		"-status:unfinished":    "02",
		"status:failed,unknown": "01",
		"type:swap":             "0",
		"type:call,transfer":    "12",
		"chain:base":            "012",
		"chain:arb":             "2",
		"chain:eip155:42161":    "2",
		"-chain:optimism":       "2",
		"asset:dai":             "2",
		"asset:ob:dai":          "2",
		"asset:usdc":            "012",
		"in:2025":               "1",
		"in:2025-03":            "1",
		"in:2025-04":            "",
		"in:2025-03-31":         "1",
		"before:2026":           "1",
		"after:2025-04":         "02",
		"after:30d":             "02",
		"after:2025-03-31":      "012",
		"before:2025-03-31":     "",
		"SWAP failed":           "0",
		`"swap to 227.5"`:       "0",
		"227.5":                 "0",
		"-swap":                 "12",
		"arbitrum":              "2",
		"type:swap in:2025":     "",
		rows[0].legs[0].hash:    "0",
		rows[2].id[20:]:         "2",
		tuitest.Account[:20]:    "012",
		"zzz":                   "",
	} {
		q := parse(t, text)
		if len(q.mistakes) > 0 {
			t.Errorf("%s: %q", text, q.mistakes)
		}
		got := ""
		for i, r := range rows {
			if q.match(ln, r) {
				got += string(rune('0' + i))
			}
		}
		if got != want {
			t.Errorf("%q leaves %q, want %q", text, got, want)
		}
	}
}

func TestMistakesInAFilterAreNamed(t *testing.T) {
	for text, want := range map[string]string{
		"colour:red":             "there is no ‘colour:’",
		"status:done":            "‘done’ is no status; write pending",
		"status:p,x":             "‘x’ is no status",
		"type:":                  "type: needs a value",
		"type:,":                 "type: needs a value",
		"chain:moon":             "no chain is called ‘moon’",
		"asset:nothing":          "no asset is called ‘nothing’",
		"after:yesterday":        "‘yesterday’ is no date; write 2026",
		"after:2026-13":          "is no date",
		"in:2026,2025":           "in: takes one date",
		"after:0d":               "is no date",
		strings.Repeat("a ", 40): "at most 32 words",
	} {
		q := parse(t, text)
		if len(q.mistakes) != 1 || !strings.Contains(q.mistakes[0], want) {
			t.Errorf("%q: %q, want %q", text, q.mistakes, want)
		}
	}
	if q := parse(t, `"status:done" -"a b" ob:usdc`); len(q.mistakes) > 0 || len(q.terms) != 3 ||
		q.terms[0].key != "" || !q.terms[1].not {
		t.Errorf("quotes do not keep a word together: %+v", q)
	}
}

func TestGoldenFilters(t *testing.T) {
	for _, c := range []struct{ name, text string }{
		{"typed words", "status:failed chain:base after:2026-11-20"}, {"mistake", "status:failed colour:red"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := opened(t, records(240), 80, 19)
			pressed(m, "/")
			typed(m, c.text)
			golden.RequireEqual(t, tuitest.Text(t, m, 80, 19))
		})
	}
}

func TestTheFilterSaysHowMuchOfWhatIsLoadedMatches(t *testing.T) {
	m := opened(t, records(240), 80, 19)
	pressed(m, "/")
	typed(m, "type:swap")
	pressed(m, "enter")
	if text := tuitest.Text(t, m, 80, 19); !strings.Contains(text, "12 of 50 loaded match, more below; m reads more") {
		t.Error(text)
	}
	pressed(m, "m", "m", "m", "m")
	if text := tuitest.Text(t, m, 80, 19); !strings.Contains(text, "60 of 240 match") {
		t.Error(text)
	}
}

func TestWhatTheFilterFoundStaysWhenItsPageIsGivenBack(t *testing.T) {
	m := opened(t, records(3000), 80, 19)
	m.most = 2000
	pressed(m, "/")
	typed(m, "type:swap")
	pressed(m, "enter")
	for m.canReadOn() && !m.ended() {
		pressed(m, "m")
	}
	if len(m.shown) != 750 || m.book.unsearched() != 0 {
		t.Fatalf("%d matches at hand, %d not looked at", len(m.shown), m.book.unsearched())
	}
	pressed(m, "esc", "/")
	typed(m, "type:transfer")
	pressed(m, "enter")
	if text := tuitest.Text(t, m, 80, 19); !strings.Contains(text, "not looked at; m looks") {
		t.Error(text)
	}
	for range 200 {
		pressed(m, "m")
	}
	if len(m.shown) != 750 || m.book.unsearched() != 0 || !m.ended() {
		t.Errorf("%d matches, %d not looked at, ended %v: %s", len(m.shown), m.book.unsearched(), m.ended(),
			m.whyNoMore())
	}
}

func TestViewsAreSavedUsedAndForgotten(t *testing.T) {
	keep := shelf{}
	m := openedWith(t, keeping(t, keep), records(100), 80, 19)
	pressed(m, "/")
	typed(m, "status:failed")
	pressed(m, "enter", "V")
	pressed(m, "enter")
	if m.name.Error == "" {
		t.Error("a view without a name was saved")
	}
	typed(m, "went wrong")
	pressed(m, "enter", "esc")
	if m.query.active() {
		t.Fatal("the filter is still there")
	}
	again := openedWith(t, keeping(t, keep), records(100), 80, 19)
	pressed(again, "v")
	golden.RequireEqual(t, tuitest.Text(t, again, 80, 19))
	pressed(again, "down", "enter")
	if again.filter.Value() != "status:failed" || len(again.shown) == 0 {
		t.Errorf("the view was not used: %q", again.filter.Value())
	}
	pressed(again, "v")
	typed(again, "forget")
	pressed(again, "enter")
	if views, err := decodeViews(keep[viewsName]); err != nil || len(views) != 0 {
		t.Errorf("%v, %v", views, err)
	}
}

func TestEveryPieceOfAFilterIsAMatchOrAMistake(t *testing.T) {
	ctx := tuitest.Context(t)
	rows, ln := readerOf(ctx).page(three()), newFormatter(ctx.Receipts())
	rapid.Check(t, func(rt *rapid.T) {
		text := rapid.StringMatching(`(-?(status|type|chain|asset|after|before|in|x)?:?[a-z0-9,"é-]{0,8} ?){0,6}`).Draw(
			rt, "filter")
		q := parser{ctx.Catalog, tuitest.Now()}.parse(text)
		for _, r := range rows {
			all := true
			for _, x := range q.terms {
				all = all && x.match(ln, r) != x.not
			}
			if all != q.match(ln, r) {
				rt.Fatalf("%q: the words do not narrow one by one", text)
			}
		}
	})
}

func FuzzFilter(f *testing.F) {
	for _, s := range []string{"", "status:failed chain:base", `-"a b" after:30d`, "in:2026-02-30", "asset:ob:usdc,dai",
		"a:\x1b[2J", `"""`, ":::-"} {
		f.Add(s)
	}
	ctx := tuitest.Context(f)
	rows, ln := readerOf(ctx).page(three()), newFormatter(ctx.Receipts())
	f.Fuzz(func(t *testing.T, s string) {
		q := parser{ctx.Catalog, tuitest.Now()}.parse(s)
		for _, r := range rows {
			q.match(ln, r)
		}
		for _, m := range q.mistakes {
			if strings.ContainsAny(m, "\x1b\u202e\n") {
				t.Fatalf("%q", m)
			}
		}
	})
}

// BenchmarkFilterKey10000 types and deletes a letter that no record has, which makes the filter examine every record in
// full.
func BenchmarkFilterKey10000(b *testing.B) {
	m := opened(b, &endless{n: 1_000_000}, 120, 35)
	f := screen.Frame{W: 120, H: 35, Theme: tuitest.Theme(), Now: tuitest.Now()}
	scrollTo(m, 10_000, f)
	m.Update(kit.Press("/"))
	var took time.Duration
	for b.Loop() {
		begun := time.Now()
		m.Update(kit.Press("ü"))
		m.View(f)
		took += time.Since(begun)
		m.Update(kit.Press("backspace"))
	}
	b.ReportMetric(float64(took.Nanoseconds())/float64(b.N), "ns/key-to-frame")
}
