package balances

import (
	"bytes"
	"fmt"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/exp/golden"
	"pgregory.net/rapid"

	"coffer/api"
	"coffer/ui/tui/internal/tuitest"
	"coffer/ui/tui/screen"
)

// worth makes the sample's USDC worth so many dollars.
func worth(b api.AggregatedBalance, dollars int64) api.AggregatedBalance {
	b.BalanceByAggregatedAsset = append([]api.AggregateBalance{}, b.BalanceByAggregatedAsset...)
	for i := range b.BalanceByAggregatedAsset {
		if a := &b.BalanceByAggregatedAsset[i]; a.AggregatedAssetID == "ob:usdc" {
			a.FiatValue = api.Number(fmt.Sprint(dollars))
		}
	}
	b.TotalBalance.FiatValue = ""
	return b
}

func TestSnapshotsAreNotMoreOftenThanEveryTenMinutes(t *testing.T) {
	b := newBench(t)
	b.begin()
	for range 4 * 60 {
		b.read(15 * time.Second)
	}
	if n := len(b.m.points); n < 6 || n > 7 {
		t.Errorf("%d snapshots in an hour", n)
	}
	for i, p := range b.m.points[1:] {
		if p.at-b.m.points[i].at < 600 {
			t.Errorf("%d seconds between two", p.at-b.m.points[i].at)
		}
	}
	b.start() // the next start continues
	b.kept()
	before := len(b.m.points)
	b.read(time.Minute)
	if len(b.m.points) != before {
		t.Error("a start takes a snapshot too early")
	}
}

func TestThinningKeepsADayAnHourlyMonthAndDailyTwoYears(t *testing.T) {
	now := tuitest.Now()
	var points []point
	for at := now.Add(-3 * 365 * day); !at.After(now); at = at.Add(10 * time.Minute) {
		points = append(points, point{at: at.Unix(), micro: big.NewInt(1)})
	}
	got := totalPace().thin(points, now)
	count := map[string]int{}
	for _, p := range got {
		switch age := now.Sub(time.Unix(p.at, 0)); {
		case age <= day:
			count["day"]++
		case age <= month:
			count["month"]++
		case age <= longest:
			count["years"]++
		default:
			t.Fatalf("%v old", age)
		}
	}
	if count["day"] != 145 || count["month"] < 29*24-1 || count["month"] > 29*24+1 || count["years"] < 699 ||
		count["years"] > 701 {
		t.Errorf("%v", count)
	}
	if len(got) > maxPoints/2 {
		t.Errorf("%d points", len(got))
	}
	if twice := totalPace().thin(got, now); len(twice) != len(got) {
		t.Error("thinning twice keeps less")
	}
}

func TestThinningOverTimeNeverLeavesMoreThanTheRule(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		now := tuitest.Now()
		var points []point
		for range rapid.IntRange(1, 400).Draw(rt, "points") {
			now = now.Add(time.Duration(rapid.IntRange(10, 5000).Draw(rt, "minutes")) * time.Minute)
			points = append(totalPace().thin(points, now), point{at: now.Unix(), micro: big.NewInt(1)})
		}
		hours, days := map[int64]int{}, map[int64]int{}
		last := int64(0)
		for _, p := range points {
			if p.at <= last {
				rt.Fatal("the order is lost")
			}
			last = p.at
			switch age := now.Sub(time.Unix(p.at, 0)); {
			case age > longest:
				rt.Fatalf("%v old", age)
			case age > month+day:
				days[p.at/86400]++
			case age > day && age < month:
				hours[p.at/3600]++
			}
		}
		for _, of := range []map[int64]int{hours, days} {
			for at, n := range of {
				if n > 1 {
					rt.Fatalf("%d points at %d", n, at)
				}
			}
		}
	})
}

func TestWhatAClockPutIntoTheFutureIsDropped(t *testing.T) {
	now := tuitest.Now()
	future := []point{{at: now.Unix() - 60, micro: big.NewInt(1)}, {at: now.Unix() + 86400, micro: big.NewInt(1)}}
	if got := totalPace().thin(future, now); len(got) != 1 {
		t.Errorf("%d points", len(got))
	}
}

func TestSnapshotsAreOfTotalsWithoutMissingParts(t *testing.T) {
	b := newBench(t)
	b.begin()
	b.read(time.Hour)
	if !b.m.hasTrend() {
		t.Fatal("no line of two totals that compare")
	}
	for i := range b.src.b.BalanceByAggregatedAsset {
		if a := &b.src.b.BalanceByAggregatedAsset[i]; a.AggregatedAssetID == "ob:eth" {
			a.FiatValue = ""
		}
	}
	b.read(time.Hour)
	if b.m.hasTrend() {
		t.Error("a total without ether is drawn beside totals with it")
	}
	if n := len(b.m.points); n != 3 || b.m.points[2].without == b.m.points[1].without {
		t.Errorf("%d points", n)
	}
	b.src.b.BalanceByAggregatedAsset[0].Balance = "-1"
	b.read(time.Hour)
	if n := len(b.m.points); n != 3 {
		t.Error("a snapshot of an answer with a refused figure")
	}
	b.src.b = api.AggregatedBalance{}
	b.read(time.Hour)
	if n := len(b.m.points); n != 3 {
		t.Error("a snapshot of no total at all")
	}
}

func TestAGapInTimeIsNotDrawnAsALine(t *testing.T) {
	now := tuitest.Now()
	var points []point
	for h := 24; h > 0; h-- {
		if h > 8 && h < 16 {
			continue
		}
		points = append(points, point{at: now.Add(-time.Duration(h)*time.Hour + time.Minute).Unix(),
			micro: big.NewInt(int64(h))})
	}
	got := trendOf(points, point{at: now.Unix(), micro: big.NewInt(1)}, lastDay, now, 24)
	for i, v := range got.values {
		if gap := i > 8 && i < 16; gap != (v == nil) {
			t.Errorf("cell %d: %v", i, v)
		}
	}
	if trendOf(nil, point{at: now.Unix(), micro: big.NewInt(1)}, lastDay, now, 24) != nil {
		t.Error("a line of one point")
	}
}

func TestChangeIsAgainstThePeriodBeforeOrSaysSinceWhen(t *testing.T) {
	now := tuitest.Now()
	at := func(d time.Duration, v int64) point { return point{at: now.Add(-d).Unix(), micro: big.NewInt(v)} }
	for name, c := range map[string]struct {
		points []point
		period period
		change string
		since  string
	}{
		"a day ago": {[]point{at(25*time.Hour, 500), at(24*time.Hour+time.Minute, 1000),
			at(12*time.Hour, 5)}, lastDay, "+10.0 %", ""},
		"too old, then a part": {[]point{at(40*time.Hour, 500), at(3*time.Hour, 1000), at(time.Hour, 7)}, lastDay,
			"+10.0 %", "06:30"},
		"a month ago": {[]point{at(31*day, 2000), at(day, 1)}, lastMonth, "-45.0 %", ""},
		"part of a month": {[]point{at(40*day, 1), at(9*day, 2200), at(day, 1)}, lastMonth, "-50.0 %",
			"2026-11-12"},
		"within one's interval": {[]point{at(10*time.Hour, 0), at(9*time.Minute, 7)}, lastDay, "", ""},
	} {
		got := trendOf(c.points, at(0, 1100), c.period, now, 48)
		if got == nil || got.change != c.change || got.since != c.since {
			t.Errorf("%s: %+v", name, got)
		}
	}
	for _, c := range []struct {
		from, to int64
		want     string
	}{{1000, 1012, "+1.2 %"}, {1000, 988, "-1.2 %"}, {1000, 1000, "0.0 %"}, {100_000, 100_001, "+<0.1 %"},
		{100_000, 99_999, "-<0.1 %"}, {1, 20_001, "+2,000,000.0 %"}, {0, 5, ""}, {2000, 2001, "+0.1 %"}} {
		if got := change(big.NewInt(c.from), big.NewInt(c.to)); got != c.want {
			t.Errorf("%d to %d: %q, not %q", c.from, c.to, got, c.want)
		}
	}
}

func TestGoldenLineOfTotals(t *testing.T) {
	for _, size := range []struct {
		name string
		w, h int
	}{{"80x24", 80, 19}, {"120x40", 120, 35}} {
		b := newBench(t)
		b.begin()
		for i := range int64(150) {
			if i > 60 && i < 80 {
				b.clock.now = b.clock.now.Add(10 * time.Minute) // the program was not running
				continue
			}
			b.src.b = worth(b.src.b, 2000+i*i/20)
			b.read(10 * time.Minute)
		}
		t.Run(size.name, func(t *testing.T) { golden.RequireEqual(t, b.text(size.w, size.h)) })
		b.m.Update(screen.AmountsMsg{Hidden: true})
		if text := b.text(size.w, size.h); strings.Contains(text, "24 h") || strings.Contains(text, " %") {
			t.Errorf("hidden amounts show a line of totals:\n%s", text)
		}
	}
}

func TestPeriodsGoFromADayToYears(t *testing.T) {
	b := newBench(t)
	b.begin()
	b.read(40 * time.Hour)
	b.read(40 * time.Hour)
	for _, want := range []string{"24 h\n  no earlier totals", "30 d", "2 y", "24 h"} {
		if text := b.text(80, 19); !strings.Contains(text, "\n Total, "+want) {
			t.Errorf("no %s:\n%s", want, text)
		}
		tuitest.Keys(b.m, "p")
	}
}

func TestSnapshotsOfTwoRunningProgramsComeTogether(t *testing.T) {
	a := newBench(t)
	b := newBench(t)
	b.ctx.Keep, b.shelf = a.shelf, a.shelf
	b.start()
	a.begin()
	b.read(15 * time.Minute)
	a.read(30 * time.Minute)
	if len(a.m.points) != 3 {
		t.Errorf("%d points, one of the other program's is lost", len(a.m.points))
	}
}

func TestSeriesAreReadStrictlyAndTheOldestIsDropped(t *testing.T) {
	var all series
	for i := range maxSeries + 3 {
		all = all.with(identity{Network: fmt.Sprint(i), Accounts: []string{"eip155:0x1"}},
			map[string][]point{"": {{at: 1, micro: big.NewInt(1)}}}, maxSeries)
	}
	if len(all.Series) != maxSeries || all.Series[0].Network != fmt.Sprint(maxSeries+2) {
		t.Errorf("%d series, first %s", len(all.Series), all.Series[0].Network)
	}
	const good = `{"version":1,"series":[{"network":"n","accounts":["a"],"points":[{"at":5,"micro":"7"},{"at":6,` +
		`"micro":"8","without":"00ff"}]}]}`
	if s, err := parseSeries([]byte(good), maxSeries); err != nil || len(s.of(identity{"n", []string{"a"}})[""]) != 2 {
		t.Fatal(err)
	}
	for name, change := range map[string][2]string{
		"order": {`"at":6`, `"at":5`}, "negative": {`"7"`, `"-7"`}, "float": {`"7"`, `"7.5"`}, "number": {`"7"`, `7`},
		"without":      {"00ff", "zz"},
		"long without": {"00ff", strings.Repeat("0", 18)}, "member": {`"at":5`, `"at":5,"x":1`},
		"version": {`"version":1`, `"version":7`}, "far": {`"at":6`, `"at":9999999999999`},
	} {
		if _, err := parseSeries([]byte(strings.Replace(good, change[0], change[1], 1)), maxSeries); err == nil {
			t.Errorf("%s was accepted", name)
		}
	}
}

func FuzzSeries(f *testing.F) {
	f.Add([]byte(
		`{"version":1,"series":[{"network":"n","accounts":["a"],"points":[{"at":5,"micro":"7"},{"at":6,"micro":"8",` +
			`"without":"00ff"}]}]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		s, err := parseSeries(raw, maxSeries)
		if err != nil {
			return
		}
		for _, one := range s.Series {
			id := identity{one.Network, one.Accounts}
			points := s.of(id)[""]
			last := int64(0)
			for _, p := range points {
				if p.at <= last || p.micro.Sign() < 0 {
					t.Fatalf("%+v", p)
				}
				last = p.at
			}
			if again := s.with(id, map[string][]point{"": points}, maxSeries).of(id)[""]; len(again) != len(points) {
				t.Fatal("points were lost")
			}
		}
	})
}

func TestSnapshotFileIsBegunAnewWhenItCannotBeRead(t *testing.T) {
	b := newBench(t)
	b.shelf.docs[seriesName] = []byte("broken")
	b.begin()
	if _, err := parseSeries(b.shelf.docs[seriesName], maxSeries); err != nil ||
		bytes.Equal(b.shelf.docs[seriesName], []byte("broken")) {
		t.Error(err)
	}
}
