package builder

import (
	"strings"
	"testing"

	"coffer/api"
	"coffer/ui/compose"
	"coffer/ui/present"
	"coffer/ui/tui/screen"
	"coffer/wallet/intent"
)

func TestAfterAListTheNextEmptyFieldIsTypedInto(t *testing.T) {
	r := newRig(t)
	r.press("t", "enter").typeText("usdc").press("enter")
	if !r.s.editing || r.s.focus != compose.IDAmount {
		t.Fatalf("focus on %s, typing %v: a digit would open a tab", r.s.focus, r.s.editing)
	}
	r.typeText("12")
	if got := r.s.x[intent.KindTransfer].Amount; got != "12" {
		t.Errorf("%q", got)
	}
	r.press("esc", "w")
	r.s.focus = compose.IDPay
	r.press("enter").typeText("usdc").press("enter")
	r.s.x[intent.KindSwap].Amount = "5"
	r.press("esc")
	r.s.focus = compose.IDReceive
	r.press("enter").typeText("weth").press("enter")
	if r.s.editing {
		t.Error("a field that may stay empty took the keyboard, and r would be typed into it")
	}
}

func TestEnterInAnEmptyFieldOpensItsListAsTheFieldSays(t *testing.T) {
	r := newRig(t)
	r.press("t").on(compose.IDTarget).press("enter")
	if !r.s.choice.IsOpen() || !strings.Contains(r.view(), "Who gets it") {
		t.Errorf("enter did not list:\n%s", r.view())
	}
	r.press("esc").on(compose.IDTarget).typeText(account[:6]).press("enter")
	if r.s.choice.IsOpen() {
		t.Error("enter opened a list over what was typed")
	}
	r = newRig(t)
	r.press("w").on(compose.IDTarget).press("enter")
	if r.s.choice.IsOpen() || r.s.focus == compose.IDTarget {
		t.Error("a field that may stay empty was not passed")
	}
}

func TestATransferToNobodyYetHasTheWholeBalance(t *testing.T) {
	r := newRig(t)
	r.do(r.s.Update(screen.OpenedMsg{Arg: screen.AssetArg{Aggregate: "ob:usdc", Form: intent.KindTransfer}}))
	if !strings.Contains(r.view(), "you have 2,275") {
		t.Errorf("a part of the balance is left out before anybody is named:\n%s", r.view())
	}
}

func TestATokenIsNoDangerBeforeItsFunctionIsChosen(t *testing.T) {
	r := newRig(t)
	r.fill(compose.IDTo(0), usdc).press("esc")
	if c := r.s.Cautions(r.s.shown())[compose.IDTo(0)]; c.Text != "" {
		t.Errorf("%q", c.Text)
	}
	r.fill(compose.IDValue(0), "1").press("esc")
	if c := r.s.Cautions(r.s.shown())[compose.IDTo(0)]; !strings.Contains(c.Text, "keeps the coins") {
		t.Errorf("coins sent to a token: %q", c.Text)
	}
}

func TestARemarkBesideAFieldLosesNoFigure(t *testing.T) {
	r := newRig(t)
	r.w = 60
	r.press("t")
	r.pick(compose.IDPay, "ob:usdc").fill(compose.IDAmount, "123456789.123456").press("esc")
	text := strings.Join(strings.Fields(r.view()), " ")
	for _, want := range []string{"about $123,", "= 123 456 789 123 456 base units"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not there:\n%s", want, r.view())
		}
	}
}

func TestWhatWasRemovedComesBack(t *testing.T) {
	r := newRig(t)
	r.press("d", "n", "esc", "x")
	if len(r.s.b.Calls) != 1 {
		t.Fatalf("%d calls", len(r.s.b.Calls))
	}
	r.press("U")
	if len(r.s.b.Calls) != 2 {
		t.Error("a removed call is gone for good")
	}
	r = newRig(t)
	r.fill(compose.IDTo(0), usdc)
	r.fill(compose.IDSig(0), "approve(address spender, uint256 amount)")
	r.fill(compose.IDArg(0, []int{0}), router)
	r.fill(compose.IDArg(0, []int{1}), "20").press("esc", "a")
	if len(r.s.b.Allow) != 1 {
		t.Fatal(r.toast())
	}
	r.press("U")
	if len(r.s.b.Allow) != 0 || !strings.HasPrefix(r.s.b.Calls[0].Signature, "approve") {
		t.Error("the approval does not come back")
	}
}

func TestAFormThatWentToAReviewSaysSoWhenOneComesBack(t *testing.T) {
	const words = "you already reviewed this order"
	r := newRig(t)
	r.press("d", "r")
	if strings.Contains(r.view(), words) {
		t.Fatal("it is said before anybody came back")
	}
	r.do(r.s.Update(screen.OpenedMsg{}))
	r.press("G")
	if !strings.Contains(r.view(), words) {
		t.Fatalf("a second sending is not warned of, at the end of the form too:\n%s", r.view())
	}
	r.fill(compose.IDArg(0, []int{1}), "7")
	if strings.Contains(r.view(), words) {
		t.Error("it is another form now")
	}
}

func TestAnExportChangesNothingInTheForm(t *testing.T) {
	m := &memory{}
	r := keepRig(t, m)
	r.press("d", "r")
	frozen := r.s.frozen
	r.press("e", "enter")
	if frozen == "" || r.s.frozen != frozen {
		t.Errorf("%q became %q", frozen, r.s.frozen)
	}
}

func TestAFailingCallIsSaidInPlainWords(t *testing.T) {
	r := newRig(t)
	r.press("d")
	r.s.refuse([]api.Failure{{Path: "calls[0]", Expected: "a call that succeeds", Got: "it reverts"}}, nil)
	if got := r.s.fieldErrors[compose.IDSig(0)]; got != "tried out, the call fails: it reverts" {
		t.Errorf("%q", got)
	}
}

func TestTabPassesWhatCannotBeTypedInto(t *testing.T) {
	r := newRig(t)
	r.fill(compose.IDTo(0), router)
	r.fill(compose.IDSig(0), "fill((address maker,(bytes32 salt) in) order, bool[2] flags)").press("tab")
	r.typeText(account).press("tab").typeText("0x" + strings.Repeat("12",
		32)).press("tab").typeText("true").press("tab").typeText("false").press("tab")
	if s, ok := r.s.b.Calls[0].Calldata(compose.Target{}); !ok || r.s.focus != compose.IDValue(0) {
		t.Fatalf("focus on %s, %x, %v", r.s.focus, s, r.s.mistakes())
	}
	r.press("tab", "shift+tab", "shift+tab")
	if want := compose.IDArg(0, []int{1, 1}); r.s.focus != want {
		t.Errorf("back to %s, not %s", r.s.focus, want)
	}
}

// A call that was just added, or a form that was just emptied, has no mistake yet; a review finds what is missing.
func TestD15_WhatIsEmptyInANewCallIsNoMistakeYet(t *testing.T) {
	const words = "an address is needed"
	r := newRig(t)
	r.press("r")
	if !strings.Contains(r.view(), words) {
		t.Fatal("a review of an empty form finds nothing missing")
	}
	r.s.focus = compose.IDCall(0)
	if r.press("n"); len(r.s.b.Calls) != 2 || strings.Contains(r.view(), words) {
		t.Errorf("a new call begins with a mistake:\n%s", r.view())
	}
	if r.press("ctrl+r"); !strings.Contains(r.view(), words) {
		t.Errorf("the review does not find it:\n%s", r.view())
	}
	r.s.focus = compose.IDCall(0)
	if r.press("X"); len(r.s.b.Calls) != 1 || strings.Contains(r.view(), words) {
		t.Errorf("an emptied form begins with a mistake:\n%s", r.view())
	}
}

// TestD15_TheFormIsEmptyIsSaidWhileItIs: it stays as long as it is true, and no longer.
func TestD15_TheFormIsEmptyIsSaidWhileItIs(t *testing.T) {
	const words = "The form is empty;"
	r := newRig(t)
	if r.press("d", "X"); !strings.Contains(r.view(), words) {
		t.Fatalf("it is not said:\n%s", r.view())
	}
	if r.press("d"); strings.Contains(r.view(), words) || strings.Contains(r.toast(), "empty") {
		t.Errorf("it stays after the form is filled:\n%s", r.view())
	}
	r.press("X")
	if r.fill(compose.IDTo(0), "0x93"); strings.Contains(r.view(), words) {
		t.Errorf("it stays while something is typed:\n%s", r.view())
	}
	r.press("esc", "X", "w")
	if strings.Contains(r.view(), words) {
		t.Errorf("it is said of another form:\n%s", r.view())
	}
}

// TestTheHelpOfEveryRowFitsItsLine: at 80 columns none ends in "…".
func TestTheHelpOfEveryRowFitsItsLine(t *testing.T) {
	r := everyRow(t)
	for _, form := range []string{formCalls, intent.KindTransfer, intent.KindSwap} {
		r.s.form = form
		for _, row := range r.s.rows() {
			if n := present.Width(row.help); n > 78 {
				t.Errorf("%s, %s: %d cells: %s", form, row.id, n, row.help)
			}
		}
	}
}
