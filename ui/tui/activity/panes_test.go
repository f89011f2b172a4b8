package activity

import (
	"strings"
	"testing"
	"time"

	"coffer/api"
	"coffer/api/caip"
	"coffer/ui/tui/internal/tuitest"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/screen"
	"coffer/wallet/flow"
	"coffer/wallet/journal"

	"github.com/ethereum/go-ethereum/common"
)

// terms are what the journal has of the snapshot's quote.
func terms(quoteID string) (journal.Terms, bool) {
	asset := caip.ERC20(8453, common.HexToAddress(usdc)).String()
	return journal.Terms{Payees: []journal.Payee{{To: "0x93DBD23b6b71b82E3A19aD8d51DdEBbB13aF7BC0", Asset: asset,
		Amount: "225000000"}}, FeesNamed: true, FeesMicro: "980000",
		Fees: []journal.Spend{{Asset: asset, Amount: "980000"}}}, quoteID == id64("9f")
}

// two is a wide screen with two operations: the first one waits.
func two(t *testing.T, w, h int) *rig {
	t.Helper()
	waits := snapshot(flow.StateReview2, "")
	waits.ID, waits.Started = "op2", begin().Add(1)
	r := newRig(t, Deps{Outstanding: live})
	r.w, r.h = w, h
	return r.track(&fakeOp{id: "op2", snap: waits},
		&fakeOp{id: "op1", snap: snapshot(flow.StateDone, api.StatusCompleted)})
}

// TestD12_TheStepsAreBesideTheOperationsAndFollowASelectionThatHoldsStill: the old steps stay while a key is held.
func TestD12_TheStepsAreBesideTheOperationsAndFollowASelectionThatHoldsStill(t *testing.T) {
	r := two(t, 120, 35)
	column := func(i int) string { return tuitest.Columns(r.view())[i] }
	if text := column(1); !strings.Contains(text, "signature 1 of 3") || strings.Contains(text, "your call ran") {
		t.Fatalf("the steps are not those of the first operation:\n%s", text)
	}
	before := column(1)
	r.s.Update(kit.Press("down"))
	if column(1) != before || !strings.Contains(column(0), "› 12:01:03") {
		t.Fatalf("a move draws the steps at once, or does not move:\n%s", r.view())
	}
	r.s.Update(stillMsg{r.s.moves - 1})
	if column(1) != before {
		t.Error("an older rest shows the steps")
	}
	if r.s.Update(stillMsg{r.s.moves}); !strings.Contains(column(1), "✓ your call ran on Base") {
		t.Errorf("the selection holds still, and its steps do not show:\n%s", r.view())
	}
	if r.w = 80; len(tuitest.Columns(r.view())) != 1 {
		t.Error("80 columns have panes")
	}
}

func TestD12_TabMovesTheKeyboardAndEveryPaneScrolls(t *testing.T) {
	r := two(t, 200, 12)
	r.s.ctx.Terms = terms
	r.s.Update(kit.Press("down"))
	r.s.Update(stillMsg{r.s.moves})
	column := func(i int) string { return tuitest.Columns(r.view())[i] }
	if !strings.Contains(column(2), "Can still be used") || !strings.Contains(column(2), "250.500000 USDC") ||
		strings.Contains(column(2), ", in ") {
		t.Errorf("what can still be used is not beside, or counts down:\n%s", r.view())
	}
	for i := 1; i <= 2; i++ {
		before, list := column(i), column(0)
		r.press("tab")
		if r.press("j"); column(i) == before || r.s.focus != 1 && i == 1 {
			t.Errorf("pane %d does not scroll:\n%s", i, r.view())
		}
		if got := column(0); strings.Contains(list, "› ") != strings.Contains(got, "› ") {
			t.Errorf("the selection moved:\n%s", got)
		}
	}
	if r.press("esc"); r.s.focus != 0 {
		t.Error("esc does not go back to the operations")
	}
	r.do(r.s.Update(screen.ClickMsg{X: 100, Y: 3}))
	if r.s.focus != 1 {
		t.Error("a click on the steps does not give them the keyboard")
	}
}

// TestD3_TheStepsSayWhoGotWhatAndTheFees: what the journal has of the operation.
func TestD3_TheStepsSayWhoGotWhatAndTheFees(t *testing.T) {
	r := two(t, 160, 50)
	r.s.ctx.Terms = terms
	if strings.Contains(r.view(), "is to get") {
		t.Errorf("an operation that was not sent has a receipt:\n%s", r.view())
	}
	r.s.Update(kit.Press("down"))
	r.s.Update(stillMsg{r.s.moves})
	for _, want := range []string{"got 225 USDC", "0.98 USDC ($0.98), as reviewed"} {
		if !strings.Contains(flat(r.view()), want) {
			t.Errorf("no %q in\n%s", want, r.view())
		}
	}
	r.s.hidden = true
	if text := flat(r.view()); strings.Contains(text, "225 USDC") || strings.Contains(text, "0.98") {
		t.Errorf("a hidden amount is shown:\n%s", text)
	}
}

func TestTheNewestOperationOfTheJournalIsSelectedAtTheStart(t *testing.T) {
	older, newer := snapshot(flow.StateReview2, ""), snapshot(flow.StateReview2, "")
	newer.ID, newer.Started = "op2", begin().Add(time.Minute)
	r := newRig(t, Deps{Unfinished: func() []Operation {
		return []Operation{&fakeOp{id: "op1", snap: older}, &fakeOp{id: "op2", snap: newer}}
	}})
	if it := r.s.selected(); it == nil || it.op.ID() != "op2" {
		t.Errorf("not the newest one:\n%s", r.view())
	}
}
