package history

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/exp/golden"

	"coffer/api"
	"coffer/ui/tui/internal/tuitest"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/screen"
)

func TestEveryFieldOfTheDetailsCanBeChosenAndCopied(t *testing.T) {
	for _, w := range []int{80, 120} {
		m := openedWith(t, onLab(t), records(3), w, 19)
		pressed(m, "enter")
		var got []string
		for last := -1; m.field != last; pressed(m, "down") {
			last = m.field
			tuitest.Text(t, m, w, 19)
			from := 0
			for _, f := range m.fields[:m.field] {
				from += len(f.lines)
			}
			if from < m.pane.Top() || from+len(m.fields[m.field].lines) > m.pane.Top()+m.paneH {
				t.Errorf("%s is chosen and not on the screen", m.fields[m.field].name)
			}
			for _, msg := range pressed(m, "y") {
				if c, ok := msg.(screen.CopyMsg); ok {
					got = append(got, c.Text)
				}
			}
		}
		r := tuitest.Record(0)
		for _, want := range []string{r.QuoteID, r.Status, "225.98", r.OriginToken.Amount, "225.5",
			r.DestinationToken.Amount, tuitest.Account, r.OriginChainOperations[0].Hash,
			r.OriginChainOperations[0].ExplorerURL, "eip155:8453", r.DestinationToken.AssetType,
			r.OriginToken.AssetType[0], "2026-11-21T09:30:00Z", r.Type} {
			if !strings.Contains("\n"+strings.Join(got, "\n")+"\n", "\n"+want+"\n") {
				t.Errorf("%d columns: %q cannot be copied; there are %q", w, want, got)
			}
		}
		pressed(m, "esc", "down")
		if m.inside || m.table.Selected() != 1 {
			t.Error("the keyboard is not back in the list")
		}
	}
}

// A held key passes many records; the details of one of them are drawn when the selection holds still. Until then the
// old ones move with the rows of the list, so that the terminal scrolls whole lines.
func TestDetailsFollowWhenTheSelectionHoldsStill(t *testing.T) {
	const w, h = 120, 20
	m := opened(t, records(60), w, h)
	shows := func(record int) bool {
		return m.detailed.id == tuitest.QuoteID(record)
	}
	lines := func() []string { return strings.Split(tuitest.Text(t, m, w, h), "\n") }
	pane := func(line string) string {
		_, after, _ := strings.Cut(line, "│")
		return after
	}
	press := func(key string) { m.Update(kit.Press(key)) } // no timer ends
	press("j")
	press("j")
	if m.chosen.id != tuitest.QuoteID(2) || !shows(0) {
		t.Fatal("the details do not wait")
	}
	if m.Update(stillMsg{m.moves - 1}); !shows(0) {
		t.Error("the timer of an earlier move shows the details")
	}
	if m.choose(); !shows(0) {
		t.Error("a page that was read shows the details")
	}
	if m.Update(stillMsg{m.moves}); !shows(2) {
		t.Error("the details do not come when the selection holds still")
	}
	for m.table.Selected() < h-frameLines-2 {
		press("j")
	}
	m.Update(stillMsg{m.moves})
	before := lines()
	for range 3 {
		press("j")
	}
	after := lines()
	if after[1] != before[1] {
		t.Errorf("the line of the titles moves:\n%s\n%s", before[1], after[1])
	}
	for i := 2; i < h-frameLines-4; i++ {
		if after[i] != before[i+3] {
			t.Errorf("line %d is not what was three lines below:\n%s\n%s", i, after[i], before[i+3])
		}
	}
	press("G")
	for i, l := range lines()[2 : h-2] {
		if strings.TrimSpace(pane(l)) != "" {
			t.Errorf("a page away, line %d still has %q", i, pane(l))
		}
	}
	press("g")
	if m.Update(stillMsg{m.moves}); !shows(0) || !strings.Contains(pane(lines()[2]), "status") {
		t.Errorf("the details of the first record are not at their place: %q", lines()[2])
	}
}

// A key that uses the selected record shows its details at once.
func TestAKeyThatUsesARecordDoesNotWaitForItsDetails(t *testing.T) {
	for _, key := range []string{"y", "p", "J", "enter"} {
		m := opened(t, records(9), 120, 20)
		m.Update(kit.Press("j"))
		if m.Update(kit.Press(key)); m.detailed != m.chosen || m.chosen.id != tuitest.QuoteID(1) {
			t.Errorf("%s: the details are those of %s", key, m.detailed.id)
		}
	}
	m := opened(t, records(9), 120, 20)
	m.Update(kit.Press("j"))
	if m.Update(screen.ClickMsg{X: 3, Y: 4}); m.detailed != m.chosen || m.chosen.id != tuitest.QuoteID(2) {
		t.Errorf("a click: the details are those of %s", m.detailed.id)
	}
}

func TestHiddenAmountsAreNotCopied(t *testing.T) {
	m := openedWith(t, onLab(t), records(3), 80, 40)
	m.Update(screen.AmountsMsg{Hidden: true})
	pressed(m, "enter")
	for last := -1; m.field != last; pressed(m, "down") {
		last = m.field
		for _, msg := range pressed(m, "y") {
			if c, ok := msg.(screen.CopyMsg); ok && strings.Contains(c.Text, "225") {
				t.Errorf("%s was copied: %s", c.What, c.Text)
			}
		}
	}
}

func TestGoldenDetails(t *testing.T) {
	for _, size := range []struct {
		name string
		w, h int
	}{{"80x24", 80, 19}, {"120x40", 120, 35}, {"60x20", 60, 15}, {"200x60", 200, 55}} {
		t.Run(size.name, func(t *testing.T) {
			m := openedWith(t, onLab(t), records(60), size.w, size.h)
			pressed(m, "enter", "down", "down", "down")
			golden.RequireEqual(t, tuitest.Text(t, m, size.w, size.h))
		})
	}
}

func TestAClickChoosesARowAndASecondOneOpensIt(t *testing.T) {
	m := opened(t, records(60), 80, 19)
	settle(m, m.Update(screen.ClickMsg{X: 5, Y: 4}))
	if m.table.Selected() != 2 || m.chosen.id != tuitest.QuoteID(2) || m.details {
		t.Fatalf("line %d is selected", m.table.Selected())
	}
	settle(m, m.Update(screen.ClickMsg{X: 5, Y: 4}))
	if !m.details || !m.inside {
		t.Error("the details are not open")
	}
	pressed(m, "esc", "x")
	settle(m, m.Update(screen.ClickMsg{X: 5, Y: 2}))
	if m.table.Selected() != 2 {
		t.Error("a click went through the question")
	}
	pressed(m, "esc", "esc")
	settle(m, m.Update(screen.ClickMsg{X: 5, Y: 0}))
	settle(m, m.Update(screen.ClickMsg{X: 5, Y: 18}))
	if m.table.Selected() != 2 {
		t.Error("a click beside the rows chose one")
	}
}

func TestTotalsCountWhatIsCompletedAndWhatIsUnknownApart(t *testing.T) {
	s := records(4)
	for i := range s.records {
		s.records[i].Status, s.records[i].Type = api.StatusCompleted, api.RecordTransfer
	}
	s.records[1].DestinationToken.FiatValue = ""
	s.records[2].Timestamp = "2026-10-31T23:00:00Z"
	s.records[3].Status = api.StatusExecuted
	m := opened(t, s, 80, 19)
	all := m.allMonths()
	if len(all) != 2 || monthName(all[0].month) != "Nov 2026" || all[0].done != 2 || all[0].noVolume != 1 ||
		all[0].noFees != 1 || all[0].volume.Int64() != 225_500_000 ||
		all[0].fees.Int64() != 480_000 || monthName(all[1].month) != "Oct 2026" {
		t.Errorf("%+v", all)
	}
	pressed(m, "t")
	golden.RequireEqual(t, tuitest.Text(t, m, 80, 19))
	pressed(m, "esc", "down", "down")
	if text := tuitest.Text(t, m, 80, 19); !strings.Contains(text, "Oct 2026  1 completed  moved $227.50  fees $0.48") {
		t.Error(text)
	}
	m.Update(screen.AmountsMsg{Hidden: true})
	if text := tuitest.Text(t, m, 80, 19); strings.Contains(text, "$") {
		t.Error(text)
	}
}

func TestFeesAreWhatWasPaidBeyondWhatWasReceived(t *testing.T) {
	ctx := tuitest.Context(t)
	ln := newFormatter(ctx.Receipts())
	const bsc = "eip155:8453/erc20:0x4200000000000000000000000000000000000006"
	for name, c := range map[string]struct {
		change func(*api.HistoryRecord)
		want   string
	}{
		"one asset":            {func(*api.HistoryRecord) {}, "480000"},
		"no value":             {func(r *api.HistoryRecord) { r.DestinationToken.FiatValue = "" }, "unknown"},
		"more came than went":  {func(r *api.HistoryRecord) { r.OriginToken.Amount = "1" }, "unknown"},
		"two assets, no value": {func(r *api.HistoryRecord) { r.DestinationToken.AssetType = bsc }, "unknown"},
		"two assets": {func(r *api.HistoryRecord) {
			r.DestinationToken.AssetType = bsc
			r.OriginToken.FiatValue = []api.TokenFiat{{FiatValue: "203.10"}, {FiatValue: "26.40"}}
		}, "1000000"},
		"half of it is unknown": {func(r *api.HistoryRecord) {
			r.DestinationToken.AssetType = bsc
			r.OriginToken.FiatValue = []api.TokenFiat{{FiatValue: "200.10"}, {}}
		}, "unknown"},
		"a call": {func(r *api.HistoryRecord) { r.Type = api.RecordCall }, "unknown"},
		"nothing moved": {func(r *api.HistoryRecord) { r.OriginToken.Amount, r.DestinationToken.Amount = "0", "0" },
			"0"},
	} {
		r := tuitest.Record(3) // a transfer
		c.change(&r)
		got := "unknown"
		if f := ln.receipts.FeesMicro(ln.facts(readerOf(ctx).record(&r))); f != nil {
			got = f.String()
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

func TestAHistoryOfMorePagesThanOneReadingGoesOnWhenAsked(t *testing.T) {
	e := &endless{n: 1_000_000}
	m := opened(t, e, 80, 19)
	for !m.stopped() {
		pressed(m, "G")
	}
	if n := m.book.count(); n != 50_000 {
		t.Errorf("it stops at %d records", n)
	}
	if text := tuitest.Text(t, m, 80, 19); !strings.Contains(text,
		"the history has more pages than this program reads; m goes on") {
		t.Error(text)
	}
	pressed(m, "m", "G", "G")
	if n := m.book.count(); n <= 50_100 {
		t.Errorf("it does not go on: %d records", n)
	}
}

// Every string of this service draws over the screen or reverses its writing direction.
func TestNoTextOfAServiceReachesTheTerminalAsMoreThanText(t *testing.T) {
	const evil = "\x1b[2J\u202e\x07]52;c;eA==\x9b"
	s := records(3)
	for i := range s.records {
		r := &s.records[i]
		r.QuoteID, r.Type, r.Status, r.FailReason, r.User, r.RecipientAccountID = evil+string(rune('a'+i)), evil, evil,
			evil, evil, "eip155:1/"+evil
		r.OriginToken.AggregatedAssetID, r.OriginToken.Amount, r.OriginToken.AssetType = evil, evil, []string{evil}
		r.DestinationToken.AssetType, r.DestinationToken.FiatValue, r.Timestamp, r.DestinationToken.MinimumAmount =
			evil, evil, evil, evil
		r.OriginChainOperations[0] = api.OperationRef{Hash: evil, Chain: evil, ExplorerURL: "https://" + evil}
	}
	p := &printer{}
	m := exporting(t, p, s)
	for _, w := range []int{80, 120} {
		m.Update(screen.ResizedMsg{W: w, H: 60})
		pressed(m, "enter")
		body := m.View(screen.Frame{W: w, H: 60, Theme: tuitest.Theme(), Now: tuitest.Now()})
		tuitest.CheckBox(t, body, w, 60)
		if strings.ContainsAny(body, "\u202e\x07\u009b") || strings.Contains(body, "\x1b[2J") {
			t.Errorf("%q", body)
		}
		pressed(m, "p", "esc", "x", "c", "x", "j")
	}
	for _, b := range p.data {
		if strings.ContainsAny(string(b), "\x1b\u202e\x07") {
			t.Errorf("%q", b)
		}
	}
}

func TestD15DetailsThatAreCutSaySoAndSpaceScrollsThem(t *testing.T) {
	for _, size := range [][2]int{{60, 15}, {80, 19}, {120, 20}} {
		m := openedWith(t, onLab(t), records(3), size[0], size[1])
		pressed(m, "enter")
		for _, where := range []string{"details", "list"} {
			first := tuitest.Text(t, m, size[0], size[1])
			if !strings.Contains(first, "more lines below") {
				t.Errorf("%v, the keyboard in the %s: nothing says that details follow:\n%s", size, where, first)
			}
			top := m.pane.Top()
			if pressed(m, "space"); m.pane.Top() <= top {
				t.Errorf("%v, the keyboard in the %s: space does not scroll", size, where)
			}
			pressed(m, "esc")
		}
		for m.pane.Below() > 0 {
			pressed(m, "space")
		}
		if text := tuitest.Text(t, m, size[0], size[1]); strings.Contains(text, "more lines below") {
			t.Errorf("%v: more is promised at the end:\n%s", size, text)
		}
	}
}

func TestD12TabMovesBetweenListAndDetails(t *testing.T) {
	for _, w := range []int{80, 120, 200} {
		m := opened(t, records(9), w, 20)
		pressed(m, "j", "tab")
		if !m.inside || m.detailed.id != tuitest.QuoteID(1) {
			t.Fatalf("%d columns: tab does not go to the details", w)
		}
		if pressed(m, "tab", "j"); m.inside || m.chosen.id != tuitest.QuoteID(2) {
			t.Errorf("%d columns: tab does not go back to the list", w)
		}
	}
}

func TestD12AClickOnTheDetailsGivesThemTheKeyboard(t *testing.T) {
	m := opened(t, records(9), 200, 20)
	settle(m, m.Update(screen.ClickMsg{X: 180, Y: 6}))
	if !m.inside || m.table.Selected() != 0 {
		t.Errorf("the details do not have the keyboard, line %d is selected", m.table.Selected())
	}
	settle(m, m.Update(screen.ClickMsg{X: 5, Y: 4}))
	if m.inside || m.table.Selected() != 2 {
		t.Errorf("a click on the list does not select its line: %d", m.table.Selected())
	}
}
