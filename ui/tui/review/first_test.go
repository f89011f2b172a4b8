package review

import (
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/colorprofile"

	"coffer/ui/internal/reviewtest"
	"coffer/ui/present"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/screen"
	"coffer/ui/tui/theme"
	"coffer/wallet/consent"
	"coffer/wallet/flow"
	"coffer/wallet/verify"
)

// reviewOf is the screen of a review at w×h cells, and what it draws.
func reviewOf(t *testing.T, c reviewtest.Case, w, h int) (*Screen, func() string) {
	t.Helper()
	s := New(screen.Context{Catalog: cat(t), Clock: reviewtest.Begin}, Deps{TypeFrom: consent.TypeFrom()})
	s.phase, s.snap = phaseReview1, flow.Snapshot{Intent: c.Review.Intent, Review1: c.Review.Call,
		Report1: c.Review.Report, Previous: c.Previous, Deadline: reviewtest.Begin().Add(time.Minute)}
	s.previous = c.Previous
	if c.Review.Quote != nil {
		s.phase, s.snap.Review2, s.snap.Report2 = phaseReview2, c.Review.Quote, c.Review.Report
	}
	return s, func() string {
		v, _, _, _ := kit.TakeCursor(s.View(frameOf(w, h)))
		return v
	}
}

func frameOf(w, h int) screen.Frame {
	return screen.Frame{W: w, H: h, Theme: theme.New(true, colorprofile.NoTTY, false), Now: reviewtest.Begin()}
}

// At 80×24 the first screen of every kind of review has what a person decides on: the headline, all that leaves, the
// least that arrives, the payee in full, every warning, the cost, the escrow with its time, the time left, and how to
// confirm.
func TestD14_TheFirstScreenOfEveryReviewHasWhatBinds(t *testing.T) {
	for _, c := range reviewtest.All() {
		if c.Name == "payouts" { // more payments than fit: they scroll
			continue
		}
		c.Review.Report = verify.Report{Passed: c.Review.Report.Passed, Reasons: c.Review.Report.Reasons[:1]}
		s, view := reviewOf(t, c, 80, 19)
		flat := func(text string) string { return strings.Join(strings.Fields(text), " ") }
		got, r := flat(view()), s.about()
		h := r.Headline()
		want := []string{h[0], h[1], " in 1:00"}
		if !strings.Contains(got, s.verb()) {
			want = append(want, s.how(30))
		}
		payees := []string{}
		if v := c.Review.Quote; v != nil {
			for _, l := range v.Legs {
				want = append(want, flat(present.Amount(l.Pays)), present.Address(l.Escrow))
				if !l.RefundAfter.IsZero() {
					want = append(want, "refundable from "+r.Clock(l.RefundAfter))
				}
			}
			want = append(want, "Cost ", figureIn(v.Minimum))
			if r.Exchange() {
				payees = append(payees, v.Recipient)
			}
		}
		if c.Review.Call != nil {
			for _, x := range c.Review.Call.Payees() {
				payees = append(payees, x.To)
			}
		}
		for _, to := range payees {
			want = append(want, present.Address(to))
		}
		for _, b := range reviewed(r) {
			for _, x := range b.Spans {
				asks := strings.HasPrefix(x.Text, "To sign anyway")
				if x.Sign == present.Before && x.Tone != present.TonePlain && !asks {
					want = append(want, flat(x.Text))
				}
			}
		}
		for _, x := range want {
			if !strings.Contains(got, x) {
				t.Errorf("%s: %q is not on the first screen:\n%s", c.Name, x, view())
			}
		}
	}
}

// figureIn is an amount without trailing zeros.
func figureIn(a verify.AmountView) string {
	figure, _, _ := strings.Cut(present.Human(a), " ")
	return figure
}

// No fold that can be shut holds anything that a consent needs, a warning, or something unknown.
func TestD14_AFoldThatCanBeShutBindsNothing(t *testing.T) {
	for _, c := range reviewtest.All() {
		mandatory := map[string]bool{}
		for _, f := range consent.Facts(c.Review) {
			mandatory[f.Path] = f.Mandatory
		}
		s, view := reviewOf(t, c, 80, 19)
		view()
		for _, b := range reviewed(s.about()).Folds() {
			if b.Fold.Open {
				continue
			}
			for _, path := range b.Fold.Inside.Paths() {
				if mandatory[path] {
					t.Errorf("%s: fold %s holds %s", c.Name, b.Fold.Key, path)
				}
			}
			for _, x := range b.Fold.Inside {
				for _, span := range x.Spans {
					if !b.Fold.Apart && span.Tone >= present.ToneWarn && span.Tone <= present.ToneUnknown {
						t.Errorf("%s: fold %s hides %q", c.Name, b.Fold.Key, span.Text)
					}
				}
			}
		}
	}
}

func TestD14_LettersAndSpaceOpenFoldsAndWhatWasReadStaysRead(t *testing.T) {
	r := newRig(t)
	r.toReview2()
	shut := r.view()
	for _, want := range []string{"▸ c checks 7 ✓", "▸ a arithmetic", "▸ o routing", "▸ i bytes, hashes, nonces"} {
		if !strings.Contains(shut, want) {
			t.Errorf("%q is missing:\n%s", want, shut)
		}
	}
	if k, ok := kit.FindKey(r.s.Keys(), "space"); !ok || k.Label != "next fold" {
		t.Errorf("%+v", k)
	}
	r.press("space")
	if v := r.view(); !strings.Contains(v, "▾ a arithmetic") || !strings.Contains(v, "Slippage") {
		t.Errorf("space opens no fold:\n%s", v)
	}
	if why := r.s.obstacle(r.clock.now); why != "" {
		t.Errorf("a fold that the person opened has to be read: %s", why)
	}
	r.press("o")
	if v := r.view(); !strings.Contains(v, "▾ o routing") || !strings.Contains(v, "First to") {
		t.Errorf("o opens no fold:\n%s", v)
	}
	r.press("a", "o")
	if v := r.view(); strings.Contains(v, "▾") {
		t.Errorf("the letters shut nothing:\n%s", v)
	}
	r.typeText("250.98").press("enter").count(1, 1)
}

// A fold with something in it that needs a look is open, and its letter does not shut it.
func TestD14_AFoldWithSomethingWrongInItIsOpenAndStaysOpen(t *testing.T) {
	r := newRig(t)
	r.op.next.CostMicro = big.NewInt(1_000)
	r.toReview2().press("a")
	r.h = 60
	if v := r.view(); !strings.Contains(v, "▾ a arithmetic") || !strings.Contains(v, "does not add up ✗") {
		t.Error(v)
	}
}

func TestD15_AKeyThatCameTooSoonIsAnswered(t *testing.T) {
	r := newRig(t)
	r.open().settle().read().press("i", "esc")
	r.sent = nil
	r.do(r.s.Update(keyOf("y")))
	if r.count(0, 0); !r.told("too soon") {
		t.Error("y after the inspector is swallowed without a word")
	}
	r.clock.add(time.Second)
	r.press("y").count(1, 0)
}

// A review that comes back from below another screen confirms nothing at once either.
func TestD15_AReviewThatIsBackOnTheTerminalWaitsToo(t *testing.T) {
	r := newRig(t)
	r.open().settle().read()
	r.sent = nil
	r.do(r.s.Update(screen.ShownMsg{}))
	r.do(r.s.Update(keyOf("y")))
	if r.count(0, 0); !r.told("too soon") {
		t.Error("y is swallowed without a word")
	}
	r.clock.add(time.Second)
	r.press("y").count(1, 0)
}

// What got cheaper is no warning.
func TestD15_OnlyAFigureThatIsWorseIsMarked(t *testing.T) {
	r := newRig(t)
	r.toReview2()
	better := *r.op.next
	better.CostMicro, better.Fees = big.NewInt(0), []verify.AmountView{usdcOf(400_000, 399_920, "")}
	better.Pay = []verify.AmountView{usdcOf(225_900_000, 225_854_820, "")}
	r.op.requoted = &better
	worse := 0
	r.h = 60
	if v := r.press("r").settle().view(); strings.Contains(v, "was ") || strings.Contains(v, "worse") {
		t.Errorf("marked as worse:\n%s", v)
	}
	for _, l := range strings.Split(r.press("d").view(), "\n") {
		if strings.Contains(l, "-0.08") || strings.Contains(l, "-$0.479904") {
			worse++
			if strings.HasSuffix(strings.TrimSpace(l), "!") {
				t.Errorf("a warning where it got cheaper: %q", l)
			}
		}
	}
	if worse != 3 {
		t.Errorf("%d differences:\n%s", worse, r.view())
	}
}

// A call to an address without code is a line of the review that must be seen, however many checks it passes, and its
// address is typed; where the service does not answer, the review says unknown.
func TestTH_V7_ACallToAnAddressWithoutCodeIsALineOfTheReview(t *testing.T) {
	for level, words := range map[verify.Level]string{verify.Warn: "! " + verify.CodeMissing,
		verify.Unknown: "? " + verify.CodeUnknown} {
		r := newRig(t).nativeCall()
		r.op.report1.Reasons = append(r.op.report1.Reasons, verify.Reason{Code: "V7", Level: level, Got: usdc,
			Title: strings.TrimLeft(words, "!? ")})
		r.h = 60
		if v := r.open().settle().flat(); !strings.Contains(v, words) {
			t.Error(v)
		}
	}
	r := newRig(t)
	if v := r.open().settle().flat(); strings.Contains(v, "code where") {
		t.Error(v)
	}
}

// The payee is read between what arrives and what it costs.
func TestD14_ToIsBetweenArrivesAndCost(t *testing.T) {
	for name, r := range map[string]*rig{"call": newRig(t).toReview2(), "transfer": newRig(t).openTransfer().settle()} {
		if v := r.view(); !inOrder(v, "\n Arrives", "\n To ", "\n Cost ") {
			t.Errorf("%s:\n%s", name, v)
		}
	}
}

// inOrder reports whether all texts follow each other.
func inOrder(view string, texts ...string) bool {
	for _, x := range texts {
		_, rest, ok := strings.Cut(view, x)
		if !ok {
			return false
		}
		view = rest
	}
	return true
}

// The results of checks have the same four words on every page.
func TestTheResultsOfChecksHaveOneWordEach(t *testing.T) {
	r := newRig(t).open().settle()
	if v := flatPage(r, "c"); !inOrder(v, "Warnings", "Not checked", "Notes", "7 passed") {
		t.Error(v)
	}
}

func flatPage(r *rig, key string) string { r.h = 60; return r.press(key).view() }
