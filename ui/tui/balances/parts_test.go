package balances

import (
	"bytes"
	"math/big"
	"strings"
	"testing"
	"time"

	"coffer/api"
	"coffer/ui/present"
	"coffer/ui/tui/internal/tuitest"
	"coffer/ui/tui/screen"
	"coffer/ui/tui/theme"
)

// grown is a wide bench on which USDC grew from 4,000 to 5,000 dollars in ten hours, also on Base.
func grown(t *testing.T) *bench {
	t.Helper()
	b := newBench(t)
	b.m.Update(screen.ResizedMsg{W: 200, H: 55})
	b.src.b = worth(b.src.b, 4000)
	b.begin()
	for i := range int64(60) {
		b.src.b = worth(b.src.b, 4000+(i+1)*1000/60)
		b.read(10 * time.Minute)
	}
	return b
}

// past is the line of the selected row's own past, "" without one.
func (b *bench) past() string {
	b.m.showDetails()
	for l := range strings.SplitSeq(tuitest.Columns(b.text(200, 55))[1], "\n") {
		if strings.Contains(l, "Value, ") {
			return strings.Join(strings.Fields(l), " ")
		}
	}
	return ""
}

func TestD12_TheSelectedAssetAndTheSelectedChainHaveTheirOwnPast(t *testing.T) {
	b := grown(t)
	if got := b.past(); got != "Value, 24 h +25.0 %" {
		t.Errorf("USDC: %q\n%s", got, b.text(200, 55))
	}
	for b.m.selected != "ob:eth" {
		b.m.Update(screen.ClickMsg{X: 5, Y: b.m.table.Selected() + 3})
	}
	if got := b.past(); got != "Value, 24 h 0.0 %" {
		t.Errorf("ETH: %q", got)
	}
	if text := b.text(200, 55); !strings.Contains(text, "your payments are in it") {
		t.Errorf("without history nothing says that payments are in it:\n%s", text)
	}
	tuitest.Keys(b.m, "v")
	if r, _ := b.m.current(); b.past() != "Value, 24 h 0.0 %" ||
		!strings.Contains(b.text(200, 55), "what you paid, swapped or moved is in it") {
		t.Errorf("%s: %q\n%s", r.title, b.past(), b.text(200, 55))
	}
	tuitest.Keys(b.m, "v")
	if got := b.past(); got != "" {
		t.Errorf("an account has %q", got)
	}
	tuitest.Keys(b.m, "v")
	b.m.Update(screen.AmountsMsg{Hidden: true})
	if got := b.past(); got != "" {
		t.Errorf("hidden amounts have %q", got)
	}
}

// TestTheInspectorHasThePastWhereNoPaneHasIt: on a small terminal.
func TestTheInspectorHasThePastWhereNoPaneHasIt(t *testing.T) {
	b := grown(t)
	tuitest.Keys(b.m, "i")
	if text := b.text(120, 35); strings.Count(text, "Value, 24 h") > 1 {
		t.Errorf("the past is there twice:\n%s", text)
	}
	b.m.Update(screen.ResizedMsg{W: 80, H: 19})
	b.text(80, 19)
	tuitest.Keys(b.m, "end")
	if text := b.text(80, 19); !strings.Contains(text, "Value, 24 h") || !strings.Contains(text, "+25.0 %") {
		t.Errorf("no past:\n%s", text)
	}
}

func TestD15_ThePastOfAnAssetLeavesOwnPaymentsInItOut(t *testing.T) {
	b := grown(t)
	paid := past(1, 500).Records[0]
	paid.At = b.clock.now.Add(-5 * time.Minute)
	for name, c := range map[string]struct {
		change func(*screen.Past)
		past   string
		words  string
	}{
		"paid": {func(*screen.Past) {}, "+42.9 %", "your payments left out"},
		"another one": {func(p *screen.Past) { p.Paid, p.Got = "ob:eth", "ob:eth" }, "+25.0 %",
			"your payments left out"},
		"unknown":      {func(p *screen.Past) { p.Paid = "" }, "+25.0 %", "1 payment without a value is in it"},
		"no value":     {func(p *screen.Past) { p.Value = nil }, "+25.0 %", "1 payment without a value is in it"},
		"other assets": {func(p *screen.Past) { p.Got = "ob:eth" }, "+25.0 %", "1 exchange for another asset is in it"},
		"swapped": {func(p *screen.Past) {
			p.Left, p.Paid, p.Status = false, "ob:eth", present.State{Meaning: theme.Good}
		}, "+25.0 %", "1 exchange for another asset is in it"},
		"swap refunded": {func(p *screen.Past) {
			p.Left, p.Paid, p.Status = false, "ob:eth", present.State{}
		}, "+25.0 %", "your payments left out"},
	} {
		t.Run(name, func(t *testing.T) {
			r := paid
			c.change(&r)
			b.m.Update(screen.PastMsg{Whole: true, Records: []screen.Past{r}})
			text := tuitest.Columns(b.text(200, 55))[1]
			if _, text, _ = strings.Cut(text, "Value, "); b.past() != "Value, 24 h "+c.past ||
				!strings.Contains(strings.Join(strings.Fields(text), " "), c.words) {
				t.Errorf("%q, wanted %s, %s:\n%s", b.past(), c.past, c.words, text)
			}
		})
	}
}

func TestThePastOfPartsIsKeptApartAndLessOften(t *testing.T) {
	b := grown(t)
	all, err := parseSeries(b.shelf.docs[partsName], maxPartSeries)
	if err != nil {
		t.Fatal(err)
	}
	points := all.of(b.m.identity)
	n, base, totals := len(points["ob:usdc"]), len(points["eip155:8453"]), len(points[""])
	if n < 20 || n > 21 || base != n || totals != 0 {
		t.Errorf("%d snapshots in ten hours, %d of Base, %d of the total", n, base, totals)
	}
	if bytes.Contains(b.shelf.docs[seriesName], []byte(`"of"`)) {
		t.Error("the document of totals has what an older version refuses")
	}
	before := b.past()
	b.start()
	b.begin()
	b.m.Update(screen.ResizedMsg{W: 200, H: 55})
	if got := b.past(); got != before {
		t.Errorf("the next start shows %q, not %q", got, before)
	}
}

func TestAPartWithoutAPriceOrOfARefusedAnswerHasNoSnapshot(t *testing.T) {
	b := newBench(t)
	b.begin()
	points := partsOf(b.m.real, b.clock.now)
	if _, ok := points["eip155:59144"]; ok || points["ob:usdc"].micro == nil || points["ob:zero"].micro != nil {
		t.Errorf("%v", points)
	}
	h := *b.m.real
	h.Refused = true
	if got := partsOf(&h, b.clock.now); len(got) != 0 {
		t.Errorf("%d snapshots of a refused answer", len(got))
	}
	h.Refused, h.Assets = false, nil
	for i := range int64(100) {
		h.Assets = append(h.Assets, present.Holding{ID: "ob:" + string(rune('a'+i)), Amount: big.NewInt(1),
			Micro: big.NewInt(i + 1)})
	}
	if got := partsOf(&h, b.clock.now); len(got) != maxParts || got["ob:"+string(rune('a'+99))].micro.Int64() != 100 {
		t.Errorf("%d snapshots", len(got))
	}
	b.src.b = api.AggregatedBalance{}
	b.read(time.Hour)
	if n := len(partsOf(b.m.real, b.clock.now)); n != 0 {
		t.Errorf("%d parts of nothing", n)
	}
}
