package review

import (
	"math/big"
	"slices"
	"strings"
	"testing"

	"coffer/ui/internal/reviewtest"
	"coffer/ui/present"
	"coffer/ui/tui/kit"
	"coffer/wallet/verify"
)

func TestD12_AWideScreenHasTheChecksAndFiguresBesideTheReview(t *testing.T) {
	for w, beside := range map[int]bool{119: false, 120: true, 200: true} {
		r := newRig(t)
		r.w, r.h = w, 35
		r.op.report2 = report(notes()...)
		v := r.toReview2().flat()
		for _, want := range []string{"Signatures 1 [✓] the call on Base 2 [ ] payment on Optimism",
			"Checks 7 passed ✓ 1 warning ! 0 blocked 1 not checked ?",
			"leaves 250.980000 USDC arrives 250.500000 USDC cost 0.480000 USDC fees 0.480000 USDC ✓",
			"You allowed slippage 0.50 %, used 0.00 % ✓", "Review code 0x8e8e 8e8e"} {
			if strings.Contains(v, want) != beside {
				t.Errorf("at %d columns %q: %v\n%s", w, want, !beside, r.view())
			}
		}
		if k, ok := kit.FindKey(r.s.Keys(), "tab"); ok != beside || beside && k.Label != "other pane" {
			t.Errorf("at %d columns tab is %+v", w, k)
		}
	}
}

// What is not a figure of one asset that the fees explain is added up in dollars, and what is left over is said.
func TestD12_TheSumBesideAReviewLeavesNothingOut(t *testing.T) {
	for name, x := range map[string]struct {
		change func(q *verify.QuoteView)
		want   string
	}{
		"swap":        {func(*verify.QuoteView) {}, "cost $0.480000 fees $0.479904 left over $0.000096"},
		"unexplained": {func(q *verify.QuoteView) { q.Explained = false }, "left over $0.000096 !"},
		"unknown": {func(q *verify.QuoteView) { q.CostMicro, q.FeesMicro, q.UnexplainedMicro = nil, nil, nil },
			"cost unknown fees unknown"},
		"slippage": {func(q *verify.QuoteView) { q.Minimum.Amount = big.NewInt(1) },
			"slippage 0.50 %, used 100.00 % !"},
	} {
		r := newRig(t)
		r.w, r.h = 120, 45
		r.openSwap()
		x.change(r.op.next)
		if v := r.settle().flat(); !strings.Contains(v, x.want) {
			t.Errorf("%s: %q is missing:\n%s", name, x.want, r.view())
		}
	}
}

// The arrows scroll the pane that has the keyboard. Only the review counts as read, and confirming does not depend on
// the pane.
func TestD12_TabGivesTheOtherPaneTheKeyboardAndReadsNothing(t *testing.T) {
	r := newRig(t)
	r.w, r.h = 120, 15
	r.op.next = solanaQuote(r.clock.now)
	r.open().settle().read().press("y").settle()
	unread := r.s.text[pageMain].Unseen()
	if unread == 0 {
		t.Fatal("all of it fits")
	}
	r.press("tab")
	if !strings.Contains(r.view(), "›Details") {
		t.Errorf("the pane with the keyboard is not marked:\n%s", r.view())
	}
	for range 30 {
		r.press("j", "space").view()
	}
	if r.s.side.Top() == 0 || r.s.text[pageMain].Top() > 0 || r.s.text[pageMain].Unseen() != unread {
		t.Errorf("beside %d, review %d, unread %d of %d", r.s.side.Top(), r.s.text[pageMain].Top(),
			r.s.text[pageMain].Unseen(), unread)
	}
	if r.typeText("250").press("enter").count(1, 0); !r.told("read to the end first") {
		t.Error("confirmed without reading")
	}
	r.press("esc") // to the first pane, not out of the review
	if strings.Contains(r.view(), "Details") || r.s.phase != phaseReview2 {
		t.Fatalf("phase %d:\n%s", r.s.phase, r.view())
	}
	r.read().press("tab").typeText("250").press("enter").count(1, 1)
}

// The pane gives way where what has to be read fits into the whole width and not beside it.
func TestD12_ThePaneNeverMakesAPersonScroll(t *testing.T) {
	for _, c := range reviewtest.All() {
		for h := 15; h <= 55; h += 4 {
			s, view := reviewOf(t, c, 120, h)
			view()
			wide := s.panes
			f, unread := frameOf(120, h), s.text[pageMain].Unseen()
			if _, need := s.mainLines(f, 120, h-2, false); need <= h-2 && unread > 0 {
				t.Errorf("%s in %d lines, %d panes: %d lines unread", c.Name, h, wide, unread)
			}
		}
	}
}

// Nothing beside a review is a fact that a consent needs.
func TestD12_NothingBesideAReviewBinds(t *testing.T) {
	for _, c := range reviewtest.All() {
		s, view := reviewOf(t, c, 120, 40)
		view()
		for _, x := range present.Beside(s.about()) {
			if paths := x.Page.Paths(); len(paths) > 0 {
				t.Errorf("%s: %s shows %v", c.Name, x.Title, paths)
			}
		}
	}
	all := present.Beside(present.Review{Review: reviewtest.Quote(), Catalog: cat(t)})
	if at := slices.IndexFunc(all, func(x present.Section) bool { return x.Title == "Arithmetic" }); at != 2 {
		t.Errorf("arithmetic is section %d", at)
	}
}
