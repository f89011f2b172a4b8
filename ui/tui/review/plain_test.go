package review

import (
	"math/big"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"coffer/api"
	"coffer/ui/present"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/screen"
	"coffer/ui/tui/theme"
	"coffer/wallet/intent"
	"coffer/wallet/verify"
)

// knows gives the screen a contact book with one name.
func (r *rig) knows(name, at string) *rig {
	r.s.deps.Names = func(a string) string {
		if a == present.Checksummed(at) {
			return name
		}
		return ""
	}
	return r
}

func TestSpaceAtTheEndGoesToTheFirstLineThatWasNotShown(t *testing.T) {
	r := newRig(t).gated()
	r.open().settle()
	r.view()
	r.press("G")
	for range 20 {
		if r.view(); r.s.text[pageMain].SeenAll() {
			break
		}
		r.press("space")
	}
	if !r.s.text[pageMain].SeenAll() {
		t.Fatalf("space stopped with lines above unread:\n%s", r.view())
	}
	r.clock.add(time.Second)
	r.press("enter").typeText(blindText)
	r.clock.add(time.Second)
	r.press("enter").count(1, 0)
}

func TestWhyNothingIsConfirmedStandsOnce(t *testing.T) {
	r := newRig(t).gated()
	r.h = 12
	r.open().settle()
	r.view()
	r.press("G")
	r.clock.add(time.Second)
	r.view()
	r.press("enter")
	if !r.told("read to the end first: ") || strings.Contains(r.view(), "read to the end first") ||
		!strings.Contains(r.view(), "above not read yet  (space)") {
		t.Fatal(r.view())
	}
	r.count(0, 0)
}

func TestAnAssumedStateIsSaidOnBothSidesWithItsAddresses(t *testing.T) {
	for _, w := range []int{60, 80, 120} {
		r := newRig(t)
		d := anIntent(t, r.clock.now).Draft()
		d.Overrides = []api.StateOverride{{Address: strings.ToLower(escrow), Balance: "0x1"},
			{Address: kernel, Code: "0x00"}, {Address: escrow, Code: "0x00"}}
		r.op.asked = &d
		r.w, r.h = w, 60
		all := r.open().settle().shown()
		for _, want := range []string{"! tried on an assumed state (2 addresses)", escrow, kernel,
			"! No other calls, but tried on an assumed state"} {
			if !strings.Contains(all, squash(want)) {
				t.Errorf("%q is missing at %d columns:\n%s", want, w, r.view())
			}
		}
		if strings.Contains(all, "nothingelse✓") {
			t.Errorf("what was assumed counts as nothing at %d columns:\n%s", w, r.view())
		}
		r.press("y").count(1, 0)
	}
}

// In two columns both sides show recipient and amount; one below the other, a call that is the same byte for byte is
// shown once, so that a usual review fits the first screen. One that differs is shown on both sides at every width.
func TestACallThatIsTheSameIsShownOnceWhereTheSidesFollowEachOther(t *testing.T) {
	for _, differs := range []bool{false, true} {
		for _, w := range []int{60, 80, 99, 100, 120, 200} {
			two := kit.PaneWidths(w, reviewShare, besideShare)[0] >= sideBySide
			r := newRig(t)
			r.w, r.h = w, 60
			if differs {
				r.op.view1.Lines[0].AsAsked = false
			}
			all := r.open().settle().shown()
			asked, holds, both := strings.Cut(all, squash("The operation contains"))
			if !both {
				t.Fatal(all)
			}
			once := !two && !differs
			if strings.Contains(asked, squash("byte for byte as below")) != once {
				t.Errorf("at %d columns: %s", w, asked)
			}
			payee, sum := squash("to "+payee), squash("amount 250.500000 USDC")
			if !strings.Contains(holds, payee) || !strings.Contains(holds, sum) {
				t.Errorf("at %d columns: %s", w, holds)
			}
			if n := strings.Count(all, sum); n != 2 && two && !differs || n != 1 && once {
				t.Errorf("at %d columns the amount is there %d times: %s", w, n, all)
			}
		}
	}
}

// nativePayment makes review 1 a payment of 0.001 ETH without data.
func (r *rig) nativePayment() *rig {
	r.nativeCall()
	wei := big.NewInt(1_000_000_000_000_000)
	l := &r.op.view1.Lines[0]
	l.To, l.Recipient, l.Data, l.Decoded, l.Value = payee, payee, "0x", true, wei
	l.Amount.Amount = wei
	r.op.asked.Calls = []intent.Call{{To: payee, Value: wei.String()}}
	return r
}

func TestAPlainPaymentIsReadInItsCoinAndByTheNameOfItsRecipient(t *testing.T) {
	r := newRig(t).nativePayment().knows("Demo payee", payee)
	r.h = 60
	v := r.open().settle().flat()
	for want, n := range map[string]int{
		"value 0.001 ETH": 1, present.Address(payee) + " Demo payee": 2, "base units": 0, "unknown contract": 0,
		"contract": 0,
	} {
		if strings.Count(v, want) != n {
			t.Errorf("%q stands %d times, want %d:\n%s", want, strings.Count(v, want), n, r.view())
		}
	}
	r.press("i")
	if !strings.Contains(r.s.View(screen.Frame{W: 80, H: 60, Theme: theme.Theme{}, Now: r.clock.now}),
		"1000000000000000 wei") {
		t.Error("the inspection has no base units")
	}
	r = newRig(t).nativePayment()
	r.h = 60
	if v := r.open().settle().flat(); strings.Contains(v, "unknown contract") ||
		!strings.Contains(v, "to "+present.Address(payee)+" on Base") {
		t.Error(r.view())
	}
}

func TestTheKeyLineSaysInWordsWhatIsSigned(t *testing.T) {
	line := func(r *rig) string { r.view(); return kit.KeyLine(theme.Theme{}, r.s.Keys(), r.w, kit.Help) }
	r := newRig(t)
	r.open().settle()
	if v := line(r); !strings.Contains(v, "y sign the call  ") || !strings.Contains(v, "leave, nothing signed") {
		t.Error(v)
	}
	r = newRig(t)
	r.op.view1 = delegated(r.op.view1)
	r.open().settle()
	if v := line(r); !strings.Contains(v, "y sign the delegation and the call") {
		t.Error(v)
	}
	r.w = 60
	if v := line(r); !strings.Contains(v, "y sign 2  ") {
		t.Error(v)
	}
}

func TestTheRecipientOfAnExchangeIsInFullOnTheFirstScreen(t *testing.T) {
	for name, open := range map[string]func(*rig) *rig{"transfer": (*rig).openTransfer, "swap": (*rig).openSwap} {
		r := newRig(t)
		if v := open(r).settle().view(); strings.Count(v, "To       "+present.Address(r.op.next.Recipient)) != 1 {
			t.Errorf("%s:\n%s", name, v)
		}
	}
}

// The money of a call goes to the own account first, which is in the fold of the routing; to another one it is marked.
func TestAnOwnAccountIsMarkedAsYoursAndAStrangeOneAsNew(t *testing.T) {
	if v := audited(t, func(*verify.QuoteView) {}); !strings.Contains(v,
		"First to "+present.Address(account)+" yours ✓") {
		t.Error(v)
	}
	v := audited(t, func(q *verify.QuoteView) { q.RecipientOwn, q.RecipientFirstTime = false, true })
	if !strings.Contains(v, "To "+present.Address(account)+" not your own account ✗ first time !") {
		t.Error(v)
	}
}

func TestABalanceThatNobodyKnowsIsLeftOutOfTheNeedAndCounted(t *testing.T) {
	v := audited(t, func(q *verify.QuoteView) { q.Needs[0].Have, q.Needs[0].Short = nil, nil })
	if !strings.Contains(v, "Base needs 250.500000 USDC You pay") || strings.Contains(v, "has unknown") ||
		strings.Contains(v, "short") || !strings.Contains(v, "? 1 figure is unknown: what is there of USDC") {
		t.Error(v)
	}
}

func TestAReviewHasNoCodesOfChecksAndTheListHas(t *testing.T) {
	r := newRig(t)
	r.h = 60
	r.op.report2 = report(notes()...)
	has := func(where string, want bool) {
		t.Helper()
		for _, code := range []string{"V4", "P6"} {
			if strings.Contains(r.flat(), " "+code+" ") != want {
				t.Errorf("%s: %s\n%s", where, code, r.view())
			}
		}
	}
	r.open().settle()
	has("review 1", false)
	r.press("c")
	has("the checks", true)
	r.press("esc")
	r.clock.add(time.Second)
	r.view()
	r.press("y").settle()
	has("review 2", false)
	r = newRig(t).gated()
	r.h = 60
	if v := r.open().settle().flat(); strings.Contains(v, " T7 ") {
		t.Error(v)
	}
}

// TestTheIndentOfArgumentsNeverDecreasesWithDepth: at any width, the indent of a nested label is at least its parent's.
func TestTheIndentOfArgumentsNeverDecreasesWithDepth(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w, before := rapid.IntRange(25, 120).Draw(rt, "w"), 0
		for depth := range 16 {
			label := rapid.StringMatching(`[a-z]{1,20}`).Draw(rt, "label")
			rows := (&layout{w: w}).block(present.Block{Kind: present.KindRow, Level: 1, Depth: depth, Label: label,
				Spans: []present.Span{{Text: present.Address(payee), Whole: true}}})
			in := len(rows[0]) - len(strings.TrimLeft(rows[0], " "))
			if in < before || depth == 3 && w >= 58 && in != indent+2+6 ||
				!strings.Contains(squash(strings.Join(rows, "")), label+payee) {
				rt.Fatalf("at depth %d in %d columns after %d:\n%s", depth, w, before, strings.Join(rows, "\n"))
			}
			for _, l := range rows {
				if present.Width(l) > w || len(l)-len(strings.TrimLeft(l, " ")) < in {
					rt.Fatalf("at depth %d in %d columns: %q", depth, w, l)
				}
			}
			before = in
		}
	})
}
