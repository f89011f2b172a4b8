package balances

import (
	"math/big"
	"strings"
	"testing"

	"coffer/api"
	"coffer/ui/present"
	"coffer/ui/tui/internal/tuitest"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/screen"
)

// rich is the sample with more than ten million dollars of USDC.
func rich(t *testing.T) *Model {
	b := tuitest.Balances(t)
	for i := range b.BalanceByAggregatedAsset {
		if a := &b.BalanceByAggregatedAsset[i]; a.AggregatedAssetID == "ob:usdc" {
			a.Balance, a.FiatValue, a.IndividualAssetBalances = "11302782123456", "11301880.45", nil
		}
	}
	return loaded(t, tuitest.Context(t), &source{b: b})
}

func TestALargeValueKeepsItsDigitsAndOtherColumnsGiveWay(t *testing.T) {
	for w, want := range map[int]struct{ share, name bool }{120: {true, false}, 92: {true, true}, 80: {true, false},
		60: {true, false}} {
		m := rich(t)
		m.Update(screen.ResizedMsg{W: w, H: 19})
		text := tuitest.Text(t, m, w, 19)
		for _, figure := range []string{"$11,301,880.45", "11,302,782.123456"} {
			if !strings.Contains(text, figure) {
				t.Errorf("at %d columns %s is not in full:\n%s", w, figure, text)
			}
		}
		share, name := m.table.Shows(shareAt, m.panes()[0]), strings.Contains(text, "Wrapped BTC")
		if share != want.share || name != want.name {
			t.Errorf("at %d columns: share %v, name %v:\n%s", w, share, name, text)
		}
	}
}

func TestAFigureBeyondAllSenseTakesNoRoomFromTheOthers(t *testing.T) {
	b := tuitest.Balances(t)
	b.BalanceByAggregatedAsset[0].FiatValue = api.Number(strings.Repeat("9", 60))
	m := loaded(t, tuitest.Context(t), &source{b: b})
	tuitest.Text(t, m, 80, 19)
	if !m.table.Shows(shareAt, 80) || m.table.WidthOf(valueAt, 80) != valueLong {
		t.Errorf("the value has %d cells", m.table.WidthOf(valueAt, 80))
	}
}

func TestHiddenAmountsDoNotTellTheirSizeByTheColumns(t *testing.T) {
	layout := func(m *Model) (out [valueAt + 1]int) {
		m.Update(screen.AmountsMsg{Hidden: true})
		tuitest.Text(t, m, 80, 19)
		for i := range out {
			out[i] = m.table.WidthOf(i, 80)
		}
		return out
	}
	if a, b := layout(rich(t)), layout(sample(t)); a != b {
		t.Errorf("ten million: %v, a few thousand: %v", a, b)
	}
}

func TestTheFirstLineIsToldThatTheTotalIsScrambled(t *testing.T) {
	m := sample(t)
	told := func() bool { return m.announce()().(screen.TotalChangedMsg).Scrambled }
	before := told()
	tuitest.Keys(m, "H")
	during := told()
	tuitest.Keys(m, "H")
	if before || !during || told() {
		t.Errorf("before %v, scrambled %v, after %v", before, during, told())
	}
}

func TestZerosThatAreAskedForAreNotDust(t *testing.T) {
	ctx := tuitest.Context(t)
	ctx.Settings.Dust = big.NewInt(1_000_000)
	m := loaded(t, ctx, &source{b: tuitest.Balances(t)})
	m.Update(kit.Press("z"))
	zeros := 0
	for _, r := range m.rows {
		if r.kind == headRow && r.key == dustKey {
			t.Errorf("dust of %d lines that hold nothing", r.parts)
		}
		if r.kind == groupRow && present.IsZero(r.amount, r.micro) {
			zeros++
		}
	}
	if zeros < 5 {
		t.Errorf("%d zero balances are shown", zeros)
	}
}

func TestAFilterSaysHowMuchItFound(t *testing.T) {
	m := sample(t)
	m.Update(screen.ResizedMsg{W: 80, H: 19})
	tuitest.Keys(m, "/", "u", "s", "d", "enter")
	if text := tuitest.Text(t, m, 80, 19); !strings.Contains(text, "1 line matches") {
		t.Error(text)
	}
}
