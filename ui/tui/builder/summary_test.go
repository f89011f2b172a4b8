package builder

import (
	"slices"
	"strings"
	"testing"

	"coffer/ui/compose"
	"coffer/ui/tui/internal/tuitest"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/review"
	"coffer/ui/tui/screen"
	"coffer/wallet/intent"
)

// TestD12_TheSummaryFollowsTheFormAndAMoveOfTheCursorDrawsNoneOfIt: from 120 columns what the order would do is beside
// the form.
func TestD12_TheSummaryFollowsTheFormAndAMoveOfTheCursorDrawsNoneOfIt(t *testing.T) {
	r := newRig(t)
	r.w, r.h = 120, 35
	right := func() string { return tuitest.Columns(r.view())[1] }
	r.press("d")
	for _, want := range []string{"Send 1,600.50 USDC to Demo payee on Base.", "missing 1,575.500000",
		"Optimism     1,500.000000 USDC"} {
		if !strings.Contains(right(), want) {
			t.Errorf("no %q in\n%s", want, right())
		}
	}
	before := right()
	for range 12 {
		if r.press("up"); right() != before {
			t.Fatalf("on %s the summary changes:\n%s", r.s.focus, right())
		}
	}
	r.press("esc")
	filledTransfer(r)
	r.s.PaidKnown = true
	r.s.x[intent.KindTransfer].To = stranger
	if !strings.Contains(right(), "! never sent there before") || strings.Contains(r.view(), "What happens") {
		t.Errorf("no warning, or the story twice:\n%s", r.view())
	}
	r.s.Hidden = true
	if text := right(); strings.Contains(text, "1,500") || strings.Contains(text, "750") {
		t.Errorf("a hidden balance is shown:\n%s", text)
	}
}

// TestD12_TheSummaryTakesTheKeyboardAndGivesItBack: typing goes into no field meanwhile, and the row that was being
// edited keeps its text.
func TestD12_TheSummaryTakesTheKeyboardAndGivesItBack(t *testing.T) {
	r := newRig(t)
	r.w, r.h = 120, 14
	r.press("d").fill(compose.IDValue(0), "0.00").view()
	r.press(paneKey)
	if !r.s.reading() || r.s.Capturing() || r.s.b.Calls[0].Value != "0.00" {
		t.Fatalf("reading %v, capturing %v, %q", r.s.reading(), r.s.Capturing(), r.s.b.Calls[0].Value)
	}
	was, form := r.view(), *r.s.b.Clone()
	for _, k := range []string{"x", "d", "n", "p", "1", "t", "X"} {
		r.press(k)
	}
	if len(r.s.b.Calls) != len(form.Calls) || r.s.form != formCalls || r.view() != was {
		t.Errorf("a key of the form acts while the summary is read:\n%s", r.view())
	}
	if r.press("down", "down"); r.view() == was {
		t.Error("the summary does not scroll")
	}
	for _, back := range []string{"tab", "esc", paneKey, "shift+tab"} {
		r.s.read()
		if r.press(back); r.s.reading() || r.s.focus != compose.IDValue(0) {
			t.Errorf("%s does not go back to the row: %s", back, r.s.focus)
		}
	}
	r.do(r.s.Update(screen.ClickMsg{X: 100, Y: 3}))
	if !r.s.reading() {
		t.Error("a click on the summary does not give it the keyboard")
	}
	r.w = 80
	if r.view(); r.s.reading() {
		t.Error("a summary that is not shown has the keyboard")
	}
	shows := func() bool {
		return slices.ContainsFunc(r.s.Keys(), func(k kit.Key) bool { return slices.Contains(k.Press, paneKey) })
	}
	if r.press(paneKey); r.s.reading() || shows() {
		t.Error("80 columns have no summary")
	}
}

// TestD12_ARemarkOfManyFieldsIsSaidOnce: a list of payouts has the same warning at many rows.
func TestD12_ARemarkOfManyFieldsIsSaidOnce(t *testing.T) {
	r := newRig(t)
	r.w, r.h = 200, 55
	r.press("d")
	r.s.PaidKnown = true
	r.s.b.Calls[0].Args[0].Text = stranger
	for range 4 {
		r.s.b.Duplicate(0)
	}
	text := r.view()
	if !strings.Contains(text, "(call 2, to, call 3, to and 2 other fields)") {
		t.Errorf("\n%s", text)
	}
}

// TestARevocationFromThePageOfAllowancesCanBeReviewed: the draft that other screens hand over freezes as it is.
func TestARevocationFromThePageOfAllowancesCanBeReviewed(t *testing.T) {
	r := newRig(t)
	r.w, r.h = 120, 35
	e, _ := r.s.AssetOn(r.s.b.Chain, "USDC")
	d, problem := r.s.Revocation(e.Asset.String(), router)
	if problem != "" {
		t.Fatal(problem)
	}
	r.do(r.s.Update(screen.OpenedMsg{Arg: review.EditArg{Draft: d}}))
	if in := r.frozen(); len(in.Draft().Allowances) != 1 || in.Draft().Allowances[0].Amount != "0" {
		t.Errorf("%+v", in.Draft())
	}
	text := tuitest.Columns(r.view())[1]
	if !strings.Contains(text, "Nothing more may be taken") || strings.Contains(text, "May be taken") {
		t.Errorf("\n%s", text)
	}
}
